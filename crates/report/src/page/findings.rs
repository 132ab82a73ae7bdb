//! Findings in words: sentences whose figures know the cell that they are from.

use std::fmt;

use prony_model::{Metric, RatioDisplay, Verdict};
use prony_stats::Interval;

use crate::analysis::Analysis;
use crate::analysis::estimate::Estimate;
use crate::analysis::findings::{
    Beginning, CellMetric, Counts, Finding, Identical, Largest, by_doubt,
};
use crate::analysis::identical::Comparison;
use crate::analysis::promises::Breach;
use crate::analysis::verdicts::{Disagreement, Judged};
use crate::document::MARK;
use crate::figures;
use crate::page::view::{place, step_name};
use crate::words::{count, listed, plural, share};

/// Steps that are named in one sentence.
const NAMED_MAX: usize = 2;

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// Words.
    Text(String),
    /// A figure.
    Figure(Figure),
}

/// A figure of a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    pub(crate) text: String,
    pub(crate) value: f64,
    /// The bounds of its interval of 95 %, where it has one.
    pub(crate) interval: Option<(f64, f64)>,
    /// The cell that it is of; `None` if it is of several.
    pub(crate) cell: Option<CellMetric>,
}

/// A sentence without period.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sentence(pub(crate) Vec<Part>);

impl Sentence {
    fn text(mut self, text: impl Into<String>) -> Self {
        self.0.push(Part::Text(text.into()));
        self
    }

    fn number(self, value: usize) -> Self {
        self.figure(count(value as u64), value as f64, None)
    }

    fn share(self, value: f64, cell: Option<CellMetric>) -> Self {
        self.figure(share(value), value, cell)
    }

    fn figure(mut self, text: String, value: f64, cell: Option<CellMetric>) -> Self {
        self.0.push(Part::Figure(Figure {
            text,
            value,
            interval: None,
            cell,
        }));
        self
    }

    fn ratio(mut self, estimate: &Estimate, cell: Option<CellMetric>) -> Self {
        let bounds = estimate.interval;
        self.0.push(Part::Figure(Figure {
            text: figures::ratio(estimate),
            value: estimate.ratio(),
            interval: bounds.map(|bounds| (bounds.low, bounds.high)),
            cell,
        }));
        self
    }

    /// The ratio of a verdict, marked if there are doubts, and the verdict. The metric is named unless
    /// it is throughput.
    fn judged(self, analysis: &Analysis<'_>, judged: &Judged) -> Self {
        let mark = if judged.doubts.is_empty() { "" } else { MARK };
        let named = match judged.metric {
            Metric::Operations if analysis.is_shown_as_time(judged) => {
                self.text(format!("time {mark}"))
            }
            Metric::Operations => self.text(mark),
            metric => self.text(format!("{} {mark}", metric.facts().name)),
        };
        let ratio = named.ratio(&analysis.as_shown(judged), Some(judged.into()));
        ratio.text(format!(" {}", judged.verdict))
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| match part {
            Part::Text(text) => f.write_str(text),
            Part::Figure(figure) => f.write_str(&figure.text),
        })
    }
}

/// The sentence of a finding.
pub(crate) fn sentence(analysis: &Analysis<'_>, finding: &Finding<'_>) -> Sentence {
    let start = Sentence::default();
    match finding {
        Finding::NothingCompared { failed_bases } if failed_bases.is_empty() => {
            start.text("Nothing to compare yet: no block has both the base and another target done")
        }
        Finding::NothingCompared { failed_bases } => {
            let names = failed_bases.iter().map(|&base| analysis.base_name(base));
            start.text(format!(
                "Nothing to compare: no trial of the base {} is done, and some failed",
                names.collect::<Vec<_>>().join(" or ")
            ))
        }
        Finding::BaseFailed(base) => {
            let plan = analysis.plan;
            let own = plan
                .contenders()
                .filter(|&target| plan.base_of(target) == Some(*base));
            let own: Vec<String> = own
                .map(|target| plan.targets[target].name.clone())
                .collect();
            start.text(format!(
                "No trial of the base {} is done, and some failed: no ratio of {}",
                analysis.base_name(*base),
                listed(&own)
            ))
        }
        Finding::NoVerdicts { least, most } => start
            .text("A verdict takes ")
            .number(*least)
            .text(" blocks, and no ratio rests on more than ")
            .number(*most)
            .text(" yet: nothing is called better, worse or equivalent"),
        Finding::Counts(counts) => of_counts(analysis, counts),
        Finding::Largest(largest) => of_largest(analysis, largest),
        Finding::Disagreement(found) => of_disagreement(analysis, found),
        Finding::Broken(breaches) => of_broken(analysis, breaches),
        Finding::Identical(identical) => of_identical(analysis, identical),
        Finding::Unfit(comparisons) => of_unfit(analysis, comparisons),
        Finding::Doubtful { marked, all } => of_doubts(marked, *all),
        Finding::Caution(text) => start.text(*text),
        Finding::BadHost(properties) => start.text(format!(
            "`prony check` found the host bad for ratios: {}",
            properties.join("; ")
        )),
        Finding::Appended { blocks, all } => start
            .number(*blocks)
            .text(format!(
                " of {} were appended by the user: ",
                plural((*all).into(), "block")
            ))
            .text(
                "verdicts count all blocks as if planned, so that they err more often than stated \
                 if figures decided on more blocks",
            ),
        Finding::Incomplete {
            complete,
            planned,
            judged,
        } => {
            let blocks = plural((*planned).into(), "block");
            let outlook = if *judged {
                ": verdicts can still change"
            } else {
                ""
            };
            let complete = start.number(*complete);
            complete.text(format!(" of {blocks} are complete{outlook}"))
        }
        Finding::Failed(targets) => of_failed(analysis, targets),
    }
}

