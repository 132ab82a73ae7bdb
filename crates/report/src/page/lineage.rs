//! The places in the order of versions where large changes are.

use prony_model::{Better, Metric, TrialKind};
use prony_stats::{Change, Interval};

use crate::analysis::Analysis;
use crate::analysis::lineage::{self, BLOCKS_MIN, MetricLineage, StepLineage};
use crate::document::{Block, Cell, MARK};
use crate::figures;
use crate::page::view::{by_target, short_name, with_clients};
use crate::words::{listed, plural};

/// The level of the interval of the last version relative to the first.
pub(crate) const LEVEL: f64 = 0.95;

/// Half-widths in percent from which a percentage has no decimal, and from which it has one.
const DECIMALS: [f64; 2] = [5.0, 0.05];

/// The whole page: changes first, then values.
pub(crate) fn document(analysis: &Analysis<'_>) -> Vec<Block> {
    let plan = analysis.plan;
    let mut blocks = vec![Block::Title(plan.name.clone())];
    let all = lineage::of(analysis);
    if all.is_empty() {
        let text = "No version has figures yet.";
        blocks.push(Block::Paragraph(text.into()));
        return blocks;
    }
    for of_metric in &all {
        let facts = of_metric.metric.facts();
        let direction = match facts.better {
            Better::Higher => ", more is better",
            Better::Lower => ", less is better",
            Better::Neither => "",
        };
        let heading = format!("Large changes of {}{direction}", facts.name);
        let items = of_metric.steps.iter();
        let items = match common(analysis, &of_metric.steps) {
            Some(line) => vec![line],
            None => items.map(|step| item(analysis, step)).collect(),
        };
        blocks.push(Block::Heading(heading));
        blocks.push(Block::List(items));
    }
    blocks.extend(all.iter().flat_map(|lineage| values(analysis, lineage)));
    blocks.push(Block::Heading("How to read this".into()));
    blocks.push(Block::List(legend()));
    blocks
}

/// The line of all steps, if no change is called at any of them for the same reason.
fn common(analysis: &Analysis<'_>, steps: &[StepLineage]) -> Option<String> {
    let text = |step: &StepLineage| {
        let is_open = step.segments.is_none();
        is_open.then(|| format!("{}{}", reason(step), left_out(analysis, step)))
    };
    let (first, others) = steps.split_first()?;
    let shared = text(first)?;
    let mut others = others.iter();
    let is_shared = others.len() > 0 && others.all(|step| text(step).as_ref() == Some(&shared));
    is_shared.then(|| format!("all {} steps: {shared}", steps.len()))
}

/// The line of one step.
fn item(analysis: &Analysis<'_>, of_step: &StepLineage) -> String {
    let step = &analysis.plan.steps[of_step.step];
    let name = with_clients(analysis, &step.name, step);
    let mark = if of_step.is_doubtful { MARK } else { "" };
    let answer = match &of_step.segments {
        None => reason(of_step),
        Some(segments) => {
            let margin = step.margin();
            let large = segments.changes.iter().filter(|c| c.is_large(margin));
            let mut parts: Vec<String> = large
                .map(|change| change_text(analysis, of_step, change))
                .collect();
            if parts.is_empty() {
                let margin = percent_of(margin);
                let resolution = segments.resolution * 100.0;
                parts.push(format!(
                    "no change above {margin} found (±{resolution:.1}%)"
                ));
            }
            let total = segments.total;
            let bounds = total.interval(LEVEL);
            let all = difference(total.ratio(), bounds);
            parts.push(format!("all: {all}"));
            parts.join("; ")
        }
    };
    format!("{mark}{name}: {answer}{}", left_out(analysis, of_step))
}

/// The targets that are not compared, as the end of a line; often none.
fn left_out(analysis: &Analysis<'_>, of_step: &StepLineage) -> String {
    let left_out = of_step.left_out.iter().map(|&(target, n)| {
        let name = &analysis.plan.targets[target].name;
        format!("{name} ({})", plural(n as u64, "block"))
    });
    let left_out: Vec<String> = left_out.collect();
    if left_out.is_empty() {
        return String::new();
    }
    format!(" (without {})", listed(&left_out))
}

/// A change with the versions before and after it.
fn change_text(analysis: &Analysis<'_>, of_step: &StepLineage, change: &Change) -> String {
    let name = |position: usize| short_name(analysis, of_step.targets[position]);
    let (before, after) = (name(change.at - 1), name(change.at));
    let size = difference(change.ratio, Some(change.interval));
    format!("{before} → {after}: {size}")
}

/// The reason why no change is called.
pub(crate) fn reason(of_step: &StepLineage) -> String {
    if of_step.targets.len() < 2 {
        return "only one version has figures, so there is nothing to compare".into();
    }
    let trials = match of_step.taken {
        TrialKind::Timed | TrialKind::Profiling => "",
        TrialKind::Counting => " of counting trials",
    };
    let blocks = plural(of_step.blocks as u64, "block");
    format!("no change is called: {blocks}{trials} with all versions, {BLOCKS_MIN} needed")
}

