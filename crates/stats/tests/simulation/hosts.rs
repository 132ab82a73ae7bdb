//! Blocks of many hosts. A host has a level, which ratios within its blocks do not have, and an effect of
//! its own on the ratio of two versions, which all its blocks share.

use prony_stats::{GroupMeans, LogRatio};

use crate::assert_within;
use crate::noise::{Random, share};

const SIMULATIONS: u32 = 4_000;
const EFFECT: f64 = 0.05;
/// Deviation of the levels of hosts.
const LEVEL: f64 = 0.10;
/// Deviation of the ratio of two versions from host to host.
const BY_HOST: f64 = 0.02;
/// Deviation of a trial within its host.
const TRIAL: f64 = 0.01;

/// Logarithms of the ratios of two versions, for each host those of its blocks.
fn logs(hosts: usize, blocks: usize, random: &mut Random) -> Vec<Vec<f64>> {
    let host = |_| {
        let level = LEVEL * random.normal();
        let own = BY_HOST * random.normal();
        let mut block = || {
            let base = level + TRIAL * random.normal();
            let contender = level + EFFECT + own + TRIAL * random.normal();
            contender - base
        };
        (0..blocks).map(|_| block()).collect()
    };
    (0..hosts).map(host).collect()
}

fn covers(logs: &[f64]) -> bool {
    let interval = LogRatio::of(logs).unwrap().interval(0.95).unwrap();
    interval.low <= EFFECT.exp() && EFFECT.exp() <= interval.high
}

#[test]
fn a_block_of_each_host_covers_hosts_like_these() {
    for (hosts, seed) in [(6, 1), (20, 2), (100, 3)] {
        let mut random = Random::new(seed);
        let covered = share(SIMULATIONS, || {
            covers(&logs(hosts, 1, &mut random).concat())
        });
        assert_within(&format!("{hosts} hosts"), covered, 0.93..=0.97);
    }
}

/// Why reports take means where a host has several blocks.
#[test]
fn blocks_of_few_hosts_tell_of_these_hosts_alone() {
    let mut random = Random::new(4);
    let covered = share(SIMULATIONS, || covers(&logs(3, 4, &mut random).concat()));
    assert_within("4 blocks of each of 3 hosts", covered, 0.5..=0.9);
    let mut random = Random::new(4);
    let by_host = share(SIMULATIONS, || {
        let means = logs(3, 4, &mut random).into_iter();
        let means: Vec<f64> = means.map(|host| host.iter().sum::<f64>() / 4.0).collect();
        covers(&means)
    });
    assert_within("means of 3 hosts", by_host, 0.93..=0.97);
}

/// The pair of a trial has twice its variance.
#[test]
fn the_deviation_between_hosts_is_told_from_that_of_trials() {
    let mut random = Random::new(5);
    let (mut between, mut within) = (0.0, 0.0);
    for _ in 0..SIMULATIONS {
        let groups = GroupMeans::of(&logs(10, 3, &mut random)).unwrap();
        between += groups.between().unwrap().powi(2) / f64::from(SIMULATIONS);
        within += groups.within().unwrap().powi(2) / f64::from(SIMULATIONS);
    }
    assert_within("between hosts", between.sqrt() / BY_HOST, 0.98..=1.02);
    assert_within(
        "of pairs",
        within.sqrt() / (TRIAL * 2.0_f64.sqrt()),
        0.98..=1.02,
    );
}

/// Where hosts do not differ, all intervals together hold the truth as often as promised.
#[test]
fn intervals_of_all_hosts_hold_at_once() {
    let mut random = Random::new(6);
    let covered = share(SIMULATIONS, || {
        let mut trial = || TRIAL * random.normal();
        let alike: Vec<Vec<f64>> = (0..8).map(|_| (0..3).map(|_| trial()).collect()).collect();
        let groups = GroupMeans::of(&alike).unwrap();
        let halves = groups.half_widths(0.95).unwrap();
        groups
            .means()
            .iter()
            .zip(halves)
            .all(|(mean, half)| mean.abs() <= half)
    });
    assert_within("8 hosts", covered, 0.93..=0.97);
}
