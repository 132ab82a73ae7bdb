//! The arguments of `prony compare`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use prony_model::Metric;

use super::FormatArg;

pub(crate) const EXPLANATION: &str = "\
Keys: run, target, build, family, version, engine, transport, protocol, backend, host, kernel, step,
workload, group, section, phase, clients, beside, config.NAME, param.NAME.
Filter: key:value, key:(a OR b), -key:value to exclude; * stands for any text; all terms must hold.
Order of a key: key@num by the numbers in it, key@(a b) these values only, in this order. The first
column is the reference of its row.";

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Folders of runs, each with a name for it if you like: new=runs/x
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Target whose column comes first [default: the base of each run]
    #[arg(long, value_name = "TARGET")]
    pub(crate) base: Option<String>,
    /// Compare only these cells, such as 'clients:1 -step:scan*'
    #[arg(
        long,
        value_name = "EXPR",
        default_value = "",
        allow_hyphen_values = true
    )]
    pub(crate) filter: String,
    /// Metric to compare, by its name in docs/metrics.md
    #[arg(
        long,
        value_name = "NAME",
        default_value = Metric::Operations.facts().id,
        value_parser = metrics(),
        hide_possible_values = true
    )]
    pub(crate) metric: Metric,
    /// Show the compared figures themselves beside their ratios
    #[arg(long)]
    pub(crate) values: bool,
    /// Keys of the rows
    #[arg(long, value_name = "KEYS", default_value = "step,clients,beside")]
    pub(crate) row: String,
    /// Keys of the columns [default: target, and run where there are several]
    #[arg(long, value_name = "KEYS")]
    pub(crate) col: Option<String>,
    /// Keys of the tables
    #[arg(long, value_name = "KEYS", default_value = "section")]
    pub(crate) table: String,
    /// Output format
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,
}

/// A metric by its name in CSV and JSON.
fn metrics() -> impl TypedValueParser<Value = Metric> {
    let ids = Metric::all().map(|metric| metric.facts().id);
    PossibleValuesParser::new(ids).map(|id| {
        let mut all = Metric::all();
        let chosen = all.find(|metric| metric.facts().id == id);
        chosen.unwrap_or(Metric::Operations)
    })
}
