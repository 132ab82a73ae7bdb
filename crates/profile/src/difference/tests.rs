#![allow(
    clippy::float_cmp,
    reason = "small whole numbers and their halves are exact"
)]

use proptest::prelude::*;

use super::*;
use crate::costs::FunctionCost;

fn named(name: &str) -> FunctionName {
    FunctionName::Named(name.to_owned())
}

/// Costs of functions, each with its component: `engine/row_read`. All are called by `main`, which
/// has no cost.
fn costs(functions: &[(&str, f64)]) -> Costs {
    let mut costs = Costs::default();
    for (function, own) in functions {
        let (component, name) = function.split_once('/').unwrap();
        let cost = FunctionCost {
            own: *own,
            component: component.to_owned(),
            mapped: MappedBy::Name,
            caller: Some("main".to_owned()),
        };
        costs.total += own;
        *costs.mapped.entry(MappedBy::Name).or_default() += own;
        *costs.components.entry(component.to_owned()).or_default() += own;
        costs.functions.insert(named(name), cost);
        let stack = ["main", name, &format!("[{component}]")];
        costs.stacks.insert(stack.map(str::to_owned).to_vec(), *own);
    }
    costs
}

/// Costs by chain of callers, the outermost first.
fn costs_of_stacks(stacks: &[(&str, f64)]) -> Costs {
    let stacks = stacks.iter().map(|(stack, own)| {
        let functions = stack.split(' ').chain(["[x]"]);
        (functions.map(str::to_owned).collect(), *own)
    });
    Costs {
        stacks: stacks.collect(),
        ..Costs::default()
    }
}

fn compare(base: &[(&str, f64)], target: &[(&str, f64)]) -> Comparison {
    Comparison::new(&[costs(base)], &[costs(target)])
}

/// Functions with their costs in base and target, and the sides that have them.
fn functions(comparison: &Comparison) -> Vec<String> {
    let rows = comparison.functions.iter();
    rows.map(|row| {
        let presence = match &row.presence {
            Presence::Renamed(old) => format!("was {old}"),
            presence => format!("{presence:?}"),
        };
        format!(
            "{}: {}, {}, {presence}",
            row.name, row.cost.base, row.cost.target
        )
    })
    .collect()
}

/// Chains of functions with their costs in base and target.
fn paths(base: &[(&str, f64)], target: &[(&str, f64)]) -> Vec<String> {
    let comparison = Comparison::new(&[costs_of_stacks(base)], &[costs_of_stacks(target)]);
    let rows = comparison.paths.iter();
    rows.map(|row| {
        let path = row.path.join(" ");
        format!("{path}: {}, {}", row.cost.base, row.cost.target)
    })
    .collect()
}

fn pair(base: f64, target: f64, within: Option<f64>) -> Pair {
    Pair {
        base,
        target,
        within,
        is_significant: None,
    }
}

#[test]
fn figures_are_means_of_the_trials() {
    let base = [costs(&[("a/f", 100.0)]), costs(&[("a/f", 110.0)])];
    let target = [costs(&[("a/f", 200.0)]), costs(&[("a/f", 260.0)])];
    let comparison = Comparison::new(&base, &target);
    let expected = pair(105.0, 230.0, Some(35.0));
    assert_eq!(comparison.total, expected);
    assert_eq!(comparison.components[0].cost, expected);
    assert_eq!(comparison.functions[0].cost, expected);
    assert_eq!(comparison.paths[0].cost, expected);
    assert_eq!(expected.difference(), 125.0);
}

#[test]
fn one_trial_has_no_bound() {
    let base = [costs(&[("a/f", 100.0)]), costs(&[("a/f", 110.0)])];
    let comparison = Comparison::new(&base, &base[..1]);
    assert_eq!(comparison.total, pair(105.0, 100.0, None));
}

#[test]
fn functions_missing_in_a_trial_cost_nothing_there() {
    let base = [
        costs(&[("a/f", 10.0), ("a/g", 8.0)]),
        costs(&[("a/f", 10.0)]),
    ];
    let comparison = Comparison::new(&base, &base);
    let expected = ["f: 10, 10, Both", "g: 4, 4, Both"];
    assert_eq!(functions(&comparison), expected);
    assert_eq!(comparison.functions[1].cost.within, Some(8.0));
}

