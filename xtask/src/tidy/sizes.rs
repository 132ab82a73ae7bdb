//! Sizes of files. Sizes of functions are a lint of the compiler.

use super::Finding;
use super::tree::Tree;

/// Hard limit for a file, inline tests excluded.
const LINES_MAX: usize = 800;
/// Tests that are longer have a file of their own.
const INLINE_TESTS_MAX: usize = 150;

pub(super) fn of_code(tree: &Tree) -> Vec<Finding> {
    let sizes = tree.sources().map(|file| (file, file.code().count()));
    sizes
        .filter(|(_, lines)| *lines > LINES_MAX)
        .map(|(file, lines)| {
            Finding::of_file(&file.path, format!("{lines} lines, limit {LINES_MAX}"))
        })
        .collect()
}

pub(super) fn of_inline_tests(tree: &Tree) -> Vec<Finding> {
    tree.sources()
        .filter(|file| !file.is_test())
        .filter_map(|file| {
            let lines = file.lines().count() - file.code().count();
            (lines > INLINE_TESTS_MAX).then(|| {
                Finding::of_file(
                    &file.path,
                    format!(
                        "{lines} lines of tests, limit {INLINE_TESTS_MAX}: move them to tests.rs"
                    ),
                )
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_count_whole_after_a_declared_test_module() {
        let long = format!("#[cfg(test)]\nmod tests;\n{}", "x\n".repeat(799));
        let short = "x\n".repeat(800);
        let tree = Tree::of(&[("src/a.rs", &long), ("src/b.rs", &short)]);
        assert_eq!(shown(&of_code(&tree)), ["src/a.rs: 801 lines, limit 800"]);
        assert_eq!(of_inline_tests(&tree), []);
    }

    #[test]
    fn inline_tests_have_a_limit_of_their_own() {
        let with_tests = |lines| {
            let body = "x\n".repeat(lines);
            format!(
                "{}#[cfg(test)]\nmod tests {{\n{body}}}\n",
                "y\n".repeat(800)
            )
        };
        let (right, long) = (with_tests(147), with_tests(148));
        let tree = Tree::of(&[("src/a.rs", &right), ("src/b.rs", &long)]);
        assert_eq!(of_code(&tree), []);
        let expected = "src/b.rs: 151 lines of tests, limit 150: move them to tests.rs";
        assert_eq!(shown(&of_inline_tests(&tree)), [expected]);
    }
}
