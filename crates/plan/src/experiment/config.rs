//! Configuration of a target: intents, and raw server options beside them.

use prony_model::{IntentFacts, IntentKind, IntentValue};
use toml::de::DeValue;

use super::setting::{Axis, Setting};
use crate::fields::{Located, Value, is_name_char, read_each};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

/// Reads `config`, checked against the known intents.
pub(super) fn read_intents<'k>(value: Value<'_>, facts: &'k [IntentFacts]) -> Read<Vec<Axis<'k>>> {
    let entries = value.table("the configuration")?.entries();
    read_each(entries, |(name, value)| {
        let Some(intent) = find(name.value, facts) else {
            let known: Vec<_> = facts.iter().map(|intent| intent.name.as_str()).collect();
            let help = suggest::help(name.value, "intents", &known);
            return Problem::new(format!("unknown intent `{}`", name.value))
                .at(&name.span, "no such intent")
                .help(format!("{help}\noptions of one server go into `options`"))
                .fail(value.document());
        };
        Ok(Axis::single(&name, read_intent(value, intent)?))
    })
}

/// The intent of this name.
pub(super) fn find<'f>(name: &str, facts: &'f [IntentFacts]) -> Option<&'f IntentFacts> {
    facts.iter().find(|intent| intent.name == name)
}

/// Reads one value of an intent.
pub(super) fn read_intent<'k>(
    value: Value<'_>,
    intent: &IntentFacts,
) -> Read<Located<Setting<'k>>> {
    let span = value.span();
    Ok(Located {
        value: Setting::Intent(intent.name.clone(), read_intent_value(value, intent)?),
        span,
    })
}

fn read_intent_value(value: Value<'_>, intent: &IntentFacts) -> Read<IntentValue> {
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
                        .at(&text.span, format!("`{}` is a size", intent.name)),
                )
            })
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
pub(super) fn read_options<'k>(value: Value<'_>) -> Read<Vec<Axis<'k>>> {
    let entries = value.table("the options")?.entries();
    read_each(entries, |(name, value)| {
        check_option_name(value.document(), &name)?;
        Ok(Axis::single(&name, read_option(name.value, value)?))
    })
}

/// Reads one value of a server option.
pub(super) fn read_option<'k>(name: &str, value: Value<'_>) -> Read<Located<Setting<'k>>> {
    let span = value.span();
    Ok(Located {
        value: Setting::Option(name.to_owned(), read_option_value(value)?),
        span,
    })
}

/// Checks that a name can stand in an option file.
pub(super) fn check_option_name(document: &Document<'_>, name: &Located<&str>) -> Read<()> {
    let well_formed = name.value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.value.chars().all(is_name_char);
    if well_formed {
        return Ok(());
    }
    Problem::new(format!("`{}` is not the name of an option", name.value))
        .at(&name.span, "not a name")
        .help("write it as in a configuration file, without leading dashes")
        .fail(document)
}

/// The value as the server reads it. Flags become numbers, which versions before 5.1 need.
fn read_option_value(value: Value<'_>) -> Read<String> {
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
        return Problem::new("the value of an option is one line without control characters")
            .at(&text.span, "more than that")
            .fail(document);
    }
    Ok(text.value)
}