#[test]
fn sides_are_compared_in_all_their_figures() {
    let side = |background, unnamed, not_mapped| Costs {
        background,
        unnamed,
        mapped: BTreeMap::from([(MappedBy::Nothing, not_mapped), (MappedBy::Name, 1.0)]),
        ..Costs::default()
    };
    let comparison = Comparison::new(&[side(1.0, 2.0, 3.0)], &[side(4.0, 5.0, 6.0)]);
    assert_eq!(comparison.background, pair(1.0, 4.0, None));
    assert_eq!(comparison.unnamed, pair(2.0, 5.0, None));
    assert_eq!(comparison.not_mapped, pair(3.0, 6.0, None));
}

#[test]
fn small_differences_are_none() {
    for (difference, within, total, differs) in [
        (20.0, None, 1_000.0, false),
        (20.5, None, 1_000.0, true),
        (-20.5, None, 1_000.0, true),
        (99.0, None, 100_000.0, false),
        (101.0, None, 100_000.0, true),
        (101.0, Some(100.0), 100_000.0, true),
        (101.0, Some(101.0), 100_000.0, false),
        (101.0, Some(0.0), 100_000.0, true),
    ] {
        let pair = pair(500.0, 500.0 + difference, within);
        assert_eq!(
            pair.differs(total),
            differs,
            "{difference} {within:?} {total}"
        );
    }
}

#[test]
fn rows_begin_with_the_largest_difference() {
    let base = [("a/f", 100.0), ("b/g", 100.0), ("c/h", 100.0)];
    let target = [("a/f", 101.0), ("b/g", 50.0), ("c/h", 110.0)];
    let comparison = compare(&base, &target);
    let names: Vec<_> = comparison
        .functions
        .iter()
        .map(|row| row.name.to_string())
        .collect();
    assert_eq!(names, ["g", "h", "f"]);
    let names: Vec<_> = comparison
        .components
        .iter()
        .map(|row| &row.component)
        .collect();
    assert_eq!(names, ["b", "c", "a"]);
}

#[test]
fn functions_of_one_side_are_new_or_gone() {
    let comparison = compare(
        &[("a/f", 1.0), ("a/old", 100.0)],
        &[("a/f", 1.0), ("a/new", 10.0)],
    );
    let expected = ["old: 100, 0, Gone", "new: 0, 10, New", "f: 1, 1, Both"];
    assert_eq!(functions(&comparison), expected);
}

#[test]
fn a_function_of_about_the_same_cost_was_renamed() {
    for (old, new) in [(100.0, 100.0), (100.0, 75.0), (75.0, 100.0)] {
        let comparison = compare(&[("a/old", old)], &[("a/new", new)]);
        let expected = format!("new: {old}, {new}, was old");
        assert_eq!(functions(&comparison), [expected]);
    }
}

#[test]
fn functions_of_other_cost_component_or_caller_differ() {
    for (old, new) in [
        (("a/old", 100.0), ("a/new", 74.0)),
        (("a/old", 74.0), ("a/new", 100.0)),
        (("a/old", 0.0), ("a/new", 100.0)),
        (("a/old", 100.0), ("b/new", 100.0)),
    ] {
        let comparison = compare(&[old], &[new]);
        assert_eq!(comparison.functions.len(), 2, "{old:?} {new:?}");
    }
    let mut other = costs(&[("a/new", 100.0)]);
    for function in other.functions.values_mut() {
        function.caller = Some("start".to_owned());
    }
    let comparison = Comparison::new(&[costs(&[("a/old", 100.0)])], &[other]);
    assert_eq!(comparison.functions.len(), 2);
}

#[test]
fn the_nearest_cost_is_that_of_the_renamed() {
    let base = [("a/old1", 100.0), ("a/old2", 118.0), ("a/old3", 40.0)];
    let comparison = compare(&base, &[("a/new1", 120.0), ("a/new2", 102.0)]);
    let expected = [
        "old3: 40, 0, Gone",
        "new1: 118, 120, was old2",
        "new2: 100, 102, was old1",
    ];
    assert_eq!(functions(&comparison), expected);
}

#[test]
fn bounds_of_a_renamed_function_add_up() {
    let base = [costs(&[("a/old", 100.0)]), costs(&[("a/old", 110.0)])];
    let target = [costs(&[("a/new", 100.0)]), costs(&[("a/new", 104.0)])];
    let comparison = Comparison::new(&base, &target);
    assert_eq!(comparison.functions[0].cost, pair(105.0, 102.0, Some(7.0)));
}

