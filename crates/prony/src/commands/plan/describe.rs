//! A plan in words.

use std::fmt::Write as _;

use prony_model::{
    Aspect, Calibration, CanaryPart, CanaryRule, Collect, CountedBy, CountedSteps, IntentFacts,
    Length, LoadMethod, Phase, Plan, RidingCounters, Step, Target, Timing, TrialKind,
};
use prony_plan::{Assumptions, backlogs_ms, predicted_block_ms, predicted_ms};

use super::accuracy::accuracy;
use super::{families, pace, shared};
use crate::words::{duration, left_out, listed, plural};

/// Targets, steps, their placement as given in lines, the order of the trials and the predicted
/// time, on a host that has counters of the processor or says why not.
pub(super) fn describe(
    plan: &Plan,
    intents: &[IntentFacts],
    hardware_counters: Result<(), String>,
    placements: Vec<String>,
    calibration: Option<&Calibration>,
) -> String {
    let mut lines = vec![plan.name.clone()];
    if !plan.question.is_empty() {
        lines.push(plan.question.clone());
    }
    if let Some(profile) = &plan.profile {
        lines.push(format!("With the profile {profile}."));
    }
    lines.push(String::new());
    lines.push(dataset(plan));
    lines.extend(backend(plan));
    lines.extend(targets(plan));
    lines.extend(left_out(plan).map(|line| format!("  {line}")));
    lines.extend(shared::lines(plan, intents));
    lines.extend(families::lines(plan, intents));
    lines.extend(collected(plan));
    lines.extend(
        hardware_counters
            .err()
            .and_then(|why| uncollected(plan, &why)),
    );
    lines.extend(steps(plan));
    lines.extend(placements);
    lines.extend(sections(plan));
    lines.extend(trials(plan));
    lines.extend(campaign(plan));
    lines.extend(counting(plan));
    lines.extend(profiling(plan));
    lines.extend(exclusion(plan));
    lines.extend(accuracy(plan, calibration));
    lines.push(predicted(plan));
    lines.join("\n")
}

/// The predicted time, and of a campaign that of each block besides.
fn predicted(plan: &Plan) -> String {
    let cells = plan.targets.len() * plan.steps.len();
    let times = plural(plan.blocks().into(), "time");
    let assumptions = Assumptions::default();
    let predicted = duration(predicted_ms(plan, &assumptions));
    let backlogs = match backlogs_ms(plan) {
        0 => String::new(),
        ms => format!(
            " Servers that do not keep up with a rate can add up to {} in total.",
            duration(ms)
        ),
    };
    let (measured, blocks) = match plan.campaign {
        None => (times, String::new()),
        Some(_) => (
            format!("at least {times}"),
            format!(
                " for these, and {} for each further block",
                duration(predicted_block_ms(plan, &assumptions))
            ),
        ),
    };
    format!(
        "\n{cells} cells, each measured {measured}. Predicted time: about {predicted}{blocks}, \
         after the server builds have been fetched.{backlogs}\n"
    )
}

/// The rule by which a campaign adds blocks.
fn campaign(plan: &Plan) -> Option<String> {
    let campaign = plan.campaign.as_ref()?;
    let looks: Vec<_> = campaign.looks.iter().map(u32::to_string).collect();
    let first_ms = predicted_ms(plan, &Assumptions::default());
    let too_long = if first_ms > campaign.budget_ms {
        " The predicted time up to the first look is longer."
    } else {
        ""
    };
    Some(format!(
        "\nBlocks are added until all ratios of throughput are known to ±{} %, or the budget of {} \
         is used up.\nThe run looks at them after {} blocks.{too_long}",
        campaign.precision_percent,
        duration(campaign.budget_ms),
        listed(&looks)
    ))
}

/// The backend, where the experiment names one.
fn backend(plan: &Plan) -> Option<String> {
    let backend = plan.backend?;
    Some(format!("Load generator: {backend}"))
}

fn dataset(plan: &Plan) -> String {
    let dataset = &plan.dataset;
    let key = if dataset.primary_key {
        ""
    } else {
        ", without primary key"
    };
    let load = match dataset.load {
        LoadMethod::Bulk => "",
        LoadMethod::Inserts => ", loaded by inserts in every trial",
        LoadMethod::None => ", put in by steps",
    };
    format!(
        "Dataset: {} × {} rows ({}{key}), seed {}{load}",
        plural(dataset.tables.into(), "table"),
        dataset.rows,
        dataset.schema.name(),
        dataset.seed
    )
}

