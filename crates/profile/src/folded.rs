//! Folded stacks: the text that flame graph programs read, one line for each stack.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::costs::Costs;
use crate::difference::{common_names, projected};

/// Costs are written in thousandths of their unit, because the programs read whole numbers only.
const FOLDED_PER_UNIT: f64 = 1_000.0;

/// The stacks of a target, means of its trials: functions from the outermost to the innermost, and at last
/// a component in brackets.
pub fn stacks(trials: &[Costs]) -> BTreeMap<Vec<String>, f64> {
    let mut stacks: BTreeMap<Vec<String>, f64> = BTreeMap::new();
    for costs in trials {
        for (stack, own) in &costs.stacks {
            *stacks.entry(stack.clone()).or_default() += own / trials.len() as f64;
        }
    }
    stacks
}

/// The stacks of a base and a target. Functions that only one side has are left out, because between major
/// versions not one whole stack is the same.
pub fn common_stacks(base: &[Costs], target: &[Costs]) -> BTreeMap<Vec<String>, [f64; 2]> {
    let common = common_names(base, target);
    let mut stacks: BTreeMap<Vec<String>, [f64; 2]> = BTreeMap::new();
    for (side, trials) in [base, target].into_iter().enumerate() {
        for costs in trials {
            for (stack, own) in projected(costs, &common) {
                stacks.entry(stack).or_default()[side] += own / trials.len() as f64;
            }
        }
    }
    stacks
}

/// [`stacks`] as `outer;inner count`.
pub fn folded(trials: &[Costs]) -> String {
    let mut out = String::new();
    for (stack, own) in stacks(trials) {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{} {}", joined(&stack), count(own));
    }
    out
}

/// [`common_stacks`] as `outer;inner base target`, as programs for differential flame graphs read them.
pub fn folded_difference(base: &[Costs], target: &[Costs]) -> String {
    let mut out = String::new();
    for (stack, [base, target]) in common_stacks(base, target) {
        let _ = writeln!(out, "{} {} {}", joined(&stack), count(base), count(target));
    }
    out
}

/// Semicolons divide functions, so that none may be in a name.
fn joined(stack: &[String]) -> String {
    let names: Vec<_> = stack.iter().map(|name| name.replace(';', ":")).collect();
    names.join(";")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are positive, and a float holds those of any operation"
)]
pub(crate) fn count(own: f64) -> u64 {
    (own * FOLDED_PER_UNIT).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(stacks: &[(&[&str], f64)]) -> Costs {
        let stacks = stacks.iter().map(|(stack, own)| {
            let names = stack.iter().map(|name| (*name).to_owned());
            (names.collect(), *own)
        });
        Costs {
            stacks: stacks.collect(),
            ..Costs::default()
        }
    }

    #[test]
    fn each_stack_is_a_line_with_its_mean() {
        let trials = [
            costs(&[(&["main", "f", "[x]"], 1.0), (&["main", "[x]"], 0.2534)]),
            costs(&[(&["main", "f", "[x]"], 2.5)]),
        ];
        assert_eq!(folded(&trials), "main;[x] 127\nmain;f;[x] 1750\n");
        assert_eq!(folded(&[]), "");
    }

    #[test]
    fn names_have_no_semicolons() {
        let trial = costs(&[(&["main", "f;g", "operator new", "[C library]"], 1.0)]);
        assert_eq!(folded(&[trial]), "main;f:g;operator new;[C library] 1000\n");
    }

    #[test]
    fn differences_have_the_functions_of_both_sides() {
        let base = costs(&[(&["main", "old", "f", "[x]"], 1.0), (&["main", "[x]"], 2.0)]);
        let target = costs(&[
            (&["main", "new", "f", "[x]"], 1.5),
            (&["main", "new", "[y]"], 4.0),
        ]);
        assert_eq!(
            folded_difference(&[base], &[target]),
            "main;[x] 2000 0\nmain;[y] 0 4000\nmain;f;[x] 1000 1500\n"
        );
    }

    #[test]
    fn differences_are_those_of_means() {
        let trials = [1.0, 3.0].map(|own| costs(&[(&["main", "[x]"], own)]));
        assert_eq!(
            folded_difference(&trials, &trials[..1]),
            "main;[x] 2000 1000\n"
        );
    }
}
