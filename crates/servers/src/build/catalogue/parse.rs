//! Catalogue files: reading and checking.

use std::path::{Component, Path, PathBuf};

use prony_model::Allocator;
use serde::Deserialize;
use toml::Spanned;

use super::CatalogueError;
use super::entry::{Bootstrap, Entry, Origin, Part, Position, Source, Support};

/// The content of one file.
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
    let invalid = |offset: usize, reason: String| CatalogueError::Invalid {
        file: file.to_owned(),
        line: line_of(text, offset),
        reason,
    };
    let document: Document = toml::from_str(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        invalid(offset, error.message().to_owned())
    })?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut content = CatalogueFile {
        support: Vec::new(),
        build: Vec::new(),
    };
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

/// The line of a byte offset, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    let end = offset.min(text.len());
    text.as_bytes()[..end].split(|byte| *byte == b'\n').count()
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
    check_id(&support.id, duplicate)?;
    check_sources(&support.id, &support.source)?;
    if support.preload.contains_key(&Allocator::Built) {
        return Err(format!(
            "the support `{}` can't preload what is built in: it can have jemalloc and tcmalloc",
            support.id
        ));
    }
    let paths = support.loader.iter().chain(&support.libraries);
    let paths = paths.chain(support.preload.values());
    check_relative(&support.id, paths)
}

fn check_entry(entry: &Entry, duplicate: bool) -> Result<(), String> {
    let id = &entry.id;
    check_id(id, duplicate)?;
    check_sources(id, &entry.source)?;
    if entry.engines.is_empty() {
        return Err(format!("`{id}` has no engines"));
    }
    if entry.user_folder().is_some() && entry.source.len() > 1 {
        return Err(format!(
            "`{id}` is a folder of yours: it can't have another source"
        ));
    }
    let bootstrap: &[PathBuf] = match &entry.bootstrap {
        Bootstrap::Template(folder) => std::slice::from_ref(folder),
        Bootstrap::Sql(files) if files.is_empty() => {
            return Err(format!("`{id}` bootstraps by SQL and names no file"));
        }
        Bootstrap::Sql(files) => files,
        Bootstrap::InitializeInsecure => &[],
    };
    let paths = [&entry.program]
        .into_iter()
        .chain(&entry.loader)
        .chain(&entry.libraries)
        .chain(entry.locations.values())
        .chain(bootstrap);
    check_relative(id, paths)
}

/// Ids become names of folders.
fn check_id(id: &str, duplicate: bool) -> Result<(), String> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if id.is_empty() || id.starts_with('.') || !id.chars().all(fine) {
        return Err(format!(
            "the id `{id}` must be letters, digits, `.`, `_` and `-`, and not begin with a dot"
        ));
    }
    if duplicate {
        return Err(format!("the id `{id}` is there twice"));
    }
    Ok(())
}

fn check_sources(id: &str, sources: &[Source]) -> Result<(), String> {
    if sources.is_empty() {
        return Err(format!("`{id}` has no source"));
    }
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
        if signed {
            return Ok(());
        }
        return Err(format!("a source of `{id}` has no sha256"));
    };
    if signed {
        return Err(format!(
            "a source of `{id}` can't have a sha256: it is not one file"
        ));
    }
    let digit = |b: u8| matches!(b, b'0'..=b'9' | b'a'..=b'f');
    if sha256.len() != 64 || !sha256.bytes().all(digit) {
        return Err(format!(
            "the sha256 `{sha256}` of `{id}` must be 64 lower-case hexadecimal digits"
        ));
    }
    Ok(())
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
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), String> {
    paths
        .into_iter()
        .try_for_each(|path| check_inside(id, &path.to_string_lossy()))
}

/// Checks that a path of the catalogue lies inside the build's folder.
fn check_inside(id: &str, path: &str) -> Result<(), String> {
    let inside = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if inside {
        return Ok(());
    }
    Err(format!(
        "the path `{path}` of `{id}` must lie inside its folder"
    ))
}
