//! Numbers of clients between which another of two targets is ahead.

use prony_model::Metric;

use crate::analysis::Analysis;
use crate::analysis::cell;
use crate::analysis::estimate::Estimate;
use crate::analysis::group::GroupId;

/// The ratio of throughput of two targets at one number of clients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AtClients {
    pub(crate) clients: u32,
    pub(crate) ratio: Estimate,
    /// `true` if a warning concerns one of both.
    pub(crate) is_doubtful: bool,
}

/// Two numbers of clients with another target ahead at each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Crossing<'a> {
    pub(crate) before: &'a AtClients,
    pub(crate) after: &'a AtClients,
}

impl AtClients {
    /// The throughput of the target `of` ÷ that of `to`. `None` if no block has both.
    pub(crate) fn of(
        analysis: &Analysis<'_>,
        group: GroupId,
        [of, to]: [usize; 2],
    ) -> Option<Self> {
        let cell = |target| analysis.cells.at(group, target);
        let (mine, other) = (cell(of), cell(to));
        let pairs = cell::ratio(Metric::Operations, &mine.measurements, &other.measurements)?;
        Some(Self {
            clients: group.of(analysis.plan).clients,
            ratio: analysis.verdicts.looks.of_pairs(&pairs),
            is_doubtful: mine.has_warnings() || other.has_warnings(),
        })
    }

    /// The same with both sides exchanged.
    pub(crate) fn exchanged(&self) -> Self {
        Self {
            ratio: self.ratio.inverted(),
            ..*self
        }
    }

    /// Returns `true` if the first target is ahead.
    pub(crate) fn is_ahead(&self) -> bool {
        self.ratio.ratio() > 1.0
    }

    /// Returns `true` if the interval does not hold 1.
    pub(crate) fn is_clear(&self) -> bool {
        self.ratio.excludes_one() == Some(true)
    }
}

impl Crossing<'_> {
    /// Returns `true` if the difference is clear on both sides.
    pub(crate) fn is_resolved(&self) -> bool {
        self.before.is_clear() && self.after.is_clear()
    }

    /// The ratio of the target that is ahead after the crossing to the other one, on both sides.
    pub(crate) fn ratios(&self) -> [AtClients; 2] {
        [self.before, self.after].map(|side| {
            if self.before.is_ahead() {
                side.exchanged()
            } else {
                side.clone()
            }
        })
    }
}

/// Crossings over ascending numbers of clients. Between two ratios that are clear, those that are not
/// don't count; they count at both ends, where nothing else is known.
pub(crate) fn crossings(all: &[AtClients]) -> Vec<Crossing<'_>> {
    let last = all.len().saturating_sub(1);
    let counts =
        |&(index, known): &(usize, &AtClients)| known.is_clear() || index == 0 || index == last;
    let counted: Vec<&AtClients> = all
        .iter()
        .enumerate()
        .filter(counts)
        .map(|(_, known)| known)
        .collect();
    let pairs = counted.windows(2);
    pairs
        .filter_map(|pair| match pair {
            [before, after] if before.is_ahead() != after.is_ahead() => {
                let is_known = before.is_clear() || after.is_clear();
                is_known.then_some(Crossing { before, after })
            }
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use prony_testkit as testkit;

    use super::*;
    use crate::analysis::estimate::PlannedLooks;

    /// Ratios at 1, 2, 4 … clients, each clear or not.
    fn known(ratios: &[(f64, bool)]) -> Vec<AtClients> {
        let looks = PlannedLooks::of(&testkit::plan("p", Vec::new(), Vec::new(), 0));
        let one = |(index, &(ratio, is_clear)): (usize, &(f64, bool))| {
            // Half of the interval is 12.7 times half of the distance between two logarithms.
            let apart = if is_clear { 0.001 } else { 0.1 };
            let logs = [f64::ln(ratio) - apart, f64::ln(ratio) + apart];
            AtClients {
                clients: 1 << index,
                ratio: looks.of_logs(&logs).unwrap(),
                is_doubtful: false,
            }
        };
        ratios.iter().enumerate().map(one).collect()
    }

    fn shown(ratios: &[(f64, bool)]) -> Vec<(u32, u32, bool)> {
        let known = known(ratios);
        let crossings = crossings(&known);
        let one = |c: &Crossing<'_>| (c.before.clients, c.after.clients, c.is_resolved());
        crossings.iter().map(one).collect()
    }

    #[test]
    fn crossings_lie_between_clear_ratios() {
        let ratios = [
            (0.8, true),
            (0.99, false),
            (1.02, false),
            (0.98, false),
            (1.3, true),
        ];
        assert_eq!(shown(&ratios), [(1, 16, true)]);
        assert_eq!(
            shown(&[(0.8, true), (1.2, true), (0.8, true)]),
            [(1, 2, true), (2, 4, true)]
        );
    }

    #[test]
    fn noise_is_no_crossing() {
        assert_eq!(shown(&[(0.8, true), (1.02, false), (0.8, true)]), []);
        assert_eq!(shown(&[(0.95, false), (1.05, false)]), []);
        assert_eq!(shown(&[(1.2, true)]), []);
        assert_eq!(shown(&[]), []);
    }

    #[test]
    fn ends_that_are_not_clear_leave_a_crossing_open() {
        assert_eq!(shown(&[(0.8, true), (1.05, false)]), [(1, 2, false)]);
    }

    #[test]
    fn ratios_are_of_the_target_that_is_ahead_after_it() {
        for ratios in [[(0.8, true), (1.25, true)], [(1.25, true), (0.8, true)]] {
            let known = known(&ratios);
            let [before, after] = crossings(&known)[0].ratios();
            assert!((before.ratio.ratio() - 0.8).abs() < 1e-12);
            assert!((after.ratio.ratio() - 1.25).abs() < 1e-12);
        }
    }
}
