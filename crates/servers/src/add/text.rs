//! A catalogue entry as the text of a catalogue file.

use serde::Serialize;
use toml::{Value, ser};

use crate::build::catalogue::Entry;

/// The keys of an entry, in the order in which they are written.
const ENTRY: [&str; 18] = [
    "id",
    "family",
    "version",
    "version_text",
    "engines",
    "engine_options",
    "lacks",
    "caution",
    "compiled",
    "no_valgrind",
    "program",
    "loader",
    "libraries",
    "support",
    "allocators",
    "bootstrap",
    "shutdown",
    "locations",
];
/// The keys of a source; no other kinds are ever added.
const SOURCE: [&str; 5] = ["from.path", "from.archive", "sha256", "size", "part"];

/// The text, with `note` as a comment before it.
pub(super) fn text(entry: &Entry, note: &str) -> Result<String, ser::Error> {
    let mut text = format!("# {note}\n[[build]]\n{}", lines(entry, &ENTRY)?);
    for source in &entry.source {
        text.push_str("[[build.source]]\n");
        text.push_str(&lines(source, &SOURCE)?);
    }
    Ok(text)
}

/// One line for each key that has a value.
fn lines(of: &impl Serialize, keys: &[&str]) -> Result<String, ser::Error> {
    let value = Value::try_from(of)?;
    let line = |key: &&str| {
        let mut parts = key.split('.');
        let value = parts.try_fold(&value, |value, part| value.get(part))?;
        Some(format!("{key} = {value}\n"))
    };
    Ok(keys.iter().filter_map(line).collect())
}
