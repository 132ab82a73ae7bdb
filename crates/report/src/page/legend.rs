//! The legend of a report for people.

use prony_model::{
    ClientGroup, CountedBy, Display, Metric, Pace, Plan, Protocol, RatioDisplay, Timing, TrialKind,
};

use crate::analysis::Analysis;
use crate::analysis::group::GroupId;
use crate::page::{Detail, cost, round_trip};
use crate::words::plural;

/// The items of the legend.
pub(crate) fn items(analysis: &Analysis<'_>, detail: Detail) -> Vec<String> {
    let mut items = units(analysis.plan);
    items.push(
        "± is half the distance between the lowest and the highest block, in percent of the mean. \
         Digits beyond this spread are not shown."
            .to_owned(),
    );
    items.extend(verdict_items(analysis));
    items.extend(text_item(analysis.plan));
    items.extend(paced_items(analysis.plan));
    items.extend(before_after_item(analysis));
    items.extend(cost_items(analysis, detail));
    items.extend(canary_item(analysis));
    items.extend(warm_item(analysis.plan));
    items.push(
        "A block is one fresh start of every target. n is the number of blocks where it differs \
         from the heading. - means that there is no figure, ! that a warning or a failed trial \
         below concerns it."
            .to_owned(),
    );
    items
}

/// The groups of all steps that do not only warm up.
fn shown(plan: &Plan) -> impl Iterator<Item = GroupId> {
    GroupId::all(plan).filter(|group| !plan.steps[group.step].warm_only)
}

/// The units of the steps' figures.
fn units(plan: &Plan) -> Vec<String> {
    let works = || shown(plan).map(|group| group.of(plan));
    let displays = |display| works().any(|work| work.workload.display == display);
    let waits = |work: &ClientGroup| {
        work.workload.display == Display::Milliseconds && work.pace.is_scheduled()
    };
    let whole_run = plan
        .steps
        .iter()
        .any(|step| step.timing == Timing::WholeRun);
    let items = [
        (
            displays(Display::Rate),
            "Queries per second counts the statements that the server answered, BEGIN and COMMIT \
             included.",
        ),
        (
            displays(Display::Transactions),
            "Transactions per second counts whole operations of the workload, whatever number of \
             statements they consist of.",
        ),
        (
            displays(Display::Milliseconds),
            "Rows in ms/op show the mean milliseconds of an operation instead: less is faster.",
        ),
        (
            works().any(waits),
            "Where operations arrive at a rate or clients think in between, ms/op is the mean service \
             time: the ratio is still one of operations per second.",
        ),
        (
            whole_run,
            "In steps marked `whole run` the time counts from before the first connection is made \
             until the last client has disconnected, as mysqlslap counts it; in others, \
             connecting is not counted.",
        ),
    ];
    that_hold(&items)
}

/// The texts that are marked as true here.
fn that_hold(items: &[(bool, &str)]) -> Vec<String> {
    let shown = items.iter().filter(|(holds, _)| *holds);
    shown.map(|(_, text)| (*text).to_owned()).collect()
}

/// The workloads whose statements are not sent as the targets' protocol says.
fn text_item(plan: &Plan) -> Option<String> {
    let mut targets = plan.targets.iter();
    targets.find(|target| target.protocol == Protocol::Prepared)?;
    let works = shown(plan).map(|group| &group.of(plan).workload);
    let mut names: Vec<_> = works
        .filter(|workload| workload.text_only)
        .map(|workload| workload.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "Statements of {} are sent as text, whatever the protocol of the target is.",
            names.join(", ")
        )
    })
}

/// The meaning of figures where clients keep a pace, or other groups run beside them.
fn paced_items(plan: &Plan) -> Vec<String> {
    let paces = || shown(plan).map(|group| group.of(plan).pace);
    let items = [
        (
            paces().any(|pace| matches!(pace, Pace::Open { .. })),
            "Operations that arrive at a rate are done at that rate by every server that keeps up: \
             a relative figure near 1 means only that; compare the response times.",
        ),
        (
            paces().any(Pace::is_scheduled),
            "Service time is from send to last byte, response time from intended start to last \
             byte: the difference was spent waiting for an idle client. `late` is by how much the \
             load generator itself was late, `backlog` how many operations were due and had not \
             begun when the measured time was over, in the worst block.",
        ),
        (
            shown(plan).any(|group| !group.is_own()),
            "Rows `beside:` are other clients that ran at the same time, with figures of their own.",
        ),
    ];
    that_hold(&items)
}

fn before_after_item(analysis: &Analysis<'_>) -> Option<String> {
    (!analysis.before_after.is_empty()).then(|| {
        "After relative to before is operations per second of a step after the writes ÷ those of \
         the same step before them in the same trial: below 1, the writes made it slower."
            .to_owned()
    })
}

