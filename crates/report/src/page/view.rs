//! Steps that make up the rows of a table, and targets that make up its columns.

use std::collections::BTreeSet;

use prony_model::{Plan, Step, Timing, TrialKind};
use prony_stats::{Pairs, Summary};

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;
use crate::analysis::sections::Section;
use crate::analysis::verdicts::Judged;
use crate::document::{Block, Cell, Table};
use crate::figures;
use crate::words;
use crate::words::plural;

/// Steps that make up the rows of a table.
pub(crate) struct View {
    /// The property that all rows share, such as `at 2 clients`.
    pub(crate) shared: String,
    /// Heading of the first column.
    pub(crate) first: &'static str,
    /// The clients of each row, and the row's name.
    pub(crate) rows: Vec<(GroupId, String)>,
}

impl View {
    /// Returns `true` if its rows are numbers of clients.
    pub(crate) fn is_sweep(&self) -> bool {
        self.first == CLIENTS
    }
}

/// Heading of the first column if rows are numbers of clients.
const CLIENTS: &str = "clients";

/// The layout of the steps of a section: one table for each number of clients, with a row for each
/// entry of the sequence; or, where there are more numbers of clients than entries, the other way
/// round.
pub(crate) fn views(plan: &Plan, section: &Section) -> Vec<View> {
    let steps = || {
        section
            .steps
            .iter()
            .map(|&index| (index, &plan.steps[index]))
    };
    let clients: BTreeSet<u32> = steps().map(|(_, step)| step.own().clients).collect();
    let mut entries: Vec<usize> = Vec::new();
    for (_, step) in steps() {
        if !entries.contains(&step.entry) {
            entries.push(step.entry);
        }
    }
    if clients.len() > entries.len() {
        return entries
            .iter()
            .map(|&entry| sweep(plan, section, entry))
            .collect();
    }
    let at = |clients: u32| View {
        shared: format!("at {}", plural(clients.into(), "client")),
        first: "step",
        rows: steps()
            .filter(|(_, step)| step.own().clients == clients)
            .flat_map(|(index, step)| rows(plan, index, &named(step)))
            .collect(),
    };
    clients.into_iter().map(at).collect()
}

/// One entry over the numbers of clients.
fn sweep(plan: &Plan, section: &Section, entry: usize) -> View {
    let mut steps: Vec<(usize, &Step)> = section
        .steps
        .iter()
        .map(|&index| (index, &plan.steps[index]))
        .filter(|(_, step)| step.entry == entry)
        .collect();
    steps.sort_by_key(|(_, step)| step.own().clients);
    let name = steps.first().map(|(_, step)| named(step));
    View {
        shared: format!("in {}", name.unwrap_or_default()),
        first: CLIENTS,
        rows: steps
            .iter()
            .flat_map(|(index, step)| rows(plan, *index, &words::count(step.own().clients.into())))
            .collect(),
    }
}

/// The row of a step, and those of the groups beside it.
fn rows(plan: &Plan, step: usize, name: &str) -> Vec<(GroupId, String)> {
    let groups = GroupId::of_step(plan, step);
    groups
        .map(|group| (group, group.named(plan, name)))
        .collect()
}

/// A step with the condition that its figures depend on.
fn named(step: &Step) -> String {
    match step.timing {
        Timing::Operations => step.name.clone(),
        Timing::WholeRun => format!("{}, whole run", step.name),
    }
}

/// A table with a column for each of `targets`, and these rows of their figures.
pub(crate) fn by_target(
    analysis: &Analysis<'_>,
    first: &str,
    targets: &[usize],
    rows: impl IntoIterator<Item = (String, Vec<Cell>)>,
) -> Table {
    let header = targets.iter().map(|&target| column_name(analysis, target));
    let row = |(name, cells): (String, Vec<Cell>)| {
        let name = std::iter::once(Cell::from(name));
        name.chain(cells).collect()
    };
    let header = std::iter::once(Cell::from(first)).chain(header);
    Table::of_figures(header, rows.into_iter().map(row))
}

/// A figure over the blocks, as a table shows it.
pub(crate) struct Shown {
    pub(crate) text: String,
    pub(crate) value: f64,
    /// The number of blocks behind it.
    pub(crate) n: usize,
    /// The kind of trials behind it.
    pub(crate) taken: TrialKind,
}

impl Shown {
    /// A mean of timed trials.
    pub(crate) fn mean(summary: &Summary) -> Self {
        Self {
            text: figures::mean(summary),
            value: summary.mean,
            n: summary.n,
            taken: TrialKind::Timed,
        }
    }

    /// A ratio of timed trials.
    pub(crate) fn ratio(analysis: &Analysis<'_>, pairs: &Pairs) -> Self {
        Self::estimate(&analysis.verdicts.looks.of_pairs(pairs))
    }

    /// A ratio of timed trials with its interval.
    pub(crate) fn estimate(estimate: &Estimate) -> Self {
        Self {
            text: figures::ratio(estimate),
            value: estimate.ratio(),
            n: estimate.n(),
            taken: TrialKind::Timed,
        }
    }
}

