//! Comments: no loose ends, and doc comments that name a thing instead of asking for it.

use std::fmt;

use super::Finding;
use super::tree::{File, Tree};

/// Words that turn the first sentence of a doc comment into a clause without a subject.
const CLAUSES: [&str; 7] = ["What", "Whether", "How", "Where", "Who", "Why", "Which"];

/// Per cent of doc comments that may begin so. Such a clause is sometimes the clearest way. The
/// limit goes down with every crate that is put in order, to 8.
const SHARE_MAX: usize = 8;

pub(super) fn loose_ends(tree: &Tree) -> Vec<Finding> {
    // Put together here, so that this file has none.
    let marks = [("TO", "DO"), ("FIX", "ME")].map(|(start, end)| format!("{start}{end}"));
    let is_mark = |line: &str| {
        marks
            .iter()
            .any(|mark| line.contains(&format!("{mark}:")) || line.contains(&format!("{mark}(")))
    };
    tree.sources()
        .flat_map(|file| file.lines().map(move |line| (file, line)))
        .filter(|(_, (_, line))| is_mark(line))
        .map(|(file, (number, _))| Finding::of_line(&file.path, number, "a loose end"))
        .collect()
}

/// First words of all doc comments.
pub(crate) struct Openings {
    all: usize,
    clauses: usize,
    /// Files with the most clauses, the worst first.
    worst: Vec<(String, usize)>,
}

impl Openings {
    pub(super) fn of(tree: &Tree) -> Self {
        let counts: Vec<_> = tree.sources().map(|file| (file, count(file))).collect();
        let mut worst: Vec<_> = counts
            .iter()
            .map(|(file, (_, clauses))| (file.path.display().to_string(), *clauses))
            .filter(|(_, clauses)| *clauses > 0)
            .collect();
        worst.sort_by_key(|(_, clauses)| std::cmp::Reverse(*clauses));
        Self {
            all: counts.iter().map(|(_, (all, _))| all).sum(),
            clauses: counts.iter().map(|(_, (_, clauses))| clauses).sum(),
            worst,
        }
    }

    /// A finding where too many are clauses.
    pub(super) fn finding(&self) -> Option<String> {
        (self.clauses * 100 > self.all * SHARE_MAX).then(|| {
            let worst = self.worst().join("\n  ");
            format!("{self}, limit {SHARE_MAX} %; most are in\n  {worst}")
        })
    }

    /// The files with the most clauses and their numbers.
    pub(crate) fn worst(&self) -> Vec<String> {
        let worst = self.worst.iter().take(20);
        worst.map(|(path, n)| format!("{path}: {n}")).collect()
    }
}

impl fmt::Display for Openings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.clauses as f64 * 100.0 / self.all.max(1) as f64;
        write!(
            f,
            "{} of {} doc comments ({share:.1} %) begin with {}",
            self.clauses,
            self.all,
            CLAUSES.join("/")
        )
    }
}

/// Doc comments of a file, and those of them that begin with a clause.
fn count(file: &File) -> (usize, usize) {
    let (mut all, mut clauses) = (0, 0);
    let mut in_comment = false;
    for (_, line) in file.lines() {
        let comment = line.trim_start();
        let text = ["///", "//!"]
            .iter()
            .find_map(|mark| comment.strip_prefix(mark));
        if let (Some(text), false) = (text, in_comment) {
            all += 1;
            let first = text.split_whitespace().next().unwrap_or("");
            clauses += usize::from(CLAUSES.contains(&first));
        }
        in_comment = text.is_some();
    }
    (all, clauses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loose_ends_are_found() {
        let text = concat!("// TO", "DO: later\nlet todo = 1;\n// FIX", "ME(me)");
        let lines: Vec<_> = loose_ends(&Tree::of(&[("src/a.rs", text)]))
            .iter()
            .map(|finding| finding.line)
            .collect();
        assert_eq!(lines, [Some(1), Some(3)]);
    }

    #[test]
    fn only_first_words_count() {
        let text = "//! What it is.\n//! How it is.\n\n/// The number.\n/// Which one.\nfn a() {}\n\
                    /// Whatever.\n    /// Whether it is.\n// Why not.\n";
        let openings = Openings::of(&Tree::of(&[("src/a.rs", text)]));
        assert_eq!((openings.all, openings.clauses), (3, 1));
    }

    #[test]
    fn the_share_has_a_limit() {
        let comments = |clauses: usize| {
            let all = "/// One.\nfn a() {}\n".repeat(100 - clauses);
            let text = all + &"/// Where it is.\nfn b() {}\n".repeat(clauses);
            Openings::of(&Tree::of(&[("src/a.rs", &text)]))
        };
        assert_eq!(comments(SHARE_MAX).finding(), None);
        let finding = comments(SHARE_MAX + 1).finding().unwrap();
        assert!(
            finding.contains("9 of 100 doc comments (9.0 %)"),
            "{finding}"
        );
        assert!(finding.ends_with("src/a.rs: 9"), "{finding}");
    }
}