fn targets(plan: &Plan) -> Vec<String> {
    let varying = plan.varying();
    let mut lines = vec![format!("\nTargets ({}):", plan.targets.len())];
    for (index, target) in plan.targets.iter().enumerate() {
        let base = if plan.is_base(index) {
            "  (base)"
        } else if plan.twin == Some(index) {
            "  (the base again)"
        } else {
            ""
        };
        let words = summary(target, &varying);
        let own = plan
            .other_base_of(index)
            .filter(|_| plan.has_several_bases());
        let own = own
            .filter(|_| plan.twin != Some(index))
            .map_or_else(String::new, |base| {
                format!("  (relative to {})", plan.targets[base].name)
            });
        lines.push(format!("  {}: {words}{base}{own}", target.name));
    }
    lines
}

/// The readings of the targets, where they are the same for all and not the default.
fn collected(plan: &Plan) -> Option<String> {
    let first = plan.targets.first()?.collect;
    let alike = plan.targets.iter().all(|target| target.collect == first);
    (alike && first != Collect::default()).then(|| format!("\nCollected: {first}"))
}

/// The targets that want counters of the processor which can't be read here.
fn uncollected(plan: &Plan, why: &str) -> Option<String> {
    let targets = plan.targets.iter();
    let wanting: Vec<_> = targets
        .filter(|target| target.collect.counters == RidingCounters::Hardware)
        .map(|target| target.name.clone())
        .collect();
    let verb = match wanting.len() {
        0 => return None,
        1 => "wants",
        _ => "want",
    };
    Some(format!(
        "\n{} {verb} the processor's counters, which can't be read here, and will fail: {why}.",
        listed(&wanting)
    ))
}

/// Build and engine, and whatever the target asks for that others have not, or have otherwise.
fn summary(target: &Target, varying: &[Aspect]) -> String {
    let mut words = vec![
        target.aspect(&Aspect::Build),
        target.aspect(&Aspect::Engine),
    ];
    for aspect in varying {
        let is_named = matches!(aspect, Aspect::Build | Aspect::Engine);
        if !is_named && !target.is_default(aspect) {
            words.push(format!("{aspect} {}", target.aspect(aspect)));
        }
    }
    words.join(", ")
}

/// The steps of each trial: one line for each entry of the sequence, under its phase.
fn steps(plan: &Plan) -> Vec<String> {
    let preset = match &plan.preset {
        Some(preset) => format!(", sequence {preset}"),
        None => String::new(),
    };
    let mut lines = vec![format!(
        "\nSteps of each trial ({}{preset}):",
        plan.steps.len()
    )];
    let mut phase = None;
    for entry in plan.steps.chunk_by(|a, b| a.entry == b.entry) {
        let [first, ..] = entry else { continue };
        if let Some(settle) = first.settle {
            lines.push(format!(
                "  settle: {} at least, {} at most",
                duration(settle.idle_ms),
                duration(settle.limit_ms)
            ));
        }
        if first.phase != phase {
            phase = first.phase;
            lines.extend(phase.map(|phase| format!("  {}:", heading(phase))));
        }
        let indent = if phase.is_some() { "    " } else { "  " };
        lines.push(format!("{indent}{}", entry_line(first, entry)));
        for group in first.groups.beside() {
            lines.push(format!("{indent}  beside: {}", pace::group(group)));
        }
    }
    lines
}

const fn heading(phase: Phase) -> &'static str {
    match phase {
        Phase::ReadBefore => "reads before the writes",
        Phase::Write => "writes",
        Phase::ReadAfter => "reads after the writes",
        Phase::End => "end",
    }
}

/// One entry at all of its numbers of clients.
fn entry_line(first: &Step, entry: &[Step]) -> String {
    let clients: Vec<_> = entry
        .iter()
        .map(|step| step.own().clients.to_string())
        .collect();
    let noun = if clients == ["1"] {
        "client"
    } else {
        "clients"
    };
    let mut line = format!(
        "{}, {} {noun}: {}",
        first.name,
        listed(&clients),
        length(entry)
    );
    // Writing to a String can't fail.
    match (first.timing, first.warmup_ms) {
        (Timing::WholeRun, _) => line.push_str(", connecting included"),
        (Timing::Operations, 0) => {}
        (Timing::Operations, ms) => {
            let _ = write!(line, " after {} of warm-up", duration(ms));
        }
    }
    if first.ramp_ms > 0 {
        let _ = write!(line, ", ramp-up over {}", duration(first.ramp_ms));
    }
    let own = first.own();
    line.push_str(&pace::words(own.pace, own.reconnect_every));
    if own.workload.text_only {
        line.push_str(", sent as text");
    }
    if first.warm_only {
        line.push_str(", for warming only");
    }
    if let Some(margin) = first.margin_percent {
        let _ = write!(line, ", margin {margin} %");
    }
    line
}

