//! The files of an export.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use prony_report::tidy::{Table, Tables};

use crate::error::ExportError;
use crate::format::Format;
use crate::{bmf, csv, github, gobench, json, otava};

/// A file of an export.
#[derive(Debug)]
pub struct File {
    name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// A table, which is written row by row.
    Table(Table, Format),
    /// A document that fits into memory.
    Text(String),
}

impl File {
    /// Its name, for a folder that has all files of an export.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes its content.
    ///
    /// # Errors
    /// If the run can't be read, or `out` refuses data.
    pub fn write(
        &self,
        tables: &Tables<'_>,
        out: &mut (dyn Write + Send),
    ) -> Result<(), ExportError> {
        let failed = |source| ExportError::Write {
            name: self.name.clone(),
            source,
        };
        match &self.content {
            Content::Text(text) => out.write_all(text.as_bytes()).map_err(failed),
            Content::Table(table, Format::Parquet) => parquet(tables, *table, out),
            Content::Table(table, format) => {
                let columns = table.columns();
                if *format == Format::Csv {
                    csv::header(columns, out).map_err(failed)?;
                }
                for row in tables.rows(*table) {
                    let row = row?;
                    match format {
                        Format::Csv => csv::row(&row, out),
                        _ => json::row(columns, &row, out),
                    }
                    .map_err(failed)?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(feature = "parquet")]
fn parquet(
    tables: &Tables<'_>,
    table: Table,
    out: &mut (dyn Write + Send),
) -> Result<(), ExportError> {
    crate::parquet::write(tables.run(), table, tables.rows(table), out)
}

#[cfg(not(feature = "parquet"))]
fn parquet(_: &Tables<'_>, _: Table, _: &mut (dyn Write + Send)) -> Result<(), ExportError> {
    Err(ExportError::WithoutParquet)
}

/// The files of an export, of one table if it is named.
///
/// # Errors
/// If a table is named for a format that has none, or the run can't be read.
pub fn files(
    tables: &Tables<'_>,
    format: Format,
    chosen: Option<Table>,
) -> Result<Vec<File>, ExportError> {
    let text = |name: &str, text: String| File {
        name: name.to_owned(),
        content: Content::Text(text),
    };
    if let Some(extension) = format.extension() {
        let all = Table::ALL.into_iter();
        let wanted = all.filter(|table| chosen.is_none_or(|chosen| chosen == *table));
        let file = |table: Table| File {
            name: format!("{}.{extension}", table.name()),
            content: Content::Table(table, format),
        };
        return Ok(wanted.map(file).collect());
    }
    if chosen.is_some() {
        return Err(ExportError::NoTables { format });
    }
    Ok(match format {
        Format::Bmf => vec![text("bencher.json", bmf::document(tables))],
        Format::GitHub => github::DOCUMENTS
            .iter()
            .map(|(name, better)| text(name, github::document(tables, better)))
            .collect(),
        Format::Otava => otava::documents(tables)
            .into_iter()
            .map(|(name, document)| text(&name, document))
            .collect(),
        _ => vec![text("benchmarks.txt", gobench::document(tables)?)],
    })
}

/// Writes all files into a folder, which is created if it is missing. Nothing is written if one of the
/// files exists.
///
/// # Errors
/// If a file exists or can't be written; a file that is not whole is removed.
pub fn save(tables: &Tables<'_>, files: &[File], folder: &Path) -> Result<(), ExportError> {
    let create = |source| ExportError::Create {
        path: folder.to_owned(),
        source,
    };
    fs::create_dir_all(folder).map_err(create)?;
    let path = |file: &File| folder.join(&file.name);
    if let Some(path) = files.iter().map(path).find(|path| path.exists()) {
        return Err(ExportError::Exists { path });
    }
    let mut files = files.iter();
    files.try_for_each(|file| save_as(tables, file, &path(file)))
}

/// Writes one file at a path at which there is none.
///
/// # Errors
/// If it exists or can't be written; a file that is not whole is removed.
pub fn save_as(tables: &Tables<'_>, file: &File, path: &Path) -> Result<(), ExportError> {
    let created = fs::File::create_new(path).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => ExportError::Exists {
            path: path.to_owned(),
        },
        _ => ExportError::Create {
            path: path.to_owned(),
            source,
        },
    })?;
    let written = whole(tables, file, created).map_err(|error| match error {
        ExportError::Write { source, .. } => ExportError::Save {
            path: path.to_owned(),
            source,
        },
        other => other,
    });
    if written.is_err() {
        // The error names the cause; a part of a table would pass for all of it.
        let _unremovable = fs::remove_file(path);
    }
    written
}

/// Writes the content to its last byte on the disk: some file systems report only then that they are
/// full.
fn whole(tables: &Tables<'_>, file: &File, created: fs::File) -> Result<(), ExportError> {
    let failed = |source| ExportError::Write {
        name: file.name.clone(),
        source,
    };
    let mut out = BufWriter::new(created);
    file.write(tables, &mut out)?;
    let created = out
        .into_inner()
        .map_err(|error| failed(error.into_error()))?;
    created.sync_all().map_err(failed)
}