/// A ratio as a difference in percent with its bounds, such as `−6.1% [−7.0, −5.2]`.
fn difference(ratio: f64, bounds: Option<Interval>) -> String {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let Some(bounds) = bounds else {
        return format!("{}%", signed(percent(ratio), 1));
    };
    let half = (percent(bounds.high) - percent(bounds.low)) / 2.0;
    let decimals = DECIMALS.iter().filter(|&&from| half < from).count();
    let [centre, low, high] =
        [ratio, bounds.low, bounds.high].map(|r| signed(percent(r), decimals));
    format!("{centre}% [{low}, {high}]")
}

/// `better` or `worse`; `None` if the bounds include 1, or the metric has no good direction.
pub(crate) fn effect(ratio: f64, bounds: Interval, metric: Metric) -> Option<&'static str> {
    if bounds.low <= 1.0 && bounds.high >= 1.0 {
        return None;
    }
    match (metric.facts().better, ratio > 1.0) {
        (Better::Neither, _) => None,
        (Better::Higher, true) | (Better::Lower, false) => Some("better"),
        (Better::Higher, false) | (Better::Lower, true) => Some("worse"),
    }
}

/// A number with its sign; none for zero.
fn signed(value: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", value.abs());
    let is_zero = digits.chars().all(|c| c == '0' || c == '.');
    let sign = match value {
        _ if is_zero => "",
        value if value < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{digits}")
}

/// A share in percent, such as `1%` or `0.5%`.
fn percent_of(share: f64) -> String {
    format!("{}%", figures::rounded(share * 100.0, 3))
}

/// The values of all versions.
fn values(analysis: &Analysis<'_>, of_metric: &MetricLineage) -> [Block; 2] {
    let metric = of_metric.metric;
    let targets = lineage::targets(analysis.plan);
    let rows = of_metric.steps.iter().map(|of_step| {
        let step = &analysis.plan.steps[of_step.step];
        let cells = targets.iter().map(|&target| {
            let figure = lineage::figure(analysis, of_step.step, target, metric);
            let cell = figure.map(|f| Cell::figure(figures::plain(&f.summary), f.summary.mean));
            let mark = lineage::is_doubtful(analysis, of_step.step, target, metric);
            Cell::from(cell).marked(mark)
        });
        (with_clients(analysis, &step.name, step), cells.collect())
    });
    let facts = metric.facts();
    let unit = match metric {
        Metric::Operations => String::new(),
        _ => format!(", {} per operation or row", facts.unit),
    };
    [
        Block::Heading(format!("Values of {}{unit}, mean over blocks", facts.name)),
        Block::Table(by_target(analysis, "step", &targets, rows)),
    ]
}

fn legend() -> Vec<String> {
    [
        "Versions are in the order of the experiment file. A change is between two neighbours, and \
         compares all versions since the change before with all until the change after, paired within \
         blocks.",
        "[a, b] holds the change in percent. All intervals of a line's changes hold together with \
         95 %, although the places were chosen by the data. A change that is not larger than the \
         step's margin is not shown.",
        "(±x%): a difference between two single neighbours is found from about this size on. A line \
         without a change is no proof that nothing changed.",
        "all: the last version relative to the first, which is the product of the ratios of all \
         neighbours, with its own interval of 95 %.",
        "! before a step or a figure: a warning concerns it. The report without --lineage has its text.",
    ]
    .map(str::to_owned)
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    #[test]
    fn differences_have_signs() {
        let shown = |ratio, low, high| difference(ratio, Some(interval(low, high)));
        assert_eq!(shown(0.939, 0.93, 0.948), "−6.1% [−7.0, −5.2]");
        assert_eq!(shown(1.5, 1.4, 1.6), "+50% [+40, +60]");
        assert_eq!(shown(1.0, 0.99, 1.01), "0.0% [−1.0, +1.0]");
        assert_eq!(shown(1.0035, 1.0034, 1.0036), "+0.35% [+0.34, +0.36]");
        assert_eq!(difference(0.5, None), "−50.0%");
    }

    #[test]
    fn directions_follow_the_metric() {
        let (up, down) = (interval(1.1, 1.3), interval(0.7, 0.9));
        assert_eq!(effect(1.2, up, Metric::Operations), Some("better"));
        assert_eq!(effect(0.8, down, Metric::Operations), Some("worse"));
        assert_eq!(effect(1.2, up, Metric::ServerCpu), Some("worse"));
        assert_eq!(effect(0.8, down, Metric::ServerCpu), Some("better"));
        assert_eq!(effect(1.2, up, Metric::ClientCpu), None);
        assert_eq!(effect(1.0, interval(0.9, 1.1), Metric::Operations), None);
    }

    #[test]
    fn margins_have_few_digits() {
        assert_eq!(percent_of(0.01), "1%");
        assert_eq!(percent_of(0.005), "0.5%");
    }
}
