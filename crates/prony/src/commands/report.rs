//! `prony report`: the report of a stored run.

use std::path::Path;

use prony_model::RatioDisplay;
use prony_report::{Extent, Format, Screen, lineage, render_extent, render_relative, view};
use prony_store::Store;

use crate::cli::{DisplayArg, FormatArg, ReportArgs};
use crate::commands::page;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// The result file within a run's folder.
pub(crate) const RESULT_FILE: &str = "run.sqlite";

/// Prints the report of a run, whatever state it is in, or writes it to a file. The page in the run's
/// folder stays as it is.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    let store = Store::open_read_only(&result_file(&args.run)?).map_err(Failure::usage)?;
    let format = args.format.into();
    let text = if args.lineage {
        lineage(&store, format, output::screen())
    } else if let Some(name) = args.view.view {
        view(&store, name, &args.view.options(), format)
    } else {
        let screen = args
            .output
            .as_ref()
            .map_or_else(output::screen, |_| Screen::default());
        let display = args.display.map(Into::into);
        let extent = args.extent.extent();
        match args.view.base.as_slice() {
            [] => render_extent(&store, format, &extent, display, screen),
            [base] => render_relative(&store, base, format, &extent, display, screen),
            several => {
                let message = format!(
                    "a report is relative to one base, and {} are given",
                    several.len()
                );
                let hint = "give one --base, or choose a view, such as --view relative";
                return Err(Failure::new(ExitStatus::Usage, message).with_hint(hint));
            }
        }
    };
    let text = text.map_err(Failure::usage)?;
    match &args.output {
        Some(path) => page::replace(path, &text),
        None => output::data(&text),
    }
}

/// Prints an extent of the report of an open run.
pub(crate) fn print(store: &Store, format: FormatArg, extent: &Extent) -> Result<(), Failure> {
    let text = render_extent(store, format.into(), extent, None, output::screen());
    output::data(&text.map_err(Failure::usage)?)
}

impl From<DisplayArg> for RatioDisplay {
    fn from(display: DisplayArg) -> Self {
        match display {
            DisplayArg::Throughput => Self::Throughput,
            DisplayArg::Time => Self::Time,
        }
    }
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
