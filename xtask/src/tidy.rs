//! Habits of the house that no compiler checks: sizes, names, links, causes, comments, circles.

mod causes;
mod circles;
mod comments;
mod links;
mod lints;
mod modules;
mod names;
mod sizes;
mod tree;

use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use self::comments::Openings;
use self::tree::Tree;

/// Something in the tree that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    path: PathBuf,
    /// Counted from 1. Absent where the finding is about the whole file or folder.
    line: Option<usize>,
    text: String,
}

impl Finding {
    fn of_line(path: &Path, line: usize, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: Some(line),
            text: text.into(),
        }
    }

    fn of_file(path: &Path, text: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            text: text.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.text)
    }
}

/// A rule, and the beginnings of the paths that are older than it. A crate that is put in order
/// leaves, and none joins again.
type Rule = (fn(&Tree) -> Vec<Finding>, &'static [&'static str]);

const RULES: [Rule; 8] = [
    (sizes::of_code, &[]),
    (sizes::of_inline_tests, &[]),
    (names::check, &[]),
    (lints::check, &[]),
    (links::check, &[]),
    (comments::loose_ends, &[]),
    (causes::check, &[]),
    (circles::check, &["crates/load/", "crates/servers/"]),
];

/// Everything that `cargo xtask tidy` reports.
pub(crate) struct Report {
    pub(crate) findings: Vec<String>,
    /// Findings in code that is exempt from their rules.
    pub(crate) exempt: Vec<String>,
    /// First words of doc comments.
    pub(crate) openings: Openings,
}

/// Checks every file that git tracks or would track.
pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let tree = Tree::read(root)?;
    let (mut findings, mut exempt) = (Vec::new(), Vec::new());
    for (find, older) in RULES {
        for finding in find(&tree) {
            let is_exempt = older.iter().any(|start| finding.path.starts_with(start));
            let list = if is_exempt {
                &mut exempt
            } else {
                &mut findings
            };
            list.push(finding.to_string());
        }
    }
    let openings = Openings::of(&tree);
    findings.extend(openings.finding());
    Ok(Report {
        findings,
        exempt,
        openings,
    })
}
