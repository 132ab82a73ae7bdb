//! `prony report`: the report of a stored run.

use std::path::Path;

use prony_model::RatioDisplay;
use prony_report::{
    Extent, Format, JSON_SCHEMA, Screen, lineage, render_extent, render_relative, view,
};
use prony_store::{DefinitionFile, DefinitionKind, Store};

use crate::cli::{DisplayArg, FormatArg, ReportArgs};
use crate::commands::page;
use crate::failure::{ExitStatus, Failure};
use crate::output;

/// The result file within a run's folder.
pub(crate) const RESULT_FILE: &str = "run.sqlite";

/// Prints the report of a run, whatever state it is in, or writes it to a file. The page in the run's
/// folder stays as it is.
pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    if args.schema {
        return put(args, JSON_SCHEMA);
    }
    let store = Store::open_read_only(&result_file(args.run()?)?).map_err(Failure::usage)?;
    let format = args.format.into();
    if let Some(name) = &args.experiment {
        return put(args, &definition(&store, name)?);
    }
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
    put(args, &text.map_err(Failure::usage)?)
}

fn put(args: &ReportArgs, text: &str) -> Result<(), Failure> {
    match &args.output {
        Some(path) => page::replace(path, text),
        None => output::data(text),
    }
}

/// The text of the file of this name that the user wrote for the run; of the experiment's if the name is
/// empty.
fn definition(store: &Store, name: &str) -> Result<String, Failure> {
    let files = store.definitions().map_err(Failure::usage)?;
    if files.is_empty() {
        let message = "the run does not have the text of its experiment's file";
        return Err(Failure::new(ExitStatus::Usage, message).with_hint(
            "the Prony that began the run did not keep it; `prony report RUN --format html` has \
             everything that it asked for",
        ));
    }
    let is_wanted = |file: &&DefinitionFile| match name {
        "" => file.kind == DefinitionKind::Experiment,
        _ => file.name == name,
    };
    let found = files.iter().find(is_wanted);
    found.map(|file| file.text.clone()).ok_or_else(|| {
        let known: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let message = format!("the run does not have the file `{name}`");
        let hint = format!("its files are {}", known.join(", "));
        Failure::new(ExitStatus::Usage, message).with_hint(&hint)
    })
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
