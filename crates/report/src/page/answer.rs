//! The first part of a report: what the run says, before its figures. With the table of ratios it
//! is the whole report for those who ask for no more.

use std::collections::BTreeMap;

use crate::analysis::Analysis;
use crate::analysis::findings::{self, Finding};
use crate::document::Block;
use crate::page::findings::sentence;
use crate::page::{beginning, heading, no_figures, ratios, warnings};
use crate::words::{listed, plural};

/// The answer. Nothing where there is nothing to compare with the base.
pub(crate) fn blocks(analysis: &Analysis<'_>) -> Vec<Block> {
    of_findings(analysis, findings::of(analysis).iter())
}

/// The short page: findings, ratios, what failed, and where the rest is.
pub(crate) fn page(analysis: &Analysis<'_>) -> Vec<Block> {
    let mut blocks = beginning(analysis);
    blocks.push(Block::Facts(heading::brief(analysis)));
    let found = findings::of(analysis);
    let mut hidden = 0;
    if analysis.trials.counts.done > 0 {
        let (shown, more) = brief(&found);
        hidden = more.len();
        blocks.extend(of_findings(analysis, shown.into_iter()));
        blocks.extend(ratios::blocks(analysis));
    } else {
        blocks.push(no_figures());
    }
    blocks.extend(warnings::worst(analysis));
    blocks.push(Block::Paragraph(rest(analysis, hidden)));
    blocks
}

/// Findings of a kind that the short page has at most.
fn most(kind: &str) -> usize {
    match kind {
        "counts" => 12,
        "largest-regression" | "disagreement" => 2,
        "largest-improvement" => 1,
        _ => usize::MAX,
    }
}

/// The findings that are shown first, and the others.
pub(crate) fn brief<'f, 'a>(
    found: &'f [Finding<'a>],
) -> (Vec<&'f Finding<'a>>, Vec<&'f Finding<'a>>) {
    let mut of_kind: BTreeMap<&str, usize> = BTreeMap::new();
    let is_shown = |finding: &&Finding<'_>| {
        let shown = of_kind.entry(finding.kind()).or_default();
        *shown += 1;
        *shown <= most(finding.kind())
    };
    found.iter().partition(is_shown)
}

fn of_findings<'f>(
    analysis: &Analysis<'_>,
    found: impl Iterator<Item = &'f Finding<'f>>,
) -> Vec<Block> {
    let items: Vec<String> = found
        .map(|finding| sentence(analysis, finding).to_string())
        .collect();
    if items.is_empty() {
        return Vec::new();
    }
    let heading = if analysis.compares() {
        format!("Answer, relative to {}", analysis.plan.base_words())
    } else {
        "Answer".to_owned()
    };
    vec![Block::Heading(heading), Block::List(items)]
}

/// The ways to see what the short page leaves out, of which `hidden` findings.
fn rest(analysis: &Analysis<'_>, hidden: usize) -> String {
    let counts = [
        (hidden, "more finding"),
        (warnings::count(analysis), "warning"),
    ];
    let counts = counts.into_iter().filter(|(n, _)| *n > 0);
    let counts: Vec<String> = counts.map(|(n, noun)| plural(n as u64, noun)).collect();
    let among = if counts.is_empty() {
        String::new()
    } else {
        format!(", {} among it", listed(&counts))
    };
    let is_titled = analysis
        .sections
        .iter()
        .any(|section| section.title.is_some());
    let choices = [
        (true, "--step NAME"),
        (analysis.client_counts().len() > 1, "--clients N"),
        (is_titled, "--section TITLE"),
    ];
    let choices = choices.into_iter().filter(|(holds, _)| *holds);
    let choices: Vec<String> = choices.map(|(_, option)| option.to_owned()).collect();
    let lineage = if analysis.columns().len() > 2 {
        "; --lineage prints the changes from one target to the next"
    } else {
        ""
    };
    let why = if analysis.is_profiled {
        " `prony explain RUN` shows which functions of the servers make the costs."
    } else {
        ""
    };
    format!(
        "`prony report RUN --detail` prints everything{among}; {} {} the details of some steps{lineage}.{why}",
        listed(&choices),
        if choices.len() == 1 {
            "prints"
        } else {
            "print"
        }
    )
}
