//! `aa`: the base once more among the targets, so that a run measures the difference between
//! identical servers too.

use prony_model::Target;

use crate::fields::{Located, NAME_LENGTH_MAX};
use crate::invalid::{Document, Problem, Read};

/// End of the twin's name.
const AGAIN: &str = "-again";

/// Decides whether the base has a twin, and makes it. Where the file does not say: if several
/// targets are compared in more than one block, and Prony starts the base.
///
/// One block has no ratio with an interval to hold against the difference, and serves to see that
/// everything works.
pub(super) fn decide(
    document: &Document<'_>,
    written: Option<&Located<bool>>,
    blocks: u32,
    base: usize,
    targets: &[Target],
) -> Read<Option<Target>> {
    let asked_for = match written {
        Some(written) if written.value => Some(&written.span),
        Some(_) => return Ok(None),
        None => None,
    };
    if asked_for.is_none() && blocks == 1 {
        return Ok(None);
    }
    let base = &targets[base];
    let senseless = if targets.len() == 1 {
        Some((
            "the base can't be measured twice: nothing is compared with it".to_owned(),
            "add a [[target]], or remove `aa`; to measure a build against itself, name it in two \
             targets",
        ))
    } else if base.external.is_some() {
        Some((
            format!(
                "`{}` can't be measured twice: Prony does not start its server",
                base.name
            ),
            "identical servers differ by their starts, and this one is started once: remove `aa`, \
             or choose another `base`",
        ))
    } else {
        None
    };
    match (senseless, asked_for) {
        (None, _) => Ok(Some(Target {
            name: name(&base.name, targets),
            ..base.clone()
        })),
        (Some(_), None) => Ok(None),
        (Some((message, remedy)), Some(span)) => Problem::new(message)
            .at(span, "asked for here")
            .help(remedy)
            .fail(document),
    }
}

/// A name that no target has: that of the base and `-again`, with a number where that is taken.
fn name(base: &str, targets: &[Target]) -> String {
    let ends = std::iter::once(AGAIN.to_owned()).chain((2..).map(|n| format!("{AGAIN}-{n}")));
    let mut names = ends.map(|end| {
        // Names are ASCII.
        let front = base.get(..NAME_LENGTH_MAX - end.len()).unwrap_or(base);
        format!("{front}{end}")
    });
    let taken = |name: &String| targets.iter().any(|target| target.name == *name);
    names.find(|name| !taken(name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use prony_model::Version;
    use prony_testkit as testkit;

    use super::*;
    use crate::fields::is_name;

    #[test]
    fn names_are_right_and_new() {
        let long = "x".repeat(NAME_LENGTH_MAX);
        for (taken, expected) in [
            (vec!["base"], "base-again".to_owned()),
            (vec!["base", "base-again"], "base-again-2".to_owned()),
            (vec![long.as_str()], format!("{}-again", &long[..74])),
        ] {
            let target = |name: &&str| testkit::target(name, Version::new(8, 0, 31));
            let targets: Vec<_> = taken.iter().map(target).collect();
            let name = name(taken[0], &targets);
            assert_eq!(name, expected);
            assert!(is_name(&name));
        }
    }
}