/// The length of an entry: the same at all numbers of clients, or as much for each client.
fn length(entry: &[Step]) -> String {
    let one = |step: &Step| match step.length {
        Length::Time { ms } => duration(ms),
        Length::Count { operations } => plural(operations, "operation"),
    };
    let each = |step: &Step| match step.length {
        Length::Count { operations } => operations.checked_div(step.own().clients.into()),
        Length::Time { .. } => None,
    };
    let mut lengths: Vec<_> = entry.iter().map(one).collect();
    lengths.dedup();
    let mut shares: Vec<_> = entry.iter().map(each).collect();
    shares.dedup();
    match (lengths.as_slice(), shares.as_slice()) {
        ([_, _, ..], [Some(each)]) => format!("{} of each client", plural(*each, "operation")),
        _ => listed(&lengths),
    }
}

/// The sections of reports, where the sequence has them.
fn sections(plan: &Plan) -> Vec<String> {
    if plan.sections.is_empty() {
        return Vec::new();
    }
    let name = |entry: &usize| {
        let mut steps = plan.steps.iter();
        steps
            .find(|step| step.entry == *entry)
            .map(|step| step.name.as_str())
    };
    let mut lines = vec!["\nSections of reports:".to_owned()];
    for section in &plan.sections {
        let names: Vec<_> = section.entries.iter().filter_map(name).collect();
        lines.push(format!("  {}: {}", section.title, names.join(", ")));
    }
    lines
}

fn trials(plan: &Plan) -> Vec<String> {
    let blocks = plural(plan.blocks().into(), "block");
    let mut lines = vec![format!(
        "\nTrials in order ({} in {blocks}):",
        plan.trials.len()
    )];
    for block in 0..plan.blocks() {
        let names = |kind| -> Vec<&str> {
            let trials = plan.trials.iter();
            trials
                .filter(|trial| (trial.block, trial.kind) == (block, kind))
                .map(|trial| plan.targets[trial.target].name.as_str())
                .collect()
        };
        let timed = names(TrialKind::Timed).join(", ");
        let then = |kind: TrialKind| match names(kind).as_slice() {
            [] => String::new(),
            names => format!("; then {kind}: {}", names.join(", ")),
        };
        let others = [TrialKind::Counting, TrialKind::Profiling]
            .map(then)
            .concat();
        lines.push(format!("  block {}: {timed}{others}", block + 1));
    }
    if let Some(ms) = plan.turn_ms {
        lines.push(format!(
            "  The targets of a block take turns of {} within each step; {} servers are in memory \
             together.",
            duration(ms),
            plan.targets.len()
        ));
    }
    lines
}

/// The declared rule that excludes trials.
fn exclusion(plan: &Plan) -> Option<String> {
    plan.canary.exclude.then(|| {
        format!(
            "\nTimed trials whose canary is off by more than {} % (wake-ups {} %) are excluded and \
             run again, at most {} times each.",
            plan.canary.bound_percent,
            plan.canary.bound_percent_of(CanaryPart::WakeUp),
            CanaryRule::REPEATS_MAX
        )
    })
}

/// The profiling trials, or the reason why there are none.
fn profiling(plan: &Plan) -> Option<String> {
    let Some(profiling) = plan.profiling else {
        let note = plan.profiling_note.as_ref()?;
        return Some(format!("\nNo stacks are sampled: {note}."));
    };
    let length = profiling
        .time_ms
        .map_or_else(|| "as long as when timed".to_owned(), duration);
    Some(format!(
        "\nStacks are sampled up to {} times a second of a processor in {}: each step for {length}.",
        profiling.rate,
        plural(profiling.blocks.into(), "block")
    ))
}

/// The counting trials, or the reason why there are none.
fn counting(plan: &Plan) -> Option<String> {
    let Some(counting) = plan.counting else {
        let note = plan.counting_note.as_ref()?;
        return Some(format!("\nNo instructions are counted: {note}."));
    };
    let by = match counting.by {
        CountedBy::Hardware => "by the processor's counters",
        CountedBy::Valgrind => "by valgrind",
    };
    let steps = match counting.steps {
        CountedSteps::All => "each step",
        CountedSteps::Reads => "each step that only reads",
    };
    let operations = match (counting.operations, counting.time_ms) {
        (Some(operations), _) => format!("{} of {steps}", plural(operations, "operation")),
        (None, Some(ms)) => format!("of {steps} what the base completes in {ms} ms"),
        (None, None) => format!("a fifth of what the base completes in {steps}"),
    };
    let mut text = format!(
        "\nInstructions are counted {by} in {}: {operations}, the same for all targets.",
        plural(counting.blocks.into(), "block")
    );
    let in_valgrind = counting.by == CountedBy::Valgrind;
    for target in plan.targets.iter().filter(|_| in_valgrind) {
        if let Some(reason) = &target.build.no_valgrind {
            write!(text, " {} is not counted: {reason}.", target.name).ok()?;
        }
    }
    Some(text)
}
