//! `[[step.beside]]`: groups of clients that run beside those of the step.

use prony_model::Workload;

use super::clients::{self, Clients};
use super::work::{self, Work};
use crate::fields::{Fields, Located, read_each, twice};
use crate::invalid::Read;

/// A group of clients as written.
#[derive(Debug, Clone)]
pub(super) struct Beside {
    pub(super) work: Work,
    pub(super) clients: Clients,
}

/// Reads the groups of a step. `step` is its name, where that could be read.
pub(super) fn read_all(
    fields: &mut Fields<'_>,
    workloads: &[Workload],
    step: Option<&Located<String>>,
) -> Read<Vec<Beside>> {
    let tables = fields.tables("beside", "a group of clients")?;
    let groups = read_each(tables, |table| read(table, workloads))?;
    let mut names: Vec<&Located<String>> = step.into_iter().collect();
    for group in &groups {
        let name = &group.work.name;
        if let Some(first) = names.iter().find(|other| other.value == name.value) {
            let message = format!("two groups of clients are named `{}`", name.value);
            return twice(message, &name.span, &first.span)
                .help(
                    "figures are stored by name, those of the step's own clients by the step's \
                     name: set `name`",
                )
                .fail(fields.document());
        }
        names.push(name);
    }
    Ok(groups)
}

fn read(mut fields: Fields<'_>, workloads: &[Workload]) -> Read<Beside> {
    let work = work::read(&mut fields, workloads);
    let clients = fields.optional("clients", clients::read_one);
    fields.finish()?;
    Ok(Beside {
        work: work?,
        clients: clients?.map_or(Clients::Count(1), |clients| clients.value),
    })
}
