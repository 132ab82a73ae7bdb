//! Throughput over numbers of clients, with the load generator's ceiling and the crossings of targets.

use prony_model::{Metric, Step};

use crate::analysis::Analysis;
use crate::analysis::crossings::{AtClients, crossings};
use crate::analysis::group::GroupId;
use crate::chart::{Chart, Line, Point, Scale};
use crate::figures;
use crate::page::generator::{Ceiling, ceiling};
use crate::page::web::steps::axis;
use crate::words::{count, listed, plural};

/// A ceiling is drawn up to this multiple of the greatest throughput: lines below a higher one would be
/// flat.
const DRAWN_MAX: f64 = 3.0;

/// Crossings that are named below a graph.
const CROSSINGS_MAX: usize = 8;

/// A graph for each entry of the sequence with several numbers of clients.
pub(crate) fn charts(analysis: &Analysis<'_>) -> Vec<Chart> {
    let plan = analysis.plan;
    let steps = || {
        plan.steps
            .iter()
            .enumerate()
            .filter(|(_, step)| !step.warm_only)
    };
    let mut entries: Vec<usize> = Vec::new();
    for (_, step) in steps() {
        if !entries.contains(&step.entry) {
            entries.push(step.entry);
        }
    }
    let of_entry = |&entry: &usize| {
        let mut steps: Vec<(usize, &Step)> = steps().filter(|(_, s)| s.entry == entry).collect();
        steps.sort_by_key(|(_, step)| step.own().clients);
        let steps: Vec<usize> = steps.into_iter().map(|(step, _)| step).collect();
        chart(analysis, &steps)
    };
    entries.iter().filter_map(of_entry).collect()
}

/// The graph of an entry at ascending numbers of clients. `None` if there is one number, or nothing is
/// known.
fn chart(analysis: &Analysis<'_>, steps: &[usize]) -> Option<Chart> {
    let plan = analysis.plan;
    let clients = |step: usize| plan.steps[step].own().clients;
    let first = *steps.first().filter(|_| steps.len() > 1)?;
    let line = |target: usize| {
        let points = steps.iter().filter_map(|&step| {
            let summary = analysis.cell(step, target).summary(Metric::Operations)?;
            Some(Point {
                x: f64::from(clients(step)),
                y: summary.mean,
                interval: (summary.max > summary.min).then_some((summary.min, summary.max)),
            })
        });
        let points: Vec<Point> = points.collect();
        (points.len() > 1).then(|| Line {
            name: plan.targets[target].name.clone(),
            target: Some(target),
            points,
        })
    };
    let lines: Vec<Line> = analysis.columns().into_iter().filter_map(line).collect();
    let points = lines.iter().flat_map(|line| &line.points);
    let most = points.map(|point| point.y).fold(0.0, f64::max);
    let ceilings: Vec<(usize, Ceiling)> = steps
        .iter()
        .filter_map(|&step| Some((step, ceiling(analysis, plan.steps[step].all_clients())?)))
        .collect();
    let limit = limit(analysis, &ceilings).filter(|limit| {
        let top = limit.points.iter().map(|point| point.y).fold(0.0, f64::max);
        top <= DRAWN_MAX * most
    });
    let mut notes: Vec<String> = ceiling_note(analysis, &ceilings, limit.is_some())
        .into_iter()
        .collect();
    notes.extend(crossing_notes(analysis, steps));
    (!lines.is_empty()).then(|| Chart {
        title: format!(
            "{}: mean of the blocks, lowest to highest block",
            plan.steps[first].name
        ),
        x: axis("clients", Scale::Log),
        y: axis("operations/s", Scale::FromZero),
        lines,
        limit,
        notes,
    })
}

/// The ceiling in operations per second. `None` if it is known at fewer than two numbers of clients, or a
/// step exceeded it.
fn limit(analysis: &Analysis<'_>, ceilings: &[(usize, Ceiling)]) -> Option<Line> {
    let points = ceilings.iter().map(|(step, ceiling)| Point {
        x: f64::from(analysis.plan.steps[*step].own().clients),
        y: ceiling.queries_per_second / queries_per_operation(analysis, *step),
        interval: None,
    });
    let is_known = ceilings.len() > 1 && ceilings.iter().all(|(_, of)| !of.is_struck);
    is_known.then(|| Line {
        name: "ceiling of the load generator".to_owned(),
        target: None,
        points: points.collect(),
    })
}

/// The most statements that a target answers for an operation; at least 1.
fn queries_per_operation(analysis: &Analysis<'_>, step: usize) -> f64 {
    let targets = analysis.columns().into_iter();
    let quotients = targets.filter_map(|target| {
        let mean = |metric| Some(analysis.cell(step, target).summary(metric)?.mean);
        Some(mean(Metric::Queries)? / mean(Metric::Operations)?)
    });
    quotients.fold(1.0, f64::max)
}

/// The sentence on the ceiling for the least and the greatest number of clients that it is known for.
fn ceiling_note(
    analysis: &Analysis<'_>,
    ceilings: &[(usize, Ceiling)],
    is_drawn: bool,
) -> Option<String> {
    let ends = [ceilings.first()?, ceilings.last()?];
    let mut texts: Vec<String> = ends.map(|(_, ceiling)| ceiling.text.clone()).into();
    texts.dedup();
    let queries = queries_per_operation(analysis, ends[0].0);
    let drawn = match is_drawn {
        true if queries > 1.01 => {
            let queries = figures::significant(queries);
            format!("; dotted, at {queries} queries per operation")
        }
        true => "; dotted".to_owned(),
        false => "; not drawn".to_owned(),
    };
    Some(format!(
        "Ceiling of the load generator (prepared point query): {}{drawn}.",
        listed(&texts)
    ))
}

/// Sentences on the numbers of clients between which another of two targets is ahead.
fn crossing_notes(analysis: &Analysis<'_>, steps: &[usize]) -> Vec<String> {
    let columns = analysis.columns();
    let mut notes = Vec::new();
    for (place, &to) in columns.iter().enumerate() {
        for &of in &columns[place + 1..] {
            let known = steps
                .iter()
                .filter_map(|&step| AtClients::of(analysis, GroupId::own(step), [of, to]));
            let known: Vec<AtClients> = known.collect();
            for crossing in crossings(&known) {
                let names = [of, to].map(|target| analysis.plan.targets[target].name.as_str());
                let (first, then) = match (crossing.before.is_ahead(), names) {
                    (true, [of, to]) => (of, to),
                    (false, [of, to]) => (to, of),
                };
                let [before, after] = crossing.ratios().map(|side| {
                    let clients = plural(side.clients.into(), "client");
                    format!("{} at {clients}", figures::ratio(&side.ratio))
                });
                let doubt = if crossing.is_resolved() {
                    ""
                } else {
                    " (not resolved)"
                };
                notes.push(format!(
                    "{first}, then {then}{doubt}: throughput of {then} ÷ {first} is {before} and {after}."
                ));
            }
        }
    }
    let more = notes.len().saturating_sub(CROSSINGS_MAX);
    notes.truncate(CROSSINGS_MAX);
    if more > 0 {
        let more = count(more as u64);
        notes.push(format!(
            "And {more} more crossings: `prony report RUN --view crossings` lists all."
        ));
    }
    notes
}
