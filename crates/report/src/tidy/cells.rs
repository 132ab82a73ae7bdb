//! Metrics over the blocks.

use std::collections::BTreeMap;

use prony_model::{Metric, Verdict};

use super::{Cell, Tables, json};
use crate::analysis::estimate::Estimate;
use crate::analysis::figure::Figure;
use crate::analysis::group::GroupId;
use crate::analysis::verdicts::{Judged, Needed};
use crate::error::ReportError;
use crate::figures::word;

/// Fingerprints by target and step.
type Fingerprints = BTreeMap<(usize, usize), String>;

impl Tables<'_> {
    /// Every metric of every cell that has a value, by target, step, group of clients and metric.
    ///
    /// # Errors
    /// If the result file can't be read.
    pub fn cells(&self) -> Result<Vec<Cell<'_>>, ReportError> {
        let cells = self.store.cells()?.into_iter();
        let fingerprints = cells.map(|row| ((row.target, row.step), row.fingerprint));
        let fingerprints: Fingerprints = fingerprints.collect();
        let targets = 0..self.plan().targets.len();
        let cells = targets.flat_map(|target| {
            let groups = GroupId::all(self.plan());
            groups.flat_map(move |group| [(target, group)])
        });
        let rows = cells.flat_map(|(target, group)| self.of_cell(target, group, &fingerprints));
        Ok(rows.collect())
    }

    fn of_cell(&self, target: usize, group: GroupId, fingerprints: &Fingerprints) -> Vec<Cell<'_>> {
        let cell = self.analysis.cells.at(group, target);
        let costs = self.analysis.costs.cell(group.step, target);
        let own = group.is_own();
        let fingerprint = fingerprints.get(&(target, group.step)).filter(|_| own);
        let of_clients = cell.figures.iter();
        let of_clients = of_clients.map(|(metric, figure)| (*metric, figure, cell.has_warnings()));
        let of_costs = costs.figures.iter().filter(|_| own);
        let of_costs =
            of_costs.map(|(metric, figure)| (*metric, figure, costs.is_doubtful(*metric)));
        let base = self.analysis.base_name(target);
        let unequal = cell.unequal.iter().map(|unequal| unequal.warning(base));
        let of_step = costs.warnings.iter().filter(|_| own).cloned();
        let notes = cell.warnings.iter().cloned().chain(unequal).chain(of_step);
        let notes: Vec<String> = notes.collect();
        let row = |(metric, figure, doubtful)| Cell {
            doubtful,
            fingerprint: fingerprint.cloned().map(Into::into),
            notes: json(&notes),
            ..self.figure(target, group, metric, figure)
        };
        of_clients.chain(of_costs).map(row).collect()
    }

    fn figure(&self, target: usize, group: GroupId, metric: Metric, figure: &Figure) -> Cell<'_> {
        let verdicts = &self.analysis.verdicts;
        let (facts, summary) = (metric.facts(), &figure.summary);
        let ratio = figure.ratio.as_ref();
        let estimate = ratio.map(|pairs| verdicts.looks.of_pairs(pairs));
        let range = ratio.map(prony_stats::Pairs::ratio);
        let interval = estimate.as_ref().and_then(|estimate| estimate.interval);
        let judged = verdicts.get(group, target, metric);
        Cell {
            run: self.run_text(),
            target: self.target_name(target),
            step: self.step_name(group.step),
            clients: self.step_clients(group.step),
            beside: self.beside(group),
            metric: facts.id.into(),
            unit: facts.unit.into(),
            per: self.per(group.step, metric),
            better: facts.better.name().into(),
            trial_kind: figure.taken.name().into(),
            n: summary.n as u64,
            mean: summary.mean,
            median: summary.median,
            min: summary.min,
            max: summary.max,
            variation: summary.variation,
            base: ratio
                .and_then(|_| self.plan().base_of(target))
                .map(|base| self.target_name(base)),
            ratio: estimate.as_ref().map(Estimate::ratio),
            ratio_low: interval.map(|interval| interval.low),
            ratio_high: interval.map(|interval| interval.high),
            ratio_n: estimate.as_ref().map(|estimate| estimate.n() as u64),
            ratio_min: range.map(|range| range.min),
            ratio_max: range.map(|range| range.max),
            margin: judged.map(|judged| judged.margin),
            verdict: judged.map(|judged| judged.verdict.name().into()),
            size: judged.and_then(|judged| Some(word(&judged.size?).into())),
            adjusted_p: judged.and_then(|judged| judged.adjusted_p),
            blocks_needed: judged.and_then(blocks_needed),
            doubtful: false,
            fingerprint: None,
            notes: "".into(),
        }
    }
}

fn blocks_needed(judged: &Judged) -> Option<u64> {
    if judged.verdict != Verdict::Inconclusive {
        return None;
    }
    let blocks = match judged.needed? {
        Needed::TooFew { least } => least.saturating_sub(judged.estimate.n()),
        Needed::About(blocks) => blocks,
        Needed::Many => return None,
    };
    Some(blocks as u64)
}
