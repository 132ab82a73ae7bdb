//! Circles of files inside a crate: none can be read before the others.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::Finding;
use super::modules::{Modules, Path};
use super::tree::Tree;

type Arrows = BTreeMap<Path, BTreeSet<Path>>;

/// One finding for each set of files of which every one leads to every other.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for modules in Modules::of_crates(tree).values() {
        for (ring, size) in rings(&modules.arrows()) {
            let files: Vec<_> = ring.iter().filter_map(|path| modules.get(path)).collect();
            let Some(first) = files.first() else {
                continue;
            };
            let shown: Vec<_> = ring.iter().map(|path| path.join("::")).collect();
            let text = format!(
                "circle of {size} files, such as {} -> {}",
                shown.join(" -> "),
                shown[0]
            );
            findings.push(Finding::of_file(&first.file, text));
        }
    }
    findings
}

/// For each set of nodes that lead to each other, a shortest way around and the set's size.
fn rings(arrows: &Arrows) -> Vec<(Vec<Path>, usize)> {
    let mut rings = Vec::new();
    let mut done = BTreeSet::new();
    for node in arrows.keys() {
        if done.contains(node) {
            continue;
        }
        if let Some(way) = way_around(arrows, node) {
            let reached = reached_from(arrows, node).into_iter();
            let set: Vec<_> = reached
                .filter(|other| reached_from(arrows, other).contains(node))
                .collect();
            rings.push((way, set.len()));
            done.extend(set);
        }
    }
    rings
}

/// The nodes that arrows from `start` lead to.
fn reached_from(arrows: &Arrows, start: &Path) -> BTreeSet<Path> {
    let mut reached = BTreeSet::new();
    let mut next = vec![start];
    while let Some(node) = next.pop() {
        for target in arrows.get(node).into_iter().flatten() {
            if reached.insert(target.clone()) {
                next.push(target);
            }
        }
    }
    reached
}

/// A shortest way from `start` back to it, which is left out at the end.
fn way_around(arrows: &Arrows, start: &Path) -> Option<Vec<Path>> {
    let mut ways = VecDeque::from([vec![start.clone()]]);
    let mut visited = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for target in arrows.get(way.last()?).into_iter().flatten() {
            if target == start {
                return Some(way);
            }
            if visited.insert(target) {
                ways.push_back([way.as_slice(), std::slice::from_ref(target)].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let findings = check(&Tree::of(files));
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn circles_are_found_once() {
        let files = [
            ("c/src/lib.rs", "mod a;\nmod b;\nmod d;\nmod e;\n"),
            ("c/src/a.rs", "use crate::b::B;\n"),
            ("c/src/b.rs", "use crate::d::D;\nuse crate::e::E;\n"),
            ("c/src/d.rs", "use crate::b::C;\nfn f() -> crate::a::A {}\n"),
            ("c/src/e.rs", ""),
        ];
        let expected = "c/src/a.rs: circle of 3 files, such as a -> b -> d -> a";
        assert_eq!(found(&files), [expected]);
    }

    #[test]
    fn parents_and_children_are_no_circle() {
        let files = [
            ("c/src/lib.rs", "mod a;\npub use a::A;\n"),
            ("c/src/a.rs", "mod low;\nuse low::L;\n"),
            ("c/src/a/low.rs", "use super::A;\nuse crate::Error;\n"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn circles_go_through_exports_and_folders() {
        let files = [
            ("c/src/lib.rs", "mod a;\nmod b;\n"),
            ("c/src/a.rs", "mod low;\npub(crate) use low::L;\n"),
            ("c/src/a/low.rs", "use crate::b::B;\n"),
            ("c/src/b.rs", "use crate::a::L;\n"),
        ];
        let expected = "c/src/a/low.rs: circle of 2 files, such as a::low -> b -> a::low";
        assert_eq!(found(&files), [expected]);
    }
}
