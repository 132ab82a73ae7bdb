//! Catalogue files: reading and checking.

use std::path::{Component, Path, PathBuf};

use prony_model::Allocator;
use serde::Deserialize;
use toml::Spanned;

use super::entry::{Bootstrap, Entry, Origin, Part, Position, Source, Support};
use super::error::{CatalogueError, line_of, read_toml};

/// The content of one file.
#[derive(Default)]
pub(super) struct CatalogueFile {
    pub(super) support: Vec<Support>,
    pub(super) build: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    support: Vec<Spanned<Support>>,
    #[serde(default)]
    build: Vec<Spanned<Entry>>,
}

/// Reads the text of `file`.
pub(super) fn parse(file: &Path, text: &str) -> Result<CatalogueFile, CatalogueError> {
    let document: Document = read_toml(file, text)?;
    let invalid = |offset, reason| CatalogueError::at(file, line_of(text, offset), reason);
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut content = CatalogueFile::default();
    for support in document.support {
        let offset = support.span().start;
        let mut support = support.into_inner();
        let duplicate = content.support.iter().any(|known| known.id == support.id);
        check_support(&support, duplicate).map_err(|reason| invalid(offset, reason))?;
        resolve(&mut support.source, folder);
        content.support.push(support);
    }
    for entry in document.build {
        let offset = entry.span().start;
        let mut entry = entry.into_inner();
        let duplicate = content.build.iter().any(|known| known.id == entry.id);
        check_entry(&entry, duplicate).map_err(|reason| invalid(offset, reason))?;
        resolve(&mut entry.source, folder);
        entry.position = Position {
            file: file.to_owned(),
            line: line_of(text, offset),
        };
        content.build.push(entry);
    }
    Ok(content)
}

/// Checks an entry that comes from no file.
pub(super) fn check(entry: &Entry) -> Result<(), CatalogueError> {
    check_entry(entry, false).map_err(CatalogueError::Entry)
}

/// Makes relative paths of a user's file relative to the folder that it is in.
fn resolve(sources: &mut [Source], folder: &Path) {
    for source in sources {
        if let Origin::Archive(path) | Origin::Path(path) = &mut source.from {
            *path = folder.join(&path);
        }
    }
}

fn check_support(support: &Support, duplicate: bool) -> Result<(), String> {
    let Support { id, .. } = support;
    check_id(id, duplicate)?;
    check_sources(id, &support.source)?;
    ensure(!support.preload.contains_key(&Allocator::Built), || {
        format!(
            "the support `{id}` can't preload what is built in: it can have jemalloc and tcmalloc"
        )
    })?;
    let paths = support.loader.iter().chain(&support.libraries);
    check_relative(id, paths.chain(support.preload.values()))
}

fn check_entry(entry: &Entry, duplicate: bool) -> Result<(), String> {
    let id = &entry.id;
    check_id(id, duplicate)?;
    check_sources(id, &entry.source)?;
    ensure(!entry.engines.is_empty(), || {
        format!("`{id}` has no engines")
    })?;
    ensure(
        entry.user_folder().is_none() || entry.source.len() == 1,
        || format!("`{id}` is a folder of yours: it can't have another source"),
    )?;
    let bootstrap: &[PathBuf] = match &entry.bootstrap {
        Bootstrap::Template(path) | Bootstrap::Initdb(path) => std::slice::from_ref(path),
        Bootstrap::Sql(files) => files,
        Bootstrap::InitializeInsecure => &[],
    };
    ensure(entry.bootstrap != Bootstrap::Sql(Vec::new()), || {
        format!("`{id}` bootstraps by SQL and names no file")
    })?;
    let paths = entry.loader.iter().chain(&entry.libraries);
    let paths = paths.chain(entry.locations.values()).chain(bootstrap);
    check_relative(id, paths.chain([&entry.program]))
}

/// Ids become names of folders.
fn check_id(id: &str, duplicate: bool) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let fine = !id.is_empty() && !id.starts_with('.') && id.chars().all(fine);
    ensure(fine, || {
        format!("the id `{id}` must be letters, digits, `.`, `_` and `-`, and not begin with a dot")
    })?;
    ensure(!duplicate, || format!("the id `{id}` is used twice"))
}

fn check_sources(id: &str, sources: &[Source]) -> Result<(), String> {
    ensure(!sources.is_empty(), || format!("`{id}` has no source"))?;
    for source in sources {
        check_checksum(id, source)?;
        for pattern in &source.drop {
            check_inside(id, pattern)?;
        }
        check_parts(id, &source.part)?;
    }
    Ok(())
}

fn check_checksum(id: &str, source: &Source) -> Result<(), String> {
    let signed = matches!(source.from, Origin::Deb(_) | Origin::Path(_));
    let Some(sha256) = &source.sha256 else {
        return ensure(signed, || format!("a source of `{id}` has no sha256"));
    };
    ensure(!signed, || {
        format!("a source of `{id}` can't have a sha256: it is not one file")
    })?;
    let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    ensure(sha256.len() == 64 && sha256.bytes().all(digit), || {
        format!("the sha256 `{sha256}` of `{id}` must be 64 lower-case hexadecimal digits")
    })
}

fn check_parts(id: &str, parts: &[Part]) -> Result<(), String> {
    for part in parts {
        check_inside(id, &part.path)?;
        check_inside(id, &part.to)?;
        check_parts(id, part.unpack.as_deref().unwrap_or_default())?;
    }
    Ok(())
}

fn check_relative<'a>(
    id: &str,
    mut paths: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), String> {
    paths.try_for_each(|path| check_inside(id, &path.to_string_lossy()))
}

/// Checks that a path of the catalogue lies inside the build's folder.
fn check_inside(id: &str, path: &str) -> Result<(), String> {
    let mut parts = Path::new(path).components();
    let inside = parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    ensure(inside, || {
        format!("the path `{path}` of `{id}` must lie inside its folder")
    })
}

fn ensure(fine: bool, reason: impl FnOnce() -> String) -> Result<(), String> {
    if fine { Ok(()) } else { Err(reason()) }
}
