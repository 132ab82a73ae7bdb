//! The schemas that come with Prony: the files of the folder `schemas`.

use std::sync::LazyLock;

use serde::Deserialize;

use super::SchemaDefinition;

/// Makes a static of each schema, and a table of their files: names and texts.
macro_rules! built_in {
    ($($file:literal: $($schema:ident = $name:literal)*;)*) => {
        /// The files by name. `prony-plan` reads them as it reads a user's, in a test.
        pub(super) const FILES: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../../../schemas/", $file)))),*];

        $($(pub(super) static $schema: LazyLock<SchemaDefinition> =
            LazyLock::new(|| read($file, $name));)*)*

        /// All of them, in the order of the files.
        pub(super) const ALL: &[&LazyLock<SchemaDefinition>] = &[$($(&$schema),*),*];
    };
}

built_in! {
    "sbtest.toml": SBTEST = "sbtest" SBTEST_04 = "sbtest-0.4";
    "foo.toml": FOO = "foo";
    "purchases.toml": PURCHASES = "purchases";
    "bank.toml": BANK = "bank";
    "wholesale.toml": WHOLESALE = "wholesale";
    "ycsb.toml": YCSB = "ycsb" YCSB_COUNTED = "ycsb-counted";
    "family.toml": FAMILY = "family" FAMILY_UNCHECKED = "family-unchecked";
    "shop.toml": SHOP = "shop";
}

#[derive(Deserialize)]
struct File {
    schema: Vec<SchemaDefinition>,
}

#[expect(
    clippy::expect_used,
    reason = "the files are part of the program, and tests read all of them"
)]
fn read(file: &str, name: &str) -> SchemaDefinition {
    let mut named = FILES.iter().filter(|(known, _)| *known == file);
    let (_, text) = named.next().expect("a file in the folder `schemas`");
    let read: File = toml::from_str(text).expect(file);
    let mut schemas = read.schema.into_iter();
    let found = schemas.find(|schema| schema.name == name);
    found.expect("a schema in its file")
}
