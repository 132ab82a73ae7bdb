//! Columns of verdicts: the same in all rows of a target and step.

use prony_model::Metric;

use super::Row;
use crate::analysis::Analysis;
use crate::analysis::verdicts::{JUDGED, Judged};
use crate::figures::{rounded, word};

/// A column of verdicts: its prefix, and the field below it.
pub(super) struct VerdictColumn {
    metric: Metric,
    part: &'static str,
    field: Field,
}

/// The text of a column; `None` for an empty one.
type Field = fn(&Judged) -> Option<String>;

/// The columns of each judged metric.
const PARTS: [(&str, Field); 7] = [
    ("ratio", |judged| Some(text(judged.estimate.ratio()))),
    ("low", |judged| Some(text(judged.estimate.interval?.low))),
    ("high", |judged| Some(text(judged.estimate.interval?.high))),
    ("pairs", |judged| Some(judged.estimate.n().to_string())),
    ("verdict", |judged| Some(judged.verdict.to_string())),
    ("size", |judged| judged.size.as_ref().map(word)),
    ("doubts", |judged| {
        let doubts: Vec<String> = judged.doubts.iter().map(word).collect();
        Some(doubts.join(";"))
    }),
];

/// The columns of the metrics that have a verdict anywhere.
pub(super) fn columns(analysis: &Analysis<'_>) -> Vec<VerdictColumn> {
    let has = |metric: &Metric| {
        let mut judged = analysis.verdicts.iter();
        judged.any(|judged| judged.metric == *metric)
    };
    let of_metric = |metric| {
        PARTS.map(|(part, field)| VerdictColumn {
            metric,
            part,
            field,
        })
    };
    JUDGED.into_iter().filter(has).flat_map(of_metric).collect()
}

impl VerdictColumn {
    pub(super) fn name(&self) -> String {
        format!("{}.{}", self.part, self.metric.facts().id)
    }

    /// The field of a row. Empty for the base, its twin and loads.
    pub(super) fn field(&self, row: &Row<'_>) -> Option<String> {
        let verdicts = &row.analysis.verdicts;
        (self.field)(verdicts.get(row.group()?, row.target, self.metric)?)
    }
}

fn text(value: f64) -> String {
    rounded(value, 6).to_string()
}
