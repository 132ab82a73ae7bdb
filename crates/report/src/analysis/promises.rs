//! Promised rates: groups of clients whose operations arrive at a rate of which a share must be done.

use std::ops::RangeInclusive;

use prony_model::{ClientGroup, Length, Pace, Plan, Schedule, Step, Thousandths};
use prony_store::OutcomeRow;

use crate::analysis::group::GroupId;
use crate::analysis::measurement::Measurement;
use crate::words::{count, listed, share};

/// A promise that a target broke. Nothing of the step is compared for it then, not even in blocks in
/// which it was kept: those are the ones in which the server was lucky.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Breach {
    pub(crate) group: GroupId,
    pub(crate) target: usize,
    /// Blocks in which less was done, from 1, ascending; never empty.
    pub(crate) blocks: Vec<u32>,
    /// Measured blocks.
    pub(crate) of: usize,
    /// Shares of the planned operations that were done in these blocks: the least and the greatest.
    pub(crate) done: RangeInclusive<f64>,
}

/// What a group was to do in a measured time, and what was still to be begun when this was over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planned {
    pub(crate) operations: u64,
    pub(crate) backlog: u64,
}

impl Planned {
    pub(crate) fn of(schedule: &Schedule) -> Self {
        Self {
            operations: schedule.planned,
            backlog: schedule.backlog,
        }
    }

    /// The share that had begun when the measured time was over. The others may have been done later.
    pub(crate) fn share_begun(self) -> f64 {
        if self.operations == 0 {
            return 1.0;
        }
        self.operations.saturating_sub(self.backlog) as f64 / self.operations as f64
    }
}

/// The share of the planned operations that a group did in one block. `None` without a promise.
pub(crate) fn done(
    step: &Step,
    group: &ClientGroup,
    row: &OutcomeRow,
    planned: Planned,
) -> Option<f64> {
    group.sla_percent?;
    let Pace::Open { rate, .. } = group.pace else {
        return None;
    };
    let is_counted = matches!(step.length, Length::Count { .. }) && row.group == 0;
    Some(if is_counted {
        // The operations are fixed, and a server that can't keep the rate takes longer.
        let elapsed_s = row.busy_ns as f64 / 1e9 / f64::from(row.clients);
        let in_time = rate.as_f64() * elapsed_s;
        if in_time > 0.0 {
            row.operations as f64 / in_time
        } else {
            0.0
        }
    } else {
        planned.share_begun()
    })
}

/// Returns `true` if a share is less than was promised.
pub(crate) fn is_broken(group: &ClientGroup, done: f64) -> bool {
    let promised = group.sla_percent;
    promised.is_some_and(|percent| done < percent.as_f64() / 100.0)
}

/// The breach of the promise of a group by a target. `None` if it was kept in all blocks, and without one.
pub(super) fn breach(
    plan: &Plan,
    group: GroupId,
    target: usize,
    measurements: &[Measurement],
) -> Option<Breach> {
    let (step, clients) = (&plan.steps[group.step], group.of(plan));
    let broken = measurements.iter().filter_map(|measurement| {
        let schedule = measurement.schedule?;
        let planned = Planned {
            operations: schedule.planned,
            backlog: schedule.backlog,
        };
        let done = done(step, clients, measurement.row(), planned)?;
        is_broken(clients, done).then(|| (measurement.block_number(), done))
    });
    let (blocks, done): (Vec<u32>, Vec<f64>) = broken.unzip();
    let least = done.iter().copied().reduce(f64::min)?;
    let greatest = done.iter().copied().reduce(f64::max)?;
    Some(Breach {
        group,
        target,
        blocks,
        of: measurements.len(),
        done: least..=greatest,
    })
}

impl Breach {
    /// What was done and what was promised: `61 to 74 % of 1,000 operations/s in 2 of 5 blocks (95 %
    /// promised)`.
    pub(crate) fn words(&self, plan: &Plan) -> String {
        let clients = self.group.of(plan);
        let rate = match clients.pace {
            Pace::Open { rate, .. } if rate.0 % 1000 == 0 => count(u64::from(rate.0 / 1000)),
            Pace::Open { rate, .. } => rate.to_string(),
            Pace::Closed { .. } => String::new(),
        };
        let (least, greatest) = (share(*self.done.start()), share(*self.done.end()));
        let done = if least == greatest {
            least
        } else {
            format!("{} to {greatest}", least.trim_end_matches(" %"))
        };
        let blocks: Vec<String> = self.blocks.iter().map(ToString::to_string).collect();
        let blocks = if blocks.len() == self.of {
            "every block".to_owned()
        } else {
            let noun = if blocks.len() == 1 { "block" } else { "blocks" };
            format!("{noun} {} of {}", listed(&blocks), self.of)
        };
        let promised = clients.sla_percent.map_or(0.0, Thousandths::as_f64);
        format!("{done} of {rate} operations/s in {blocks} ({promised} % promised)")
    }
}
