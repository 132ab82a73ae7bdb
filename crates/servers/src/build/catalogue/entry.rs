//! Entries of the catalogue: builds, and the libraries that they share.

use std::collections::BTreeMap;
use std::path::PathBuf;

use prony_model::{Allocator, BuildFacts, Engine, Family, Version};
use serde::{Deserialize, Serialize};

/// One server build that can be had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub id: String,
    /// Decides dialect and options.
    pub family: Family,
    /// Its version. For a floating entry, the lowest that it can be.
    pub version: Version,
    /// The answer to `SELECT VERSION()`, without a `-log` at the end; a `*` at the end stands for
    /// any rest.
    pub version_text: String,
    /// Engines that tables can be created in.
    pub engines: Vec<Engine>,
    /// Server options that bring an engine which is not built in, such as the loading of a plugin.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub engine_options: BTreeMap<Engine, Vec<String>>,
    /// Intents that this build can't honour though its version could.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<String>,
    /// What a reader must know before he compares its figures with those of other builds; a fragment
    /// without final period, which every report has among its warnings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// How its compiler was told to optimise, such as `-O2`, for servers that can't be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<String>,
    /// Why its instructions can't be counted in valgrind; a fragment without final period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_valgrind: Option<String>,
    /// The server program, relative to the build's folder.
    pub program: PathBuf,
    /// A dynamic loader to run the program with, relative to the build's folder.
    #[serde(default)]
    pub loader: Option<PathBuf>,
    /// Folders to search for libraries, relative to the build's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub libraries: Vec<PathBuf>,
    /// Shared support libraries by id; one of them may bring the loader.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub support: Vec<String>,
    /// The support that has memory allocators for its C library, if there are any.
    #[serde(default)]
    pub allocators: Option<String>,
    /// The way to make a data directory.
    pub bootstrap: Bootstrap,
    /// The way to ask a running server to stop.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shutdown: Shutdown,
    /// Server options whose values are paths relative to the build's folder, such as `basedir`.
    #[serde(default)]
    pub locations: BTreeMap<String, PathBuf>,
    /// The sources of its files; unpacked in this order, later ones over earlier ones.
    pub source: Vec<Source>,
    /// Its place in the catalogue files, for error messages.
    #[serde(skip)]
    pub position: Position,
}

/// A place in a catalogue file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    /// The file.
    pub file: PathBuf,
    /// The line of the entry, counted from 1.
    pub line: usize,
}

/// Libraries that several builds need and that are used for them alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Support {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub id: String,
    /// A dynamic loader, relative to its folder.
    #[serde(default)]
    pub loader: Option<PathBuf>,
    /// Folders to search for libraries, relative to its folder.
    pub libraries: Vec<PathBuf>,
    /// Memory allocators, relative to its folder, for servers that are to be started with another
    /// than the one they were linked with.
    #[serde(default)]
    pub preload: BTreeMap<Allocator, PathBuf>,
    /// The sources of its files.
    pub source: Vec<Source>,
}

/// The way to make a data directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bootstrap {
    /// By copying a prebuilt one, relative to the build's folder.
    Template(PathBuf),
    /// By `--bootstrap`, which reads these files, relative to the build's folder.
    Sql(Vec<PathBuf>),
    /// By `--initialize-insecure`, which the server does alone.
    InitializeInsecure,
    /// By PostgreSQL's `initdb`, relative to the build's folder.
    Initdb(PathBuf),
}

/// The way to ask a running server to stop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shutdown {
    /// By SIGTERM.
    #[default]
    Signal,
    /// By SIGINT, which PostgreSQL takes for a stop that does not wait for its clients.
    Interrupt,
    /// By the administrator's request over a connection, as servers want it that ignore SIGTERM.
    Command,
}

/// A source of files, and those of them that are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The kind of source and its coordinates.
    pub from: Origin,
    /// SHA-256 of the fetched file, 64 lower-case hexadecimal digits. Everything but packages
    /// under a signed index and folders must have it.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Size of the fetched file in bytes, for progress.
    #[serde(default)]
    pub size: Option<u64>,
    /// The parts taken out of the archive, in order; empty means everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<Part>,
    /// Files and folders that are left out, by their path after unpacking; `*` stands for any
    /// characters but `/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drop: Vec<String>,
}

/// The kinds of source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// `group:artifact:version[:type[:classifier]]`, through `mvn`.
    Maven(String),
    /// `name@version`, through `npm`.
    Npm(String),
    /// A Python wheel, through `pip3`.
    Pip(PipOrigin),
    /// Debian packages, through `apt-get` and the machine's own mirror.
    Deb(DebOrigin),
    /// An archive at an address.
    Url(String),
    /// A local archive.
    Archive(PathBuf),
    /// A folder that the user has. Used in place, never changed.
    Path(PathBuf),
}

/// A wheel: a Python package in binary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PipOrigin {
    /// `name==version`.
    pub package: String,
    /// The platform of the wheel, such as `manylinux_2_28_x86_64`.
    pub platform: String,
    /// The version of Python that it is for, such as `3.11`; none where it is for all.
    #[serde(default)]
    pub python: Option<String>,
}

/// Debian packages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DebOrigin {
    /// Such as `bookworm` or `sid`.
    pub suite: String,
    /// Such as `amd64`.
    pub architecture: String,
    /// Package names.
    pub packages: Vec<String>,
    /// The dependencies that are fetched too.
    #[serde(default)]
    pub dependencies: Dependencies,
    /// Dependencies that are left out; `*` stands for any characters.
    #[serde(default)]
    pub without: Vec<String>,
}

/// The dependencies of a package that are fetched with it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dependencies {
    /// Nothing.
    #[default]
    None,
    /// Everything, without recommendations.
    All,
}

/// A part of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// A file or folder in the archive.
    pub path: String,
    /// The folder that the file, or the content of the folder, goes to; empty is the top.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub to: String,
    /// The file is an archive itself: what is taken out of it; empty means everything.
    #[serde(default)]
    pub unpack: Option<Vec<Part>>,
}

/// True for values that files need not name.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Entry {
    /// The facts that experiments are checked against.
    pub fn facts(&self) -> BuildFacts {
        BuildFacts {
            id: self.id.clone(),
            family: self.family,
            version: self.version,
            engines: self.engines.clone(),
            engine_options: self.engine_options.clone(),
            lacks: self.lacks.clone(),
            caution: self.caution.clone(),
            compiled: self.compiled.clone(),
            no_valgrind: self.no_valgrind.clone(),
        }
    }

    /// The folder of the user's own that this build is, if it is one.
    pub(crate) fn user_folder(&self) -> Option<&PathBuf> {
        self.source.iter().find_map(|source| match &source.from {
            Origin::Path(path) => Some(path),
            _ => None,
        })
    }
}

/// True where `answer` to `SELECT VERSION()` is the `expected` one. A `-log` at its end is not part
/// of the version: servers before 8.0 add it when any log is on.
pub(crate) fn version_matches(expected: &str, answer: &str) -> bool {
    match expected.strip_suffix('*') {
        Some(prefix) => answer.starts_with(prefix),
        None => answer.strip_suffix("-log").unwrap_or(answer) == expected,
    }
}
