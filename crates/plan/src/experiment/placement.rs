//! `placement`: the processors of sessions, of the server's other threads and of the generator.

use std::collections::BTreeSet;

use prony_model::{Aspect, CpuSet, PlacementRule, Processors, WantedPlacement};
use toml::de::DeValue;

use super::expand::Draft;
use super::setting::{self, Axis, Setting};
use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};

/// The rules that can be written as a word.
const RULES: [(&str, PlacementRule); 3] = [
    (PlacementRule::Together.name(), PlacementRule::Together),
    (PlacementRule::Apart.name(), PlacementRule::Apart),
    (PlacementRule::Free.name(), PlacementRule::Free),
];

/// Reads `placement`: the word of a rule, or a table of processors by role.
pub(super) fn read(value: Value<'_>) -> Read<Located<WantedPlacement>> {
    let span = value.span();
    let wanted = match value.inner() {
        DeValue::String(_) => WantedPlacement::Rule(value.choice(&RULES)?.value),
        DeValue::Table(_) => WantedPlacement::Sets(read_sets(value)?),
        _ => {
            return Problem::new("`placement` must be a word or a table")
                .at(&span, "neither of them")
                .help(
                    "write \"together\", \"apart\" or \"free\", or name the processors: \
                     { sessions = \"0\", background = \"1\", generator = \"0\" }",
                )
                .fail(value.document());
        }
    };
    Ok(Located {
        value: wanted,
        span,
    })
}

/// Reads `placement` as a setting of targets.
pub(super) fn read_setting<'k>(value: Value<'_>) -> Read<Located<Setting<'k>>> {
    Ok(read(value)?.map(Setting::Placement))
}

fn read_sets(value: Value<'_>) -> Read<Processors> {
    let whole = value.clone();
    let mut fields = value.table("a placement")?;
    let sessions = fields.optional("sessions", read_set);
    let background = fields.optional("background", read_set);
    let generator = fields.optional("generator", read_set);
    fields.finish()?;
    let processors = Processors {
        sessions: sessions?,
        background: background?,
        generator: generator?,
    };
    if processors.named().next().is_none() {
        return Err(whole.report("must name the processors of a role", "names none"));
    }
    Ok(processors)
}

fn read_set(value: Value<'_>) -> Read<CpuSet> {
    let document = value.document();
    let text = value.text()?;
    text.value.parse::<CpuSet>().map_err(|error| {
        document.report(Problem::new(error.to_string()).at(&text.span, "not a set of processors"))
    })
}

/// Checks the placements of an external target, those of the defaults among them.
pub(super) fn check_external(document: &Document<'_>, name: &str, axes: &[Axis<'_>]) -> Read<()> {
    let mut outcome = Ok(());
    for value in setting::values(axes, &Aspect::Placement) {
        if let Setting::Placement(wanted) = &value.value {
            let wanted = Located {
                value: wanted,
                span: value.span.clone(),
            };
            outcome = outcome.and(check_without_server(document, name, &wanted));
        }
    }
    outcome
}

/// Checks the placements of targets that are loaded from another host: processors of this one are not
/// shared with a load generator there.
pub(super) fn check_far(document: &Document<'_>, drafts: &[Draft<'_>]) -> Read<()> {
    let mut said = BTreeSet::new();
    let mut outcome = Ok(());
    for draft in drafts.iter().filter(|draft| draft.target.is_far()) {
        let wanted = draft.settings.iter().find(|setting| match &setting.value {
            Setting::Placement(wanted) => *wanted != WantedPlacement::Rule(PlacementRule::Free),
            _ => false,
        });
        if let Some(wanted) = wanted.filter(|wanted| said.insert(wanted.span.start)) {
            outcome = Problem::new(
                "no placement can be had for a target whose load generator is on another host",
            )
            .at(
                &wanted.span,
                "applies to a target with `transport = \"network\"`",
            )
            .help(
                "remove it, or write `placement = \"free\"` in that [[target]]; the file of hosts \
                 has the processors of the load generator there",
            )
            .fail(document);
        }
    }
    outcome
}

/// Checks a placement that applies to the external target `name`: it can bind the generator alone.
pub(super) fn check_without_server(
    document: &Document<'_>,
    name: &str,
    wanted: &Located<&WantedPlacement>,
) -> Read<()> {
    if !needs_server(wanted.value) {
        return Ok(());
    }
    Problem::new(format!(
        "the server of `{name}` can't be bound to processors: Prony does not start it"
    ))
    .at(&wanted.span, "binds servers")
    .help(
        "set `placement` in this [[target]] to \"free\", or to the processors of the generator: \
         { generator = \"0\" }",
    )
    .fail(document)
}

/// True where a placement can't be had without binding the server.
const fn needs_server(wanted: &WantedPlacement) -> bool {
    match wanted {
        WantedPlacement::Rule(rule) => !matches!(rule, PlacementRule::Free),
        WantedPlacement::Sets(processors) => {
            processors.sessions.is_some() || processors.background.is_some()
        }
    }
}
