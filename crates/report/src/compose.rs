//! The blocks of a report for people, in reading order.

use prony_model::{CountedBy, Display, Metric, Pace, Plan, Source, Timing, TrialKind};

use crate::analysis::Analysis;
use crate::document::Block;
use crate::effective::Detail;
use crate::figures::plural;
use crate::place::{Place, Work};
use crate::{
    debt, doubts, efficiency, explain, heading, loads, pairs, remarks, response, room, sections,
    seen, tables, trees,
};

/// The whole report.
pub(crate) fn document(analysis: &Analysis<'_>, detail: Detail) -> Vec<Block> {
    let mut blocks = vec![Block::Title(analysis.plan.name.clone())];
    if !analysis.plan.question.is_empty() {
        blocks.push(Block::Paragraph(analysis.plan.question.clone()));
    }
    blocks.push(Block::Facts(heading::facts(analysis)));
    blocks.push(Block::Heading("Targets".into()));
    blocks.push(Block::Table(heading::targets(analysis)));
    blocks.extend(loads::blocks(analysis));
    if analysis.counts.done == 0 {
        blocks.push(Block::Paragraph(
            "No trial is done yet, so there are no figures.".into(),
        ));
    } else {
        for part in sections::parts(analysis.plan) {
            blocks.extend(tables::part(analysis, &part, detail));
        }
        if analysis.plan.targets.len() > 1 && !analysis.compares() {
            blocks.push(Block::Paragraph(
                "Nothing to compare yet: in no block are both the base and another target done."
                    .into(),
            ));
        }
        blocks.extend(response::blocks(analysis));
        blocks.extend(pairs::blocks(analysis));
        blocks.extend(room::blocks(analysis));
        blocks.extend(debt::blocks(analysis, detail));
        blocks.extend(trees::blocks(analysis));
    }
    blocks.extend(analysis.effective.blocks(detail));
    blocks.extend(explain::blocks(analysis));
    blocks.extend(remarks::warnings(analysis));
    blocks.extend(doubts::absences(analysis, detail));
    blocks.extend(remarks::missing_and_failed(analysis));
    if analysis.counts.done > 0 {
        blocks.push(Block::Heading("How to read this".into()));
        blocks.push(Block::List(legend(analysis, detail)));
    }
    blocks
}

fn legend(analysis: &Analysis<'_>, detail: Detail) -> Vec<String> {
    let mut items = units(analysis.plan);
    items.push(
        "± is half the distance between the lowest and the highest block, in percent of the mean. \
         Digits that this spread does not support are not shown."
            .to_owned(),
    );
    if analysis.plan.targets.len() > 1 {
        items.push(format!(
            "Relative figures are operations per second ÷ those of {} in the same block: the \
             geometric mean over the blocks and, in brackets, the lowest and the highest. Above 1 \
             is faster than the base, in every row.",
            analysis.base().name
        ));
    }
    items.extend(paced_items(analysis.plan));
    items.extend(pairs_item(analysis));
    items.extend(cost_items(analysis, detail));
    items.extend(warm_item(analysis.plan));
    items.push(
        "A block is one fresh start of every target. n is the number of blocks where it differs \
         from the heading. - means that there is no figure, ! that a warning or a failed trial \
         below concerns it."
            .to_owned(),
    );
    items.push(
        "No significance is claimed: intervals and verdicts are not computed yet, and a \
         difference within the ranges may be noise."
            .to_owned(),
    );
    items
}

/// What the figures of the steps count.
fn units(plan: &Plan) -> Vec<String> {
    let works = || {
        let places = (0..plan.steps.len()).flat_map(|step| Place::of_step(plan, step));
        let places = places.filter(|place| !plan.steps[place.step].warm_only);
        places.map(|place| place.work(plan))
    };
    let shown = |display| works().any(|work| work.workload.display == display);
    let waits =
        |work: Work<'_>| work.workload.display == Display::Milliseconds && work.pace.is_scheduled();
    let whole_run = plan
        .steps
        .iter()
        .any(|step| step.timing == Timing::WholeRun);
    let items = [
        (
            shown(Display::Rate),
            "Queries per second counts the statements that the server answered, BEGIN and COMMIT \
             included.",
        ),
        (
            shown(Display::Transactions),
            "Transactions per second counts whole operations of the workload, whatever number of \
             statements they consist of.",
        ),
        (
            shown(Display::Milliseconds),
            "Rows in ms/op show the mean milliseconds of an operation instead: less is faster.",
        ),
        (
            works().any(waits),
            "Where operations arrive at a rate or clients think in between, ms/op is the mean service \
             time: the ratio is of operations per second all the same.",
        ),
        (
            whole_run,
            "In steps marked `whole run` the time counts from before the first connection is made \
             until the last client has disconnected, as mysqlslap counts it; in others, \
             connecting is not counted.",
        ),
    ];
    let said = items.into_iter().filter(|(holds, _)| *holds);
    said.map(|(_, text)| text.to_owned()).collect()
}

