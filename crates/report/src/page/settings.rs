//! The sections on the servers' settings.

use prony_equality::Setting;
use prony_model::{Baseline, IntentValue, OptionOrigin};

use crate::analysis::settings::Settings;
use crate::document::{Block, Cell, NONE, Table};
use crate::page::Detail;
use crate::page::view::grouped;
use crate::words::plural;

/// Targets that are shown as columns of a table; of more, the values are listed.
pub(super) const COLUMNS_MAX: usize = 8;

/// The settings that were asked for, and the servers' values.
pub(super) fn blocks(all: &Settings, detail: Detail) -> Vec<Block> {
    let (listed, rest): (Vec<&Setting>, Vec<&Setting>) = all
        .listed
        .iter()
        .partition(|setting| detail == Detail::Full || is_essential(setting));
    if all.listed.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading(
        "Settings, and what each server made of them".into(),
    )];
    blocks.extend(shipped(all).map(Block::Paragraph));
    if !listed.is_empty() {
        let labels = labels(all, &listed);
        blocks.push(if all.names.len() <= COLUMNS_MAX {
            Block::Table(table(all, &listed, &labels))
        } else {
            Block::List(items(all, &listed, &labels))
        });
    }
    if !rest.is_empty() {
        let noun = if listed.is_empty() {
            "setting"
        } else {
            "more setting"
        };
        blocks.push(Block::Paragraph(format!(
            "{} of the baseline came out the same in every server that has them; JSON and \
             Markdown list them.",
            plural(rest.len() as u64, noun)
        )));
    }
    blocks
}

/// The targets that have the settings that their versions ship. `None` without one.
fn shipped(all: &Settings) -> Option<String> {
    let ours = all.baselines.iter().zip(&all.names);
    let ours = ours.filter_map(|(baseline, name)| Some(((*baseline)?, name.as_str())));
    let (shipped, common): (Vec<_>, Vec<_>) =
        ours.partition(|(baseline, _)| *baseline == Baseline::Shipped);
    let names = |targets: &[(Baseline, &str)]| {
        let names: Vec<&str> = targets.iter().map(|(_, name)| *name).collect();
        names.join(", ")
    };
    let (who, others) = match (shipped.as_slice(), common.as_slice()) {
        ([], _) => return None,
        (_, []) => ("Servers".to_owned(), String::new()),
        (shipped, common) => (
            names(shipped),
            format!(" The common baseline is in {}.", names(common)),
        ),
    };
    Some(format!(
        "{who} have the settings that each version ships, except what the experiment asks for and \
         the few settings without which they can't run side by side.{others}"
    ))
}

/// Returns `true` if a reader must see it: the experiment asked for it, or it is not the same
/// everywhere.
fn is_essential(setting: &Setting) -> bool {
    setting.origin != OptionOrigin::Baseline
        || setting.differs
        || setting.cells.iter().any(|cell| cell.adjusted)
}

/// The intent where it says it all, else with the variable; raw options as they were given.
fn labels(all: &Settings, settings: &[&Setting]) -> Vec<String> {
    let variables_of = |intent: &String| {
        all.listed
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

fn table(all: &Settings, settings: &[&Setting], labels: &[String]) -> Table {
    let row = |(setting, label): (&&Setting, &String)| {
        let values = texts(setting).map(Cell::from);
        std::iter::once(Cell::from(label.clone()))
            .chain(values)
            .collect()
    };
    let header = std::iter::once("setting".to_owned()).chain(all.names.iter().cloned());
    Table::of_words(header, settings.iter().zip(labels).map(row))
}

/// One item for each setting, with the targets of each value.
fn items(all: &Settings, settings: &[&Setting], labels: &[String]) -> Vec<String> {
    settings
        .iter()
        .zip(labels)
        .map(|(setting, label)| {
            let targets = texts(setting).zip(0..);
            let by_text = grouped(targets);
            format!("{label}: {}", by_value(all, by_text))
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

/// `10000 in mysql-9.7; 200 in the other 9`, the rarest value first.
pub(super) fn by_value(all: &Settings, mut values: Vec<(String, Vec<usize>)>) -> String {
    /// Names that are written out for the most frequent value.
    const NAMES_MAX: usize = 4;
    values.sort_by_key(|(_, targets)| targets.len());
    let last = values.len().saturating_sub(1);
    let part = |(index, (value, targets)): (usize, &(String, Vec<usize>))| {
        let value = if value == NONE { "missing" } else { value };
        if targets.len() == all.names.len() {
            return format!("{value} everywhere");
        }
        if index == last && targets.len() > NAMES_MAX {
            return format!("{value} in the other {}", targets.len());
        }
        let names = targets.iter().map(|&target| all.names[target].as_str());
        format!("{value} in {}", names.collect::<Vec<_>>().join(", "))
    };
    let parts: Vec<String> = values.iter().enumerate().map(part).collect();
    parts.join("; ")
}

/// A value as people read it: whole mebibytes as `128M` or `1G`, nothing longer than a column.
pub(super) fn shown(value: Option<&str>) -> String {
    const LONGEST: usize = 32;
    let Some(value) = value else {
        return NONE.into();
    };
    if value.is_empty() {
        return "empty".into();
    }
    if let Ok(number @ 1..) = value.parse::<u64>()
        && number.is_multiple_of(1 << 20)
    {
        return IntentValue::Bytes(number).to_string();
    }
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    let start: String = value.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_people_read_them() {
        for (value, expected) in [
            (None, "-"),
            (Some(""), "empty"),
            (Some("134217728"), "128M"),
            (Some("0"), "0"),
            (Some("258048"), "258048"),
            (
                Some("TABLE_SCAN,INDEX_SCAN,HASH_SCAN,MORE"),
                "TABLE_SCAN,INDEX_SCAN,HASH_SCAN…",
            ),
        ] {
            assert_eq!(shown(value), expected);
        }
    }
}
