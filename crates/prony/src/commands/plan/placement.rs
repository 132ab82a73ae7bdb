//! The placement of a plan's steps on this host, in words.

use std::collections::BTreeSet;

use prony_model::{DefaultPlacement, DefaultReason, Placement, Plan, Step, Target};

use crate::words::{listed, plural};

/// Names that are written out; of more, the number is shown.
const NAMES_MAX: usize = 4;

/// Cells with the same placement, by index of step and target.
struct Part {
    placement: Placement,
    cells: BTreeSet<(usize, usize)>,
}

/// The placements, one line for each, and the reason for the default.
pub(super) fn lines(
    plan: &Plan,
    default: DefaultPlacement,
    of: impl Fn(&Target, &Step) -> Placement,
) -> Vec<String> {
    let mut parts: Vec<Part> = Vec::new();
    for (step_index, step) in plan.steps.iter().enumerate() {
        for (target_index, target) in plan.targets.iter().enumerate() {
            let placement = of(target, step);
            let cell = (step_index, target_index);
            match parts.iter_mut().find(|part| part.placement == placement) {
                Some(part) => drop(part.cells.insert(cell)),
                None => parts.push(Part {
                    placement,
                    cells: BTreeSet::from([cell]),
                }),
            }
        }
    }
    let line = |part: &Part| format!("  {}: {}", place(plan, part), part.placement);
    std::iter::once("\nPlacement on this host:".to_owned())
        .chain(parts.iter().map(line))
        .chain(reason(plan, default))
        .collect()
}

/// The default with its reason, if any step has it.
fn reason(plan: &Plan, default: DefaultPlacement) -> Option<String> {
    let DefaultPlacement { rule, reason } = default;
    let measured_later = match reason {
        DefaultReason::PriceUnknown => "; `prony calibrate` measures it",
        _ => "",
    };
    let mut steps = plan.steps.iter();
    let is_used = steps.any(|step| plan.leaves_placement_open(step));
    is_used.then(|| format!("  default: {rule}, because {reason}{measured_later}"))
}

/// The cells of a part: all, those of some numbers of clients, or those of named steps and targets.
fn place(plan: &Plan, part: &Part) -> String {
    let all = plan.steps.len() * plan.targets.len();
    if part.cells.len() == all {
        return "all steps".to_owned();
    }
    let clients: BTreeSet<u32> = part
        .cells
        .iter()
        .map(|(step, _)| plan.steps[*step].all_clients())
        .collect();
    let has_clients = |step: &&Step| clients.contains(&step.all_clients());
    let of_clients = plan.steps.iter().filter(has_clients).count() * plan.targets.len();
    if part.cells.len() == of_clients {
        let noun = if clients == BTreeSet::from([1]) {
            "client"
        } else {
            "clients"
        };
        let clients: Vec<String> = clients.iter().map(u32::to_string).collect();
        return format!("{} {noun}", listed(&clients));
    }
    let steps: BTreeSet<usize> = part.cells.iter().map(|(step, _)| *step).collect();
    let targets: BTreeSet<usize> = part.cells.iter().map(|(_, target)| *target).collect();
    let step = |step: usize| {
        let step = &plan.steps[step];
        format!(
            "{} at {}",
            step.name,
            plural(step.all_clients().into(), "client")
        )
    };
    let target = |target: usize| plan.targets[target].name.clone();
    if part.cells.len() < steps.len() * targets.len() {
        let cell = |(s, t): (usize, usize)| format!("{} for {}", step(s), target(t));
        return named(part.cells.iter().copied().map(cell), "cell");
    }
    let of_steps = named(steps.iter().copied().map(step), "step");
    if targets.len() == plan.targets.len() {
        return of_steps;
    }
    let of_targets = named(targets.iter().copied().map(target), "target");
    if steps.len() == plan.steps.len() {
        return format!("all steps for {of_targets}");
    }
    format!("{of_steps} for {of_targets}")
}

