//! An explanation as a page.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use prony_profile::{
    Comparison, Costs, FunctionName, FunctionRow, MappedBy, NOT_MAPPED, Pair, PathRow, Presence,
    Taking,
};

use super::answer::{Compared, Explanation};
use super::cells::{Cells, Profiled};
use super::question::{ExplainBy, ExplainUnit};
use super::samples::lost_share;
use super::times::{OperationTime, Times};
use crate::chart::{Axis, Chart, Line, Point, Scale};
use crate::document::{Block, Cell, Table};
use crate::figures::significant;
use crate::words::{listed, plural, share, whole};

/// The share of all differences between functions that is shown.
const TOLD: f64 = 0.9;
/// The most functions that are shown where other kinds of rows are shown too.
const FUNCTIONS_MOST: usize = 20;
/// The same of paths.
const PATHS_MOST: usize = 12;
/// Components that the first sentence names, in each direction.
const NAMED_MOST: usize = 3;
/// Shares of functions without names from which on the first screen says so.
const UNNAMED_FROM: f64 = 0.2;
/// The same of a library without names.
const NAMELESS_FROM: f64 = 0.01;
/// The same of lost samples.
const LOST_FROM: f64 = 0.02;
/// Functions of a path that are shown, from the innermost on.
const PATH_PARTS: usize = 2;
/// Targets from which on a graph shows how components change from one to the next.
const LINEAGE_FROM: usize = 3;
/// Components of such a graph.
const LINES_MOST: usize = 8;
/// The most components that are shown unless all are asked for.
const COMPONENTS_MOST: usize = 20;

/// The whole page; `by` leaves one kind of rows, and all of it.
pub(super) fn document(
    explanation: &Explanation<'_>,
    unit: ExplainUnit,
    times: Option<&Times>,
    by: Option<ExplainBy>,
) -> Vec<Block> {
    match explanation {
        Explanation::Two(two) if two.is_alone() => alone(two.target, unit, times, by),
        Explanation::Two(two) => compared(two, unit, times, by),
        Explanation::All(cells) => side_by_side(cells, unit, times, by),
        Explanation::Grown(grown) => overview(grown, unit),
    }
}

fn compared(
    two: &Compared<'_>,
    unit: ExplainUnit,
    times: Option<&Times>,
    by: Option<ExplainBy>,
) -> Vec<Block> {
    let (base, target) = (&two.base.name, &two.target.name);
    let step = step(two.target);
    let per_operation = unit.of_operation();
    let mut blocks = vec![
        Block::Title(format!("{step}: {target} beside {base}, {per_operation}")),
        Block::Paragraph(answer(two, unit)),
    ];
    let comparison = &two.comparison;
    let wants = |kind| by.is_none_or(|only| only == kind);
    if wants(ExplainBy::Component) {
        blocks.push(Block::Heading("Components".into()));
        blocks.push(Block::Table(components(two, components_most(by))));
    }
    if wants(ExplainBy::Function) {
        let told = comparison.functions_that_make(TOLD);
        let shown = if by.is_some() {
            told
        } else {
            told.min(FUNCTIONS_MOST)
        };
        blocks.push(Block::Heading("Functions".into()));
        blocks.push(Block::Table(functions(two, shown)));
        blocks.push(Block::Paragraph(share_of_functions(
            comparison, shown, told,
        )));
    }
    if wants(ExplainBy::Path) {
        let rows = telling(&comparison.paths, comparison.total.base);
        let most = if by.is_some() { rows.len() } else { PATHS_MOST };
        blocks.push(Block::Heading("Functions with all that they call".into()));
        blocks.push(Block::Table(paths(two, &rows[..most.min(rows.len())])));
    }
    if by.is_none() {
        blocks.extend(time_blocks(&[two.base, two.target], times));
    }
    blocks.push(Block::Heading("How to read this".into()));
    blocks.push(Block::List(legend(two, unit)));
    blocks
}

