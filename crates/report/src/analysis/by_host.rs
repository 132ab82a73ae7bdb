//! Ratios by host, where several hosts measured the run: how much they vary, and where they contradict.

use std::collections::BTreeMap;

use prony_model::{Metric, Plan};
use prony_stats::{GroupMeans, LogRatio};

use crate::analysis::cell;
use crate::analysis::cells::Cells;
use crate::analysis::estimate::LEVEL;
use crate::analysis::group::GroupId;
use crate::analysis::overall;
use crate::analysis::pairing::InBlock as _;
use crate::analysis::replicates::Replicates;

/// The throughput of a target relative to its base, over the steps, by host.
#[derive(Debug)]
pub(crate) struct ByHost {
    pub(crate) target: usize,
    /// Host and ratio, ascending by ratio; at least two.
    pub(crate) hosts: Vec<(String, f64)>,
    /// Over the hosts.
    pub(crate) all: LogRatio,
    /// Deviations of logarithms between hosts, and between blocks of a host, where hosts have several.
    pub(crate) deviations: Option<(f64, f64)>,
}

/// A target that is faster than its base on some hosts, and slower on others.
#[derive(Debug)]
pub(crate) struct Contradiction {
    pub(crate) step: usize,
    pub(crate) target: usize,
    /// Host and ratio where it was faster and slower; neither is empty.
    pub(crate) faster: Vec<(String, f64)>,
    pub(crate) slower: Vec<(String, f64)>,
}

/// Logarithms of ratios by host, each with those of its blocks.
type Logs = BTreeMap<u32, Vec<f64>>;

/// The ratios of all contenders by host. Empty where one host measured.
pub(crate) fn of(plan: &Plan, steps: &[usize], cells: &Cells, hosts: &Replicates) -> Vec<ByHost> {
    let of_target = |target| {
        let base = plan.base_of(target)?;
        let by_host = over_steps(steps, (target, base), cells);
        let groups: Vec<Vec<f64>> = by_host.values().cloned().collect();
        let means = GroupMeans::of(&groups).ok()?;
        let names = by_host.keys().filter_map(|first| hosts.hosts().get(first));
        let ratios = means.means().iter().map(|log| log.exp());
        let mut ratios: Vec<(String, f64)> = names.cloned().zip(ratios).collect();
        ratios.sort_by(|one, other| one.1.total_cmp(&other.1));
        let of_all = ByHost {
            target,
            hosts: ratios,
            all: LogRatio::of(means.means()).ok()?,
            deviations: means.between().zip(means.within()),
        };
        Some(of_all).filter(|of| of.hosts.len() > 1)
    };
    plan.contenders().filter_map(of_target).collect()
}

/// The mean over the steps, of each block that has all of them, by host.
fn over_steps(steps: &[usize], pair: (usize, usize), cells: &Cells) -> Logs {
    let mut sums: BTreeMap<(u32, u32), (usize, f64)> = BTreeMap::new();
    let mut counted = 0;
    for &step in steps {
        let mut logs = of_step(step, pair, cells).peekable();
        counted += usize::from(logs.peek().is_some());
        for (place, log) in logs {
            let sum = sums.entry(place).or_default();
            *sum = (sum.0 + 1, sum.1 + log);
        }
    }
    let mut by_host = Logs::new();
    for ((host, _), (n, sum)) in sums {
        if n == counted {
            by_host.entry(host).or_default().push(sum / counted as f64);
        }
    }
    by_host
}

/// Logarithms of the ratios of throughput of a step by host and block.
fn of_step(
    step: usize,
    (target, base): (usize, usize),
    cells: &Cells,
) -> impl Iterator<Item = ((u32, u32), f64)> {
    let of_target = |target| &cells.at(GroupId::own(step), target).measurements[..];
    let quotients = cell::quotients(Metric::Operations, of_target(target), of_target(base));
    quotients.into_iter().filter_map(|(mine, quotient)| {
        Some(((mine.replicate()?, mine.block_number()), quotient.ln()))
    })
}

/// The steps and targets whose ratio is beyond the margin and its chance in one direction on a host, and in
/// the other on another. Chance is known where hosts have several blocks.
pub(crate) fn contradictions(plan: &Plan, cells: &Cells, hosts: &Replicates) -> Vec<Contradiction> {
    let steps = (0..plan.steps.len()).filter(|&step| overall::counts(plan, GroupId::own(step)));
    let pairs = steps.flat_map(|step| plan.contenders().map(move |target| (step, target)));
    pairs
        .filter_map(|(step, target)| {
            let mut by_host = Logs::new();
            for ((host, _), log) in of_step(step, (target, plan.base_of(target)?), cells) {
                by_host.entry(host).or_default().push(log);
            }
            let groups: Vec<Vec<f64>> = by_host.values().cloned().collect();
            let means = GroupMeans::of(&groups).ok()?;
            let halves = means.half_widths(LEVEL)?;
            let margin = plan.steps[step].margin().ln_1p();
            let (mut faster, mut slower) = (Vec::new(), Vec::new());
            for ((first, log), half) in by_host.keys().zip(means.means()).zip(halves) {
                let host = || Some((hosts.hosts().get(first)?.clone(), log.exp()));
                if log.abs() > half.max(margin) {
                    let side = if *log > 0.0 { &mut faster } else { &mut slower };
                    side.extend(host());
                }
            }
            let contradict = !faster.is_empty() && !slower.is_empty();
            contradict.then_some(Contradiction {
                step,
                target,
                faster,
                slower,
            })
        })
        .collect()
}
