//! Names of modules and items: no word that the glossary replaces.

use syn::Ident;
use syn::visit::{self, Visit};

use super::Finding;
use super::tree::Tree;

const GLOSSARY: &str = "docs/glossary.md";

/// Words of the systems that a crate deals with, which mean there what they always mean.
const FOREIGN: [(&str, &str); 3] = [
    // SQL: `SET SESSION`.
    ("crates/load/", "session"),
    // The kernel: how often the processor was slowed down for its heat.
    ("crates/probe/", "throttle"),
    // Debian: a release in an archive.
    ("crates/servers/", "suite"),
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let forbidden = tree.text_of(GLOSSARY).map(forbidden_words);
    let forbidden = forbidden.unwrap_or_default();
    if forbidden.is_empty() {
        let text = "no word in `code` in the column of what not to say";
        return vec![Finding::of_file(GLOSSARY.as_ref(), text)];
    }
    let mut findings = Vec::new();
    for file in tree.sources() {
        if file.path.ends_with("mod.rs") || file.path.ends_with("imp.rs") {
            findings.push(Finding::of_file(&file.path, "name it after what it holds"));
        }
        let path = file.path.to_string_lossy();
        let is_foreign = |word: &str| {
            let mut words = FOREIGN.iter();
            words.any(|(start, foreign)| path.starts_with(start) && *foreign == word)
        };
        let mut declared = Declared::default();
        match file.syntax() {
            Ok(syntax) => declared.visit_file(syntax),
            Err(error) => {
                let line = error.span().start().line;
                findings.push(Finding::of_line(&file.path, line, error.to_string()));
            }
        }
        for name in declared.names {
            let words = words(&name.to_string());
            let breaks =
                |word: &str| words.iter().any(|found| is_form_of(found, word)) && !is_foreign(word);
            if let Some(Forbidden { word, instead }) = forbidden.iter().find(|f| breaks(&f.word)) {
                let text = format!("`{name}`: `{word}` is not our word, see {instead}");
                let line = name.span().start().line;
                findings.push(Finding::of_line(&file.path, line, text));
            }
        }
    }
    findings
}

/// A word that no name may have.
#[derive(Debug, PartialEq, Eq)]
struct Forbidden {
    word: String,
    /// The entry of the glossary that replaces it.
    instead: String,
}

/// The words in `code` in the third column of the glossary's table. The others are fine in some
/// names, and only a reader can tell.
fn forbidden_words(glossary: &str) -> Vec<Forbidden> {
    let mut words = Vec::new();
    for row in glossary.lines().filter(|line| line.starts_with("| **")) {
        let cells: Vec<_> = row.split('|').map(str::trim).collect();
        let [_, entry, _, avoided, _] = cells.as_slice() else {
            continue;
        };
        for word in avoided.split('`').skip(1).step_by(2) {
            words.push(Forbidden {
                word: word.to_ascii_lowercase(),
                instead: entry.replace('*', ""),
            });
        }
    }
    words
}

/// A name in the singular or in the plural.
fn is_form_of(found: &str, word: &str) -> bool {
    found == word || found.strip_suffix('s') == Some(word)
}

/// The words that a name is made of, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in name.chars() {
        if c == '_' || (c.is_ascii_uppercase() && after_lower) {
            words.push(String::new());
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let (true, Some(word)) = (c != '_', words.last_mut()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words
}

/// Names of items, fields and variants. Names of tests are sentences, in which words are ordinary
/// English.
#[derive(Default)]
struct Declared<'ast> {
    names: Vec<&'ast Ident>,
}

/// Methods that note the names of what they visit.
macro_rules! note_names {
    ($($visit:ident: $part:ident),* $(,)?) => {
        $(fn $visit(&mut self, part: &'ast syn::$part) {
            self.names.push(&part.ident);
            visit::$visit(self, part);
        })*
    };
}

