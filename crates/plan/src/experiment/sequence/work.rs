//! Work of clients: a workload with parameters, at a pace, under a name. The same for the clients
//! of a step and for the groups beside them.

use std::collections::BTreeMap;

use prony_model::Workload;

use super::pace::{self, WrittenPace};
use crate::fields::{Fields, Located, NAME_RULE, Value, is_name, read_each, unknown};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;
use crate::workload::PARAMETER_MAX;

/// Work of clients, as written.
#[derive(Debug, Clone)]
pub(super) struct Work {
    /// With the place that messages about the whole point at.
    pub(super) name: Located<String>,
    pub(super) workload: Workload,
    /// Those that are set here.
    pub(super) parameters: BTreeMap<String, i64>,
    pub(super) pace: WrittenPace,
}

impl Work {
    /// All parameters of the workload; those that are not set have their own values.
    pub(super) fn all_parameters(&self) -> BTreeMap<String, i64> {
        let mut parameters = self.workload.parameters.clone();
        parameters.extend(self.parameters.clone());
        parameters
    }
}

/// Reads the keys of a step, or of a group of clients, that say what they do.
pub(super) fn read(fields: &mut Fields<'_>, workloads: &[Workload]) -> Read<Work> {
    let document = fields.document();
    let workload = fields.required("workload", |value| find(value, workloads));
    let name = fields.optional("name", Value::name);
    let parameters = fields.optional("parameters", |value| value.table("the parameters"));
    let pace = pace::read(fields);
    let workload = workload?;
    let parameters = match parameters? {
        Some(fields) => read_parameters(fields, workload.value)?,
        None => BTreeMap::new(),
    };
    let name = match name? {
        Some(name) => name.map(str::to_owned),
        None => default_name(document, &workload, &parameters)?,
    };
    Ok(Work {
        name,
        workload: workload.value.clone(),
        parameters,
        pace: pace?,
    })
}

fn find<'w>(value: Value<'_>, workloads: &'w [Workload]) -> Read<Located<&'w Workload>> {
    let document = value.document();
    let name = value.text()?;
    if let Some(workload) = workloads
        .iter()
        .find(|workload| workload.name == name.value)
    {
        return Ok(name.map(|_| workload));
    }
    let known: Vec<_> = workloads
        .iter()
        .map(|workload| workload.name.as_str())
        .collect();
    unknown("workload", &name, &known).fail(document)
}

fn read_parameters(fields: Fields<'_>, workload: &Workload) -> Read<BTreeMap<String, i64>> {
    let known: Vec<_> = workload.parameters.keys().map(String::as_str).collect();
    read_each(fields.entries(), |(name, value)| {
        if !known.contains(&name.value) {
            let kind = format!("parameters of {}", workload.name);
            return Problem::new(format!(
                "the workload `{}` has no parameter `{}`",
                workload.name, name.value
            ))
            .at(&name.span, "not defined")
            .help(suggest::help(name.value, &kind, &known))
            .fail(value.document());
        }
        let number = value.integer(-PARAMETER_MAX..=PARAMETER_MAX)?;
        Ok((name.value.to_owned(), number.value))
    })
    .map(BTreeMap::from_iter)
}

/// The workload's name and every parameter that is set: `read-only.range1000`.
fn default_name(
    document: &Document<'_>,
    workload: &Located<&Workload>,
    set: &BTreeMap<String, i64>,
) -> Read<Located<String>> {
    let parameters = set.iter().map(|(name, value)| format!(".{name}{value}"));
    let name: String = std::iter::once(workload.value.name.clone())
        .chain(parameters)
        .collect();
    if !is_name(&name) {
        return Problem::new(format!("`{name}` can't be the name of a step"))
            .at(&workload.span, "needs a `name`")
            .help(NAME_RULE)
            .fail(document);
    }
    Ok(Located {
        value: name,
        span: workload.span.clone(),
    })
}
