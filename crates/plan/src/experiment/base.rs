//! The base among the targets, or the bases.

use prony_model::{Aspect, Bases, Target};
use toml::de::DeValue;

use crate::fields::{Located, Value, read_each};
use crate::invalid::{Document, Problem, Read, Span};
use crate::suggest;

/// `base`, as the file has it.
pub(super) enum Written<'a> {
    /// One for all targets.
    One(Located<&'a str>),
    /// One for each combination of the values of some aspects.
    By {
        /// Name of a target, or of a build.
        start: Start<'a>,
        /// Names of the aspects; not empty.
        by: Vec<Located<&'a str>>,
        /// Place of the table.
        place: Span,
    },
}

/// The targets that can be bases.
pub(super) enum Start<'a> {
    /// This target and those equal to it except in the aspects.
    Target(Located<&'a str>),
    /// The targets of this build.
    Build(Located<&'a str>),
}

/// What is decided of it.
pub(super) struct Decided {
    /// Index of the first base.
    pub(super) first: usize,
    /// `None` for one base.
    pub(super) bases: Option<Bases>,
}

/// Reads `base`.
pub(super) fn read(value: Value<'_>) -> Read<Written<'_>> {
    if !matches!(value.inner(), DeValue::Table(_)) {
        return value.text().map(Written::One);
    }
    let place = value.span();
    let mut fields = value.table("a base")?;
    let document = fields.document();
    let target = fields.optional("target", Value::text);
    let build = fields.optional("build", Value::text);
    let by = fields.required("by", |value| match value.inner() {
        DeValue::Array(_) => {
            let whole = value.clone();
            let by = read_each(value.list()?, Value::text)?;
            if by.is_empty() {
                return Err(whole.report("must not be empty", "no key"));
            }
            Ok(by)
        }
        _ => Ok(vec![value.text()?]),
    });
    fields.finish()?;
    let start = match (target?, build?) {
        (Some(target), None) => Start::Target(target),
        (None, Some(build)) => Start::Build(build),
        (target, _) => {
            let found = target.map_or("neither is there", |_| "both are there");
            return Problem::new("a base by keys needs either `target` or `build`")
                .at(&place, found)
                .help(
                    "write base = { build = \"…\", by = \"…\" }, or the name of one of the bases as \
                     `target`",
                )
                .fail(document);
        }
    };
    let by = by?;
    Ok(Written::By { start, by, place })
}

/// Finds the bases among the targets.
pub(super) fn decide(
    document: &Document<'_>,
    written: &Written<'_>,
    targets: &[Target],
) -> Read<Decided> {
    match written {
        Written::One(name) => Ok(Decided {
            first: find(document, name, targets)?,
            bases: None,
        }),
        Written::By { start, by, place } => {
            let by = aspects(document, by, targets)?;
            let candidates = candidates(document, start, &by, targets)?;
            let of_target = read_each(0..targets.len(), |target| {
                base_of(document, target, (start, &candidates), &by, targets, place)
            })?;
            let first = match start {
                Start::Target(name) => find(document, name, targets)?,
                Start::Build(_) => candidates.first().copied().unwrap_or_default(),
            };
            let bases = Bases {
                of_target: of_target.into_iter().map(Some).collect(),
                by: by.iter().map(ToString::to_string).collect(),
            };
            Ok(Decided {
                first,
                bases: Some(bases),
            })
        }
    }
}

/// The aspects of these names, in which targets differ.
fn aspects(document: &Document<'_>, by: &[Located<&str>], targets: &[Target]) -> Read<Vec<Aspect>> {
    let varying = Aspect::varying(targets);
    let names: Vec<String> = varying.iter().map(ToString::to_string).collect();
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    read_each(by, |name| {
        let found = known.iter().position(|known| *known == name.value);
        match found {
            Some(place) => Ok(varying[place].clone()),
            None => Problem::new(format!("no two targets differ in `{}`", name.value))
                .at(&name.span, "not a key that targets differ in")
                .help(suggest::help(name.value, "keys", &known))
                .fail(document),
        }
    })
}

/// The targets that can be bases, in the order of the file.
fn candidates(
    document: &Document<'_>,
    start: &Start<'_>,
    by: &[Aspect],
    targets: &[Target],
) -> Read<Vec<usize>> {
    let all = 0..targets.len();
    match start {
        Start::Target(name) => {
            let own = &targets[find(document, name, targets)?];
            let other = Aspect::varying(targets);
            let other: Vec<_> = other.iter().filter(|aspect| !by.contains(aspect)).collect();
            let is_equal = |&target: &usize| are_equal(&targets[target], own, &other);
            Ok(all.filter(is_equal).collect())
        }
        Start::Build(build) => {
            let found: Vec<usize> = all
                .filter(|&target| targets[target].build.id == build.value)
                .collect();
            if !found.is_empty() {
                return Ok(found);
            }
            let builds = targets.iter().map(|target| target.build.id.as_str());
            let mut known: Vec<&str> = builds.collect();
            known.dedup();
            Problem::new(format!("no target has the build `{}`", build.value))
                .at(&build.span, "no such target")
                .help(format!(
                    "{}\nname one of them, or add a [[target]] with this build",
                    suggest::help(build.value, "builds", &known)
                ))
                .fail(document)
        }
    }
}

/// The only candidate that has the target's values of the aspects.
fn base_of(
    document: &Document<'_>,
    target: usize,
    (start, candidates): (&Start<'_>, &[usize]),
    by: &[Aspect],
    targets: &[Target],
    place: &Span,
) -> Read<usize> {
    let own = &targets[target];
    let by: Vec<&Aspect> = by.iter().collect();
    let equal = candidates.iter().copied();
    let equal: Vec<usize> = equal
        .filter(|&base| are_equal(&targets[base], own, &by))
        .collect();
    let values: Vec<String> = by
        .iter()
        .map(|aspect| format!("{aspect} {}", own.aspect(aspect)))
        .collect();
    let values = values.join(", ");
    let (Start::Target(written) | Start::Build(written)) = start;
    match equal.as_slice() {
        [base] => Ok(*base),
        [] => Problem::new(format!("the target `{}` has no base", own.name))
            .at(&written.span, format!("no target of it has {values}"))
            .at(place, "asks for a base for every value")
            .help(format!(
                "add a [[target]] of `{}` with {values}, or leave `{}` out",
                written.value, own.name
            ))
            .fail(document),
        several => {
            let names: Vec<&str> = several
                .iter()
                .map(|&base| targets[base].name.as_str())
                .collect();
            Problem::new(format!(
                "the base of the target `{}` is ambiguous",
                own.name
            ))
            .at(place, format!("{} targets have {values}", several.len()))
            .help(format!(
                "add a key to `by` in which they differ, or name one of them as `target`: {}",
                names.join(", ")
            ))
            .fail(document)
        }
    }
}

fn are_equal(a: &Target, b: &Target, aspects: &[&Aspect]) -> bool {
    let mut aspects = aspects.iter();
    aspects.all(|aspect| a.aspect(aspect) == b.aspect(aspect))
}

/// of its build. The first of these that finds any target decides.
fn find(document: &Document<'_>, written: &Located<&str>, targets: &[Target]) -> Read<usize> {
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
