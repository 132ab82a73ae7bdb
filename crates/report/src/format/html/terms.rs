//! The words of the page that have a meaning of their own here, from the glossary.

use maud::{Markup, html};

/// The glossary of the project.
const GLOSSARY: &str = include_str!("../../../../../docs/glossary.md");

/// The glossary's entries that reports use.
const WORDS: [&str; 45] = [
    "run",
    "experiment",
    "target",
    "server build",
    "base / contender",
    "twin",
    "block",
    "trial",
    "timed trial / counting trial / profiling trial",
    "failed",
    "discarded",
    "excluded",
    "step",
    "section",
    "phase",
    "cell",
    "workload",
    "client / thread",
    "client group",
    "operation",
    "query",
    "warm-up",
    "settle",
    "debt",
    "ratio",
    "relative QPS",
    "interval of a ratio",
    "margin",
    "verdict",
    "false alarm",
    "spread",
    "warning",
    "service time, response time",
    "backlog",
    "schedule error",
    "round trip",
    "server only",
    "cost",
    "canary",
    "calibration",
    "ceiling",
    "placement",
    "effective variable",
    "execution plan",
    "common baseline",
];

/// The entries whose words are on the page, with their meaning.
pub(super) fn section(body: &str) -> Markup {
    let body = body.to_ascii_lowercase();
    let entries = WORDS.iter().filter(|word| is_used(word, &body));
    let entries = entries.filter_map(|word| Some((*word, meaning(word)?)));
    html! {
        footer {
            section aria-labelledby="terms" {
                h2 id="terms" { "Terms" }
                dl.terms {
                    @for (word, meaning) in entries { div { dt { (word) } dd { (text(meaning)) } } }
                }
            }
        }
    }
}

/// Returns `true` if any of the words of an entry is on the page.
fn is_used(entry: &str, body: &str) -> bool {
    let mut words = entry
        .split([',', '/'])
        .map(|word| word.trim().to_ascii_lowercase());
    words.any(|word| body.contains(&word))
}

/// The second column of the first row of a word.
fn meaning(word: &str) -> Option<&'static str> {
    let begin = format!("| **{word}** | ");
    let mut lines = GLOSSARY.lines();
    let rest = lines.find_map(|line| line.strip_prefix(begin.as_str()))?;
    rest.split(" | ").next()
}

/// A meaning without the marks of Markdown.
fn text(meaning: &str) -> String {
    meaning.replace(['`', '*'], "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_in_the_glossary() {
        for word in WORDS {
            assert!(
                meaning(word).is_some_and(|meaning| !meaning.is_empty()),
                "{word}"
            );
        }
    }

    #[test]
    fn only_words_of_the_page_are_explained() {
        let section = section("<p>Two trials</p>").into_string();
        assert!(section.contains("<dt>trial</dt>") && !section.contains("<dt>canary</dt>"));
    }
}