/// Where the time of an operation goes.
fn time_blocks(cells: &[&Profiled], times: Option<&Times>) -> Vec<Block> {
    let Some(times) = times else {
        return Vec::new();
    };
    let of: Vec<&OperationTime> = cells.iter().map(|cell| times.of(cell.target)).collect();
    if of.iter().all(|time| time.whole.is_none()) {
        return Vec::new();
    }
    let row = |name: &str, values: Vec<Option<f64>>| {
        let mut row = vec![Cell::from(name)];
        row.extend(values.into_iter().zip(&of).map(|(value, time)| {
            let cell = value.map(|value| Cell::figure(significant(value), value));
            Cell::from(cell).marked(time.is_doubtful && value.is_some())
        }));
        row
    };
    let mut rows = Vec::new();
    for (index, (name, _)) in of[0].parts.iter().enumerate() {
        rows.push(row(
            name,
            of.iter().map(|time| time.parts[index].1).collect(),
        ));
    }
    for (name, value) in [
        (
            "waiting",
            OperationTime::waiting as fn(&OperationTime) -> Option<f64>,
        ),
        ("round trip", |time| time.whole),
        ("server, ready to run", |time| time.ready),
    ] {
        rows.push(row(name, of.iter().map(|time| value(time)).collect()));
    }
    let mut header = vec![Cell::from("time, µs")];
    header.extend(cells.iter().map(|cell| Cell::from(cell.name.as_str())));
    vec![
        Block::Heading("Time of an operation, in timed trials".into()),
        Block::Table(Table::of_figures(header, rows)),
        Block::Paragraph(
            "Waiting is the rest of the round trip: for a processor, locks, the log, storage, the network, and to \
             be woken. Where client and server share a processor, the server is ready to run while the client \
             has it."
                .into(),
        ),
    ]
    .into_iter()
    .chain(wait_blocks(cells, &of))
    .collect()
}

/// What threads of sessions wait for.
fn wait_blocks(cells: &[&Profiled], of: &[&OperationTime]) -> Vec<Block> {
    let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
    for (kind, time) in of.iter().flat_map(|time| &time.waits) {
        *sizes.entry(kind).or_default() += time;
    }
    if sizes.is_empty() {
        return Vec::new();
    }
    let mut kinds: Vec<(&str, f64)> = sizes.into_iter().collect();
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rows = kinds.into_iter().map(|(kind, _)| {
        let mut row = vec![Cell::from(kind)];
        row.extend(of.iter().map(|time| {
            let value = time.waits.get(kind).copied();
            Cell::from(value.map(|value| Cell::figure(significant(value), value)))
        }));
        row
    });
    let mut header = vec![Cell::from("sessions, µs")];
    header.extend(cells.iter().map(|cell| Cell::from(cell.name.as_str())));
    vec![
        Block::Heading("What threads of sessions wait for".into()),
        Block::Table(Table::of_figures(header, rows)),
        Block::Paragraph(
            "Time from one operation of a client to its next, by where its thread was found in profiling trials: \
             up to a hundred looks a second."
                .into(),
        ),
    ]
}

/// The first sentences: totals, and the components that changed most.
fn answer(two: &Compared<'_>, unit: ExplainUnit) -> String {
    let total = two.comparison.total;
    let grown = total.difference() / total.base.max(f64::MIN_POSITIVE);
    let (takes, fewer) = match unit {
        ExplainUnit::Instructions => ("instructions per operation in user space", "fewer"),
        ExplainUnit::Time => ("nanoseconds of a processor per operation", "less"),
    };
    let mut text = format!(
        "Sessions of {} take {} {takes}, {} {} than those of {} ({}{:.1} %).",
        two.target.name,
        whole(total.target),
        whole(total.difference().abs()),
        if total.difference() < 0.0 {
            fewer
        } else {
            "more"
        },
        two.base.name,
        if grown < 0.0 { "-" } else { "+" },
        grown.abs() * 100.0,
    );
    if !total.differs(total.base) {
        text.push_str(match unit {
            ExplainUnit::Instructions => " That is no more than starts of one server differ by.",
            ExplainUnit::Time => " That is no more than samples of one server differ by.",
        });
    }
    let fewer = match unit {
        ExplainUnit::Instructions => "Fewer",
        ExplainUnit::Time => "Less",
    };
    for (more, begin) in [(true, "More"), (false, fewer)] {
        let changed = changed_components(&two.comparison, more, NAMED_MOST);
        if !changed.is_empty() {
            // Writing to a String cannot fail.
            let _ = write!(text, " {begin} in {}.", listed(&changed));
        }
    }
    let unnamed = two.comparison.unnamed;
    for (name, share_of) in [
        (&two.base.name, unnamed.base / total.base),
        (&two.target.name, unnamed.target / total.target),
    ] {
        if share_of >= UNNAMED_FROM {
            let _ = write!(
                text,
                " ! {} of the cost of {name} is in functions without symbols: its components are estimates, by \
                 caller and library.",
                share(share_of)
            );
        }
    }
    text
}

