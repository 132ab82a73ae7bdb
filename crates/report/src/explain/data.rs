//! An explanation as JSON.

use prony_profile::{Comparison, MappedBy, Pair, Presence};
use serde_json::{Value, json};

use super::answer::{Compared, Explanation};
use super::cells::Profiled;
use super::question::ExplainUnit;
use super::times::Times;
use crate::error::ReportError;
use crate::figures::thousandths;

/// The version of the form, which grows when a key changes its meaning.
const FORM: u32 = 1;

/// The whole explanation.
pub(super) fn json(
    explanation: &Explanation<'_>,
    unit: ExplainUnit,
    times: Option<&Times>,
) -> Result<String, ReportError> {
    let content = match explanation {
        Explanation::Two(two) if two.is_alone() => {
            json!({ "targets": [target(two.target, times)] })
        }
        Explanation::Two(two) => json!({ "comparisons": [compared(two, times)] }),
        Explanation::All(cells) => {
            json!({ "targets": cells.iter().map(|cell| target(cell, times)).collect::<Vec<_>>() })
        }
        Explanation::Grown(grown) => {
            json!({ "comparisons": grown.iter().map(|two| compared(two, None)).collect::<Vec<_>>() })
        }
    };
    let mut whole = json!({ "form": FORM, "unit": unit.of_operation() });
    if let (Value::Object(whole), Value::Object(content)) = (&mut whole, content) {
        whole.extend(content);
    }
    let text = serde_json::to_string_pretty(&whole);
    text.map(|text| text + "\n")
        .map_err(|source| ReportError::Json { source })
}

fn target(cell: &Profiled, times: Option<&Times>) -> Value {
    let trials: Vec<Value> = (cell.trials.iter().zip(&cell.operations))
        .map(|(costs, operations)| {
            let components = costs.components.iter();
            let components = components.map(|(name, own)| (name.clone(), thousandths(*own).into()));
            json!({
                "operations": operations,
                "total": thousandths(costs.total),
                "other_threads": thousandths(costs.background),
                "without_symbols": thousandths(costs.unnamed),
                "components": components.collect::<serde_json::Map<String, Value>>(),
            })
        })
        .collect();
    json!({
        "target": cell.name, "step": cell.step, "clients": cell.clients, "trials": trials,
        "time_us": time(cell, times), "sampling": sampling(cell),
    })
}

fn compared(two: &Compared<'_>, times: Option<&Times>) -> Value {
    let Comparison {
        total,
        background,
        unnamed,
        not_mapped,
        components,
        functions,
        paths,
    } = &two.comparison;
    let components: Vec<Value> = components
        .iter()
        .map(|row| with(row.cost, json!({ "component": row.component })))
        .collect();
    let functions: Vec<Value> = functions
        .iter()
        .map(|row| {
            let (presence, renamed_from) = match &row.presence {
                Presence::Both => ("both", None),
                Presence::New => ("target", None),
                Presence::Gone => ("base", None),
                Presence::Renamed(old) => ("renamed", Some(old.to_string())),
            };
            let facts = json!({
                "function": row.name.to_string(),
                "component": row.component,
                "mapped_by": mapped(row.mapped),
                "presence": presence,
                "renamed_from": renamed_from,
                "caller": row.caller,
            });
            with(row.cost, facts)
        })
        .collect();
    let paths: Vec<Value> = paths
        .iter()
        .map(|row| with(row.cost, json!({ "path": row.path })))
        .collect();
    json!({
        "step": two.target.step,
        "clients": two.target.clients,
        "base": side(two.base, times),
        "target": side(two.target, times),
        "total": with(*total, json!({})),
        "other_threads": with(*background, json!({})),
        "without_symbols": with(*unnamed, json!({})),
        "not_mapped": with(*not_mapped, json!({})),
        "components": components,
        "functions": functions,
        "paths": paths,
    })
}

fn side(cell: &Profiled, times: Option<&Times>) -> Value {
    json!({
        "target": cell.name, "operations": cell.operations, "time_us": time(cell, times),
        "sampling": sampling(cell),
    })
}

/// How samples were taken, trial by trial.
fn sampling(cell: &Profiled) -> Vec<Value> {
    let of_trial = cell.takings.iter().map(|taking| {
        json!({
            "rate": taking.rate, "kernel": taking.with_kernel, "whole": taking.whole, "cut": taking.cut,
            "lost": taking.lost, "stand_for_ns": taking.period_ns, "accounted_ns": taking.accounted_ns,
        })
    });
    of_trial.collect()
}

/// Where the time of an operation goes in timed trials, in microseconds; `null` where it is not known.
fn time(cell: &Profiled, times: Option<&Times>) -> Value {
    let Some(time) = times.map(|times| times.of(cell.target)) else {
        return Value::Null;
    };
    let mut of: serde_json::Map<String, Value> = (time.parts.iter())
        .map(|(name, us)| {
            (
                (*name).replace([',', ' '], "_").replace("__", "_"),
                us.map(thousandths).into(),
            )
        })
        .collect();
    of.insert("waiting".to_owned(), time.waiting().map(thousandths).into());
    of.insert(
        "server_ready_to_run".to_owned(),
        time.ready.map(thousandths).into(),
    );
    of.insert("round_trip".to_owned(), time.whole.map(thousandths).into());
    let waits = time.waits.iter();
    let waits = waits.map(|(kind, us)| (kind.clone(), thousandths(*us).into()));
    let waits: serde_json::Map<String, Value> = waits.collect();
    if !waits.is_empty() {
        of.insert("sessions".to_owned(), waits.into());
    }
    Value::Object(of)
}

fn mapped(by: MappedBy) -> &'static str {
    match by {
        MappedBy::Name => "name",
        MappedBy::Object => "object",
        MappedBy::Caller => "caller",
        MappedBy::Nothing => "nothing",
    }
}

/// Facts with the figures of both sides.
fn with(cost: Pair, facts: Value) -> Value {
    let mut row = facts;
    if let Value::Object(row) = &mut row {
        row.insert("base_cost".to_owned(), thousandths(cost.base).into());
        row.insert("target_cost".to_owned(), thousandths(cost.target).into());
        row.insert(
            "difference".to_owned(),
            thousandths(cost.difference()).into(),
        );
        row.insert("within".to_owned(), cost.within.map(thousandths).into());
        row.extend(
            cost.is_significant
                .map(|it| ("significant".to_owned(), it.into())),
        );
    }
    row
}
