//! Presets: sequences in files of their own, to be named by experiments.

use prony_model::Workload;

use super::clients::{self, Clients};
use super::entry::{self, Entry, What};
use super::section;
use super::settings::{self, Settings};
use crate::fields::{Fields, Value};
use crate::invalid::{Invalid, Problem, Read, read_toml};

/// A sequence with a name, which fixes order, parameters, lengths, places to settle and sections.
/// The format is described in `docs/formats/sequence.md`.
#[derive(Debug, Clone)]
pub struct Preset {
    name: String,
    description: String,
    history: String,
    text: String,
    pub(super) settings: Settings,
    pub(super) clients: Option<Vec<Clients>>,
    pub(super) entries: Vec<Entry>,
    pub(super) sections: Vec<section::Written>,
}

impl Preset {
    /// Its name, by which experiments call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One or two sentences for lists.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Author, time and purpose of the measurements in this order, and Prony's changes.
    pub fn history(&self) -> &str {
        &self.history
    }

    /// The file that defines it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of its steps in their order, places to settle left out.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match &entry.what {
            What::Run(run) => Some(run.work.name.value.as_str()),
            What::Settle(_) => None,
        })
    }
}

/// Reads the file of one preset. `file_name` is used in messages only.
///
/// # Errors
/// When the text is not TOML, not a right preset, or names a workload that is not in `workloads`;
/// all problems found are in the error.
pub fn parse_preset(
    file_name: &str,
    text: &str,
    workloads: &[Workload],
) -> Result<Preset, Invalid> {
    read_toml(file_name, text, |document, table| {
        read(Fields::root(document, "a preset", table), text, workloads)
    })
}

fn read(mut fields: Fields<'_>, text: &str, workloads: &[Workload]) -> Read<Preset> {
    let document = fields.document();
    let name = fields.required("name", Value::name);
    let description = fields.required("description", Value::text);
    let history = fields.required("history", Value::text);
    let settings = settings::read(&mut fields);
    let clients = fields.optional("clients", clients::read);
    let entries = entry::read_all(&mut fields, workloads);
    // Sections name steps; where those could not be read, they would all be unknown.
    let sections = match &entries {
        Ok(entries) => section::read_all(&mut fields, entries),
        Err(_) => fields.optional("section", |_| Ok(())).map(|_| Vec::new()),
    };
    let end = fields.span();
    fields.finish()?;

    let (settings, entries) = (settings?, entries?);
    if entries.is_empty() {
        return Problem::new("a preset needs at least one step")
            .at(&end, "no [[step]] in this file")
            .fail(document);
    }
    if settings.limit.is_none() {
        return Problem::new("a preset needs `time` or `operations_per_client`")
            .at(&end, "experiments would have nothing to scale")
            .help("write it at the top: it applies to all steps that set none themselves")
            .fail(document);
    }
    Ok(Preset {
        name: name?.value.to_owned(),
        description: description?.value.to_owned(),
        history: history?.value.trim().to_owned(),
        text: text.to_owned(),
        settings,
        clients: clients?,
        entries,
        sections: sections?,
    })
}
