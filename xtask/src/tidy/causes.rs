//! Causes of errors: a message shows the error that caused it, because nothing else prints it.

use syn::visit::Visit;
use syn::{Attribute, Fields, Ident};

use super::Finding;
use super::tree::{File, Tree};

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources().filter(|file| !file.is_test()) {
        let mut errors = Errors { file, findings };
        file.syntax()
            .iter()
            .for_each(|syntax| errors.visit_file(syntax));
        findings = errors.findings;
    }
    findings
}

/// Every variant or struct with a message.
struct Errors<'f> {
    file: &'f File,
    findings: Vec<Finding>,
}

impl Errors<'_> {
    fn check(&mut self, attributes: &[Attribute], name: &Ident, fields: &Fields) {
        let message = attributes.iter().find(|it| it.path().is_ident("error"));
        let message = message.and_then(|it| it.meta.require_list().ok());
        if let Some(message) = message
            && has_cause(fields)
        {
            let span = message.delimiter.span().join();
            let text = span.source_text().unwrap_or_default();
            if !shows_cause(&text) {
                let line = span.start().line;
                let text = format!(
                    "`{name}` has a cause that its message {text} does not show: add `: {{source}}`"
                );
                let finding = Finding::of_line(&self.file.path, line, text);
                self.findings.push(finding);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Errors<'_> {
    fn visit_variant(&mut self, variant: &'ast syn::Variant) {
        self.check(&variant.attrs, &variant.ident, &variant.fields);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check(&item.attrs, &item.ident, &item.fields);
    }
}

fn has_cause(fields: &Fields) -> bool {
    let is_mark = |it: &Attribute| it.path().is_ident("source") || it.path().is_ident("from");
    fields.iter().any(|field| {
        let is_source = field.ident.as_ref().is_some_and(|name| name == "source");
        is_source || field.attrs.iter().any(is_mark)
    })
}

fn shows_cause(message: &str) -> bool {
    // The cause of a tuple is its only or its last part.
    ["source", "transparent", "{0}", "{1}", ".0", ".1"]
        .iter()
        .any(|part| message.contains(part))
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
            "src/error.rs:2: `Database` has a cause that its message (\"{action}\") does not show: \
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