fn of_counts(analysis: &Analysis<'_>, counts: &Counts<'_>) -> Sentence {
    const VERDICTS: [Verdict; 4] = [
        Verdict::Regressed,
        Verdict::Improved,
        Verdict::Equivalent,
        Verdict::Inconclusive,
    ];
    let name = &analysis.plan.targets[counts.target].name;
    let mut sentence = Sentence::default().text(format!("{name}: "));
    let steps = plural((counts.judged.len() + counts.without) as u64, "step");
    let mut is_first = true;
    let mut part = |sentence: Sentence, n: usize, words: &str| {
        let of_steps = format!(" of {steps}");
        let (before, of_steps) = if is_first {
            ("", of_steps.as_str())
        } else {
            (", ", "")
        };
        is_first = false;
        let counted = sentence.text(before).number(n);
        counted.text(format!("{of_steps} {words}"))
    };
    let shown = VERDICTS.iter().filter(|_| counts.has_verdicts);
    for verdict in shown {
        let with = counts.judged.iter().filter(|one| one.verdict == *verdict);
        let n = with.count();
        if n > 0 {
            sentence = part(sentence, n, &verdict.to_string());
        }
    }
    if counts.without > 0 {
        sentence = part(sentence, counts.without, "without a ratio");
    }
    let Some((overall, estimate)) = counts
        .overall
        .and_then(|overall| Some((overall, overall.estimate.as_ref()?)))
    else {
        return sentence;
    };
    let separator = if is_first { "" } else { "; " };
    if analysis.common_display() == Some(RatioDisplay::Time) {
        let sentence = sentence.text(format!("{separator}time of an operation over all steps "));
        return match overall.time.as_ref() {
            Some(time) => sentence.ratio(time, None),
            None => sentence,
        };
    }
    let sentence = sentence.text(format!("{separator}throughput of all steps "));
    sentence.ratio(estimate, None)
}

fn of_largest(analysis: &Analysis<'_>, largest: &Largest<'_>) -> Sentence {
    let judged = largest.judged;
    let rank = match (largest.rank, judged.verdict) {
        (0, Verdict::Improved) => "Largest improvement: ",
        (0, _) => "Largest regression: ",
        _ => "Next: ",
    };
    let size = judged.size.map_or("", |size| size.words());
    let margin = share(judged.margin);
    let beside = if judged.margin > analysis.plan.steps[judged.group.step].margin() {
        format!("the {margin} by which identical servers differ")
    } else {
        format!("the margin of {margin}")
    };
    let start = Sentence::default().text(format!("{rank}{}: ", place(analysis, judged)));
    let sentence = start.judged(analysis, judged);
    let sentence = sentence.text(format!(", {size} {beside}"));
    let sentence = match largest.cost {
        Some(cost) => sentence.text("; with it, ").judged(analysis, cost),
        None => sentence,
    };
    let sentence = match largest.begins {
        Some(beginning) => {
            let is_time = analysis.is_shown_as_time(judged);
            begins(analysis, sentence, beginning, is_time)
        }
        None => sentence,
    };
    match analysis.reasons.get(&(judged.group.step, judged.target)) {
        Some(reason) => sentence.text(format!("; {reason}")),
        None => sentence,
    }
}

/// The place where a difference of throughput begins, as a ratio of time if `is_time`.
fn begins(
    analysis: &Analysis<'_>,
    sentence: Sentence,
    beginning: Beginning,
    is_time: bool,
) -> Sentence {
    let names = beginning
        .between
        .map(|target| &analysis.plan.targets[target].name);
    let change = beginning.change;
    let (ratio, bounds) = if is_time {
        let (low, high) = (1.0 / change.interval.high, 1.0 / change.interval.low);
        (1.0 / change.ratio, Interval { low, high })
    } else {
        (change.ratio, change.interval)
    };
    let start = sentence.text(format!(
        "; it begins between {} and {}, ",
        names[0], names[1]
    ));
    let mut start = start;
    start.0.push(Part::Figure(Figure {
        text: figures::with_interval(ratio, Some(bounds)),
        value: ratio,
        interval: Some((bounds.low, bounds.high)),
        cell: None,
    }));
    start
}

