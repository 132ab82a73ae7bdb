//! Files on disk: whole or not at all, and never over another one.

use std::fs;
use std::io::{self, Write};

use prony_export::{ExportError, Format, files, save, save_as};
use prony_report::tidy::{Table, Tables};

use crate::sample::Sample;

#[test]
fn nothing_is_overwritten() {
    let sample = Sample::of(2, 1);
    let tables = Tables::of(&sample.store).unwrap();
    let all = files(&tables, Format::Csv, None).unwrap();
    let folder = sample.path("new/folder");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("warnings.csv"), "mine").unwrap();
    let error = save(&tables, &all, &folder).unwrap_err();
    assert!(
        error.to_string().contains("warnings.csv: it exists"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let path = folder.join("warnings.csv");
    let error = save_as(&tables, &all[0], &path).unwrap_err();
    assert!(matches!(error, ExportError::Exists { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    fs::remove_file(&path).unwrap();
    save(&tables, &all, &folder).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), Table::ALL.len());
}

/// An output that is full after some bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 < bytes.len() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0 -= bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_in_every_format() {
    let sample = Sample::of(2, 1);
    let tables = Tables::of(&sample.store).unwrap();
    for format in [
        Format::Csv,
        Format::Json,
        Format::Parquet,
        Format::GoBench,
        Format::Bmf,
    ] {
        for file in files(&tables, format, None).unwrap() {
            let mut whole = Vec::new();
            file.write(&tables, &mut whole).unwrap();
            for room in [0, whole.len().saturating_sub(1)] {
                let written = file.write(&tables, &mut Full(room));
                match written {
                    Ok(()) => assert!(whole.is_empty(), "{}", file.name()),
                    Err(ExportError::Write { source, .. }) => {
                        assert_eq!(source.kind(), io::ErrorKind::StorageFull, "{}", file.name());
                    }
                    Err(error) => panic!("{}: {error}", file.name()),
                }
            }
        }
    }
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let sample = Sample::of(2, 2);
    let written = || {
        let tables = Tables::of(&sample.store).unwrap();
        let all = files(&tables, Format::Parquet, None).unwrap();
        let bytes = all.iter().map(|file| {
            let mut out = Vec::new();
            file.write(&tables, &mut out).unwrap();
            out
        });
        bytes.collect::<Vec<_>>()
    };
    assert_eq!(written(), written());
}

#[test]
fn documents_have_no_tables() {
    let sample = Sample::of(1, 1);
    let tables = Tables::of(&sample.store).unwrap();
    let error = files(&tables, Format::Otava, Some(Table::Cells)).unwrap_err();
    assert!(error.to_string().ends_with("leave out --table"), "{error}");
}