impl<'ast> Visit<'ast> for Declared<'ast> {
    note_names! {
        visit_impl_item_const: ImplItemConst,
        visit_impl_item_type: ImplItemType,
        visit_item_const: ItemConst,
        visit_item_enum: ItemEnum,
        visit_item_mod: ItemMod,
        visit_item_static: ItemStatic,
        visit_item_struct: ItemStruct,
        visit_item_trait: ItemTrait,
        visit_item_type: ItemType,
        visit_item_union: ItemUnion,
        visit_signature: Signature,
        visit_trait_item_const: TraitItemConst,
        visit_trait_item_type: TraitItemType,
        visit_variant: Variant,
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if item.attrs.iter().any(|it| it.path().is_ident("test")) {
            self.visit_block(&item.block);
        } else {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.names.extend(&field.ident);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "| word | meaning | do not say |\n|---|---|---|\n\
        | **run** | one execution | `session` |\n\
        | **plan** | a \"plan\" of `steps` | |\n\
        | **sample** | what was read | `reading`, result |\n\
        | **experiment / study** | the file | `suite`, job |\n";

    fn found(text: &str) -> Vec<String> {
        let tree = Tree::of(&[(GLOSSARY, SMALL), ("src/a.rs", text)]);
        check(&tree).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_glossary_has_the_list() {
        let words = forbidden_words(SMALL);
        let words: Vec<_> = words
            .iter()
            .map(|forbidden| (forbidden.word.as_str(), forbidden.instead.as_str()))
            .collect();
        assert_eq!(
            words,
            [
                ("session", "run"),
                ("reading", "sample"),
                ("suite", "experiment / study")
            ]
        );
        let empty = check(&Tree::of(&[(GLOSSARY, "| **run** | one | session |")]));
        assert_eq!(empty.len(), 1, "{empty:?}");
    }

    #[test]
    fn names_of_items_are_checked() {
        for (line, name) in [
            ("pub struct TestSuite {}", "TestSuite"),
            (
                "impl A { pub(crate) const fn run_suites() {} }",
                "run_suites",
            ),
            ("pub const SUITE: u8 = 1;", "SUITE"),
            (
                "static SUITE_LOCK: Mutex<()> = Mutex::new(());",
                "SUITE_LOCK",
            ),
            ("mod suite;", "suite"),
            ("fn publish_suite() {}", "publish_suite"),
            ("type HttpSuite = u8;", "HttpSuite"),
        ] {
            let expected =
                format!("src/a.rs:1: `{name}`: `suite` is not our word, see experiment / study");
            assert_eq!(found(line), [expected], "{line}");
        }
        for line in [
            "fn suitable() {}",
            "fn f() { let suite = 1; }",
            "// mod suite",
            "const fn job() {}",
            "use a::suite;",
        ] {
            assert_eq!(found(line), [""; 0], "{line}");
        }
    }

    #[test]
    fn words_of_others_are_fine_where_they_belong() {
        let places = ["crates/servers/src/a.rs", "crates/load/src/a.rs"];
        let tree = Tree::of(&[
            (GLOSSARY, SMALL),
            (places[0], "struct Suite {}\nstruct Session {}\n"),
            (places[1], "struct Suite {}\nstruct Session {}\n"),
        ]);
        let found: Vec<_> = check(&tree)
            .iter()
            .map(|finding| (finding.path.display().to_string(), finding.line))
            .collect();
        let expected = [
            (places[0].to_owned(), Some(2)),
            (places[1].to_owned(), Some(1)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn names_of_members_are_checked() {
        let text = "struct A {\n    pub(crate) reading: u8,\n    b: Reading,\n}\n\
                    fn c(reading: u8) {\n    let d = A {\n        reading: 1,\n    };\n}\n\
                    enum E {\n    Reading,\n    F { readings: u8 },\n    G {\n        session: u8,\n    },\n}\n";
        let lines: Vec<_> = found(text)
            .iter()
            .map(|finding| finding.split(": ").next().unwrap().to_owned())
            .collect();
        assert_eq!(
            lines,
            ["src/a.rs:2", "src/a.rs:11", "src/a.rs:12", "src/a.rs:14"]
        );
    }

    #[test]
    fn names_of_tests_are_sentences() {
        let text = "#[test]\nfn reading_ends() {}\nfn reading() {}\n";
        assert_eq!(found(text).len(), 1, "{:?}", found(text));
    }

    #[test]
    fn modules_have_names_of_their_own() {
        let tree = Tree::of(&[(GLOSSARY, SMALL), ("src/a/mod.rs", "")]);
        let expected = Finding::of_file("src/a/mod.rs".as_ref(), "name it after what it holds");
        assert_eq!(check(&tree), [expected]);
    }
}
