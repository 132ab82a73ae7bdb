//! The section about what was asked.

use prony_equality::Setting;
use prony_model::OptionOrigin;

use super::{COLUMNS_MAX, Detail, Effective, shown};
use crate::document::{Align, Block, Table};
use crate::figures::plural;

/// What was asked of the servers and what they made of it.
pub(super) fn blocks(effective: &Effective, detail: Detail) -> Vec<Block> {
    let (listed, rest): (Vec<&Setting>, Vec<&Setting>) = effective
        .settings
        .iter()
        .partition(|setting| detail == Detail::Full || is_news(setting));
    if effective.settings.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(
        "Settings, and what each server made of them".into(),
    )];
    if !listed.is_empty() {
        let labels = labels(effective, &listed);
        blocks.push(if effective.names.len() <= COLUMNS_MAX {
            Block::Table(table(effective, &listed, &labels))
        } else {
            Block::List(items(effective, &listed, &labels))
        });
    }
    if !rest.is_empty() {
        let noun = if listed.is_empty() {
            "setting"
        } else {
            "more setting"
        };
        blocks.push(Block::Paragraph(format!(
            "{} of the common baseline came out the same in every server that has them; JSON and \
             Markdown list them.",
            plural(rest.len() as u64, noun)
        )));
    }
    blocks
}

/// Whether a reader must see it: the experiment asked for it, or it is not the same everywhere.
fn is_news(setting: &Setting) -> bool {
    setting.origin != OptionOrigin::Baseline
        || setting.differs
        || setting.cells.iter().any(|cell| cell.adjusted)
}

/// The intent where it says it all, else with the variable; raw options as they were given.
fn labels(effective: &Effective, settings: &[&Setting]) -> Vec<String> {
    let variables_of = |intent: &String| {
        effective
            .settings
            .iter()
            .filter(|setting| setting.intent.as_ref() == Some(intent))
            .count()
    };
    settings
        .iter()
        .map(|setting| match (&setting.intent, &setting.variable) {
            (_, Some(variable)) if setting.origin == OptionOrigin::Raw => {
                format!("{variable} (raw option)")
            }
            (Some(intent), Some(variable)) if variables_of(intent) > 1 => {
                format!("{intent}: {variable}")
            }
            (Some(intent), _) => intent.clone(),
            (None, variable) => variable.clone().unwrap_or_default(),
        })
        .collect()
}

fn table(effective: &Effective, settings: &[&Setting], labels: &[String]) -> Table {
    let row = |(setting, label): (&&Setting, &String)| {
        std::iter::once(label.clone())
            .chain(texts(setting))
            .collect()
    };
    Table {
        header: std::iter::once("setting".to_owned())
            .chain(effective.names.iter().cloned())
            .collect(),
        rows: settings.iter().zip(labels).map(row).collect(),
        align: Align::Left,
        repeated: 1,
    }
}

/// One item for each setting, with the targets of each value.
fn items(effective: &Effective, settings: &[&Setting], labels: &[String]) -> Vec<String> {
    settings
        .iter()
        .zip(labels)
        .map(|(setting, label)| {
            let mut by_text: Vec<(String, Vec<usize>)> = Vec::new();
            for (index, text) in texts(setting).enumerate() {
                match by_text.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, targets)) => targets.push(index),
                    None => by_text.push((text, vec![index])),
                }
            }
            format!("{label}: {}", effective.by_value(by_text))
        })
        .collect()
}

/// One text for each target.
fn texts(setting: &Setting) -> impl Iterator<Item = String> {
    let visible = setting.variable.is_some();
    setting.cells.iter().map(move |cell| {
        let got = shown(cell.got.as_deref());
        match &cell.asked {
            Some(asked) if !visible => shown(Some(asked)),
            Some(asked) if cell.adjusted => format!("{got} (asked {})", shown(Some(asked))),
            _ => got,
        }
    })
}

impl Effective {
    /// `10000 in mysql-9.7; 200 in the other 9`, the rarest value first.
    pub(super) fn by_value(&self, mut values: Vec<(String, Vec<usize>)>) -> String {
        /// Names that are written out for the most frequent value.
        const NAMES_MAX: usize = 4;
        values.sort_by_key(|(_, targets)| targets.len());
        let last = values.len().saturating_sub(1);
        let part = |(index, (value, targets)): (usize, &(String, Vec<usize>))| {
            let value = if value == "-" { "missing" } else { value };
            if targets.len() == self.names.len() {
                return format!("{value} everywhere");
            }
            if index == last && targets.len() > NAMES_MAX {
                return format!("{value} in the other {}", targets.len());
            }
            let names: Vec<&str> = targets
                .iter()
                .map(|&target| self.names[target].as_str())
                .collect();
            format!("{value} in {}", names.join(", "))
        };
        let parts: Vec<String> = values.iter().enumerate().map(part).collect();
        parts.join("; ")
    }
}
