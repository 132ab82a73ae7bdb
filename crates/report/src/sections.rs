//! Which steps belong together, and in which order they are shown.

use prony_model::{Phase, Plan, Step};

/// A part of a report: steps that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its heading; `None` where the sequence has no parts.
    pub(crate) title: Option<String>,
    /// Indices of the steps in the order in which they are shown; never empty.
    pub(crate) steps: Vec<usize>,
}

/// The phases in their order, with their headings.
const PHASES: [(Phase, &str); 4] = [
    (Phase::ReadBefore, "Reads before the writes"),
    (Phase::Write, "Writes"),
    (Phase::ReadAfter, "Reads after the writes"),
    (Phase::End, "Steps that shrink or grow the tables"),
];

/// What is in no section, and in no phase.
const OTHERS: &str = "Other steps";

/// The parts of a plan: its sections, else its phases, else all steps in one. Every step is in one
/// part, but those that only warm up are in none.
pub(crate) fn parts(plan: &Plan) -> Vec<Part> {
    let shown: Vec<usize> = (0..plan.steps.len())
        .filter(|&index| !plan.steps[index].warm_only)
        .collect();
    let chosen = |wanted: &dyn Fn(&Step) -> bool| -> Vec<usize> {
        let steps = shown.iter().copied();
        steps.filter(|&index| wanted(&plan.steps[index])).collect()
    };
    let mut parts: Vec<Part> = if plan.sections.is_empty() {
        let phases = PHASES.iter();
        phases
            .map(|&(phase, title)| part(title, chosen(&|step| step.phase == Some(phase))))
            .collect()
    } else {
        let of_entry = |&entry: &usize| chosen(&|step| step.entry == entry);
        let sections = plan.sections.iter();
        sections
            .map(|section| {
                let steps = section.entries.iter().flat_map(of_entry).collect();
                part(&section.title, steps)
            })
            .collect()
    };
    parts.retain(|part| !part.steps.is_empty());
    let placed: Vec<usize> = parts.iter().flat_map(|part| part.steps.clone()).collect();
    let others: Vec<usize> = shown
        .into_iter()
        .filter(|index| !placed.contains(index))
        .collect();
    if !others.is_empty() {
        let title = (!parts.is_empty()).then(|| OTHERS.to_owned());
        parts.push(Part {
            title,
            steps: others,
        });
    }
    parts
}

/// The title of the part that a step is in.
pub(crate) fn title(parts: &[Part], step: usize) -> Option<&str> {
    let part = parts.iter().find(|part| part.steps.contains(&step))?;
    part.title.as_deref()
}

fn part(title: &str, steps: Vec<usize>) -> Part {
    Part {
        title: Some(title.to_owned()),
        steps,
    }
}
