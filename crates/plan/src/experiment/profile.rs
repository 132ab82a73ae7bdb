//! `[profile.NAME]`: keys that are laid over an experiment before it is read.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::fields::{Fields, NAME_RULE, Value, is_name};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

/// Keys that a profile can change: the amount of measuring and counting, the memory and the
/// backend.
const KEYS: [&str; 13] = [
    "blocks",
    "precision",
    "budget",
    "aa",
    "turn",
    "clients",
    "allow",
    "backend",
    "dataset",
    "defaults",
    "sequence",
    "counting",
    "profiling",
];

/// The two ways to say how many blocks there are. A profile that has one replaces the other.
const BLOCKS: [&[&str]; 2] = [&["blocks"], &["precision", "budget"]];

/// The file with the profile of this name laid over it: tables are merged key by key, every other
/// value replaces the one that it meets. Every value keeps its place in the file.
pub(super) fn lay<'t, 'd>(
    document: &Document<'_>,
    table: &'t DeTable<'d>,
    name: Option<&str>,
) -> Read<Cow<'t, DeTable<'d>>> {
    let Some(name) = name else {
        return Ok(Cow::Borrowed(table));
    };
    let profiles = match table.get("profile").map(Spanned::get_ref) {
        Some(DeValue::Table(profiles)) => Some(profiles),
        _ => None,
    };
    let chosen = profiles.and_then(|profiles| profiles.get(name));
    let Some(DeValue::Table(profile)) = chosen.map(Spanned::get_ref) else {
        let known: Vec<_> = profiles
            .into_iter()
            .flat_map(DeTable::keys)
            .map(|key| key.get_ref().as_ref())
            .collect();
        let place = table.get("profile").map_or(0..0, Spanned::span);
        return Problem::new(format!("the experiment has no profile `{name}`"))
            .at(&place, "requested on the command line")
            .help(suggest::help(name, "profiles", &known))
            .fail(document);
    };
    let mut whole = table.clone();
    for [own, other] in [BLOCKS, [BLOCKS[1], BLOCKS[0]]] {
        if own.iter().any(|key| profile.contains_key(*key)) {
            for key in other {
                whole.remove(*key);
            }
        }
    }
    overlay(&mut whole, profile);
    Ok(Cow::Owned(whole))
}

fn overlay<'d>(below: &mut DeTable<'d>, above: &DeTable<'d>) {
    for (key, value) in above {
        if let DeValue::Table(above) = value.get_ref()
            && let Some(met) = below.get_mut(key.get_ref().as_ref())
            && let DeValue::Table(below) = met.get_mut()
        {
            overlay(below, above);
        } else {
            below.insert(key.clone(), value.clone());
        }
    }
}

/// Checks the keys of all profiles, those that were not asked for too.
pub(super) fn check(value: Value<'_>) -> Read<()> {
    let mut outcome = Ok(());
    for (name, value) in value.table("the profiles")?.entries() {
        let document = value.document();
        if !is_name(name.value) {
            outcome = Problem::new(format!("`{}` can't be the name of a profile", name.value))
                .at(&name.span, "not a name")
                .help(NAME_RULE)
                .fail(document);
        }
        outcome = value.table("a profile").and_then(check_keys).and(outcome);
    }
    outcome
}

fn check_keys(profile: Fields<'_>) -> Read<()> {
    let mut outcome = Ok(());
    for (key, value) in profile.entries() {
        if !KEYS.contains(&key.value) {
            outcome = Problem::new(format!("a profile can't change `{}`", key.value))
                .at(&key.span, "not for profiles")
                .help(format!(
                    "a profile can change only the amount of measuring and memory: {}",
                    KEYS.join(", ")
                ))
                .fail(value.document());
        }
    }
    outcome
}
