//! Reasons why a view can't be shown.

use crate::words::listed;

/// The reason why a view can't be shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// No key has this name.
    #[error(
        "arrange the view: `{written}` is no key; the run has {}",
        quoted(known)
    )]
    Key {
        /// The word in question.
        written: String,
        /// All keys of the run.
        known: Vec<String>,
    },
    /// A choice is not of the form `KEY:VALUE`.
    #[error("choose cells by `{written}`: it is not of the form KEY:VALUE, such as clients:1")]
    Choice {
        /// The choice as it was written.
        written: String,
    },
    /// No cell has this value.
    #[error(
        "choose cells by `{key}`: no cell has `{written}`; the run has {}",
        quoted(known)
    )]
    Value {
        /// Name of the key.
        key: String,
        /// The word in question.
        written: String,
        /// All values of the key in the run.
        known: Vec<String>,
    },
    /// No target has this name.
    #[error(
        "use `{written}` as the base: no target has this name; name one of {}, KEY:VALUE, or \
         `previous` in a view",
        quoted(known)
    )]
    Base {
        /// The word in question.
        written: String,
        /// Names of all targets.
        known: Vec<String>,
    },
    /// A `KEY:VALUE` does not find one base for any of the targets.
    #[error(
        "use `{written}` as the base: it finds a single base for none of the chosen targets; name a \
         target"
    )]
    NoCounterpart {
        /// The choice as it was written.
        written: String,
    },
    /// No target is a release after another one.
    #[error(
        "use `previous` as the base: no chosen target has another one before it with another build and \
         equal settings; name a target"
    )]
    NoPrevious,
    /// `previous` is for views.
    #[error(
        "use `previous` as the base of a whole report: each target would have another base, and verdicts \
         belong to one; choose a view, such as --view relative, or name a target"
    )]
    PreviousOfAll,
    /// All cells are left out.
    #[error("show the view: no cell meets all of --only; leave some of them out")]
    NothingLeft,
}

fn quoted(words: &[String]) -> String {
    let quoted = words.iter().map(|word| format!("`{word}`"));
    listed(&quoted.collect::<Vec<_>>())
}
