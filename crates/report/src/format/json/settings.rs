//! Settings and differences for programs.

use prony_equality::{Difference, Setting};
use serde::Serialize;

use super::object;
use crate::analysis::settings::Settings;

/// All settings and all differences. All `asked` and `values` are in the order of `compared`, the
/// names of the targets.
pub(crate) fn entry(all: &Settings) -> impl Serialize {
    object! {
        compared: &all.names,
        settings: all.listed.iter().map(setting).collect::<Vec<_>>(),
        differences: all.differences.iter().map(difference).collect::<Vec<_>>(),
    }
}

fn setting(setting: &Setting) -> impl Serialize {
    let cells = setting.cells.iter();
    object! {
        intent: &setting.intent,
        variable: &setting.variable,
        origin: setting.origin,
        differs: setting.differs,
        asked: cells.clone().map(|cell| &cell.asked).collect::<Vec<_>>(),
        values: cells.map(|cell| &cell.got).collect::<Vec<_>>(),
    }
}

fn difference(difference: &Difference) -> impl Serialize {
    object! {
        variable: &difference.variable,
        kind: difference.kind.name(),
        matters: &difference.matters,
        intent: &difference.governed_by,
        allowed: difference.allowed,
        stops: difference.stops(),
        asked: &difference.asked,
        values: &difference.values,
    }
}
