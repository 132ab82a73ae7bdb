//! Links of documents to files of the project.

use std::path::Path;

use super::Finding;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.with_ending("md") {
        let folder = file.path.parent().unwrap_or(Path::new(""));
        for (number, line) in file.lines() {
            for link in line.split("](").skip(1) {
                let target = link.split([')', '#']).next().unwrap_or("");
                let elsewhere = target.contains("://") || target.starts_with("mailto:");
                if target.is_empty() || elsewhere {
                    continue;
                }
                if !tree.root.join(folder).join(target).exists() {
                    let text = format!("dead link {target}");
                    findings.push(Finding::of_line(&file.path, number, text));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_linked_exist() {
        let text = "[a](Cargo.toml) [b](gone.md#x) [c](https://example.org) [d](#here)";
        let mut tree = Tree::of(&[("README.md", text)]);
        tree.root = env!("CARGO_MANIFEST_DIR").into();
        let expected = Finding::of_line("README.md".as_ref(), 1, "dead link gone.md");
        assert_eq!(check(&tree), [expected]);
    }
}