/// A table with a column for each of `targets`, and a row for each of `rows`; `figure` tells what is
/// shown, and if a warning concerns it. Beside the table the greatest number of blocks behind its
/// figures, of timed trials where there are any. `None` without figures.
pub(crate) fn figures_by_target<R>(
    analysis: &Analysis<'_>,
    first: &str,
    targets: &[usize],
    rows: impl IntoIterator<Item = (String, R)>,
    figure: impl Fn(&R, usize) -> (Option<Shown>, bool),
) -> Option<(Table, usize)> {
    let rows = rows.into_iter().map(|(name, row)| {
        let figures = targets.iter().map(|&target| figure(&row, target));
        (name, figures.collect::<Vec<_>>())
    });
    let rows: Vec<_> = rows.collect();
    let n_max = |kind: TrialKind| {
        let shown = rows.iter().flat_map(|(_, figures)| figures);
        let shown = shown.filter_map(|(shown, _)| shown.as_ref());
        let of_kind = shown.filter(|shown| shown.taken == kind);
        of_kind.map(|shown| shown.n).max()
    };
    let (timed, counted) = (n_max(TrialKind::Timed), n_max(TrialKind::Counting));
    let cell = |(shown, mark): (Option<Shown>, bool)| {
        let figure = shown.map(|shown| {
            let n_max = match shown.taken {
                // No metric is taken in profiling trials.
                TrialKind::Timed | TrialKind::Profiling => timed,
                TrialKind::Counting => counted,
            };
            let text = with_n(shown.text, shown.n, n_max.unwrap_or(shown.n));
            Cell::figure(text, shown.value)
        });
        Cell::from(figure).marked(mark)
    };
    let n = timed.or(counted)?;
    let cells = |(name, figures): (String, Vec<_>)| (name, figures.into_iter().map(cell).collect());
    let table = by_target(analysis, first, targets, rows.into_iter().map(cells));
    Some((table, n))
}

/// The heading of a target's column.
pub(crate) fn column_name(analysis: &Analysis<'_>, target: usize) -> Cell {
    name_of(analysis, target, |name| name)
}

/// The same for the row of a group of clients, with the group if it runs beside the step's own.
pub(crate) fn row_name(analysis: &Analysis<'_>, group: GroupId, target: usize) -> Cell {
    name_of(analysis, target, |name| group.named(analysis.plan, &name))
}

fn name_of(analysis: &Analysis<'_>, target: usize, words: impl Fn(String) -> String) -> Cell {
    let base = if analysis.plan.is_base(target) {
        " (base)"
    } else {
        ""
    };
    let name = &analysis.plan.targets[target].name;
    Cell::from(words(format!("{name}{base}"))).marked(analysis.trials.failed(target))
}

/// Adds the number of blocks to a figure that rests on fewer than the heading says.
pub(crate) fn with_n(figure: String, n: usize, n_max: usize) -> String {
    if n == n_max {
        figure
    } else {
        format!("{figure} n={n}")
    }
}

/// The number of blocks behind the figures of a table.
pub(crate) fn over_blocks(what: &str, n: usize) -> String {
    if n == 1 {
        "1 block".to_owned()
    } else {
        format!("{what} of {n} blocks")
    }
}

/// The step's name, with its clients where the plan has several numbers of these.
pub(crate) fn with_clients(analysis: &Analysis<'_>, name: &str, step: &Step) -> String {
    if analysis.client_counts().len() == 1 {
        return name.to_owned();
    }
    format!("{name} at {}", plural(step.own().clients.into(), "client"))
}

/// The name of a target without the first word, such as `mysql-`, if all names begin with it.
pub(crate) fn short_name<'a>(analysis: &Analysis<'a>, target: usize) -> &'a str {
    let targets = &analysis.plan.targets;
    let name = targets[target].name.as_str();
    let word = name.find('-').map_or("", |end| &name[..=end]);
    let mut others = targets.iter();
    let is_shared =
        others.all(|other| other.name.len() > word.len() && other.name.starts_with(word));
    if is_shared { &name[word.len()..] } else { name }
}

/// Step, clients and target of a verdict.
pub(crate) fn place(analysis: &Analysis<'_>, judged: &Judged) -> String {
    let target = &analysis.plan.targets[judged.target].name;
    format!("{}, {target}", step_name(analysis, judged.group))
}

/// The step of a group, with its clients where steps differ in these, and the group's name.
pub(crate) fn step_name(analysis: &Analysis<'_>, group: GroupId) -> String {
    let step = &analysis.plan.steps[group.step];
    group.named(analysis.plan, &with_clients(analysis, &step.name, step))
}

/// Values by what they have in common, in the order in which they come.
pub(crate) fn grouped<K: PartialEq, V>(
    values: impl IntoIterator<Item = (K, V)>,
) -> Vec<(K, Vec<V>)> {
    let mut groups: Vec<(K, Vec<V>)> = Vec::new();
    for (key, value) in values {
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, values)) => values.push(value),
            None => groups.push((key, vec![value])),
        }
    }
    groups
}

/// The line below a table that hides `more` rows.
pub(crate) fn more_rows(more: usize) -> Option<Block> {
    let rows = plural(more as u64, "more row");
    let text = format!("… and {rows}: see the Markdown or JSON report.");
    (more > 0).then_some(Block::Paragraph(text))
}
