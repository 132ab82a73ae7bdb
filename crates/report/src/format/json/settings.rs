//! Settings and differences for programs.

use prony_equality::{Difference, Setting};
use prony_model::OptionOrigin;
use serde::Serialize;

use crate::analysis::settings::Settings;

/// All settings and all differences.
#[derive(Serialize)]
pub(crate) struct SettingsEntry<'a> {
    /// Names of the targets; all `asked` and `values` are in their order.
    pub(crate) compared: &'a [String],
    pub(crate) settings: Vec<SettingEntry<'a>>,
    pub(crate) differences: Vec<DifferenceEntry<'a>>,
}

#[derive(Serialize)]
pub(crate) struct SettingEntry<'a> {
    intent: Option<&'a str>,
    variable: Option<&'a str>,
    origin: OptionOrigin,
    differs: bool,
    asked: Vec<Option<&'a str>>,
    values: Vec<Option<&'a str>>,
}

#[derive(Serialize)]
pub(crate) struct DifferenceEntry<'a> {
    variable: &'a str,
    kind: &'static str,
    matters: Option<&'a str>,
    intent: Option<&'a str>,
    allowed: bool,
    stops: bool,
    asked: Vec<Option<&'a str>>,
    values: Vec<Option<&'a str>>,
}

impl<'a> SettingsEntry<'a> {
    pub(crate) fn of(all: &'a Settings) -> Self {
        Self {
            compared: &all.names,
            settings: all.listed.iter().map(SettingEntry::of).collect(),
            differences: all.differences.iter().map(DifferenceEntry::of).collect(),
        }
    }
}

impl<'a> SettingEntry<'a> {
    fn of(setting: &'a Setting) -> Self {
        let asked = setting.cells.iter().map(|cell| cell.asked.as_deref());
        let values = setting.cells.iter().map(|cell| cell.got.as_deref());
        Self {
            intent: setting.intent.as_deref(),
            variable: setting.variable.as_deref(),
            origin: setting.origin,
            differs: setting.differs,
            asked: asked.collect(),
            values: values.collect(),
        }
    }
}

impl<'a> DifferenceEntry<'a> {
    fn of(difference: &'a Difference) -> Self {
        Self {
            variable: &difference.variable,
            kind: difference.kind.name(),
            matters: difference.matters.as_deref(),
            intent: difference.governed_by.as_deref(),
            allowed: difference.allowed,
            stops: difference.stops(),
            asked: difference.asked.iter().map(Option::as_deref).collect(),
            values: difference.values.iter().map(Option::as_deref).collect(),
        }
    }
}