/// The components that changed most in one direction, with their differences.
fn changed_components(comparison: &Comparison, more: bool, most: usize) -> Vec<String> {
    let rows = comparison.components.iter();
    let rows = rows.filter(|row| row.cost.differs(comparison.total.base));
    let rows = rows.filter(|row| (row.cost.difference() > 0.0) == more);
    rows.take(most)
        .map(|row| format!("{} ({})", row.component, signed(row.cost.difference())))
        .collect()
}

/// The components that make a target slower or faster, in words; `None` where none is known to do so, or where the
/// whole changed the other way: it is then no reason.
pub(super) fn reason(two: &Compared<'_>, unit: ExplainUnit, is_slower: bool) -> Option<String> {
    let changed = changed_components(&two.comparison, is_slower, NAMED_MOST);
    let (takes, unit) = match unit {
        ExplainUnit::Instructions => ("executes", "instructions per operation"),
        ExplainUnit::Time => ("takes", "ns of a processor per operation"),
    };
    let difference = two.comparison.total.difference();
    let explains = if is_slower {
        difference > 0.0
    } else {
        difference < 0.0
    };
    (explains && !changed.is_empty()).then(|| {
        format!(
            "{} {takes} {} {unit}, mostly in {}",
            two.target.name,
            signed(difference),
            listed(&changed)
        )
    })
}

fn components_most(by: Option<ExplainBy>) -> usize {
    by.map_or(COMPONENTS_MOST, |_| usize::MAX)
}

/// Components with their differences. Those behind the first `most` have one row together.
fn components(two: &Compared<'_>, most: usize) -> Table {
    let comparison = &two.comparison;
    let (last, mapped): (Vec<_>, Vec<_>) = comparison
        .components
        .iter()
        .partition(|row| row.component == NOT_MAPPED);
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for row in mapped.iter().take(most) {
        rows.push(figures(row.component.clone(), row.cost));
    }
    let rest = mapped.get(most..).unwrap_or_default();
    if !rest.is_empty() {
        let sum = |side: fn(&Pair) -> f64| rest.iter().map(|row| side(&row.cost)).sum();
        let cost = Pair {
            base: sum(|cost| cost.base),
            target: sum(|cost| cost.target),
            within: comparison
                .total
                .within
                .map(|_| sum(|cost| cost.within.unwrap_or(0.0))),
            is_significant: None,
        };
        rows.push(figures(others(rest.len()), cost));
    }
    for row in last {
        rows.push(figures(row.component.clone(), row.cost));
    }
    rows.push(figures("all of sessions".to_owned(), comparison.total));
    rows.push(figures("other threads".to_owned(), comparison.background));
    Table::of_figures(head("component", two), rows)
}

/// The name of a row for several components.
fn others(count: usize) -> String {
    format!("{} more", plural(count as u64, "component"))
}

fn functions(two: &Compared<'_>, shown: usize) -> Table {
    let rows = two.comparison.functions[..shown].iter().map(|row| {
        let mut cells = figures(row.name.to_string(), row.cost);
        cells.push(presence(row).into());
        cells.push(component(row).into());
        cells
    });
    let mut header = head("function", two);
    header.extend([Cell::from("is"), "component".into()]);
    Table::of_figures(header, rows)
}

