//! Vectors from an independent implementation, and simulations.

use statrs::distribution::{ContinuousCDF, Normal};

use super::*;

/// A matrix that is made of integers, so that other programs can make the same.
fn made(blocks: usize, levels: &[usize], amplitude: usize) -> Vec<Vec<Option<f64>>> {
    let value = |b: usize, v: usize, level: usize| {
        (100 * b + level + (b * 37 + v * 53 + b * v * 17) % amplitude) as f64 / 1e4
    };
    let row = |b| {
        let levels = levels.iter().enumerate();
        levels.map(|(v, &level)| Some(value(b, v, level))).collect()
    };
    (0..blocks).map(row).collect()
}

/// Blocks, levels, amplitude, deviation, and position, ratio and bounds of each change.
type Vector = (
    usize,
    &'static [usize],
    usize,
    f64,
    &'static [(usize, f64, f64, f64)],
);

/// All divisions were tried one by one with numpy, and the quantiles are of `scipy.stats.t`.
const VECTORS: [Vector; 4] = [
    (
        5,
        &[9000, 9000, 8400, 8400, 8400, 8900],
        61,
        0.001_739_118_550_684_046_8,
        &[
            (
                2,
                0.941_566_783_796_650_6,
                0.939_098_845_565_208_7,
                0.944_041_207_734_195_6,
            ),
            (
                5,
                1.050_325_378_026_378_8,
                1.046_844_281_179_051,
                1.053_818_050_650_044_5,
            ),
        ],
    ),
    (
        6,
        &[0, 0, 0, 300, 300, 310, 310, 310],
        97,
        0.002_923_280_935_622_068,
        &[(
            3,
            1.031_121_110_055_184,
            1.027_734_105_601_021_9,
            1.034_519_276_734_196_2,
        )],
    ),
    (5, &[0, 20, 10, 0], 41, 0.001_460_593_486_680_443, &[]),
    (
        8,
        &[0, 0, 500],
        29,
        0.000_945_824_155_608_923,
        &[(
            2,
            1.051_290_807_893_876,
            1.050_058_408_907_344,
            1.052_524_653_283_055,
        )],
    ),
];

#[test]
fn known_segments() {
    for (blocks, levels, amplitude, deviation, expected) in VECTORS {
        let found = Segments::of(&made(blocks, levels, amplitude)).unwrap();
        assert_eq!(found.blocks, blocks);
        assert!((found.deviation - deviation).abs() < 1e-12);
        assert_eq!(found.changes.len(), expected.len(), "{levels:?}");
        for (change, &(at, ratio, low, high)) in found.changes.iter().zip(expected) {
            assert_eq!(change.at, at);
            let interval = change.interval;
            for (mine, theirs) in [
                (change.ratio, ratio),
                (interval.low, low),
                (interval.high, high),
            ] {
                assert!((mine - theirs).abs() < 1e-8, "{mine} {theirs}");
            }
        }
    }
}

#[test]
fn incomplete_blocks_are_left_out() {
    let mut rows = made(6, &[0, 0, 500], 29);
    let whole = Segments::of(&rows[1..]).unwrap();
    rows[0][1] = None;
    assert_eq!(Segments::of(&rows).unwrap(), whole);
}

#[test]
fn too_little_or_infinite_input_is_refused() {
    let few = |n| Err(SampleError::TooFew { n, least: 2 });
    assert_eq!(Segments::of(&[]), Err(SampleError::Empty));
    assert_eq!(Segments::of(&made(1, &[0, 5], 3)), few(1));
    assert_eq!(Segments::of(&made(5, &[0], 3)), few(1));
    let infinite = vec![vec![Some(f64::NEG_INFINITY), Some(1.0)]; 3];
    assert!(matches!(
        Segments::of(&infinite),
        Err(SampleError::OutOfDomain { position: 0, .. })
    ));
}

#[test]
fn values_without_noise_have_exact_changes() {
    let row = |b: u32| [0.0, 0.0, 0.1, 0.1].map(|level| Some(level + f64::from(b)));
    let rows: Vec<Vec<Option<f64>>> = (0..5).map(|b| row(b).to_vec()).collect();
    let found = Segments::of(&rows).unwrap();
    let [change] = found.changes[..] else {
        panic!("{found:?}")
    };
    assert_eq!(change.at, 2);
    assert!(found.resolution < 1e-7);
    assert!((change.ratio - 0.1_f64.exp()).abs() < 1e-9);
    let alike = vec![vec![Some(3.3); 6]; 5];
    assert_eq!(Segments::of(&alike).unwrap().changes, []);
}

#[test]
fn changes_within_the_margin_are_small() {
    let change = |ratio| Change {
        at: 1,
        ratio,
        interval: Interval {
            low: ratio,
            high: ratio,
        },
    };
    assert!(change(1.011).is_large(0.01) && change(1.0 / 1.011).is_large(0.01));
    assert!(!change(1.009).is_large(0.01) && !change(1.0 / 1.009).is_large(0.01));
}

