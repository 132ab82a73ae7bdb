//! Modules of a crate and the others that they name, as the text of their files says.

mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use syn::visit::Visit;

use self::imports::Imports;
use super::tree::{File, Tree};

/// A module of a crate by the names that lead to it: none for the root.
pub(super) type Path = Vec<String>;

/// The modules of one crate, without those that are tests.
#[derive(Default)]
pub(super) struct Modules {
    modules: BTreeMap<Path, Module>,
}

pub(super) struct Module {
    pub(super) file: PathBuf,
    /// Names that `use` brings into the module, with their paths as written.
    imports: BTreeMap<String, Path>,
    /// Every path to something of the same crate, as written.
    mentions: BTreeSet<Path>,
}

impl Modules {
    /// The modules of every crate of the workspace, by the folder of their sources.
    pub(super) fn of_crates(tree: &Tree) -> BTreeMap<String, Self> {
        let mut crates: BTreeMap<String, Self> = BTreeMap::new();
        let mut tests = Vec::new();
        for file in tree.sources() {
            let shown = file.path.to_string_lossy();
            let Some((folder, inside)) = shown.split_once("/src/") else {
                continue;
            };
            let path = module_path(inside);
            let children = test_modules(&file.text).map(|name| child(&path, name));
            tests.extend(children.map(|child| (folder.to_owned(), child)));
            let modules = &mut crates.entry(folder.to_owned()).or_default().modules;
            modules.insert(path, Module::read(file));
        }
        for (folder, test) in tests {
            if let Some(Self { modules }) = crates.get_mut(&folder) {
                modules.retain(|path, _| !path.starts_with(&test));
            }
        }
        crates
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Module> {
        self.modules.get(path)
    }

    /// Each module with the others that it names. Parents and children are left out: a parent is
    /// made of its children, and they may build on it.
    pub(super) fn arrows(&self) -> BTreeMap<Path, BTreeSet<Path>> {
        let targets = |from: &Path, module: &Module| {
            let mentions = module.mentions.iter();
            let targets = mentions.filter_map(|mention| self.resolve(from, mention, 0));
            targets
                .filter(|to| !to.starts_with(from) && !from.starts_with(to))
                .collect()
        };
        self.modules
            .iter()
            .map(|(path, module)| (path.clone(), targets(path, module)))
            .collect()
    }

    /// The module that holds what `mention` names in `module`, where it is of this crate.
    fn resolve(&self, module: &Path, mention: &[String], depth: usize) -> Option<Path> {
        let mut at = module.clone();
        let mut rest = mention;
        match mention.first().map(String::as_str) {
            Some("crate") => {
                at.clear();
                rest = &rest[1..];
            }
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            Some(name) if self.is_module(&at, name) => {}
            _ => return None,
        }
        while let Some((name, after)) = rest.split_first() {
            if name == "super" {
                at.pop()?;
            } else if self.is_module(&at, name) {
                at.push(name.clone());
            } else if let (Some(import), true) = (self.import(&at, name), depth < 8) {
                let path = [import, after].concat();
                return self.resolve(&at, &path, depth + 1).or(Some(at));
            } else {
                break;
            }
            rest = after;
        }
        Some(at)
    }

    fn is_module(&self, parent: &Path, name: &str) -> bool {
        self.modules.contains_key(&child(parent, name))
    }

    fn import(&self, module: &Path, name: &str) -> Option<&[String]> {
        let import = self.modules.get(module)?.imports.get(name)?;
        Some(import)
    }
}

impl Module {
    fn read(file: &File) -> Self {
        let code: Vec<_> = file.code().map(|(_, line)| without_comment(line)).collect();
        let code = code.join("\n");
        let mut found = Imports::default();
        if let Ok(syntax) = syn::parse_file(&code) {
            found.visit_file(&syntax);
        }
        let mut mentions: BTreeSet<Path> = found.0.iter().map(|(_, path)| path.clone()).collect();
        for start in ["crate::", "super::", "self::"] {
            for (at, _) in code.match_indices(start) {
                let before = code[..at].chars().next_back();
                if before.is_some_and(|c| c == ':' || c == '_' || c.is_alphanumeric()) {
                    continue;
                }
                let end = code[at..].find(|c: char| c != ':' && c != '_' && !c.is_alphanumeric());
                let path = &code[at..end.map_or(code.len(), |end| at + end)];
                let path = path.split("::").filter(|part| !part.is_empty());
                mentions.insert(path.map(str::to_owned).collect());
            }
        }
        Self {
            file: file.path.clone(),
            imports: found.0.into_iter().collect(),
            mentions,
        }
    }
}

fn child(parent: &Path, name: &str) -> Path {
    [parent.as_slice(), &[name.to_owned()]].concat()
}

/// Names of the modules that the text declares for tests only.
fn test_modules(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().zip(text.lines().skip(1));
    lines
        .filter(|(attribute, _)| *attribute == "#[cfg(test)]")
        .filter_map(|(_, line)| line.split_once("mod ")?.1.strip_suffix(';'))
}

/// The names that lead to the module in a file, from its place in the folder of sources.
fn module_path(inside: &str) -> Path {
    let path = inside.trim_end_matches(".rs");
    if matches!(path, "lib" | "main") {
        return Path::new();
    }
    path.split('/').map(str::to_owned).collect()
}

/// The line up to a comment. What looks like one inside a text is cut off too, which loses
/// nothing: a path to a module does not follow a text that has `//` in it.
fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let tree = Tree::of(files);
        let crates = Modules::of_crates(&tree);
        let modules = crates.values().next().unwrap();
        let mut shown = Vec::new();
        for (from, targets) in modules.arrows() {
            shown.extend(
                targets
                    .iter()
                    .map(|to| format!("{} -> {}", from.join("::"), to.join("::"))),
            );
        }
        shown
    }

    #[test]
    fn arrows_go_from_file_to_file() {
        let files = [
            ("c/src/lib.rs", "mod a;\nmod b;\npub use b::Thing;\n"),
            ("c/src/a.rs", "use crate::b::{self, Thing};\nmod low;\n"),
            (
                "c/src/a/low.rs",
                "// crate::b\nfn f() { super::super::b::g(); crate::a::h() }\n",
            ),
            ("c/src/b.rs", "use std::a;\nfn g() { xcrate::a::b() }\n"),
        ];
        assert_eq!(arrows(&files), ["a -> b", "a::low -> b"]);
    }

    #[test]
    fn what_is_exported_elsewhere_is_followed_to_its_file() {
        let files = [
            (
                "c/src/lib.rs",
                "mod a;\nmod b;\nmod c;\npub use b::Thing;\n",
            ),
            (
                "c/src/a.rs",
                "use crate::Thing;\nuse super::c::Other as Name;\n",
            ),
            (
                "c/src/b.rs",
                "mod deep;\npub(crate) use self::deep::Thing;\n",
            ),
            ("c/src/b/deep.rs", ""),
            (
                "c/src/c.rs",
                "pub(crate) use crate::b::deep::Thing as Other;\n",
            ),
        ];
        assert_eq!(arrows(&files), ["a -> b::deep", "c -> b::deep"]);
    }

    #[test]
    fn tests_may_name_anything() {
        let files = [
            ("c/src/lib.rs", "mod a;\n#[cfg(test)]\nmod testing;\n"),
            (
                "c/src/a.rs",
                "#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n",
            ),
            ("c/src/b.rs", "#[cfg(test)]\nmod tests;\n"),
            ("c/src/b/tests.rs", "use crate::a::A;\n"),
            ("c/src/testing.rs", "use crate::a::A;\n"),
        ];
        assert_eq!(arrows(&files), [""; 0]);
    }
}
