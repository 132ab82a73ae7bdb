//! Settings and differences for spreadsheets: one row for each variable and target.

use prony_equality::{Difference, Setting};

use super::line;
use crate::analysis::settings::Settings;
use crate::figures::word;

const HEADER: [&str; 9] = [
    "section", "variable", "intent", "kind", "target", "asked", "value", "allowed", "matters",
];

/// Writes the header, all settings and all differences.
pub(crate) fn settings(all: &Settings) -> String {
    let mut text = line(&HEADER.map(str::to_owned));
    for setting in &all.listed {
        for (target, cell) in all.names.iter().zip(&setting.cells) {
            let own = [&cell.asked, &cell.got].map(|value| value.clone().unwrap_or_default());
            text.push_str(&line(&setting_row(setting, target, own)));
        }
    }
    for difference in &all.differences {
        for (index, target) in all.names.iter().enumerate() {
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
        word(&setting.origin),
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