/// The names, or their number where they are many.
fn named(names: impl Iterator<Item = String>, noun: &str) -> String {
    let names: Vec<String> = names.collect();
    if names.len() > NAMES_MAX {
        return plural(names.len() as u64, noun);
    }
    listed(&names)
}

#[cfg(test)]
mod tests {
    use prony_model::{PlacementRule, Version, WantedPlacement};
    use prony_testkit::{free, placed};

    use super::*;

    /// Point queries at 1, 2 and 8 clients and a scan at 1, on two targets.
    fn plan() -> Plan {
        let target = |name| prony_testkit::target(name, Version::new(8, 0, 31));
        let step = prony_testkit::step;
        let steps = vec![
            step("point", 1),
            step("point", 2),
            step("point", 8),
            step("scan", 1),
        ];
        prony_testkit::plan("p", vec![target("a"), target("b")], steps, 1)
    }

    /// The lines on a host with two processors, where each placement is as the plan asks.
    fn shown(plan: &Plan) -> String {
        let default = DefaultPlacement::decide(2, Some(3.1));
        let of = |target: &Target, step: &Step| {
            let wanted = plan.wanted_placement(target, step);
            let rule = match wanted {
                Some(WantedPlacement::Rule(rule)) => *rule,
                _ => PlacementRule::Together,
            };
            let reading = match (rule, step.all_clients()) {
                (PlacementRule::Together, 1) => placed(rule, "1", "0", "1"),
                (PlacementRule::Together, _) => placed(rule, "0-1", "0-1", "0-1"),
                (PlacementRule::Apart, _) => placed(rule, "0", "0", "1"),
                _ => free(2),
            };
            reading.placement
        };
        text(plan, default, of)
    }

    fn text(
        plan: &Plan,
        default: DefaultPlacement,
        of: impl Fn(&Target, &Step) -> Placement,
    ) -> String {
        lines(plan, default, of).join("\n").trim_start().to_owned()
    }

    #[test]
    fn processors_follow_the_clients() {
        insta::assert_snapshot!(shown(&plan()), @r"
        Placement on this host:
          1 client: together (sessions 1, background 0, generator 1)
          2 and 8 clients: together (sessions 0-1, background 0-1, generator 0-1)
          default: together, because a wake-up across processors costs 3.1 times as much as on one
        ");
    }

    #[test]
    fn a_wish_needs_no_reason() {
        let mut plan = plan();
        plan.placement = Some(WantedPlacement::Rule(PlacementRule::Free));
        insta::assert_snapshot!(shown(&plan), @r"
        Placement on this host:
          all steps: free
        ");
    }

    #[test]
    fn steps_and_targets_that_differ_are_named() {
        let mut plan = plan();
        plan.steps[3].placement = Some(WantedPlacement::Rule(PlacementRule::Apart));
        insta::assert_snapshot!(shown(&plan), @r"
        Placement on this host:
          point at 1 client: together (sessions 1, background 0, generator 1)
          2 and 8 clients: together (sessions 0-1, background 0-1, generator 0-1)
          scan at 1 client: apart (sessions 0, background 0, generator 1)
          default: together, because a wake-up across processors costs 3.1 times as much as on one
        ");
        plan.targets[1].placement = Some(WantedPlacement::Rule(PlacementRule::Free));
        insta::assert_snapshot!(shown(&plan), @r"
        Placement on this host:
          point at 1 client for a: together (sessions 1, background 0, generator 1)
          all steps for b: free
          point at 2 clients and point at 8 clients for a: together (sessions 0-1, background 0-1, generator 0-1)
          scan at 1 client for a: apart (sessions 0, background 0, generator 1)
          default: together, because a wake-up across processors costs 3.1 times as much as on one
        ");
    }

    #[test]
    fn an_unknown_price_has_a_remedy() {
        let plan = plan();
        let default = DefaultPlacement::decide(2, None);
        let shown = text(&plan, default, |_, _| free(2).placement);
        insta::assert_snapshot!(shown, @r"
        Placement on this host:
          all steps: free
          default: together, because the price of a wake-up was not measured on this host; `prony calibrate` measures it
        ");
    }
}