/// The meaning of ratios, intervals and verdicts.
fn verdict_items(analysis: &Analysis<'_>) -> Vec<String> {
    if analysis.plan.contenders().next().is_none() && analysis.plan.twin.is_none() {
        return Vec::new();
    }
    let verdicts = &analysis.verdicts;
    let base = analysis.plan.base_words();
    let is_mixed = analysis.common_display().is_none();
    let rates = || {
        format!(
            "Relative figures are operations per second ÷ those of {base} in the same block: the \
             geometric mean over the blocks and, in brackets, its interval of 95 %, from two blocks on. \
             Above 1 is faster than the base{}.",
            if is_mixed { "" } else { ", in every row" }
        )
    };
    let times = || {
        format!(
            "Relative figures of time are the mean time of an operation ÷ that of {base} in the same \
             block: the geometric mean over the blocks and, in brackets, its interval of 95 %, from two \
             blocks on. Above 1 is slower than the base. The time is the response time where operations \
             have an intended start, else clients ÷ operations per second, so that verdicts are those on \
             throughput."
        )
    };
    let mut items = match analysis.common_display() {
        Some(RatioDisplay::Throughput) => vec![rates()],
        Some(RatioDisplay::Time) => vec![times()],
        None => vec![rates(), times()],
    };
    if !analysis.summaries.is_empty() && analysis.is_whole {
        items.push(
            "Geometric mean, lowest and highest are of the ratios of a part's steps; steps whose \
             operations arrive at a rate are left out."
                .to_owned(),
        );
    }
    if analysis.plan.campaign.is_some() {
        items.push(
            "Blocks are added, with looks at the ratios in between: intervals are wider, so that those \
             of all looks hold together. Blocks since the last look count at the next one."
                .to_owned(),
        );
    }
    if verdicts.family > 0 {
        items.push(format!(
            "A verdict takes {} blocks. Improved and regressed: a difference that is significant \
             among {}, so that at most 5 % of such are false on average. Equivalent: within the margin \
             of the step, significant or not. Inconclusive: neither is known. The size says if \
             the interval is beyond the margin, within it, or both, so that it may be within.",
            verdicts.pairs_min(),
            plural(verdicts.family as u64, "comparison"),
        ));
    }
    items
}

/// The meaning of costs, and the columns that are shown of them.
fn cost_items(analysis: &Analysis<'_>, detail: Detail) -> Vec<String> {
    let columns = cost::shown(analysis, detail);
    let mut items = Vec::new();
    if analysis.costs.sampled && round_trip::has_server_only(analysis) {
        items.push(
            "Round trip is the mean time of an operation as its client sees it; server only is what \
             is left of it without the client's own processor time and its wait for a processor, \
             computed only for one client that sends one operation after the other. Their ratios \
             are of \
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
        .filter(|metric| analysis.costs.is_of_device(**metric))
        .map(|metric| metric.facts().heading)
        .collect();
    if !of_device.is_empty() {
        items.push(format!(
            "{}: those of the whole device that holds the data, including other programs, if the \
             server's own are not accounted for; these have no ratios.",
            of_device.join(", ")
        ));
    }
    let loads = analysis.costs.loads();
    let of_loads = if analysis.is_whole && loads.iter().any(|load| !load.figures.is_empty()) {
        " and in loads"
    } else {
        ""
    };
    items.push(format!(
        "Costs are of the server alone, from the start to the end of the measured time, for each \
         operation (o), or each row in steps that scan{of_loads}: {}. KB are 1024 bytes.",
        explained.join("; ")
    ));
    items.push(
        "Rows `÷ base` are ratios to the base in the same block, geometric means over the blocks: \
         above 1 costs more; but for o/s, o/cpu-s and IPC, where more is better. No ratio is \
         shown if one of the two is negligible."
            .to_owned(),
    );
    if cost::has_queries(analysis) {
        items.push(
            "Costs per query (q) are those of an operation ÷ the statements that were answered in it, \
             BEGIN and COMMIT included."
                .to_owned(),
        );
    }
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

/// The source of the instructions, and the trials that counted them.
fn counted_item(analysis: &Analysis<'_>) -> Option<String> {
    let mut figures = analysis
        .costs
        .cells()
        .filter_map(|cell| cell.figures.get(&Metric::Instructions));
    let is_apart = figures.next()?.taken == TrialKind::Counting;
    let Some(counting) = analysis.plan.counting.filter(|_| is_apart) else {
        return Some("Instructions were counted while time was measured.".to_owned());
    };
    let (by, caution) = match counting.by {
        CountedBy::Hardware => ("the processor's counters", ""),
        CountedBy::Valgrind => (
            "valgrind",
            " Servers are about fifty times slower under it, so that background work, which \
             follows the clock, weighs that much more in an operation: compare these figures with \
             care for steps that write.",
        ),
    };
    Some(format!(
        "Instructions, and what else is counted, were counted by {by} in {} of each target that do \
         nothing else, with equally many operations for all. No time is taken from these \
         trials.{caution}",
        plural(counting.blocks.into(), "trial")
    ))
}

/// The meaning of the ranges of canaries.
fn canary_item(analysis: &Analysis<'_>) -> Option<String> {
    let text = "Canary is the time of a fixed computation before and after each trial, while its \
                server does not run, relative to the median over the run: a range far from 0 means \
                that the host did not stay the same.";
    (!analysis.canaries.all.is_empty()).then(|| text.to_owned())
}

/// Steps that are measured and not shown.
fn warm_item(plan: &Plan) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.warm_only) {
        if !names.contains(&step.name.as_str()) {
            names.push(&step.name);
        }
    }
    (!names.is_empty()).then(|| {
        format!(
            "Steps that only warm up are in the CSV and JSON reports only: {}.",
            names.join(", ")
        )
    })
}
