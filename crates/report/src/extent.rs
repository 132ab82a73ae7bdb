//! The extent of a report for people.

use std::collections::BTreeSet;

use prony_model::Step;

use crate::ReportError;
use crate::analysis::Analysis;
use crate::analysis::sections::Section;

/// The extent of a report for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// Findings and ratios.
    Answer,
    /// Everything.
    Whole,
    /// The details of some steps.
    Steps(StepChoice),
}

/// A choice of steps: those that fit each of the three lists. An empty list fits all. Steps that only
/// warm up are never among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepChoice {
    /// Names of steps, in which `*` stands for any characters.
    pub names: Vec<String>,
    /// Numbers of clients.
    pub clients: Vec<u32>,
    /// Titles of sections, in which `*` stands for any characters; case does not matter.
    pub sections: Vec<String>,
}

impl StepChoice {
    /// Indices of the chosen steps; never empty.
    pub(crate) fn steps(&self, analysis: &Analysis<'_>) -> Result<BTreeSet<usize>, ReportError> {
        let plan = analysis.plan;
        let shown: Vec<usize> = analysis.shown_steps().collect();
        let step = |index: usize| -> &Step { &plan.steps[index] };
        let name = |index: &usize| step(*index).name.clone();
        let clients = |index: &usize| step(*index).own().clients;
        let title = |section: &Section| section.title.clone();
        let titles: Vec<String> = analysis.sections.iter().filter_map(title).collect();
        let title_of = |index: usize| {
            let mut sections = analysis.sections.iter();
            let own = sections.find(|section| section.steps.contains(&index));
            own.and_then(title)
        };
        check("step", &self.names, shown.iter().map(name), fits)?;
        check("section", &self.sections, titles, fits_title)?;
        let known: BTreeSet<u32> = shown.iter().map(clients).collect();
        let asked: Vec<String> = self.clients.iter().map(u32::to_string).collect();
        let known = known.iter().map(u32::to_string);
        check("number of clients", &asked, known, |asked, known| {
            asked == known
        })?;
        let is_chosen = |&index: &usize| {
            let any = |patterns: &[String], fits: &dyn Fn(&String) -> bool| {
                patterns.is_empty() || patterns.iter().any(fits)
            };
            any(&self.names, &|pattern| fits(pattern, &name(&index)))
                && (self.clients.is_empty() || self.clients.contains(&clients(&index)))
                && any(&self.sections, &|pattern| {
                    title_of(index).is_some_and(|title| fits_title(pattern, &title))
                })
        };
        let chosen: BTreeSet<usize> = shown.into_iter().filter(is_chosen).collect();
        if chosen.is_empty() {
            return Err(ReportError::NoStepChosen);
        }
        Ok(chosen)
    }
}

/// Checks that each of `asked` fits something that is known.
fn check(
    what: &'static str,
    asked: &[String],
    known: impl IntoIterator<Item = String>,
    fits: impl Fn(&str, &str) -> bool,
) -> Result<(), ReportError> {
    let mut names: Vec<String> = Vec::new();
    for name in known {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let is_unknown = |asked: &&String| !names.iter().any(|known| fits(asked, known));
    let Some(unknown) = asked.iter().find(is_unknown) else {
        return Ok(());
    };
    if names.is_empty() {
        names.push("none".to_owned());
    }
    Err(ReportError::NotInRun {
        what,
        asked: unknown.clone(),
        known: names.join(", "),
    })
}

fn fits_title(pattern: &str, title: &str) -> bool {
    fits(&pattern.to_lowercase(), &title.to_lowercase())
}

/// Returns `true` if a text is as the pattern says, in which `*` stands for any characters.
fn fits(pattern: &str, text: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(mut text) = text.strip_prefix(start) else {
        return false;
    };
    let (middle, end) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some(at) = text.find(part) else {
            return false;
        };
        text = &text[at + part.len()..];
    }
    text.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, text) in [
            ("insert", "insert"),
            ("*", "insert"),
            ("*", ""),
            ("in*", "insert"),
            ("*sert", "insert"),
            ("i*s*t", "insert"),
            ("read-only*", "read-only.range100.pre"),
            ("*range*pre", "read-only.range100.pre"),
            ("a*a", "aba"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("insert", "inserts"),
            ("in*x", "insert"),
            ("a*a", "a"),
            ("*b*a", "ba.b"),
            ("", "insert"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_part_can_be_replaced(text in "[a-z.é]{0,12}", ends in (0_usize..12, 0_usize..12)) {
            let characters: Vec<char> = text.chars().collect();
            let [from, to] = [ends.0.min(ends.1), ends.0.max(ends.1)].map(|end| end.min(characters.len()));
            let part = |part: &[char]| part.iter().collect::<String>();
            let pattern = format!("{}*{}", part(&characters[..from]), part(&characters[to..]));
            proptest::prop_assert!(fits(&pattern, &text));
        }
    }
}
