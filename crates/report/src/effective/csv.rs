//! Settings and differences for spreadsheets: one row for each variable and target.

use prony_equality::{Difference, Setting};

use super::Effective;
use crate::csv::line;

const HEADER: [&str; 9] = [
    "section", "variable", "intent", "kind", "target", "asked", "value", "allowed", "matters",
];

/// Writes the header, all settings and all differences.
pub(super) fn write(effective: &Effective) -> String {
    let mut text = line(&HEADER.map(str::to_owned));
    for setting in &effective.settings {
        for (target, cell) in effective.names.iter().zip(&setting.cells) {
            let own = [&cell.asked, &cell.got].map(|value| value.clone().unwrap_or_default());
            text.push_str(&line(&setting_row(setting, target, own)));
        }
    }
    for difference in &effective.differences {
        for (index, target) in effective.names.iter().enumerate() {
            text.push_str(&line(&difference_row(difference, target, index)));
        }
    }
    text
}

fn setting_row(
    setting: &Setting,
    target: &str,
    [asked, value]: [String; 2],
) -> [String; HEADER.len()] {
    [
        "setting".into(),
        setting.variable.clone().unwrap_or_default(),
        setting.intent.clone().unwrap_or_default(),
        super::json::origin(setting.origin).into(),
        target.to_owned(),
        asked,
        value,
        String::new(),
        String::new(),
    ]
}

fn difference_row(difference: &Difference, target: &str, index: usize) -> [String; HEADER.len()] {
    let allowed = if difference.allowed { "yes" } else { "no" };
    [
        "difference".into(),
        difference.variable.clone(),
        difference.governed_by.clone().unwrap_or_default(),
        difference.kind.name().into(),
        target.to_owned(),
        difference.asked[index].clone().unwrap_or_default(),
        difference.values[index].clone().unwrap_or_default(),
        allowed.into(),
        difference.matters.clone().unwrap_or_default(),
    ]
}
