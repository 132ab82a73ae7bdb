//! Looks at data that grow.

use prony_stats::{LogRatio, Looks};

use crate::assert_within;
use crate::noise::{Noise, Random, share};

const SIMULATIONS: u32 = 2_000;
const PLANNED: [u32; 4] = [6, 10, 15, 20];

/// Shares of simulations that stop because of significance: with the weights, and without.
fn stopped(noise: Noise, seed: u64) -> (f64, f64) {
    let looks = Looks::at(&PLANNED).unwrap();
    let mut random = Random::new(seed);
    let mut naive = 0.0;
    let weighted = share(SIMULATIONS, || {
        let logs = noise.pairs(20, 0.0, &mut random);
        let at = |pairs: u32| LogRatio::of(&logs[..pairs as usize]).unwrap();
        let of_looks: Vec<f64> = PLANNED.iter().map(|&n| at(n).p_value().unwrap()).collect();
        naive += f64::from(u8::from(of_looks.iter().any(|&p| p < 0.05)));
        (1..=4).any(|so_far| looks.p_value(&of_looks[..so_far]).unwrap() < 0.05)
    });
    (weighted, naive / f64::from(SIMULATIONS))
}

/// Looks at the same data agree in part, and the union bound counts them as if they did not: the rate is
/// therefore below 5 %, and may be below 3 %.
#[test]
fn stopping_on_significance_keeps_the_rate() {
    for noise in [Noise::DRIFTING, Noise::BIMODAL, Noise::RARE_MODE] {
        let (weighted, naive) = stopped(noise, 1);
        assert_within("false positives with looks", weighted, 0.005..=0.07);
        assert_within("false positives with looks unweighted", naive, 0.07..=0.2);
    }
}

#[test]
fn intervals_of_all_looks_hold_together() {
    let looks = Looks::at(&PLANNED).unwrap();
    let mut random = Random::new(2);
    let holds = share(SIMULATIONS, || {
        let logs = Noise::DRIFTING.pairs(20, 0.03, &mut random);
        PLANNED.iter().enumerate().all(|(look, &pairs)| {
            let ratio = LogRatio::of(&logs[..pairs as usize]).unwrap();
            let interval = ratio.interval(looks.level(look, 0.95).unwrap()).unwrap();
            interval.low <= 0.03_f64.exp() && 0.03_f64.exp() <= interval.high
        })
    });
    assert_within("intervals of all looks", holds, 0.93..=0.99);
}