fn of_disagreement(analysis: &Analysis<'_>, found: &Disagreement<'_>) -> Sentence {
    let Disagreement { throughput, cost } = found;
    let (words, reason) = if throughput.verdict == Verdict::Regressed {
        (
            "slower and not dearer",
            "operations wait for more than processors",
        )
    } else {
        (
            "dearer and not slower",
            "the server does more beside the way of an operation",
        )
    };
    let place = place(analysis, throughput);
    let quantity = if analysis.is_shown_as_time(throughput) {
        ""
    } else {
        "throughput "
    };
    let start = Sentence::default().text(format!("{place}: {words}, {quantity}"));
    let throughput = start.judged(analysis, throughput).text(", ");
    throughput
        .judged(analysis, cost)
        .text(format!(": {reason}"))
}

fn of_broken(analysis: &Analysis<'_>, breaches: &[Breach]) -> Sentence {
    let plan = analysis.plan;
    let named = breaches.iter().take(NAMED_MAX).map(|breach| {
        let (step, target) = (step_name(analysis, breach.group), breach.target);
        let target = &plan.targets[target].name;
        format!("{step}, {target}: {}", breach.words(plan))
    });
    let named: Vec<String> = named.collect();
    let more = breaches.len() - named.len();
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    Sentence::default().text(format!(
        "Promised rates not kept, so that these steps are not compared: {}{more}",
        named.join("; ")
    ))
}

fn of_identical(analysis: &Analysis<'_>, identical: &Identical<'_>) -> Sentence {
    let start = Sentence::default();
    let Some(twin) = identical.twin else {
        return start.text("Identical servers were not compared in this run");
    };
    let Some(largest) = identical.largest else {
        return start.text(format!(
            "Identical servers: no block has both {} and {} done",
            analysis.base_name(twin),
            analysis.plan.targets[twin].name
        ));
    };
    let cell = of_twin(twin, largest);
    let comparisons = plural(identical.comparisons as u64, "comparison");
    let sentence = start
        .text(format!(
            "Identical servers: {comparisons}, largest difference "
        ))
        .share(largest.estimate.difference(), Some(cell))
        .text(format!(
            " ({}, {}); ",
            step_name(analysis, largest.group),
            largest.metric.facts().name
        ));
    match identical.alarms {
        (0, _) => sentence.text("one block gives no intervals"),
        (all, alarms) => {
            let verb = if alarms == 1 { "does" } else { "do" };
            let sentence = sentence.number(alarms);
            sentence.text(format!(" of {all} intervals {verb} not hold 1"))
        }
    }
}

fn of_twin(twin: usize, one: &Comparison) -> CellMetric {
    CellMetric {
        group: one.group,
        target: twin,
        metric: one.metric,
    }
}

fn of_unfit(analysis: &Analysis<'_>, comparisons: &[&Comparison]) -> Sentence {
    let cell = |one: &Comparison| Some(of_twin(analysis.plan.twin?, one));
    let step = |one: &Comparison| step_name(analysis, one.group);
    let margin = |one: &Comparison| share(analysis.plan.steps[one.group.step].margin());
    if let [only] = comparisons {
        let start = Sentence::default().text(format!(
            "This host is unfit for a margin of {} at {}: identical servers differ by ",
            margin(only),
            step(only)
        ));
        return start.share(only.estimate.difference(), cell(only));
    }
    let start = Sentence::default().text("This host is unfit for the margins of ");
    let mut sentence = start
        .number(comparisons.len())
        .text(" steps: identical servers differ by more");
    for (index, one) in comparisons.iter().take(NAMED_MAX).enumerate() {
        let separator = if index == 0 { ", most at" } else { "," };
        sentence = sentence.text(format!("{separator} {} by ", step(one)));
        sentence = sentence.share(one.estimate.difference(), cell(one));
        sentence = sentence.text(format!(" (margin {})", margin(one)));
    }
    sentence
}

fn of_doubts(marked: &[&Judged], all: usize) -> Sentence {
    let start = Sentence::default().number(marked.len());
    let of_all = format!(" of {} marked !", plural(all as u64, "ratio"));
    let mut sentence = start.text(of_all);
    for (index, (doubt, n)) in by_doubt(marked).into_iter().enumerate() {
        let separator = if index == 0 { ": " } else { ", " };
        sentence = sentence.text(format!("{separator}{doubt} ("));
        sentence = sentence.number(n).text(")");
    }
    sentence
}

fn of_failed(analysis: &Analysis<'_>, targets: &[(usize, usize)]) -> Sentence {
    let all = targets.iter().map(|(_, count)| count).sum::<usize>();
    let of_target = targets.iter().map(|&(target, count)| {
        let name = &analysis.plan.targets[target].name;
        format!("{count} of {name}")
    });
    let of_target: Vec<String> = of_target.collect();
    let noun = if all == 1 { "trial" } else { "trials" };
    let start = Sentence::default().number(all);
    start.text(format!(" {noun} failed: {}", listed(&of_target)))
}