/// What paces and groups make of figures.
fn paced_items(plan: &Plan) -> Vec<String> {
    let steps = || plan.steps.iter().filter(|step| !step.warm_only);
    let groups = || steps().flat_map(|step| &step.beside);
    let paces = || {
        let own = steps().map(|step| step.pace);
        own.chain(groups().map(|group| group.pace))
    };
    let items = [
        (
            paces().any(|pace| matches!(pace, Pace::Open { .. })),
            "Operations that arrive at a rate are done at that rate by every server that keeps up: \
             a relative figure near 1 says no more than that, and the response times say the rest.",
        ),
        (
            paces().any(Pace::is_scheduled),
            "Service time is from send to last byte, response time from intended start to last \
             byte: the difference was spent waiting for an idle client. `late` is by how much the \
             load generator itself was late, `backlog` how many operations were due and had not \
             begun when the measured time was over, in the worst block.",
        ),
        (
            groups().next().is_some(),
            "Rows `beside:` are other clients that ran at the same time, with figures of their own.",
        ),
    ];
    let said = items.into_iter().filter(|(holds, _)| *holds);
    said.map(|(_, text)| text.to_owned()).collect()
}

fn pairs_item(analysis: &Analysis<'_>) -> Option<String> {
    (!pairs::of(analysis.plan).is_empty()).then(|| {
        "After relative to before is operations per second of a step after the writes ÷ those of \
         the same step before them in the same trial: below 1, the writes made it slower."
            .to_owned()
    })
}

/// What costs are, and the columns that are shown of them.
fn cost_items(analysis: &Analysis<'_>, detail: Detail) -> Vec<String> {
    let columns = efficiency::shown(analysis, detail);
    let mut items = Vec::new();
    if analysis.costs.sampled && seen::has_server_only(analysis) {
        items.push(
            "Round trip is the mean time of an operation as its client sees it; server only is what \
             is left of it without the client's own processor time and its wait for a processor, \
             told for one client that sends one operation after the other. Their ratios are of \
             time: above 1 is slower than the base."
                .to_owned(),
        );
    }
    if columns.is_empty() {
        return items;
    }
    let explained: Vec<String> = columns.iter().map(|&metric| explained(metric)).collect();
    let of_device: Vec<&str> = columns
        .iter()
        .filter(|metric| analysis.costs.has_from(**metric, Source::Device))
        .map(|metric| metric.facts().heading)
        .collect();
    if !of_device.is_empty() {
        items.push(format!(
            "{}: of the whole device that holds the data, whoever used it, where the server's own are \
             not accounted for; no ratios are made of these.",
            of_device.join(", ")
        ));
    }
    items.push(format!(
        "Costs are of the server alone, from the start to the end of the measured time, for each \
         operation (o), or each row in steps that scan: {}. KB are 1024 bytes.",
        explained.join("; ")
    ));
    items.push(
        "Rows `÷ base` are ratios to the base in the same block, geometric means over the blocks: \
         above 1 costs more; but for o/s, o/cpu-s and IPC, where more is better. None is shown where \
         one of both is next to nothing."
            .to_owned(),
    );
    items.extend(counted_item(analysis));
    items
}

/// A column in a few words.
fn explained(metric: Metric) -> String {
    let facts = metric.facts();
    let unit = match facts.unit {
        "µs" | "KB" => format!(" in {}", facts.unit),
        _ => String::new(),
    };
    format!("{} {}{unit}", facts.heading, facts.name)
}

/// What instructions were counted by, and in which trials.
fn counted_item(analysis: &Analysis<'_>) -> Option<String> {
    let mut figures = analysis
        .costs
        .cells()
        .filter_map(|cell| cell.figures.get(&Metric::Instructions));
    let is_apart = figures.next()?.taken == TrialKind::Counting;
    let Some(counting) = analysis.plan.counting.filter(|_| is_apart) else {
        return Some("Instructions were counted while time was measured.".to_owned());
    };
    let (by, doubt) = match counting.by {
        CountedBy::Hardware => ("the processor's counters", ""),
        CountedBy::Valgrind => (
            "valgrind",
            " Servers are some fifty times slower in it, so that what they do in the background by \
             the clock weighs as much more in an operation: of steps that write, compare these \
             figures with care.",
        ),
    };
    Some(format!(
        "Instructions, and what else is counted, were counted by {by} in {} of each target that do \
         nothing else, with equally many operations for all. No time is taken from these \
         trials.{doubt}",
        plural(counting.blocks.into(), "trial")
    ))
}

/// What is measured and not shown.
fn warm_item(plan: &Plan) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.warm_only) {
        if !names.contains(&step.name.as_str()) {
            names.push(&step.name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Steps that only warm up are in the CSV and JSON reports alone: {}.",
            names.join(", ")
        )
    })
}
