use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::*;
use crate::difference::Comparison;

const TABLE: &str = r#"
sessions = ["do_command"]
roots = ["do_command"]

[[component]]
name = "kernel"
object = '^\[kernel\]$'

[[component]]
name = "session"
functions = ["do_", "execute"]

[[component]]
name = "rows"
functions = ["row_"]

[[wait]]
name = "lock or log"
places = ["futex_"]

[[wait]]
name = "client"
places = ["unix_stream"]
"#;

fn components() -> Components {
    Components::parse(TABLE, "test.toml").unwrap()
}

fn stack<'a>(thread: u32, functions: &[&'a str], count: u64) -> NamedStack<'a> {
    let named = |symbol: &&'a str| match symbol.strip_prefix("k:") {
        Some(call) => ("[kernel]", call),
        None => ("/opt/mysqld", *symbol),
    };
    NamedStack {
        thread,
        functions: functions.iter().map(named).collect(),
        is_whole: true,
        count,
    }
}

#[test]
fn threads_that_began_alike_are_one_and_nothing_is_lost() {
    let cut = NamedStack {
        is_whole: false,
        ..stack(9, &["row_search"], 5)
    };
    let cut_of_session = NamedStack {
        is_whole: false,
        ..stack(7, &["row_search"], 4)
    };
    let profile = Profile::from_stacks([
        stack(7, &["clone", "do_command", "execute", "row_search"], 30),
        stack(8, &["clone", "do_command", "execute", "row_search"], 10),
        stack(8, &["clone", "do_command", "k:futex"], 20),
        stack(3, &["clone", "flush"], 35),
        cut,
        cut_of_session,
        stack(4, &[], 7),
    ]);
    assert_eq!(profile.total(), 104);
    let sessions = profile.session_ids(&components());
    assert_eq!(sessions.into_iter().collect::<Vec<_>>(), [7, 8]);
    let costs = profile.costs_of_samples(&components(), 52.0, 0.0);
    // A stack that is cut belongs to what its thread is known to do.
    let of = |name: &str| costs.components.get(name).copied().unwrap_or(0.0);
    assert_eq!((of("rows"), of("kernel"), of("session")), (22.0, 10.0, 0.0));
    assert_eq!((costs.total, costs.background), (32.0, 20.0));
    assert!((costs.sampling.unwrap().unit - 0.5).abs() < f64::EPSILON);
}

#[test]
fn what_was_stored_is_read_again() {
    let sampled = Sampled {
        profile: Profile::from_stacks([stack(7, &["do_command", "execute"], 3)]),
        taking: Taking {
            rate: 997,
            with_kernel: true,
            period_ns: 3_009_027,
            whole: 3,
            cut: 0,
            lost: 1,
            accounted_ns: Some(3_000_000),
        },
        waits: Vec::new(),
        looks: 12,
    };
    let stored = sampled.encode().unwrap();
    assert_eq!(Sampled::decode(&stored).unwrap(), sampled);
    assert!(Sampled::decode(&stored[..9]).is_err());
}

#[test]
fn waits_are_those_of_sessions() {
    let wait = |thread, place: &str, count| Wait {
        thread,
        place: place.to_owned(),
        count,
    };
    let sampled = Sampled {
        profile: Profile::from_stacks([stack(7, &["do_command"], 1), stack(3, &["flush"], 1)]),
        waits: vec![
            wait(7, "", 5),
            wait(7, "futex_wait_queue", 2),
            wait(7, "unix_stream_read_generic", 2),
            wait(7, "sleep", 1),
            wait(3, "futex_wait_queue", 10),
        ],
        ..Sampled::default()
    };
    let shares = sampled.waits_of_sessions(&components());
    let shares: Vec<_> = shares
        .iter()
        .map(|(kind, share)| (kind.as_str(), *share))
        .collect();
    let expected = [
        ("client", 0.2),
        ("lock or log", 0.2),
        ("on a processor, or ready", 0.5),
        ("other waits", 0.1),
    ];
    assert_eq!(shares, expected);
}

/// A server whose samples fall on functions with these weights.
fn trial(weights: &[u64], samples: u64, random: &mut Xoshiro256PlusPlus) -> crate::Costs {
    let names: Vec<String> = (0..weights.len())
        .map(|it| format!("row_{it:03}"))
        .collect();
    let all: u64 = weights.iter().sum();
    let mut counts = vec![0; weights.len()];
    for _ in 0..samples {
        let mut at = random.next_u64() % all;
        let hit = weights.iter().position(|weight| {
            let is_here = at < *weight;
            at = at.saturating_sub(*weight);
            is_here
        });
        counts[hit.unwrap()] += 1;
    }
    let stacks = names
        .iter()
        .zip(counts)
        .map(|(name, count)| stack(1, &["do_command", name], count));
    Profile::from_stacks(stacks).costs_of_samples(&components(), 50.0, 0.005)
}

#[test]
fn two_profiles_of_one_server_differ_by_nothing() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
    let weights: Vec<u64> = (1..=200).map(|rank| 10_000 / rank).collect();
    let pairs = 100;
    let mut with_false = 0;
    for _ in 0..pairs {
        let mut side = || {
            [
                trial(&weights, 4_000, &mut random),
                trial(&weights, 4_000, &mut random),
            ]
        };
        let comparison = Comparison::new(&side(), &side());
        let is_called = |cost: &crate::Pair| cost.differs(comparison.total.base);
        with_false += u32::from(comparison.functions.iter().any(|row| is_called(&row.cost)));
    }
    // Where nothing differs, 5 % of the pairs may call anything a difference: 5 of 100, with a standard
    // deviation of 2.2.
    assert!(with_false <= 12, "{with_false}");
}

#[test]
fn a_function_that_costs_more_is_found() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let weights: Vec<u64> = (1..=200).map(|rank| 10_000 / rank).collect();
    let mut slower = weights.clone();
    slower[4] *= 2;
    let base = [trial(&weights, 4_000, &mut random)];
    let target = [trial(&slower, 4_000, &mut random)];
    let comparison = Comparison::new(&base, &target);
    let first = &comparison.functions[0];
    assert_eq!(first.name.to_string(), "row_004");
    assert!(first.cost.differs(comparison.total.base));
    let within = first.cost.within.unwrap();
    assert!(
        first.cost.difference() > within && within > 0.0,
        "{first:?}"
    );
}
