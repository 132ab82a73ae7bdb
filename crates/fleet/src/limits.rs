//! The time that an engine gives a part.

use prony_model::Plan;
use prony_plan::{Assumptions, backlogs_ms, predicted_ms};

/// Added to every prediction: fetching, calibrating, a slow disk.
const SPARE_MS: u64 = 600_000;

/// Milliseconds that a part with these blocks takes on a host that has no images yet.
pub fn predicted_part_ms(plan: &Plan, blocks: &[u32]) -> u64 {
    let mut part = plan.clone();
    part.trials.retain(|trial| blocks.contains(&trial.block));
    predicted_ms(&part, &Assumptions::default())
}

/// The minutes after which an engine ends a part with these blocks: half as much again as is
/// predicted, the time that open loops may need for what they are behind, and ten minutes.
pub fn limit_minutes(plan: &Plan, blocks: &[u32]) -> u64 {
    let predicted = predicted_part_ms(plan, blocks);
    (predicted + predicted / 2 + backlogs_ms(plan) + SPARE_MS).div_ceil(60_000)
}

#[cfg(test)]
mod tests {
    use prony_model::Version;
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn a_part_takes_its_share_and_the_limit_leaves_room() {
        let targets = ["a", "b"].map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let plan = testkit::plan("x", targets.to_vec(), vec![testkit::step("s", 1)], 10);
        let one = predicted_part_ms(&plan, &[3]);
        let all: Vec<u32> = (0..10).collect();
        // Images are made once, whatever the number of blocks.
        assert!(predicted_part_ms(&plan, &all) < 10 * one);
        let minutes = limit_minutes(&plan, &[3]);
        assert!(minutes * 60_000 >= one + one / 2 + SPARE_MS, "{minutes}");
        assert!(
            minutes * 60_000 < one + one / 2 + SPARE_MS + 60_000,
            "{minutes}"
        );
    }
}
