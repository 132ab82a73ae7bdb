//! Configuration of a target: intents, and raw server options beside them.

use std::collections::BTreeMap;

use prony_model::{CpuSet, IntentFacts, IntentKind, IntentValue};
use toml::de::DeValue;

use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

/// Reads `config`, checked against the known intents.
pub(super) fn read_intents(
    value: Value<'_>,
    facts: &[IntentFacts],
) -> Read<BTreeMap<String, IntentValue>> {
    let entries = value.table("the configuration")?.entries();
    let read: Vec<_> = entries
        .into_iter()
        .map(|(name, value)| {
            let intent = find(value.document(), &name, facts)?;
            Ok((intent.name.clone(), read_intent(value, intent)?))
        })
        .collect();
    read.into_iter().collect()
}

fn find<'f>(
    document: &Document<'_>,
    name: &Located<&str>,
    facts: &'f [IntentFacts],
) -> Read<&'f IntentFacts> {
    facts
        .iter()
        .find(|intent| intent.name == name.value)
        .ok_or_else(|| {
            let known: Vec<_> = facts.iter().map(|intent| intent.name.as_str()).collect();
            let help = suggest::help(name.value, "intents", &known);
            document.report(
                Problem::new(format!("unknown intent `{}`", name.value))
                    .at(&name.span, "no such intent")
                    .help(format!("{help}\noptions of one server go into `options`")),
            )
        })
}

fn read_intent(value: Value<'_>, intent: &IntentFacts) -> Read<IntentValue> {
    let document = value.document();
    match intent.kind {
        IntentKind::Flag => value.flag().map(IntentValue::Flag),
        IntentKind::Number => value
            .count(0..=i64::MAX)
            .map(|number| IntentValue::Number(number.value)),
        IntentKind::Bytes => {
            let text = value.text_or_integer()?;
            IntentValue::parse_bytes(&text.value).map_err(|error| {
                document.report(
                    Problem::new(format!("{error}"))
                        .at(&text.span, "`{}` is a size".replace("{}", &intent.name)),
                )
            })
        }
        IntentKind::Cpus => {
            let text = value.text()?;
            match text.value.parse::<CpuSet>() {
                Ok(set) => Ok(IntentValue::Text(set.to_string())),
                Err(error) => Err(document.report(Problem::new(format!("{error}")).at(
                    &text.span,
                    format!("`{}` is a set of processors", intent.name),
                ))),
            }
        }
        IntentKind::Text if intent.choices.is_empty() => {
            one_line(document, value.text()?.map(str::to_owned)).map(IntentValue::Text)
        }
        IntentKind::Text => {
            let words: Vec<_> = intent
                .choices
                .iter()
                .map(|word| (word.as_str(), word.as_str()))
                .collect();
            let word = value.choice(&words)?;
            Ok(IntentValue::Text(word.value.to_owned()))
        }
    }
}

/// Reads `options`: server options by name, passed on as written.
pub(super) fn read_options(value: Value<'_>) -> Read<BTreeMap<String, String>> {
    let entries = value.table("the options")?.entries();
    let read: Vec<_> = entries
        .into_iter()
        .map(|(name, value)| {
            check_option_name(value.document(), &name)?;
            Ok((name.value.to_owned(), read_option(value)?))
        })
        .collect();
    read.into_iter().collect()
}

fn check_option_name(document: &Document<'_>, name: &Located<&str>) -> Read<()> {
    let well_formed = name.value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name
            .value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if well_formed {
        return Ok(());
    }
    Err(document.report(
        Problem::new(format!("`{}` is not the name of an option", name.value))
            .at(&name.span, "not a name")
            .help("write it as in a configuration file, without leading dashes"),
    ))
}

/// The value as the server reads it. Flags become numbers, which versions before 5.1 need.
fn read_option(value: Value<'_>) -> Read<String> {
    let document = value.document();
    match value.inner() {
        DeValue::Boolean(flag) => Ok(u8::from(*flag).to_string()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        _ => one_line(document, value.text_or_integer()?),
    }
}

/// A configuration file has one option on each line.
fn one_line(document: &Document<'_>, text: Located<String>) -> Read<String> {
    if text.value.chars().any(char::is_control) {
        return Err(document.report(
            Problem::new("the value of an option is one line without control characters")
                .at(&text.span, "more than that"),
        ));
    }
    Ok(text.value)
}
