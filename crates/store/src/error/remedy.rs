//! Advice for failures of the file system and of SQLite.

use std::io;
use std::path::Path;

use rusqlite::{Error, ErrorCode};

/// A cause with a remedy.
enum Cause {
    Full,
    NotWritable,
    Locked,
    Damaged,
    Disk,
}

/// Advice for a failure of SQLite on this file, to be appended to a message; may be empty.
pub(super) fn for_database(source: &Error, path: &Path) -> String {
    let cause = match source.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Cause::Full,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            Cause::NotWritable
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Cause::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Cause::Damaged,
        Some(ErrorCode::SystemIoFailure) => Cause::Disk,
        Some(_) => return String::new(),
        None => match source {
            Error::FromSqlConversionFailure(..)
            | Error::InvalidColumnType(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::Utf8Error(..) => Cause::Damaged,
            _ => return String::new(),
        },
    };
    cause.remedy(path)
}

/// Advice for a failure of the system on this file, to be appended to a message; may be empty.
pub(super) fn for_system(source: &io::Error, path: &Path) -> String {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Cause::Full.remedy(path),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Cause::NotWritable.remedy(path)
        }
        _ => String::new(),
    }
}

impl Cause {
    fn remedy(self, path: &Path) -> String {
        let folder = path.parent().unwrap_or(path).display();
        match self {
            Self::Full => format!(
                "; free space on the disk that holds {folder}, then continue with `prony resume`"
            ),
            Self::NotWritable => {
                format!("; make {folder} and its files writable, or copy it to where they are")
            }
            Self::Locked => "; another program writes to the file: wait for it or end it".into(),
            Self::Damaged => {
                "; the file is damaged: restore it from a copy, or run the experiment \
                              again"
                    .into()
            }
            Self::Disk => {
                format!(
                    "; free space on the disk that holds {folder} if it is full, or check it, \
                     then continue with `prony resume`"
                )
            }
        }
    }
}
