//! Causes of errors: a message shows the error that caused it, because nothing else prints it.

use super::Finding;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        for variant in variants(file) {
            if variant.has_cause() && !variant.shows_cause() {
                let text = format!(
                    "`{}` has a cause that its message {} does not show: add `: {{source}}`",
                    variant.name(),
                    variant.message
                );
                findings.push(Finding::of_line(&file.path, variant.line, text));
            }
        }
    }
    findings
}

/// One `#[error(…)]` and what it stands on.
#[derive(Default)]
struct Variant {
    line: usize,
    /// The text between the brackets of the attribute.
    message: String,
    /// The declaration below it, up to the next one.
    declaration: String,
}

impl Variant {
    fn name(&self) -> &str {
        let words = self
            .declaration
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        words
            .filter(|word| !matches!(*word, "pub" | "crate" | "struct" | "enum"))
            .find(|word| word.starts_with(|c: char| c.is_ascii_uppercase()))
            .unwrap_or("?")
    }

    fn has_cause(&self) -> bool {
        let declaration = &self.declaration;
        declaration.contains("#[source]")
            || declaration.contains("#[from]")
            || declaration.contains(" source: ")
    }

    fn shows_cause(&self) -> bool {
        let message = &self.message;
        // The cause of a tuple is its only or its last part.
        ["source", "transparent", "{0}", "{1}", ".0", ".1"]
            .iter()
            .any(|part| message.contains(part))
    }
}

/// Every variant or struct with a message.
fn variants(file: &File) -> Vec<Variant> {
    let mut variants: Vec<Variant> = Vec::new();
    // The attribute or the declaration that the line goes on with, by its margin.
    let mut attribute = false;
    let mut margin = None;
    for (number, line) in file.code() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        if let Some(start) = text.strip_prefix("#[error(") {
            attribute = !text.ends_with(")]");
            margin = Some(indent);
            variants.push(Variant {
                line: number,
                message: start.trim_end_matches(")]").to_owned(),
                declaration: String::new(),
            });
        } else if let (Some(variant), true) = (variants.last_mut(), attribute) {
            attribute = text != ")]";
            if attribute {
                variant.message.push_str(text);
            }
        } else if let (Some(variant), Some(at)) = (variants.last_mut(), margin) {
            if !text.starts_with("///") {
                variant.declaration.push(' ');
                variant.declaration.push_str(text);
            }
            let ends = indent <= at && text.ends_with([',', '}', ';']);
            if ends {
                margin = None;
            }
        }
    }
    variants
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let findings = check(&Tree::of(&[("src/error.rs", text)]));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn causes_that_are_not_shown_are_found() {
        let text = r#"pub enum AError {
    #[error("{action}")]
    Database {
        /// The attempt.
        action: String,
        source: io::Error,
    },
    #[error(
        "open {path} for a long time"
    )]
    Open { path: String, source: io::Error },
    #[error("read")]
    Read(#[from] io::Error),
    #[error("write")]
    Write(#[source] Box<io::Error>),
}
"#;
        let names: Vec<_> = found(text)
            .iter()
            .map(|finding| finding.split('`').nth(1).unwrap().to_owned())
            .collect();
        assert_eq!(names, ["Database", "Open", "Read", "Write"]);
        assert_eq!(
            found(text)[0],
            "src/error.rs:2: `Database` has a cause that its message \"{action}\" does not show: \
             add `: {source}`"
        );
    }

    #[test]
    fn causes_that_are_shown_are_right() {
        let text = r#"pub enum AError {
    #[error("{action}: {source}")]
    Database {
        action: String,
        source: io::Error,
    },
    #[error(
        "open {path} for a long time: \
         {source}"
    )]
    Open { path: String, source: io::Error },
    #[error("read: {0}")]
    Read(#[from] io::Error),
    #[error(transparent)]
    Write(#[from] BError),
    #[error("no cause")]
    None { sources: u8 },
}
"#;
        assert_eq!(found(text), [""; 0]);
    }

    #[test]
    fn structs_have_causes_too() {
        let text = "#[error(\"start {program}\")]\npub struct StartError {\n    program: String,\n    \
                    source: io::Error,\n}\n";
        assert_eq!(found(text).len(), 1);
        assert_eq!(
            found(&text.replace("{program}", "{program}: {source}")),
            [""; 0]
        );
    }
}
