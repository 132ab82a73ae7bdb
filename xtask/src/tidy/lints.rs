//! Places where the lint against unsafe code is lifted.

use super::Finding;
use super::tree::Tree;

/// The lint may be lifted here, for a reason that stands beside it.
const UNSAFE: [&str; 3] = [
    "crates/bench/src/bare.rs",
    "crates/load/src/loops/uring.rs",
    "crates/load/tests/allocations.rs",
];

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.sources() {
        if UNSAFE.iter().any(|path| file.path.ends_with(path)) {
            continue;
        }
        for (number, line) in file.lines() {
            if line.contains(concat!("unsafe", "_code")) {
                findings.push(Finding::of_line(&file.path, number, "unsafe code"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lint_is_lifted_in_known_places_only() {
        let lifted = concat!("#[expect(unsafe", "_code, reason = \"speed\")]");
        let findings = check(&Tree::of(&[(UNSAFE[0], lifted), ("src/a.rs", lifted)]));
        let expected = Finding::of_line("src/a.rs".as_ref(), 1, "unsafe code");
        assert_eq!(findings, [expected]);
    }
}