#[test]
fn few_functions_make_most_of_the_difference() {
    let base = [
        ("a/f", 0.0),
        ("b/g", 160.0),
        ("c/h", 0.0),
        ("d/i", 0.0),
        ("e/j", 500.0),
    ];
    let target = [
        ("a/f", 100.0),
        ("b/g", 100.0),
        ("c/h", 30.0),
        ("d/i", 10.0),
        ("e/j", 500.0),
    ];
    let comparison = compare(&base, &target);
    assert_eq!(comparison.functions_that_make(0.0), 0);
    assert_eq!(comparison.functions_that_make(0.5), 1);
    assert_eq!(comparison.functions_that_make(0.8), 2);
    assert_eq!(comparison.functions_that_make(0.9), 3);
    // A difference of ten instructions is none.
    assert_eq!(comparison.functions_that_make(1.0), 3);
}

#[test]
fn paths_include_all_that_is_called() {
    let base = [("a", 1.0), ("a b", 2.0), ("a b c", 4.0), ("a c", 8.0)];
    let target = [("a", 1.0), ("a b", 2.0), ("a b c", 104.0), ("a c", 18.0)];
    let expected = ["a: 15, 125", "a b: 6, 106", "a b c: 4, 104", "a c: 8, 18"];
    assert_eq!(paths(&base, &target), expected);
}

#[test]
fn paths_leave_out_functions_of_one_side() {
    let base = [("a old b", 4.0), ("a old", 1.0), ("old", 16.0)];
    let target = [("a new b", 8.0), ("a b", 2.0)];
    let expected = ["a b: 4, 10", "a: 5, 10"];
    assert_eq!(paths(&base, &target), expected);
}

#[test]
fn recursion_counts_once_in_paths() {
    let stacks = [("a a b a", 1.0), ("a a", 2.0), ("a", 4.0)];
    let expected = ["a: 7, 7", "a b: 1, 1", "a b a: 1, 1"];
    assert_eq!(paths(&stacks, &stacks), expected);
    let through_another = [("a old a b", 1.0)];
    assert_eq!(
        paths(&through_another, &[("a b", 1.0)]),
        ["a: 1, 1", "a b: 1, 1"]
    );
}

/// Some of twelve functions in three components.
fn any_side() -> impl Strategy<Value = Costs> {
    let functions = prop::collection::btree_map(0..12_u32, 0..2_000_u32, 0..12);
    functions.prop_map(|functions| {
        let functions: Vec<(String, f64)> = functions
            .into_iter()
            .map(|(name, own)| (format!("c{}/f{name}", name % 3), f64::from(own)))
            .collect();
        let functions: Vec<(&str, f64)> = functions
            .iter()
            .map(|(name, own)| (name.as_str(), *own))
            .collect();
        costs(&functions)
    })
}

fn any_trials() -> impl Strategy<Value = Vec<Costs>> {
    prop::collection::vec(any_side(), 1..4)
}

proptest! {
    #[test]
    fn rows_add_up_to_the_total(base in any_trials(), target in any_trials()) {
        let comparison = Comparison::new(&base, &target);
        let functions: Vec<Pair> = comparison.functions.iter().map(|row| row.cost).collect();
        let components: Vec<Pair> = comparison.components.iter().map(|row| row.cost).collect();
        let total = comparison.total;
        for rows in [functions, components] {
            let base: f64 = rows.iter().map(|cost| cost.base).sum();
            let target: f64 = rows.iter().map(|cost| cost.target).sum();
            prop_assert!((base - total.base).abs() < 1e-6, "{base} {total:?}");
            prop_assert!((target - total.target).abs() < 1e-6, "{target} {total:?}");
        }
    }

    #[test]
    fn equal_sides_do_not_differ(trials in any_trials()) {
        let comparison = Comparison::new(&trials, &trials);
        let total = comparison.total.base;
        prop_assert!(!comparison.total.differs(total));
        for row in &comparison.functions {
            prop_assert_eq!(&row.presence, &Presence::Both);
            prop_assert!(!row.cost.differs(total));
        }
        prop_assert_eq!(comparison.functions_that_make(0.9), 0);
    }

    #[test]
    fn any_trial_is_within_the_bound(base in any_trials(), target in any_trials()) {
        let total = Comparison::new(&base, &target).total;
        if let Some(within) = total.within {
            for (old, new) in base.iter().flat_map(|old| target.iter().map(move |new| (old, new))) {
                let away = (new.total - old.total) - total.difference();
                prop_assert!(away.abs() <= within + 1e-6);
            }
        }
    }

    #[test]
    fn no_path_costs_more_than_the_total(base in any_trials(), target in any_trials()) {
        let comparison = Comparison::new(&base, &target);
        for PathRow { cost, .. } in &comparison.paths {
            prop_assert!(cost.base <= comparison.total.base + 1e-6);
            prop_assert!(cost.target <= comparison.total.target + 1e-6);
        }
    }
}
