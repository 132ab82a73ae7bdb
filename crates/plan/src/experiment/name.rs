//! Names of targets: what varies, and only that.

use prony_model::{Aspect, Collect, PreloadedLibrary, Target};

use super::expand::Draft;
use crate::fields::{NAME_RULE, is_name, is_name_char};
use crate::invalid::{Document, Problem, Read};

/// Characters of a name from which on the names of settings are cut to their initials. Names head
/// columns, and a table of four has no room for longer ones.
const LONG: usize = 40;

/// Form of a setting's name in the name of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    /// `performance_schema`.
    Whole,
    /// `ps`, unless another setting that varies has the same initials.
    Initials,
}

/// Gives the targets their names and checks that all names differ.
pub(super) fn name_all(document: &Document<'_>, mut drafts: Vec<Draft<'_>>) -> Read<Vec<Target>> {
    let whole = names(&drafts, Words::Whole);
    let names = if whole.iter().any(|name| name.len() > LONG) {
        names(&drafts, Words::Initials)
    } else {
        whole
    };
    for (draft, name) in drafts.iter_mut().zip(names) {
        if !is_name(&name) {
            return Problem::new(format!("`{name}` can't be the name of a target"))
                .at(&draft.place, "needs a `name`")
                .help(NAME_RULE)
                .fail(document);
        }
        draft.target.name = name;
    }
    check_distinct(document, &drafts)?;
    Ok(drafts.into_iter().map(|draft| draft.target).collect())
}

fn check_distinct(document: &Document<'_>, drafts: &[Draft<'_>]) -> Read<()> {
    for (index, draft) in drafts.iter().enumerate() {
        let name = &draft.target.name;
        let Some(first) = drafts[..index].iter().find(|d| d.target.name == *name) else {
            continue;
        };
        let problem = Problem::new(format!("two targets are named `{name}`"));
        let problem = if draft.table == first.table {
            problem
                .at(&draft.place, "both from this matrix")
                .help("their values differ only in what can't be in a name: write a [[target]] with a `name` for each")
        } else {
            problem
                .at(&draft.place, "here again")
                .at(&first.place, "first here")
                .help("set `name` in one of them")
        };
        return problem.fail(document);
    }
    Ok(())
}

fn names(drafts: &[Draft<'_>], words: Words) -> Vec<String> {
    drafts
        .iter()
        .map(|draft| name(draft, drafts, words))
        .collect()
}

/// The name of one target. What stands in front is its written name, or else its build where the
/// experiment has several; behind it, what varies among the targets that share that.
fn name(draft: &Draft<'_>, drafts: &[Draft<'_>], words: Words) -> String {
    let build = &draft.target.build.id;
    let alike = drafts.iter().filter(|other| match draft.written {
        Some(_) => other.table == draft.table,
        None => other.target.build.id == *build,
    });
    let varying = Aspect::varying(alike.map(|other| &other.target));
    let behind: Vec<_> = varying
        .iter()
        .filter_map(|aspect| part(&draft.target, aspect, &varying, words))
        .collect();
    let several_builds = drafts.iter().any(|other| other.target.build.id != *build);
    let front = match &draft.written {
        Some(name) => Some(name),
        None => (several_builds || behind.is_empty()).then_some(build),
    };
    let parts: Vec<_> = front
        .into_iter()
        .chain(&behind)
        .map(String::as_str)
        .collect();
    parts.join("-")
}

/// Part that `aspect` adds to the name; empty if the target leaves a setting to the baseline.
fn part(target: &Target, aspect: &Aspect, varying: &[Aspect], words: Words) -> Option<String> {
    let value = target.aspect(aspect);
    let text = match aspect {
        Aspect::Build
        | Aspect::Engine
        | Aspect::Protocol
        | Aspect::Transport
        | Aspect::Baseline => value,
        Aspect::Server => return None,
        Aspect::Preload if target.preload.is_empty() => return None,
        Aspect::Preload => {
            let stems: Vec<_> = target.preload.iter().map(PreloadedLibrary::stem).collect();
            format!("preload-{}", stems.join("-"))
        }
        Aspect::Intent(name) => {
            target.config.intents.get(name)?;
            format!("{}-{value}", word(name, varying, words))
        }
        Aspect::Option(name) => {
            target.config.raw.get(name)?;
            format!("{}-{value}", word(name, varying, words))
        }
        Aspect::Collect if target.collect == Collect::default() => return None,
        Aspect::Placement => {
            let placement = target.placement.as_ref()?.to_string();
            placement.replace(", ", "-").replace(' ', "-")
        }
        Aspect::Collect => format!("collect-{}", value.replace(", ", "-").replace(' ', "-")),
    };
    let plain = |c: char| if is_name_char(c) { c } else { '_' };
    Some(text.chars().map(plain).collect())
}

/// The name of a setting, whole or by its initials.
fn word(name: &str, varying: &[Aspect], words: Words) -> String {
    let short = initials(name);
    let taken = varying
        .iter()
        .filter_map(|aspect| match aspect {
            Aspect::Intent(other) | Aspect::Option(other) => Some(other),
            _ => None,
        })
        .any(|other| other != name && initials(other) == short);
    match words {
        Words::Initials if !taken => short,
        _ => name.to_owned(),
    }
}

/// `ps` of `performance_schema`; a single word stays as it is.
fn initials(name: &str) -> String {
    let parts: Vec<_> = name.split(['_', '-']).filter(|p| !p.is_empty()).collect();
    match parts.as_slice() {
        [_] | [] => name.to_owned(),
        several => several
            .iter()
            .filter_map(|part| part.chars().next())
            .collect(),
    }
}
