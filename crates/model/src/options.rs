//! Options of a server as they are rendered.

use serde::{Deserialize, Serialize};

/// One line of the option file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenderedOption {
    /// The option without leading dashes.
    pub name: String,
    /// Its value, if it has one.
    pub value: Option<String>,
    /// Its origin.
    pub origin: OptionOrigin,
    /// The intent that it renders, at its baseline or as asked.
    pub intent: Option<String>,
    /// Its purpose.
    pub why: String,
}

/// The origin of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionOrigin {
    /// Prony, for every server alike.
    Baseline,
    /// The experiment, by an intent.
    Intent,
    /// The experiment, word for word.
    Raw,
}

impl RenderedOption {
    /// From `name` or `name=value`.
    pub fn new(text: &str, origin: OptionOrigin, intent: Option<&str>, why: &str) -> Self {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        Self {
            name: name.to_owned(),
            value,
            origin,
            intent: intent.map(str::to_owned),
            why: why.to_owned(),
        }
    }
}
