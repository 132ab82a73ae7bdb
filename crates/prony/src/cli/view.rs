//! Arguments of `prony report` for a single table or graph.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use prony_report::{View, ViewOptions};

/// A single table or graph of a report, and the cells that it shows.
#[derive(Debug, Args)]
#[command(next_help_heading = "Views")]
pub(crate) struct ViewArgs {
    /// Show only this table or graph
    #[arg(long, value_name = "NAME", value_parser = views(), conflicts_with_all = ["lineage", "detail", "steps", "clients", "sections"])]
    pub(crate) view: Option<View>,
    /// Target that ratios are relative to, of a view or of the whole report, or the KEY:VALUE that a
    /// target's base has while it is equal otherwise, such as build:mysql-5.0.21. A view can have several,
    /// and `previous`: the target before, of another build [default: the experiment's]
    #[arg(long, value_name = "TARGET", conflicts_with = "lineage")]
    pub(crate) base: Vec<String>,
    /// Cells to show, such as clients:1,2 or step:update-*; may be given several times. Keys are step,
    /// workload, section, phase, clients, target, build, family, version, engine, protocol, transport
    /// and config.NAME
    #[arg(long, value_name = "KEY:VALUES", requires = "view")]
    only: Vec<String>,
    /// Keys that divide the tables
    #[arg(long, value_name = "KEYS", requires = "view", value_delimiter = ',')]
    table: Vec<String>,
    /// Keys of the rows
    #[arg(long, value_name = "KEYS", requires = "view", value_delimiter = ',')]
    row: Vec<String>,
    /// Keys of the columns
    #[arg(long, value_name = "KEYS", requires = "view", value_delimiter = ',')]
    col: Vec<String>,
}

impl ViewArgs {
    /// The cells and their arrangement.
    pub(crate) fn options(&self) -> ViewOptions {
        ViewOptions {
            bases: self.base.clone(),
            only: self.only.clone(),
            table: self.table.clone(),
            row: self.row.clone(),
            col: self.col.clone(),
        }
    }
}

/// Reads the name of a view; help lists them all.
fn views() -> impl TypedValueParser<Value = View> {
    let names = View::ALL.map(|view| PossibleValue::new(view.name()).help(view.summary()));
    let parser = PossibleValuesParser::new(names);
    parser.try_map(|name| View::named(&name).ok_or("no view has this name"))
}
