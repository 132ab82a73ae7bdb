//! Changes along ordered values.

use prony_stats::{Lineage, change_points};

use crate::assert_within;
use crate::noise::{Noise, Random, share};

const VERSIONS: usize = 12;

fn lineage(noise: Noise, blocks: usize, sizes: &[f64], random: &mut Random) -> Lineage {
    let rows = noise.blocks(blocks, sizes, random);
    let rows: Vec<Vec<Option<f64>>> = rows
        .into_iter()
        .map(|row| row.into_iter().map(Some).collect())
        .collect();
    Lineage::of(&rows).unwrap()
}

#[test]
fn equal_versions_rarely_have_a_change() {
    let mut random = Random::new(1);
    for noise in [Noise::DRIFTING, Noise::BIMODAL] {
        for blocks in [5, 10, 20] {
            let wrong = share(1_000, || {
                let lineage = lineage(noise, blocks, &[0.0; VERSIONS], &mut random);
                lineage
                    .changes
                    .iter()
                    .any(|change| change.p_value().unwrap() < 0.05)
            });
            // 5 % and two standard errors; Bonferroni and the penalty both make it less.
            assert_within(
                &format!("false changes, {blocks} blocks"),
                wrong,
                0.0..=0.064,
            );
        }
    }
}

#[test]
fn changes_are_found_with_place_and_size() {
    let mut sizes = [0.0; VERSIONS];
    sizes[4..].fill(-0.06);
    sizes[9..].fill(-0.03);
    let mut random = Random::new(2);
    let (mut covered, mut total) = (0, 0);
    let found = share(500, || {
        let lineage = lineage(Noise::DRIFTING, 10, &sizes, &mut random);
        let positions: Vec<usize> = lineage
            .changes
            .iter()
            .map(|change| change.position)
            .collect();
        let is_right = positions == [4, 9];
        if is_right {
            for (change, size) in lineage.changes.iter().zip([-0.06_f64, 0.03]) {
                let interval = change.interval(0.95).unwrap();
                total += 1;
                covered += u32::from(interval.low <= size.exp() && size.exp() <= interval.high);
            }
        }
        is_right
    });
    assert_within("lineages divided rightly", found, 0.8..=1.0);
    assert_within(
        "sizes covered",
        f64::from(covered) / f64::from(total),
        0.95..=1.0,
    );
}

#[test]
fn steady_histories_rarely_have_a_shift() {
    for (seed, n) in [30, 60, 150].into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let wrong = share(500, || {
            let logs: Vec<f64> = (0..n).map(|_| 0.01 * random.normal()).collect();
            !change_points(&logs).unwrap().is_empty()
        });
        assert_within(&format!("false shifts, {n} values"), wrong, 0.0..=0.05);
    }
}

#[test]
fn shifts_are_found_near_their_place() {
    let mut random = Random::new(4);
    let found = share(500, || {
        let level = |i: usize| if i < 40 { 0.0 } else { 0.02 };
        let logs: Vec<f64> = (0..70).map(|i| level(i) + 0.01 * random.normal()).collect();
        let shifts = change_points(&logs).unwrap();
        shifts.len() == 1 && shifts[0].position.abs_diff(40) <= 4
    });
    assert_within("shifts found", found, 0.85..=1.0);
}