/// Normal values from the generator `SplitMix64` (Steele, Lea and Flood 2014).
struct Noise(u64, Normal);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(seed, Normal::new(0.0, 1.0).unwrap())
    }

    fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let z = z ^ (z >> 31);
        self.1
            .inverse_cdf(((z >> 11) as f64 + 0.5) / (1_u64 << 53) as f64)
    }

    /// Blocks of columns with noise of 1 % and blocks that drift far more.
    fn blocks(&mut self, n: usize, columns: usize, level: impl Fn(usize) -> f64) -> Rows {
        let mut row = || {
            let block = self.draw();
            let columns = 0..columns;
            columns
                .map(|v| Some(block + level(v) + 0.01 * self.draw()))
                .collect()
        };
        (0..n).map(|_| row()).collect()
    }
}

type Rows = Vec<Vec<Option<f64>>>;

#[test]
fn equal_columns_rarely_have_a_change() {
    let mut noise = Noise::new(1);
    for (blocks, columns) in [(5, 2), (5, 6), (10, 12)] {
        let found = (0..1000).filter(|_| {
            let rows = noise.blocks(blocks, columns, |_| 0.0);
            !Segments::of(&rows).unwrap().changes.is_empty()
        });
        let found = found.count();
        // Of 1000, 5 % ± 2 standard errors.
        assert!(found <= 64, "{blocks} blocks, {columns} columns: {found}");
    }
}

/// A step of 4 standard errors of the difference between two columns.
#[test]
fn a_planted_step_is_located() {
    let mut noise = Noise::new(2);
    for (blocks, columns, at) in [(5, 8, 4), (10, 12, 3), (10, 12, 6), (10, 12, 11)] {
        let size = 4.0 * 0.01 * (2.0 / blocks as f64).sqrt();
        let located = (0..500).filter(|_| {
            let rows = noise.blocks(blocks, columns, |v| if v < at { 0.0 } else { size });
            let changes = Segments::of(&rows).unwrap().changes;
            changes.len() == 1 && changes[0].at == at
        });
        let located = located.count();
        assert!(located >= 400, "{blocks}, {columns}, {at}: {located}");
    }
}

/// The true ratios of the segments that were chosen lie in their intervals.
#[test]
fn intervals_hold_after_selection() {
    let mut noise = Noise::new(3);
    let level = |v: usize| [0.0, 0.0, 0.02, 0.02, 0.02, -0.01, -0.01, 0.0][v];
    let truth = |from: usize, to: usize| mean((from..to).map(level));
    let wrong = (0..500).filter(|_| {
        let found = Segments::of(&noise.blocks(6, 8, level)).unwrap();
        let starts = found.changes.iter().map(|change| change.at);
        let edges: Vec<usize> = [0].into_iter().chain(starts).chain([8]).collect();
        let mut changes = edges.windows(3).zip(&found.changes);
        changes.any(|(edge, change)| {
            let true_ratio = (truth(edge[1], edge[2]) - truth(edge[0], edge[1])).exp();
            true_ratio < change.interval.low || true_ratio > change.interval.high
        })
    });
    let wrong = wrong.count();
    assert!(wrong <= 35, "{wrong} of 500");
}

#[test]
fn resolution_is_the_half_width_of_two_single_columns() {
    let found = Segments::of(&made(8, &[0, 500], 29)).unwrap();
    let [change] = found.changes[..] else {
        panic!("{found:?}")
    };
    let half_width = change.interval.high / change.ratio - 1.0;
    assert!((found.resolution - half_width).abs() < 1e-12);
}

#[test]
fn total_is_the_last_to_the_first() {
    let rows = made(5, &[9000, 9000, 8400], 61);
    let found = Segments::of(&rows).unwrap();
    let logs: Vec<f64> = rows
        .iter()
        .map(|row| row[2].unwrap() - row[0].unwrap())
        .collect();
    assert_eq!(found.total, LogRatio::of(&logs).unwrap());
}

#[test]
fn histories_without_a_change_rarely_have_one() {
    let mut noise = Noise::new(4);
    for n in [30, 60, 200] {
        let found = (0..400).filter(|_| {
            let series: Vec<f64> = (0..n).map(|_| noise.draw()).collect();
            !change_points(&series).unwrap().is_empty()
        });
        let found = found.count();
        // Of 400, 5 % + 2 standard errors.
        assert!(found <= 29, "{n}: {found}");
    }
}

#[test]
fn changes_of_histories_are_located() {
    let mut noise = Noise::new(5);
    let located = (0..200).filter(|_| {
        let level = |i: usize| if (40..75).contains(&i) { 3.0 } else { 0.0 };
        let mut series: Vec<f64> = (0..100).map(|i| level(i) + noise.draw()).collect();
        // An outlier is no change.
        series[20] = 50.0;
        let found = change_points(&series).unwrap();
        found.len() == 2 && found[0].abs_diff(40) <= 1 && found[1].abs_diff(75) <= 1
    });
    let located = located.count();
    assert!(located >= 160, "{located}");
}

#[test]
fn short_or_infinite_histories_are_refused() {
    let short = Err(SampleError::TooFew { n: 29, least: 30 });
    assert_eq!(change_points(&[0.0; 29]), short);
    assert_eq!(change_points(&[0.0; 30]), Ok(vec![]));
    let mut series = [0.0; 30];
    series[3] = f64::NAN;
    assert!(change_points(&series).is_err());
}
