//! The files that the user wrote for a run.

use prony_store::{DefinitionFile, DefinitionKind, Store};

use crate::sample::{BEFORE_7, Sample, assert_whole};

fn definition(kind: DefinitionKind, name: &str, text: &str) -> DefinitionFile {
    DefinitionFile {
        kind,
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

#[test]
fn the_users_files_come_back_byte_for_byte() {
    let files = [
        definition(
            DefinitionKind::Experiment,
            "x.toml",
            "# `é`\r\nname = \"x\"\n\n\t",
        ),
        definition(DefinitionKind::Workloads, "own.toml", ""),
    ];
    let sample = Sample::new();
    let mut store = sample.create();
    store.record_definitions(&files).unwrap();
    assert_eq!(store.definitions().unwrap(), files);
}

#[test]
fn older_files_have_none_and_get_none() {
    let sample = Sample::new();
    drop(sample.create());
    rusqlite::Connection::open(sample.path())
        .and_then(|connection| {
            connection.execute_batch("DROP TABLE definition")?;
            connection.execute_batch(BEFORE_7)?;
            connection.pragma_update(None, "user_version", 4)
        })
        .unwrap();
    let store = Store::open_read_only(&sample.path()).unwrap();
    assert_eq!(store.definitions().unwrap(), []);
    drop(store);
    assert_eq!(sample.open().definitions().unwrap(), []);
    assert_whole(&sample.path());
}
