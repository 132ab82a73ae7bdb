//! `prony report`: the report of a stored run.

use std::path::Path;

use prony_report::{Format, lineage, render};
use prony_store::Store;

use crate::cli::{FormatArg, ReportArgs};
use crate::commands::page;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// The result file within a run's folder.
pub(crate) const RESULT_FILE: &str = "run.sqlite";

/// Prints the report of a run, whatever state it is in, or writes it to a file. The page in the run's
/// folder stays as it is.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&result_file(&args.run)?).map_err(Failure::usage)?;
    let text = if args.lineage {
        lineage(&store, args.format.into())
    } else {
        render(&store, args.format.into())
    };
    let text = text.map_err(Failure::usage)?;
    match &args.output {
        Some(path) => page::replace(path, &text),
        None => output::data(&text),
    }
}

/// Prints the report of an open run.
pub(crate) fn print(store: &Store, format: FormatArg) -> Result<(), Failure> {
    let text = render(store, format.into()).map_err(Failure::usage)?;
    output::data(&text)
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Text => Self::Text,
            FormatArg::Md => Self::Markdown,
            FormatArg::Csv => Self::Csv,
            FormatArg::Json => Self::Json,
            FormatArg::Html => Self::Html,
        }
    }
}

/// The result file of the run that the user named by its folder, or by the file itself.
pub(crate) fn result_file(run: &Path) -> Result<std::path::PathBuf, Failure> {
    let path = if run.is_dir() {
        run.join(RESULT_FILE)
    } else {
        run.to_owned()
    };
    if path.is_file() {
        return Ok(path);
    }
    let message = format!(
        "{} is not a run: there is no {RESULT_FILE} in it",
        run.display()
    );
    Err(Failure::new(ExitStatus::Usage, message).with_hint(
        "give the folder that `prony run` created, such as runs/quickstart-20260101-120000",
    ))
}