fn presence(row: &FunctionRow) -> String {
    match &row.presence {
        Presence::Both => String::new(),
        Presence::New => "new".to_owned(),
        Presence::Gone => "gone".to_owned(),
        Presence::Renamed(old) => format!("was {old}"),
    }
}

/// A component that is not known by the function's own name has a mark.
fn component(row: &FunctionRow) -> String {
    match row.mapped {
        MappedBy::Caller => format!("~{}", row.component),
        _ => row.component.clone(),
    }
}

fn share_of_functions(comparison: &Comparison, shown: usize, told: usize) -> String {
    let size = |row: &FunctionRow| row.cost.difference().abs();
    let all: f64 = comparison.functions.iter().map(size).sum();
    let of_shown: f64 = comparison.functions[..shown].iter().map(size).sum();
    let mut text = if all > 0.0 {
        format!(
            "{} {} {} of all differences between functions, counted without their signs.",
            plural(shown as u64, "function"),
            if shown == 1 { "makes" } else { "make" },
            share(of_shown / all)
        )
    } else {
        "No function differs.".to_owned()
    };
    if told > shown {
        let functions = plural(told as u64, "function");
        let made = share(TOLD);
        let _ = write!(
            text,
            " {functions} would make {made}: `--by function` shows them."
        );
    }
    text
}

/// Paths without those that only repeat one that is shown: a caller whose difference is that of a function
/// that it calls.
fn telling(paths: &[PathRow], total_of_base: f64) -> Vec<&PathRow> {
    let mut shown: Vec<&PathRow> = Vec::new();
    let differing: Vec<&PathRow> = paths
        .iter()
        .filter(|row| row.cost.differs(total_of_base))
        .collect();
    for row in &differing {
        let difference = row.cost.difference();
        let passes_on = differing.iter().any(|other| {
            other.path.len() > row.path.len()
                && other.path.starts_with(&row.path)
                && (other.cost.difference() - difference).abs() <= 0.1 * difference.abs()
        });
        if !passes_on {
            shown.push(row);
        }
    }
    shown
}

fn paths(two: &Compared<'_>, rows: &[&PathRow]) -> Table {
    let rows = rows.iter().map(|row| {
        let parts = row.path.len();
        let from = parts.saturating_sub(PATH_PARTS);
        let mut name = row.path[from..].join(" > ");
        if from > 0 {
            name.insert_str(0, ".. > ");
        }
        figures(name, row.cost)
    });
    Table::of_figures(head("path", two), rows)
}

/// A step of one target alone.
fn alone(
    cell: &Profiled,
    unit: ExplainUnit,
    times: Option<&Times>,
    by: Option<ExplainBy>,
) -> Vec<Block> {
    let name = &cell.name;
    let title = format!("{}: {name}, {}", step(cell), unit.of_operation());
    of_targets(title, &[cell], unit, times, by)
}

fn of_targets(
    title: String,
    cells: &[&Profiled],
    unit: ExplainUnit,
    times: Option<&Times>,
    by: Option<ExplainBy>,
) -> Vec<Block> {
    let table = columns(cells, components_most(by));
    let mut blocks = vec![Block::Title(title), Block::Table(table)];
    blocks.extend(time_blocks(cells, times));
    blocks.push(Block::Heading("How to read this".into()));
    let mut lines = common_legend(unit);
    lines.extend(cells.iter().filter_map(|cell| sessionless(cell)));
    lines.extend(cells.iter().filter_map(|cell| sampling(cell)));
    blocks.push(Block::List(lines));
    blocks
}

/// A step of all targets.
fn side_by_side(
    cells: &[&Profiled],
    unit: ExplainUnit,
    times: Option<&Times>,
    by: Option<ExplainBy>,
) -> Vec<Block> {
    let Some(first) = cells.first() else {
        return vec![Block::Paragraph(
            "No target has an execution profile of this step.".into(),
        )];
    };
    let title = format!("{}: {} by component", step(first), unit.of_operation());
    of_targets(title, cells, unit, times, by)
}

/// The heading of a flame graph on a page.
pub(super) fn graph_title(two: &Compared<'_>) -> String {
    format!(
        "{}: {} (above) beside {}; red is more, blue is less",
        step(two.target),
        two.target.name,
        two.base.name
    )
}

