//! `prony export`: a stored run for other tools.

use std::io::IsTerminal as _;
use std::path::Path;

use prony_export::{ExportError, File, Format, files, save, save_as};
use prony_report::tidy::Tables;
use prony_store::Store;

use crate::cli::ExportArgs;
use crate::commands::report::result_file;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// The path that stands for standard output.
const STANDARD_OUTPUT: &str = "-";

/// Writes a run, whatever state it is in.
pub(crate) fn export(args: &ExportArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&result_file(&args.run)?).map_err(Failure::usage)?;
    let tables = Tables::of(&store).map_err(Failure::usage)?;
    let format = args.to.0;
    let table = args.table.map(|table| table.0);
    let files = files(&tables, format, table).map_err(|error| failure(&error))?;
    let output = args.output.as_deref();
    match (
        output.filter(|path| *path != Path::new(STANDARD_OUTPUT)),
        &files[..],
    ) {
        (None, [file]) => print(&tables, format, file),
        (None, _) => {
            let error = ExportError::SeveralFiles {
                format,
                count: files.len(),
            };
            Err(failure(&error).with_hint(remedy(format)))
        }
        (Some(path), [file]) if !path.is_dir() => {
            save_as(&tables, file, path).map_err(|error| failure(&error))
        }
        (Some(folder), _) => save(&tables, &files, folder).map_err(|error| failure(&error)),
    }
}

fn remedy(format: Format) -> &'static str {
    match format {
        Format::Csv | Format::Json | Format::Parquet => {
            "name a folder with -o, or one table, such as --table measurements"
        }
        _ => "name a folder with -o",
    }
}

fn print(tables: &Tables<'_>, format: Format, file: &File) -> Result<(), Failure> {
    if format == Format::Parquet && std::io::stdout().is_terminal() {
        let message = "Parquet is not for terminals";
        return Err(Failure::new(ExitStatus::Usage, message).with_hint("name a file with -o"));
    }
    output::stream(|out| match file.write(tables, out) {
        Err(ExportError::Write { source, .. }) => Ok(Err(source)),
        Err(error) => Err(failure(&error)),
        Ok(()) => Ok(Ok(())),
    })
}

/// Only the host can be blamed for a file that can't be written to its end.
fn failure(error: &ExportError) -> Failure {
    match error {
        ExportError::Save { .. } | ExportError::Write { .. } => Failure::host(error),
        _ => Failure::usage(error),
    }
}
