//! `[[section]]`: how reports group and order the steps.

use std::collections::BTreeMap;

use prony_model::{RatioDisplay, Section, Thousandths};

use super::entry::{Entry, Run, What};
use crate::fields::{Fields, Located, Value, twice, unknown};
use crate::invalid::{Problem, Read, Span};
use crate::percent;

/// A section, with the margin of its steps.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) section: Section,
    /// In percent; for steps that set none themselves.
    pub(super) margin: Option<Thousandths>,
}

/// Reads all `[[section]]` tables of a file; none at all leaves reports to the order of the
/// sequence.
pub(super) fn read_all(root: &mut Fields<'_>, entries: &[Entry]) -> Read<Vec<Written>> {
    let tables = root.tables("section", "a section")?;
    let names = Names::of(entries);
    let mut placed = BTreeMap::new();
    let mut outcome = Ok(Vec::new());
    for fields in tables {
        match (read(fields, &names, &mut placed), &mut outcome) {
            (Ok(section), Ok(sections)) => sections.push(section),
            (Ok(_), Err(_)) => {}
            (Err(reported), _) => outcome = Err(reported),
        }
    }
    let sections = outcome?;
    if !sections.is_empty() {
        check_all_placed(root, entries, &placed)?;
    }
    Ok(sections)
}

/// The steps by their names.
struct Names<'a> {
    runs: Vec<(usize, &'a Run)>,
}

impl<'a> Names<'a> {
    fn of(entries: &'a [Entry]) -> Self {
        Self {
            runs: runs(entries).enumerate().collect(),
        }
    }

    /// Entries of the sequence with this name.
    fn find(&self, name: &str) -> Vec<usize> {
        let named = self
            .runs
            .iter()
            .filter(|(_, run)| run.work.name.value == name);
        named.map(|(entry, _)| *entry).collect()
    }

    fn all(&self) -> Vec<&'a str> {
        let runs = self.runs.iter();
        let mut names: Vec<_> = runs.map(|(_, run)| run.work.name.value.as_str()).collect();
        names.dedup();
        names
    }
}

/// The entries that run something, in order: what [`prony_model::Step::entry`] counts.
fn runs(entries: &[Entry]) -> impl Iterator<Item = &Run> {
    entries.iter().filter_map(|entry| match &entry.what {
        What::Run(run) => Some(run.as_ref()),
        What::Settle(_) => None,
    })
}

fn read(
    mut fields: Fields<'_>,
    names: &Names<'_>,
    placed: &mut BTreeMap<usize, Span>,
) -> Read<Written> {
    let title = fields.required("title", Value::text);
    let margin = fields.optional("margin", percent::read_difference);
    let display = fields.optional("display", |value| value.choice(&RatioDisplay::NAMED));
    let steps = fields.required("steps", |value| read_steps(value, names, placed));
    fields.finish()?;
    Ok(Written {
        section: Section {
            title: title?.value.to_owned(),
            entries: steps?,
            display: display?.map(|display| display.value),
        },
        margin: margin?.map(|margin| margin.value),
    })
}

fn read_steps(
    value: Value<'_>,
    names: &Names<'_>,
    placed: &mut BTreeMap<usize, Span>,
) -> Read<Vec<usize>> {
    let mut entries = Vec::new();
    for item in value.list()? {
        let document = item.document();
        let name: Located<&str> = item.text()?;
        let found = names.find(name.value);
        if found.is_empty() {
            return unknown("step", &name, &names.all()).fail(document);
        }
        for entry in found {
            if let Some(first) = placed.insert(entry, name.span.clone()) {
                let message = format!("the step `{}` is in two sections", name.value);
                return twice(message, &name.span, &first)
                    .help("a step is shown once: remove one of them")
                    .fail(document);
            }
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Checks that every step has its place, those for warming apart.
fn check_all_placed(
    root: &Fields<'_>,
    entries: &[Entry],
    placed: &BTreeMap<usize, Span>,
) -> Read<()> {
    let spans = entries
        .iter()
        .filter(|entry| matches!(entry.what, What::Run(_)))
        .map(|entry| &entry.place);
    for ((index, run), place) in runs(entries).enumerate().zip(spans) {
        if !run.warm_only && !placed.contains_key(&index) {
            return Problem::new(format!(
                "the step `{}` is in no section",
                run.work.name.value
            ))
            .at(place, "not in any `steps`")
            .help("name it in the `steps` of a [[section]], or write no sections at all")
            .fail(root.document());
        }
    }
    Ok(())
}