/// All steps one after the other, each with all targets, and a graph of those that have one base.
pub(super) fn of_all_steps(cells: &Cells, base_of: &dyn Fn(usize) -> usize) -> Vec<Block> {
    let unit = cells.unit;
    let all: Vec<&Profiled> = cells.all().collect();
    let of_step = all.chunk_by(|one, next| (&one.step, one.clients) == (&next.step, next.clients));
    let mut blocks = Vec::new();
    for cells in of_step {
        blocks.push(Block::Heading(step(cells[0])));
        blocks.push(Block::Table(columns(cells, usize::MAX)));
        let mut families: BTreeMap<usize, Vec<&Profiled>> = BTreeMap::new();
        for cell in cells {
            families.entry(base_of(cell.target)).or_default().push(cell);
        }
        blocks.extend(families.values().filter_map(|family| lineage(family, unit)));
    }
    blocks.push(Block::List(common_legend(unit)));
    blocks
}

/// The largest components over the targets of a family, such as versions from old to new.
fn lineage(family: &[&Profiled], unit: ExplainUnit) -> Option<Block> {
    if family.len() < LINEAGE_FROM {
        return None;
    }
    let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
    for costs in family.iter().flat_map(|cell| &cell.trials) {
        for (component, own) in &costs.components {
            let largest = sizes.entry(component).or_default();
            *largest = largest.max(*own);
        }
    }
    let mut names: Vec<(&str, f64)> = sizes.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let lines = names.into_iter().take(LINES_MOST).map(|(name, _)| Line {
        name: name.to_owned(),
        target: None,
        points: family
            .iter()
            .enumerate()
            .map(|(place, cell)| Point {
                x: place as f64,
                y: cell.mean(&|costs| costs.components.get(name).copied().unwrap_or(0.0)),
                interval: None,
            })
            .collect(),
    });
    let targets = family.iter().map(|cell| cell.name.clone());
    let axis = |label: &str, scale| Axis {
        label: label.to_owned(),
        scale,
    };
    Some(Block::Chart(Chart {
        title: format!("{}: components over the targets", step(family[0])),
        x: axis("target", Scale::Names(targets.collect())),
        y: axis(unit.of_operation(), Scale::FromZero),
        lines: lines.collect(),
        limit: None,
        notes: Vec::new(),
    }))
}

/// Components by target.
fn columns(cells: &[&Profiled], most: usize) -> Table {
    let mut sizes: BTreeMap<&str, f64> = BTreeMap::new();
    for cell in cells {
        for costs in &cell.trials {
            for (component, own) in &costs.components {
                *sizes.entry(component).or_default() += own / cell.trials.len() as f64;
            }
        }
    }
    let not_mapped = sizes.remove(NOT_MAPPED);
    let mut names: Vec<(&str, f64)> = sizes.into_iter().collect();
    names.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest = names.split_off(names.len().min(most));
    names.extend(not_mapped.map(|size| (NOT_MAPPED, size)));
    let row = |name: &str, of: &dyn Fn(&Costs) -> f64| {
        let mut row = vec![Cell::from(name)];
        row.extend(cells.iter().map(|cell| figure(cell.mean(of))));
        row
    };
    let own = |costs: &Costs, name: &str| costs.components.get(name).copied().unwrap_or(0.0);
    let mut rows: Vec<Vec<Cell>> = names
        .iter()
        .map(|(name, _)| row(name, &|costs| own(costs, name)))
        .collect();
    if !rest.is_empty() {
        let all = |costs: &Costs| rest.iter().map(|(name, _)| own(costs, name)).sum();
        let at = rows.len() - usize::from(not_mapped.is_some());
        rows.insert(at, row(&others(rest.len()), &all));
    }
    rows.push(row("all of sessions", &|costs| costs.total));
    rows.push(row("other threads", &|costs| costs.background));
    rows.push(row("of functions without symbols", &|costs| costs.unnamed));
    let mut header = vec![Cell::from("component")];
    header.extend(cells.iter().map(|cell| Cell::from(cell.name.as_str())));
    Table::of_figures(header, rows)
}

