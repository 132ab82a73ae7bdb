//! Arguments of `prony export`.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use prony_export::Format;
use prony_report::tidy::Table;

/// Text below the help of the command.
pub(crate) const EXPLANATION: &str = "\
csv, json and parquet are tables with the same columns; `--table measurements` is the one to begin \
with. docs/formats/export.md describes all tables and formats, and docs/queries.md has examples for \
DuckDB, pandas, R and sqlite3.";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The run's folder
    pub(crate) run: PathBuf,
    /// Format, or the tool that reads it
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: ToArg,
    /// Table to write, where the format has tables [default: all of them]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(crate) table: Option<TableArg>,
    /// Folder for the files, which is created if it is missing; or, for a single file, the file.
    /// Nothing is overwritten. A single file goes to standard output without this option, or with `-`
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// A format of exports.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToArg(pub(crate) Format);

/// A table of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableArg(pub(crate) Table);

impl ValueEnum for ToArg {
    fn value_variants<'a>() -> &'a [Self] {
        const {
            &[
                Self(Format::Csv),
                Self(Format::Json),
                Self(Format::Parquet),
                Self(Format::GoBench),
                Self(Format::Bmf),
                Self(Format::GitHub),
                Self(Format::Otava),
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            Format::Csv => "Tables as CSV",
            Format::Json => "Tables as JSON lines, one object for each row",
            Format::Parquet => "Tables as Parquet, with types",
            Format::GoBench => "Go's benchmark format, for benchstat",
            Format::Bmf => "Bencher Metric Format, for bencher.dev",
            Format::GitHub => "Two documents for github-action-benchmark",
            Format::Otava => "Series over the targets for Apache Otava, with its configuration",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

impl ValueEnum for TableArg {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: [TableArg; Table::ALL.len()] = {
            let mut all = [TableArg(Table::ALL[0]); Table::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = TableArg(Table::ALL[index]);
                index += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}
