//! Names that `use` brings into a module.

use super::Path;

/// The names that the statements of a module bring, with the paths that they are short for.
pub(super) fn of(code: &str) -> Vec<(String, Path)> {
    statements(code).flat_map(branches).collect()
}

/// The text between each `use` and its semicolon.
fn statements(code: &str) -> impl Iterator<Item = &str> {
    code.match_indices("use ").filter_map(|(at, word)| {
        let line = code[..at].rsplit('\n').next().unwrap_or("").trim_start();
        let statement = line.is_empty() || (line.starts_with("pub") && line.ends_with(' '));
        let rest = &code[at + word.len()..];
        statement.then(|| rest.split(';').next().unwrap_or(""))
    })
}

/// The paths that a tree of imports is short for, each with the name that it brings.
fn branches(tree: &str) -> Vec<(String, Path)> {
    let tree = tree.trim();
    let (start, inner) = match tree.split_once('{') {
        Some((start, rest)) => (start, rest.strip_suffix('}')),
        None => (tree, None),
    };
    let (start, alias) = match start.split_once(" as ") {
        Some((start, alias)) => (start, Some(alias.trim())),
        None => (start, None),
    };
    let path: Path = start
        .split("::")
        .map(|part| part.trim().to_owned())
        .filter(|part| !part.is_empty())
        .collect();
    let Some(inner) = inner else {
        let name = alias.or(path.last().map(String::as_str)).unwrap_or("");
        return vec![(name.to_owned(), path)];
    };
    let inner = split_at_commas(inner).into_iter().flat_map(branches);
    inner
        .filter(|(_, end)| !end.is_empty())
        .map(|(name, end)| {
            let is_self = end.first().is_some_and(|part| part == "self");
            let name = if is_self && name == "self" {
                path.last().cloned().unwrap_or_default()
            } else {
                name
            };
            (
                name,
                [path.as_slice(), &end[usize::from(is_self)..]].concat(),
            )
        })
        .collect()
}

/// The parts between the commas outside braces.
fn split_at_commas(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_begin_lines() {
        let code = "use a::b;\n    pub(crate) use c;\nlet reuse = d;\nfn f(x: &str) {}\n";
        let names: Vec<_> = of(code).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "c"]);
    }

    #[test]
    fn imports_are_trees() {
        let tree = "crate::a::{self, B as C, d::{E, F},\n    g::*}";
        let expected = [
            ("a", "crate::a"),
            ("C", "crate::a::B"),
            ("E", "crate::a::d::E"),
            ("F", "crate::a::d::F"),
            ("*", "crate::a::g::*"),
        ];
        let found: Vec<_> = branches(tree)
            .into_iter()
            .map(|(name, path)| (name, path.join("::")))
            .collect();
        assert_eq!(found, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }
}
