//! How much the ratios of a run vary from host to host.

use crate::analysis::Analysis;
use crate::analysis::by_host::{ByHost, Contradiction};
use crate::analysis::estimate::LEVEL;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::words::{listed, share};

/// The table of contenders. Empty where one host measured.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    let rows: Vec<_> = analysis
        .by_host
        .iter()
        .map(|of| row(analysis, of))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let header = [
        "target",
        "hosts",
        "all hosts",
        "lowest",
        "highest",
        "between hosts",
        "within a host",
    ];
    let title = format!(
        "Throughput relative to {}, over the steps, by host",
        analysis.plan.base_words()
    );
    vec![
        Block::Heading(title),
        Block::Table(Table::of_words(header, rows)),
    ]
}

fn row(analysis: &Analysis<'_>, of: &ByHost) -> Vec<Cell> {
    let named = |place: Option<&(String, f64)>| {
        place.map_or_else(String::new, |(host, ratio)| {
            format!("{} ({host})", figures::with_interval(*ratio, None))
        })
    };
    let (between, within) = match of.deviations {
        Some((between, within)) => (share(between), share(within)),
        // A block for each host does not tell one from the other.
        None => ("-".to_owned(), "-".to_owned()),
    };
    let all = figures::with_interval(of.all.ratio(), of.all.interval(LEVEL));
    let words = [
        analysis.plan.targets[of.target].name.clone(),
        of.hosts.len().to_string(),
        all,
        named(of.hosts.first()),
        named(of.hosts.last()),
        between,
        within,
    ];
    words.map(Cell::from).into()
}

/// Hosts that contradict each other, a sentence for each step and target.
pub(crate) fn contradictions(analysis: &Analysis<'_>) -> impl Iterator<Item = String> {
    analysis.contradictions.iter().map(|of| {
        let Contradiction { step, target, .. } = *of;
        let hosts = |hosts: &[(String, f64)]| {
            let named = hosts.iter();
            let named = named.map(|(host, ratio)| {
                format!("{host} ({})", figures::with_interval(*ratio, None))
            });
            listed(&named.collect::<Vec<_>>())
        };
        format!(
            "{}, {}: faster than {} on {}, and slower on {}: which of them is faster depends on the host",
            analysis.plan.steps[step].name,
            analysis.plan.targets[target].name,
            analysis.base_name(target),
            hosts(&of.faster),
            hosts(&of.slower)
        )
    })
}
