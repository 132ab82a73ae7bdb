//! Messages about wrong files: what a reader sees, and a short form that tests compare.

use std::ops::Range;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan};

use crate::Invalid;

/// The message as a terminal of 100 columns without colour shows it.
pub(super) fn rendered(invalid: &Invalid) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut text, invalid)
        .unwrap();
    text
}

/// Compares all that a terminal shows with the file under `tests/messages`. A few messages are
/// kept whole, one for each kind of file; [`assert_says`] checks the others.
pub(super) fn golden(name: &str, invalid: &Invalid) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("messages");
    settings.bind(|| insta::assert_snapshot!(name, rendered(invalid)));
}

/// Checks what is said of a wrong file: for each problem `message | label | label | help`, each
/// label with the line that it points at, the place itself in `«»`. Problems begin with `×` where
/// there are several. White space counts as one space, and `…` stands for any text.
#[track_caller]
pub(super) fn assert_says(invalid: &Invalid, expected: &str) {
    let actual = summary(invalid);
    let expected = one_line(expected);
    assert!(
        matches(&actual, &expected),
        "\nexpected: {expected}\nactual:   {actual}"
    );
}

fn summary(invalid: &Invalid) -> String {
    let source = invalid.source_code().unwrap();
    let all = source.read_span(&(0, 0).into(), 0, usize::MAX).unwrap();
    let text = std::str::from_utf8(all.data()).unwrap();
    match invalid.related() {
        None => problem_summary(text, invalid),
        Some(problems) => problems
            .map(|problem| format!("× {}", problem_summary(text, problem)))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

fn problem_summary(text: &str, problem: &dyn Diagnostic) -> String {
    let mut labels: Vec<_> = problem.labels().into_iter().flatten().collect();
    labels.sort_by_key(LabeledSpan::offset);
    for pair in labels.windows(2) {
        assert!(
            pair[0].offset() < pair[1].offset(),
            "two labels at one place"
        );
    }
    let labels = labels.iter().map(|label| {
        let place = label.offset()..label.offset() + label.len();
        format!("{} {}", marked_line(text, place), label.label().unwrap())
    });
    let mut parts = vec![problem.to_string()];
    parts.extend(labels);
    parts.extend(problem.help().map(|help| help.to_string()));
    one_line(&parts.join(" | "))
}

/// The lines that a place is on, the place itself in `«»`.
fn marked_line(text: &str, place: Range<usize>) -> String {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..]
        .find('\n')
        .map_or(text.len(), |at| place.end + at);
    format!(
        "{}«{}»{}",
        &text[start..place.start],
        &text[place.clone()],
        &text[place.end..end]
    )
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Tells if `text` is `pattern`, in which each `…` stands for any text.
fn matches(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('…') else {
        return text == pattern;
    };
    let Some(text) = text.strip_prefix(start) else {
        return false;
    };
    (0..=text.len())
        .filter(|at| text.is_char_boundary(*at))
        .any(|at| matches(&text[at..], rest))
}

#[test]
fn summaries_match_patterns() {
    for (text, pattern, expected) in [
        ("a b", "a b", true),
        ("a b", "a", false),
        ("a b", "a …", true),
        ("a b c", "a … c", true),
        ("a b c", "… c d", false),
        ("a b c", "b …", false),
    ] {
        assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
    }
}
