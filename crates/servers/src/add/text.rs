//! A catalogue entry as the text of a catalogue file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use toml::Value;

use crate::build::catalogue::{Bootstrap, Entry, Origin, Shutdown, Source};

/// The text, with `note` as a comment before it.
pub(super) fn text(entry: &Entry, note: &str) -> String {
    let mut out = format!("# {note}\n[[build]]\n");
    let mut line = |key: &str, value: Value| {
        // Writing to a String can't fail.
        let _ = writeln!(out, "{key} = {value}");
    };
    line("id", entry.id.clone().into());
    line("family", entry.family.to_string().into());
    line("version", entry.version.to_string().into());
    line("version_text", entry.version_text.clone().into());
    line("engines", list(entry.engines.iter().map(|e| e.name())));
    if !entry.engine_options.is_empty() {
        let options = entry.engine_options.iter();
        let options = options.map(|(engine, options)| {
            (
                engine.name().to_owned(),
                list(options.iter().map(String::as_str)),
            )
        });
        line("engine_options", Value::Table(options.collect()));
    }
    if !entry.lacks.is_empty() {
        line("lacks", list(entry.lacks.iter().map(String::as_str)));
    }
    line("program", path(&entry.program));
    if let Some(loader) = &entry.loader {
        line("loader", path(loader));
    }
    if !entry.libraries.is_empty() {
        line("libraries", paths(&entry.libraries));
    }
    if !entry.support.is_empty() {
        line("support", list(entry.support.iter().map(String::as_str)));
    }
    if let Some(allocators) = &entry.allocators {
        line("allocators", allocators.clone().into());
    }
    line("bootstrap", bootstrap(&entry.bootstrap));
    if entry.shutdown == Shutdown::Command {
        line("shutdown", "command".into());
    }
    let locations = entry.locations.iter();
    let locations = locations.map(|(option, place)| (option.clone(), path(place)));
    line("locations", Value::Table(locations.collect()));
    for source in &entry.source {
        source_text(&mut out, source);
    }
    out
}

fn source_text(out: &mut String, source: &Source) {
    out.push_str("[[build.source]]\n");
    let mut line = |key: &str, value: Value| {
        // Writing to a String can't fail.
        let _ = writeln!(out, "{key} = {value}");
    };
    match &source.from {
        Origin::Path(folder) => line("from.path", path(folder)),
        Origin::Archive(file) => line("from.archive", path(file)),
        // Nothing else is ever added.
        Origin::Maven(_) | Origin::Npm(_) | Origin::Deb(_) | Origin::Url(_) => {}
    }
    if let Some(sha256) = &source.sha256 {
        line("sha256", sha256.clone().into());
    }
    if let Some(size) = source.size.and_then(|size| i64::try_from(size).ok()) {
        line("size", size.into());
    }
    if !source.part.is_empty() {
        let parts = source.part.iter().map(|part| {
            Value::Table(
                [("path".to_owned(), part.path.clone().into())]
                    .into_iter()
                    .collect(),
            )
        });
        line("part", Value::Array(parts.collect()));
    }
}

fn bootstrap(bootstrap: &Bootstrap) -> Value {
    let table =
        |key: &str, value: Value| Value::Table([(key.to_owned(), value)].into_iter().collect());
    match bootstrap {
        Bootstrap::Template(folder) => table("template", path(folder)),
        Bootstrap::Sql(files) => table("sql", paths(files)),
        Bootstrap::InitializeInsecure => "initialize-insecure".into(),
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> Value {
    Value::Array(words.map(Value::from).collect())
}

fn path(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

fn paths(paths: &[PathBuf]) -> Value {
    Value::Array(paths.iter().map(|one| path(one)).collect())
}
