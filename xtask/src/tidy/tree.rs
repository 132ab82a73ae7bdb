//! The files that git tracks or would track, and which of their lines are tests.

use std::cell::OnceCell;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The text of every file.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    files: Vec<File>,
}

pub(super) struct File {
    /// From the top of the project.
    pub(super) path: PathBuf,
    pub(super) text: String,
    syntax: OnceCell<syn::Result<syn::File>>,
}

impl Tree {
    pub(super) fn read(root: &Path) -> Result<Self, String> {
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
        let paths = String::from_utf8_lossy(&output.stdout);
        let files = paths.lines().filter_map(|path| {
            // Deleted in the working tree, or not text: nothing to check.
            let text = fs::read_to_string(root.join(path)).ok()?;
            Some(File::new(path, text))
        });
        Ok(Self {
            root: root.to_owned(),
            files: files.collect(),
        })
    }

    /// Files of source code.
    pub(super) fn sources(&self) -> impl Iterator<Item = &File> {
        self.with_ending("rs")
    }

    pub(super) fn with_ending(&self, ending: &str) -> impl Iterator<Item = &File> {
        self.files
            .iter()
            .filter(move |file| file.path.extension().is_some_and(|found| found == ending))
    }

    pub(super) fn text_of(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.path == Path::new(path))
            .map(|file| file.text.as_str())
    }

    /// A tree of these files, for tests of the rules.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        Self {
            root: PathBuf::new(),
            files: files
                .iter()
                .map(|(path, text)| File::new(path, (*text).to_owned()))
                .collect(),
        }
    }
}

impl File {
    fn new(path: &str, text: String) -> Self {
        Self {
            path: PathBuf::from(path),
            text,
            syntax: OnceCell::new(),
        }
    }

    /// The text as source code.
    pub(super) fn syntax(&self) -> &syn::Result<syn::File> {
        self.syntax.get_or_init(|| syn::parse_file(&self.text))
    }

    /// Lines counted from 1.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// Lines outside test modules that are written in this file.
    pub(super) fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let tests = self.inline_tests();
        self.lines()
            .filter(move |(number, _)| !tests.iter().any(|range| range.contains(number)))
    }

    /// The lines of each `#[cfg(test)] mod … { … }` at the margin. A module that only is declared
    /// here has its tests elsewhere, and what follows is code.
    pub(super) fn inline_tests(&self) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        let mut lines = self.lines();
        while let Some((start, line)) = lines.next() {
            if line != "#[cfg(test)]" {
                continue;
            }
            let module = lines.by_ref().find(|(_, line)| !line.starts_with("#["));
            if module.is_some_and(|(_, line)| line.contains("mod ") && line.ends_with('{')) {
                let end = lines.by_ref().find(|(_, line)| *line == "}");
                ranges.push(start..end.map_or(usize::MAX, |(number, _)| number + 1));
            }
        }
        ranges
    }

    /// Tells if all of this file is tests.
    pub(super) fn is_test(&self) -> bool {
        self.path.file_name().is_some_and(|name| name == "tests.rs")
            || self.path.iter().any(|part| part == "tests")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_modules_with_a_body_are_tests() {
        let declared = File::new("a.rs", "#[cfg(test)]\nmod tests;\nfn a() {}\n".to_owned());
        assert_eq!(declared.inline_tests(), []);
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\nfn c() {}\n";
        let inline = File::new("a.rs", text.to_owned());
        assert_eq!(
            inline.inline_tests().as_slice(),
            std::slice::from_ref(&(2..6))
        );
        let code: Vec<_> = inline.code().collect();
        assert_eq!(code, [(1, "fn a() {}"), (6, "fn c() {}")]);
    }

    #[test]
    fn files_of_tests_are_known_by_their_place() {
        for (path, expected) in [
            ("crates/a/src/b/tests.rs", true),
            ("crates/a/tests/b.rs", true),
            ("crates/a/src/contests.rs", false),
        ] {
            assert_eq!(File::new(path, String::new()).is_test(), expected, "{path}");
        }
    }
}
