//! Configurations that a version does not take.

use prony_model::{Engine, IntentKind, IntentValue, Version};

/// Configurations that a version does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// The build has no such engine.
    #[error("{build} has no engine {engine}; it has {}", list(engines))]
    Engine {
        /// The build's id.
        build: String,
        /// The request.
        engine: Engine,
        /// Its engines.
        engines: Vec<Engine>,
    },
    /// The intent is not in the table.
    #[error("there is no intent `{intent}`; there are {}", intents.join(", "))]
    UnknownIntent {
        /// The request.
        intent: String,
        /// Every intent there is.
        intents: Vec<String>,
    },
    /// The value is of another kind than the intent's.
    #[error("the intent `{intent}` takes {}", kind_name(*kind))]
    Kind {
        /// The intent.
        intent: String,
        /// The kind of its values.
        kind: IntentKind,
    },
    /// The version can't be told so.
    #[error("{build} ({version}) can't honour {intent} = {value}: {refusal}")]
    NotHonoured {
        /// The build's id.
        build: String,
        /// Its version.
        version: Version,
        /// The intent.
        intent: String,
        /// The request.
        value: String,
        /// The reason, and what can be asked for.
        refusal: Refusal,
    },
    /// A raw option would break out of its line.
    #[error("the raw option `{0}` must be a name and a value of one line each")]
    RawText(String),
    /// A raw option that is Prony's own business.
    #[error("the raw option `{0}` is set by Prony itself: remove it")]
    RawReserved(String),
    /// A raw option would replace what intents set.
    #[error("the raw option `{option}` sets what {}", said_by(intents))]
    RawMeetsIntents {
        /// The raw option.
        option: String,
        /// The intents, at least one.
        intents: Vec<String>,
    },
}

/// The reason that a server does not take a value, and what it takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The version has nothing of the kind.
    #[error("it has no such feature; remove the intent for it")]
    Nothing,
    /// The version has some values and not this one.
    #[error("it can be {}", .0.join(" or "))]
    Choices(Vec<String>),
    /// The number is too small or too large for the version.
    #[error("it can be {}", limits(*min, *max, *bytes))]
    Limits {
        /// Smallest number.
        min: Option<u64>,
        /// Largest number.
        max: Option<u64>,
        /// True for numbers of bytes.
        bytes: bool,
    },
    /// The intent is about another engine than that of the tables.
    #[error(
        "it is for tables of {}; leave the intent out for tables of {engine}",
        list(engines)
    )]
    Engine {
        /// The engine of the tables.
        engine: Engine,
        /// The engines that it is for.
        engines: Vec<Engine>,
    },
    /// The version could, but this build was made without it.
    #[error("this build was made without it; {}", remedy(choices))]
    Lacking {
        /// The values that remain.
        choices: Vec<String>,
    },
}

fn list(engines: &[Engine]) -> String {
    let names: Vec<_> = engines.iter().map(|engine| engine.name()).collect();
    names.join(", ")
}

/// The intents that set the same as a raw option, and the remedy.
fn said_by(intents: &[String]) -> String {
    let names = intents.join("`, `");
    match intents {
        [_] => format!("the intent `{names}` sets: remove one of the two"),
        _ => format!("the intents `{names}` set together: use these in place of the raw option"),
    }
}

fn kind_name(kind: IntentKind) -> &'static str {
    match kind {
        IntentKind::Flag => "true or false",
        IntentKind::Number => "a whole number",
        IntentKind::Bytes => "a size",
        IntentKind::Text => "a word",
    }
}

fn limits(min: Option<u64>, max: Option<u64>, bytes: bool) -> String {
    let text = |number: u64| {
        if bytes {
            IntentValue::Bytes(number).to_string()
        } else {
            number.to_string()
        }
    };
    match (min.map(text), max.map(text)) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("{min} or more"),
        (None, Some(max)) => format!("{max} or less"),
        (None, None) => "any number".to_owned(),
    }
}

fn remedy(choices: &[String]) -> String {
    match choices {
        [] => "remove the intent for it".to_owned(),
        some => format!("it can be {}", some.join(" or ")),
    }
}
