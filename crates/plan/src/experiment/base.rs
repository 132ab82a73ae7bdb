//! The base among the targets.

use prony_model::Target;

use crate::fields::Located;
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

/// Finds the target that `written` means: by its name, else by its build, else by the beginning
/// of its build. The first of these that finds any target decides.
pub(super) fn find(
    document: &Document<'_>,
    written: &Located<&str>,
    targets: &[Target],
) -> Read<usize> {
    let ways: [fn(&Target, &str) -> bool; 3] = [
        |target, text| target.name == text,
        |target, text| target.build.id == text,
        |target, text| !text.is_empty() && target.build.id.starts_with(text),
    ];
    let found = ways
        .iter()
        .map(|matches| {
            (0..targets.len())
                .filter(|index| matches(&targets[*index], written.value))
                .collect::<Vec<_>>()
        })
        .find(|found| !found.is_empty())
        .unwrap_or_default();
    let problem = match found.as_slice() {
        [index] => return Ok(*index),
        [] => {
            let names: Vec<_> = targets.iter().map(|target| target.name.as_str()).collect();
            Problem::new(format!(
                "the base `{}` is not among the targets",
                written.value
            ))
            .at(&written.span, "no such target")
            .help(format!(
                "{}
name one of them, or add a [[target]] with this build",
                suggest::help(written.value, "targets", &names)
            ))
        }
        several => {
            let names: Vec<_> = several
                .iter()
                .map(|index| targets[*index].name.as_str())
                .collect();
            Problem::new(format!("the base `{}` is ambiguous", written.value))
                .at(&written.span, format!("means {} targets", several.len()))
                .help(format!("write one of their names: {}", names.join(", ")))
        }
    };
    problem.fail(document)
}
