//! `matrix`: lists of values, of which a target takes every combination.

use super::setting::{self, Axis, Setting};
use super::{Knowledge, collect, config, placement, preload};
use crate::fields::{Located, Value, read_each, twice};
use crate::invalid::{Document, Problem, Read, Reported};
use crate::suggest;

/// Keys of a matrix beside the intents.
const KEYS: [&str; 9] = [
    "build",
    "engine",
    "protocol",
    "transport",
    "preload",
    "baseline",
    "collect",
    "placement",
    "options",
];

/// Reads `matrix`, in the order of the file.
pub(super) fn read<'k>(
    value: Value<'_>,
    knowledge: &Knowledge<'k>,
    optional: bool,
) -> Read<Vec<Axis<'k>>> {
    let whole = value.clone();
    let entries = value.table("the matrix")?.entries();
    if entries.is_empty() {
        return Err(whole.report("must not be empty", "nothing varies"));
    }
    let axes = read_each(entries, |(key, value)| {
        read_entry(&key, value, knowledge, optional)
    })?;
    Ok(axes.into_iter().flatten().collect())
}

fn read_entry<'k>(
    key: &Located<&str>,
    value: Value<'_>,
    knowledge: &Knowledge<'k>,
    optional: bool,
) -> Read<Vec<Axis<'k>>> {
    let axis = match key.value {
        "build" => axis(key, value, |value| {
            setting::read_build(value, knowledge.builds, optional)
        }),
        "engine" => axis(key, value, setting::read_engine),
        "protocol" => axis(key, value, setting::read_protocol),
        "transport" => axis(key, value, setting::read_transport),
        "preload" => axis(key, value, |value| preload::read(value, knowledge)),
        "baseline" => axis(key, value, setting::read_baseline),
        "collect" => axis(key, value, collect::read),
        "placement" => axis(key, value, placement::read_setting),
        "options" => return read_options(value),
        name => {
            let Some(intent) = config::find(name, knowledge.intents) else {
                return Err(unknown(value.document(), key, knowledge));
            };
            axis(key, value, |value| config::read_intent(value, intent))
        }
    };
    Ok(vec![axis?])
}

/// Reads the matrix of the raw options.
fn read_options<'k>(value: Value<'_>) -> Read<Vec<Axis<'k>>> {
    let entries = value.table("the options")?.entries();
    read_each(entries, |(key, value)| {
        config::check_option_name(value.document(), &key)?;
        axis(&key, value, |value| config::read_option(key.value, value))
    })
}

/// Reads a list: at least one value, none twice.
fn axis<'v, 'k>(
    key: &Located<&str>,
    value: Value<'v>,
    read: impl Fn(Value<'v>) -> Read<Located<Setting<'k>>>,
) -> Read<Axis<'k>> {
    let document = value.document();
    let whole = value.clone();
    let values = read_each(value.list()?, read)?;
    let Some(first) = values.first() else {
        return Err(whole.report("must not be empty", "no value"));
    };
    let aspect = first.value.aspect();
    for (index, value) in values.iter().enumerate() {
        let mut earlier = values[..index].iter();
        if let Some(first) = earlier.find(|other| other.value == value.value) {
            let message = format!("`{}` has {} twice", key.value, value.value);
            return twice(message, &value.span, &first.span)
                .help("each value makes targets of its own: remove one")
                .fail(document);
        }
    }
    Ok(Axis {
        of_defaults: false,
        aspect,
        key: key.span.clone(),
        values,
    })
}

fn unknown(document: &Document<'_>, key: &Located<&str>, knowledge: &Knowledge<'_>) -> Reported {
    let intents = knowledge.intents.iter().map(|intent| intent.name.as_str());
    let known: Vec<_> = KEYS.into_iter().chain(intents).collect();
    document.report(
        Problem::new(format!("unknown key `{}` in a matrix", key.value))
            .at(&key.span, "neither an intent nor a key of a target")
            .help(format!(
                "{}\noptions of one server go into `options` inside the matrix",
                suggest::help(key.value, "keys", &known)
            )),
    )
}
