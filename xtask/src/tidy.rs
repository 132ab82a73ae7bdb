//! Habits of the house that no compiler checks: sizes, names, links, loose ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Hard limit for a source file, tests at its end excluded.
const LINES_MAX: usize = 800;

/// Where the lint against unsafe code may be lifted, all of it for a reason that stands there.
const UNSAFE: [&str; 3] = [
    "crates/load/benches/bare/main.rs",
    "crates/load/src/loops/uring.rs",
    "crates/load/tests/allocations.rs",
];

/// Words that the glossary replaces, wherever something is named.
const FORBIDDEN_NAMES: [&str; 7] = [
    "suite",
    "campaign",
    "sut",
    "sandbox",
    "scenario",
    "speedup",
    "iteration",
];

/// Checks every file that git tracks or would track. Returns one line per finding.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for path in files(root)? {
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            continue; // Deleted in the working tree, or not text.
        };
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => check_source(&path, &text, &mut findings),
            Some("md") => check_links(root, &path, &text, &mut findings),
            _ => {}
        }
    }
    Ok(findings)
}

fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let output = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(PathBuf::from)
        .collect())
}

fn check_source(path: &Path, text: &str, findings: &mut Vec<String>) {
    let shown = path.display();
    if path.ends_with("mod.rs") || path.ends_with("imp.rs") {
        findings.push(format!("{shown}: name the module after what it holds"));
    }
    let code_lines = text
        .lines()
        .take_while(|line| *line != "#[cfg(test)]")
        .count();
    let is_test = path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs");
    if code_lines > LINES_MAX && !is_test {
        findings.push(format!("{shown}: {code_lines} lines, limit {LINES_MAX}"));
    }
    for (number, line) in text.lines().enumerate() {
        let loose_end = ["TO", "FIX"]
            .iter()
            .zip(["DO", "ME"])
            .any(|(a, b)| line.contains(&format!("{a}{b}:")) || line.contains(&format!("{a}{b}(")));
        if loose_end {
            findings.push(format!("{shown}:{}: a loose end", number + 1));
        }
        if line.contains(concat!("unsafe", "_code")) && !UNSAFE.iter().any(|p| path.ends_with(p)) {
            findings.push(format!("{shown}:{}: unsafe code", number + 1));
        }
        if let Some(word) = forbidden_name(line) {
            findings.push(format!("{shown}:{}: `{word}` is not our word", number + 1));
        }
    }
}

/// The forbidden word in what this line names, if any.
fn forbidden_name(line: &str) -> Option<&'static str> {
    let mut words = line
        .split_ascii_whitespace()
        .skip_while(|word| word.starts_with("pub"));
    if !matches!(
        words.next()?,
        "fn" | "struct" | "enum" | "trait" | "mod" | "type" | "const"
    ) {
        return None;
    }
    let name: String = words
        .next()?
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .flat_map(|c| {
            if c.is_ascii_uppercase() {
                vec!['_', c]
            } else {
                vec![c]
            }
        })
        .collect();
    let name = name.to_ascii_lowercase();
    FORBIDDEN_NAMES
        .into_iter()
        .find(|word| name.split('_').any(|part| part == *word))
}

fn check_links(root: &Path, path: &Path, text: &str, findings: &mut Vec<String>) {
    for (number, line) in text.lines().enumerate() {
        for link in line.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or("");
            if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let folder = path.parent().unwrap_or(Path::new(""));
            if !root.join(folder).join(target).exists() {
                findings.push(format!(
                    "{}:{}: dead link {target}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_forbidden_names() {
        assert_eq!(forbidden_name("pub struct TestSuite {"), Some("suite"));
        assert_eq!(
            forbidden_name("    pub(crate) fn run_campaign()"),
            Some("campaign")
        );
        assert_eq!(forbidden_name("fn suitable() {}"), None);
        assert_eq!(forbidden_name("let suite = 1;"), None);
    }

    #[test]
    fn finds_long_files_and_loose_ends() {
        let mut findings = Vec::new();
        check_source(Path::new("src/a.rs"), &"x\n".repeat(801), &mut findings);
        check_source(
            Path::new("src/mod.rs"),
            concat!("// TO", "DO: later"),
            &mut findings,
        );
        assert_eq!(findings.len(), 3, "{findings:?}");
    }

    #[test]
    fn finds_lifted_lints() {
        let lifted = concat!("#[expect(unsafe", "_code, reason = \"speed\")]");
        let mut findings = Vec::new();
        check_source(Path::new(UNSAFE[0]), lifted, &mut findings);
        assert_eq!(findings, [""; 0]);
        check_source(Path::new("src/a.rs"), lifted, &mut findings);
        assert_eq!(findings, ["src/a.rs:1: unsafe code"]);
    }

    #[test]
    fn finds_dead_links() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut findings = Vec::new();
        let text = "[a](Cargo.toml) [b](gone.md#x) [c](https://example.org) [d](#here)";
        check_links(folder, Path::new("README.md"), text, &mut findings);
        assert_eq!(findings, ["README.md:1: dead link gone.md"]);
    }
}
