//! Steps that belong together, in the order in which they are shown.

use prony_model::{Phase, Plan, Step};

/// A section of a report: steps that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    /// Its heading; `None` where the sequence has no sections.
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

/// The title of steps in no section, and in no phase.
const OTHERS: &str = "Other steps";

/// The sections of a plan: its sections, else its phases, else all steps in one. Every step is in one
/// part, but those that only warm up are in none.
pub(crate) fn of(plan: &Plan) -> Vec<Section> {
    let shown: Vec<usize> = (0..plan.steps.len())
        .filter(|&index| !plan.steps[index].warm_only)
        .collect();
    let chosen = |wanted: &dyn Fn(&Step) -> bool| -> Vec<usize> {
        let steps = shown.iter().copied();
        steps.filter(|&index| wanted(&plan.steps[index])).collect()
    };
    let mut sections: Vec<Section> = if plan.sections.is_empty() {
        let phases = PHASES.iter();
        phases
            .map(|&(phase, title)| section(title, chosen(&|step| step.phase == Some(phase))))
            .collect()
    } else {
        let of_entry = |&entry: &usize| chosen(&|step| step.entry == entry);
        let sections = plan.sections.iter();
        sections
            .map(|planned| {
                let steps = planned.entries.iter().flat_map(of_entry).collect();
                section(&planned.title, steps)
            })
            .collect()
    };
    sections.retain(|section| !section.steps.is_empty());
    let placed: Vec<usize> = sections
        .iter()
        .flat_map(|section| section.steps.clone())
        .collect();
    let others: Vec<usize> = shown
        .into_iter()
        .filter(|index| !placed.contains(index))
        .collect();
    if !others.is_empty() {
        let title = (!sections.is_empty()).then(|| OTHERS.to_owned());
        sections.push(Section {
            title,
            steps: others,
        });
    }
    sections
}

/// The title of the part that a step is in.
pub(crate) fn title(sections: &[Section], step: usize) -> Option<&str> {
    let section = sections
        .iter()
        .find(|section| section.steps.contains(&step))?;
    section.title.as_deref()
}

fn section(title: &str, steps: Vec<usize>) -> Section {
    Section {
        title: Some(title.to_owned()),
        steps,
    }
}
