//! `preload`: libraries that a server's process loads before all others.

use prony_model::PreloadedLibrary;

use super::Knowledge;
use super::setting::Setting;
use crate::fields::{Located, Value, read_each, twice};
use crate::invalid::{Problem, Read};

/// Reads the libraries with their digests. Relative paths start from the folder of the experiment
/// file. An empty list preloads nothing, whatever the defaults say.
pub(super) fn read<'k>(value: Value<'_>, knowledge: &Knowledge<'_>) -> Read<Located<Setting<'k>>> {
    let document = value.document();
    let span = value.span();
    let libraries = read_each(value.list()?, |value| read_library(value, knowledge))?;
    for (index, library) in libraries.iter().enumerate() {
        let mut earlier = libraries[..index].iter();
        if let Some(first) = earlier.find(|other| other.value.sha256 == library.value.sha256) {
            let message = format!("`preload` has {} twice", library.value);
            return twice(message, &library.span, &first.span)
                .help("a process loads a library once: remove one")
                .fail(document);
        }
    }
    let libraries = libraries.into_iter().map(|library| library.value);
    Ok(Located {
        value: Setting::Preload(libraries.collect()),
        span,
    })
}

fn read_library(value: Value<'_>, knowledge: &Knowledge<'_>) -> Read<Located<PreloadedLibrary>> {
    let document = value.document();
    let text = value.text()?;
    let file = knowledge.folder.join(text.value);
    // The loader takes both for the end of a path, and has no way to quote them.
    let divided = |c: char| c == ':' || c.is_whitespace();
    if text.value.is_empty() || file.to_string_lossy().contains(divided) {
        return Problem::new(format!("{} can't be preloaded", file.display()))
            .at(&text.span, "empty, or with a space or colon in its path")
            .help("give the library another name, or copy it into another folder")
            .fail(document);
    }
    match (knowledge.digest)(&file) {
        Ok(sha256) => Ok(text.map(|_| PreloadedLibrary { file, sha256 })),
        Err(reason) => Problem::new(format!("a library can't be preloaded: {reason}"))
            .at(&text.span, "asked for here")
            .help(
                "write the path of a shared library; a relative one starts from the folder of \
                 this file",
            )
            .fail(document),
    }
}