/// The steps whose cost grew most.
fn overview(grown: &[Compared<'_>], unit: ExplainUnit) -> Vec<Block> {
    if grown.is_empty() {
        return vec![Block::Paragraph(
            "No target has an execution profile of a step that its base has too.".into(),
        )];
    }
    let rows = grown.iter().map(|two| {
        let total = two.comparison.total;
        let mut changed = changed_components(&two.comparison, true, NAMED_MOST);
        changed.extend(changed_components(&two.comparison, false, 1));
        vec![
            step(two.target).into(),
            two.target.name.as_str().into(),
            two.base.name.as_str().into(),
            Cell::figure(format!("{:.2}", two.growth()), two.growth()),
            Cell::figure(signed(total.difference()), total.difference()),
            changed.join(", ").into(),
        ]
    });
    let header = ["step", "target", "base", "ratio", "difference", "mostly"];
    vec![
        Block::Title(format!("What grew most, in {}", unit.of_operation())),
        Block::Table(Table::of_words(header, rows)),
        Block::Paragraph(
            "`prony explain RUN --step NAME --target NAME` shows components, functions and paths of one; \
             with `--step` alone all targets side by side."
                .into(),
        ),
    ]
}

fn step(cell: &Profiled) -> String {
    format!(
        "{}, {}",
        cell.step,
        plural(u64::from(cell.clients), "client")
    )
}

fn head(first: &str, two: &Compared<'_>) -> Vec<Cell> {
    let heads = [first, &two.base.name, &two.target.name, "difference", "±"];
    let shown = if two.comparison.total.within.is_some() {
        5
    } else {
        4
    };
    heads[..shown]
        .iter()
        .map(|head| Cell::from(*head))
        .collect()
}

/// A row of base, target, difference, and the distance of trials.
fn figures(name: String, cost: Pair) -> Vec<Cell> {
    let difference = cost.difference();
    let mut row = vec![
        name.into(),
        figure(cost.base),
        figure(cost.target),
        Cell::figure(signed(difference), difference),
    ];
    row.extend(cost.within.map(figure));
    row
}

fn figure(value: f64) -> Cell {
    Cell::figure(whole(value), value)
}

fn signed(value: f64) -> String {
    let sign = if value.round() < 0.0 { "-" } else { "+" };
    format!("{sign}{}", whole(value.abs()))
}

fn legend(two: &Compared<'_>, unit: ExplainUnit) -> Vec<String> {
    let mut lines = common_legend(unit);
    lines.push(match two.comparison.total.within {
        Some(_) if unit == ExplainUnit::Time => {
            "±: half the 95 % interval of the difference, from the numbers of samples, how they vary between \
             trials, and how the processor time varies from block to block. Of the differences that the answer and the \
             functions name, 5 % are accidents at most, on average."
                .to_owned()
        }
        Some(_) => "±: the most by which a trial can be away from the difference of the means.".to_owned(),
        None => "A side has one trial, so that the difference of two starts is unknown here; between starts of \
                 one server, functions of sessions differ by some instructions."
            .to_owned(),
    });
    let is_sure = |costs: &Costs| costs.sampling.is_none_or(|it| it.relative_error > 0.0);
    if !two
        .base
        .trials
        .iter()
        .chain(&two.target.trials)
        .all(is_sure)
    {
        lines.push(
            "! There is one block: ± leaves out how the processor time varies from block to block."
                .to_owned(),
        );
    }
    lines.push(
        "A function that is renamed is paired with its former name if both belong to one component, are \
         called from one place, and cost about the same; ~ stands before the component of functions without \
         symbols, which are counted with the function that calls them."
            .to_owned(),
    );
    lines.extend(nameless_libraries(two));
    lines.extend([two.base, two.target].into_iter().filter_map(sessionless));
    lines.extend([two.base, two.target].map(mapping));
    lines.extend([two.base, two.target].into_iter().filter_map(sampling));
    let trials = |cell: &Profiled| {
        let operations = cell.operations.iter().min().copied().unwrap_or(0);
        format!(
            "{}: {} of at least {}",
            cell.name,
            plural(cell.trials.len() as u64, "trial"),
            plural(operations, "operation")
        )
    };
    lines.push(format!("{}; {}.", trials(two.base), trials(two.target)));
    lines
}

/// Libraries whose functions have no names in one of the targets.
fn nameless_libraries(two: &Compared<'_>) -> Vec<String> {
    let total = two.comparison.total;
    let libraries = two.comparison.functions.iter().filter_map(|row| {
        let FunctionName::In(object) = &row.name else {
            return None;
        };
        let (name, _) = [
            (&two.base.name, row.cost.base / total.base),
            (&two.target.name, row.cost.target / total.target),
        ]
        .into_iter()
        .find(|(_, share)| *share >= NAMELESS_FROM)?;
        let component = &row.component;
        Some(format!(
            "! Functions of {object} have no names in {name}: what they do is under `{component}` there, and may \
             be under other components in the other target."
        ))
    });
    libraries.collect()
}

/// The ways in which the components of a target are known.
fn mapping(cell: &Profiled) -> String {
    let total = cell.total().max(f64::MIN_POSITIVE);
    let ways = [
        (MappedBy::Name, "by name"),
        (MappedBy::Object, "by library"),
        (MappedBy::Caller, "by caller"),
        (MappedBy::Nothing, "not mapped"),
    ];
    let ways = ways.map(|(by, words)| {
        let of_way = cell.mean(&|costs| costs.mapped.get(&by).copied().unwrap_or(0.0));
        format!("{} {words}", share(of_way / total))
    });
    format!("Components of {}: {}.", cell.name, listed(&ways))
}

/// Says so where no thread of a target is known to serve clients.
fn sessionless(cell: &Profiled) -> Option<String> {
    (cell.total() <= 0.0).then(|| {
        format!(
            "! No thread of {} is known to serve clients, because its program has no symbols: all of its work is \
             in the row of other threads.",
            cell.name
        )
    })
}

/// How the samples of a target were taken, and what they are worth.
fn sampling(cell: &Profiled) -> Option<String> {
    let sum = |of: fn(&Taking) -> u64| cell.takings.iter().map(of).sum::<u64>();
    let first = cell.takings.first()?;
    let (whole_stacks, cut) = (sum(|it| it.whole), sum(|it| it.cut));
    let samples = whole_stacks + cut;
    let mut text = format!(
        "Samples of {}: {} in {}, {} of the stacks followed to their ends",
        cell.name,
        whole(samples as f64),
        plural(cell.takings.len() as u64, "trial"),
        share(whole_stacks as f64 / samples.max(1) as f64),
    );
    let accounted = sum(|it| it.accounted_ns.unwrap_or(0));
    // Without the kernel's, samples stand for a part of that time.
    if accounted > 0 && first.with_kernel {
        let stand_for = sum(|it| it.period_ns) as f64 / accounted as f64;
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "; they stand for {stand_for:.2} of the processor time that the kernel accounted for"
        );
    }
    if let Some(slowed) = cell.slowed {
        let _ = write!(
            text,
            "; while they were taken, throughput was {slowed:.2} of that of the timed trials"
        );
    }
    if !first.with_kernel {
        text.push_str("; of user space only, because this user may not sample the kernel");
    }
    let lost = cell.takings.iter().map(lost_share).fold(0.0, f64::max);
    if lost > LOST_FROM {
        let _ = write!(text, "; ! {} got lost", share(lost));
    }
    text.push('.');
    Some(text)
}

fn common_legend(unit: ExplainUnit) -> Vec<String> {
    if unit == ExplainUnit::Time {
        return vec![
            "Times are the processor time of timed trials, divided among the stacks that were sampled in \
             profiling trials. Waiting is not in them."
                .to_owned(),
        ];
    }
    vec![
        "Instructions are those that threads of sessions execute in user space, counted by valgrind. They \
         are no times: waiting, the kernel and misses of caches are not in them."
            .to_owned(),
        "Other threads work by the clock, so that under valgrind, which is some fifty times slower, they \
         weigh fifty times too much."
            .to_owned(),
    ]
}
