//! The schemas that come with Prony: the files of the folder `schemas`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::SchemaDefinition;

/// The files by name. `prony-plan` reads them as it reads a user's, in a test.
pub(super) const FILES: [(&str, &str); 3] = [
    (
        "sbtest.toml",
        include_str!("../../../../schemas/sbtest.toml"),
    ),
    ("foo.toml", include_str!("../../../../schemas/foo.toml")),
    (
        "purchases.toml",
        include_str!("../../../../schemas/purchases.toml"),
    ),
];

pub(super) static SBTEST: LazyLock<SchemaDefinition> = LazyLock::new(|| read("sbtest"));
pub(super) static SBTEST_04: LazyLock<SchemaDefinition> = LazyLock::new(|| read("sbtest-0.4"));
pub(super) static FOO: LazyLock<SchemaDefinition> = LazyLock::new(|| read("foo"));
pub(super) static PURCHASES: LazyLock<SchemaDefinition> = LazyLock::new(|| read("purchases"));

#[derive(Deserialize)]
struct File {
    schema: Vec<SchemaDefinition>,
}

#[expect(
    clippy::expect_used,
    reason = "the files are part of the program, and tests read all of them"
)]
fn read(name: &str) -> SchemaDefinition {
    let files = FILES.iter();
    let schemas = files.flat_map(|(file, text)| {
        let read: File = toml::from_str(text).expect(file);
        read.schema
    });
    let mut named = schemas.filter(|schema| schema.name == name);
    named.next().expect("a schema in the folder `schemas`")
}
