//! The steps of a sequence that others need before them.

use crate::Step;

/// Indices of the steps that must run so that the `wanted` ones find the server as they do when all
/// run, ascending.
///
/// No step is needed after the last wanted one. Before it, a step that is not wanted is left out if
/// it only reads, does not serve to warm the server, does not settle the engine, and the engine is
/// quiet: nothing was written since the trial began or since the engine settled. A read after writes
/// gives the engine time for what it has put off, which the steps after it would miss.
pub fn needed_steps(steps: &[Step], wanted: impl Fn(usize) -> bool) -> Vec<usize> {
    let Some(last) = (0..steps.len()).rfind(|&step| wanted(step)) else {
        return Vec::new();
    };
    let mut is_quiet = true;
    let mut needed = Vec::new();
    for (index, step) in steps.iter().enumerate().take(last + 1) {
        is_quiet |= step.settle.is_some();
        let reads = step.only_reads();
        let leaves_no_trace = is_quiet && reads && !step.warm_only && step.settle.is_none();
        if wanted(index) || !leaves_no_trace {
            needed.push(index);
        }
        is_quiet &= reads;
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::tests::step;
    use crate::{Effect, Length, Pace, Settle};

    /// Steps by their letters: `r` reads, `w` writes, `h` heats the server, `s` reads after settling.
    fn steps(letters: &str) -> Vec<Step> {
        let of_letter = |letter| {
            let mut step = step(Length::Time { ms: 1 }, Pace::default());
            match letter {
                'w' => step.groups.own_mut().workload.effect = Effect::Grow,
                'h' => step.warm_only = true,
                's' => {
                    let (idle_ms, limit_ms) = (1, 2);
                    step.settle = Some(Settle { idle_ms, limit_ms });
                }
                _ => {}
            }
            step
        };
        letters.chars().map(of_letter).collect()
    }

    #[test]
    fn only_steps_that_leave_no_trace_are_left_out() {
        for (letters, wanted, needed) in [
            ("rrr", vec![], vec![]),
            ("rrr", vec![1], vec![1]),
            ("rrr", vec![0, 2], vec![0, 2]),
            // Nothing that is wanted follows.
            ("rwhs", vec![0], vec![0]),
            ("wr", vec![1], vec![0, 1]),
            ("hr", vec![1], vec![0, 1]),
            // The engine works off the writes during the first read.
            ("wrr", vec![2], vec![0, 1, 2]),
            ("rwrsrr", vec![5], vec![1, 2, 3, 5]),
            ("srr", vec![2], vec![0, 2]),
        ] {
            let found = needed_steps(&steps(letters), |step| wanted.contains(&step));
            assert_eq!(found, needed, "{letters} {wanted:?}");
        }
    }

    #[test]
    fn a_step_writes_if_one_of_its_groups_does() {
        let mut mixed = steps("rr");
        let writer = steps("w")[0].own().clone();
        mixed[0].groups.push(writer);
        assert_eq!(needed_steps(&mixed, |step| step == 1), [0, 1]);
    }
}
