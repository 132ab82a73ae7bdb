//! Values as a command line gives them: one at a time, by the rules of experiment files.

use std::collections::BTreeMap;

use prony_model::{
    Address, Dataset, IntentFacts, IntentKind, IntentValue, Target, Thousandths, Workload,
};

use crate::duration::{Microseconds, Milliseconds};
use crate::endpoint::{self, Rejected};
use crate::experiment::{check_family, resolve_workload};
use crate::suggest;

/// Problem of a value, and its remedy.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct BadArgument {
    /// Description of the problem.
    pub message: String,
    /// The remedy; empty if the message contains it.
    pub help: String,
}

impl BadArgument {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

impl From<Rejected> for BadArgument {
    fn from(rejected: Rejected) -> Self {
        Self::new(rejected.message, rejected.help)
    }
}

/// Reads where a server listens: the whole path of a socket, with `unix:` before it or without, or
/// an address of this machine with its port.
///
/// # Errors
/// When it is neither.
pub fn parse_address(text: &str) -> Result<Address, BadArgument> {
    Ok(endpoint::address(
        text.strip_prefix("unix:").unwrap_or(text),
    )?)
}

/// Checks the name of a database whose tables may be dropped.
///
/// # Errors
/// When it can't be one, or is one of the server's own.
pub fn parse_database(text: &str) -> Result<String, BadArgument> {
    endpoint::check_database(text)?;
    Ok(text.to_owned())
}

/// Reads a length of time such as `500ms`, `10s`, `5m` or `2h`, in milliseconds.
///
/// # Errors
/// When it is none, negative, or longer than a year.
pub fn parse_duration(text: &str) -> Result<u64, BadArgument> {
    let help = "write a whole number and a unit: 500ms, 10s, 5m, 2h";
    text.parse()
        .map(|Milliseconds(ms)| ms)
        .map_err(|error| BadArgument::new(error.to_string(), help))
}

/// Reads a length of time that may be short, such as `500us`, in microseconds, at least 1.
///
/// # Errors
/// When it is none, 0, negative, or longer than a year.
pub fn parse_short_duration(text: &str) -> Result<u64, BadArgument> {
    let help = "write a whole number above 0 and a unit: 500us, 10ms, 2s";
    match text.parse() {
        Ok(Microseconds(0)) => Err(BadArgument::new("it must be longer than 0", help)),
        Ok(Microseconds(us)) => Ok(us),
        Err(error) => Err(BadArgument::new(error.to_string(), help)),
    }
}

/// Most operations per second: more than any generator sends from one machine.
const RATE_MAX: Thousandths = Thousandths(1_000_000_000);

/// Reads a rate of operations per second: a number above 0 and up to a million, with at most three
/// decimals.
///
/// # Errors
/// When it is none.
pub fn parse_rate(text: &str) -> Result<Thousandths, BadArgument> {
    let scaled = text.parse::<f64>().unwrap_or(f64::NAN) * 1000.0;
    // Numbers such as 0.1 are not exact; what is off by more has a fourth decimal.
    match format!("{scaled:.0}").parse() {
        Ok(number)
            if (1..=RATE_MAX.0).contains(&number) && (scaled - f64::from(number)).abs() < 1e-6 =>
        {
            Ok(Thousandths(number))
        }
        _ => Err(BadArgument::new(
            format!("`{text}` is not a rate"),
            format!(
                "write operations per second: a number above 0 and up to {RATE_MAX} with at most \
                 three decimals"
            ),
        )),
    }
}

/// Reads the value of a parameter, written `name=value`.
///
/// # Errors
/// When it is not written so, or the value is not a whole number.
pub fn parse_parameter(text: &str) -> Result<(String, i64), BadArgument> {
    let (name, value) = name_and_value(text, "range=100")?;
    let number = value.parse().map_err(|_| {
        BadArgument::new(
            format!("`{value}` is not a whole number"),
            "the values of parameters are whole numbers: range=100",
        )
    })?;
    Ok((name.to_owned(), number))
}

/// Reads an intent with its value, written `name=value`.
///
/// # Errors
/// When there is no such intent among `facts`, or the value is not of its kind.
pub fn parse_intent(
    text: &str,
    facts: &[IntentFacts],
) -> Result<(String, IntentValue), BadArgument> {
    let (name, value) = name_and_value(text, "buffer_pool=512M")?;
    let Some(intent) = facts.iter().find(|intent| intent.name == name) else {
        let known: Vec<_> = facts.iter().map(|intent| intent.name.as_str()).collect();
        return Err(BadArgument::new(
            format!("unknown intent `{name}`"),
            suggest::help(name, "intents", &known),
        ));
    };
    let wrong = |wanted: String| {
        let message = format!("`{value}` is no value of {name}: {}", intent.description);
        BadArgument::new(message, wanted)
    };
    let value = match intent.kind {
        IntentKind::Flag => value
            .parse()
            .map(IntentValue::Flag)
            .map_err(|_| wrong("write true or false".to_owned())),
        IntentKind::Number => value
            .parse()
            .map(IntentValue::Number)
            .map_err(|_| wrong("write a whole number, 0 or more".to_owned())),
        IntentKind::Bytes => {
            IntentValue::parse_bytes(value).map_err(|error| wrong(error.to_string()))
        }
        IntentKind::Text => {
            let words: Vec<_> = intent.choices.iter().map(String::as_str).collect();
            if words.is_empty() || words.contains(&value) {
                Ok(IntentValue::Text(value.to_owned()))
            } else {
                Err(wrong(suggest::help(value, "values", &words)))
            }
        }
    };
    Ok((name.to_owned(), value?))
}

fn name_and_value<'a>(text: &'a str, example: &str) -> Result<(&'a str, &'a str), BadArgument> {
    text.split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| {
            BadArgument::new(
                format!("`{text}` is not a name and its value"),
                format!("write them like this: {example}"),
            )
        })
}

/// The workload as it runs on `dataset` and `target`, with all its parameters: those of `set`, else its
/// own.
///
/// # Errors
/// When the workload has no such parameter or no statements for servers of the target's family, or can't
/// run on these rows at these values.
pub fn workload_on(
    workload: &Workload,
    dataset: &Dataset,
    target: &Target,
    set: &BTreeMap<String, i64>,
) -> Result<(Workload, BTreeMap<String, i64>), BadArgument> {
    let known: Vec<_> = workload.parameters.keys().map(String::as_str).collect();
    if let Some(name) = set.keys().find(|name| !known.contains(&name.as_str())) {
        let kind = format!("parameters of {}", workload.name);
        return Err(BadArgument::new(
            format!("the workload `{}` has no parameter `{name}`", workload.name),
            suggest::help(name, &kind, &known),
        ));
    }
    let family = target.build.family;
    check_family(workload, &target.name, family)
        .map_err(|misfit| BadArgument::new(misfit.to_string(), misfit.help()))?;
    if let Some((kind, name)) = dataset.schema.without_sql(family) {
        let schema = dataset.schema.name();
        return Err(BadArgument::new(
            format!("the {kind} `{name}` of `{schema}` has no SQL for {family}"),
            format!("add words for {family} to the schema, or choose another workload"),
        ));
    }
    let mut parameters = workload.parameters.clone();
    parameters.extend(set.clone());
    let resolved = resolve_workload(workload, dataset, &parameters).map_err(|misfit| {
        BadArgument::new(
            misfit.to_string(),
            "choose other rows, or other values of its parameters",
        )
    })?;
    Ok((resolved, parameters))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use prony_model::Family;

    use super::*;
    use crate::embedded_workloads;

    #[test]
    fn addresses_are_of_this_machine() {
        let socket = Address::Unix("/run/x.sock".into());
        assert_eq!(parse_address("unix:/run/x.sock"), Ok(socket.clone()));
        assert_eq!(parse_address("/run/x.sock"), Ok(socket));
        let tcp = Address::Tcp((Ipv4Addr::LOCALHOST, 3306).into());
        assert_eq!(parse_address("127.0.0.1:3306"), Ok(tcp));
        for bad in ["localhost:3306", "10.0.0.1:3306", "unix:x", "127.0.0.1", ""] {
            assert!(parse_address(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn databases_are_not_the_servers_own() {
        assert_eq!(parse_database("sbtest"), Ok("sbtest".to_owned()));
        assert!(parse_database("MySQL").is_err());
        assert!(parse_database("a`b").is_err());
    }

    #[test]
    fn rates_have_three_decimals() {
        assert_eq!(parse_rate("1000"), Ok(Thousandths(1_000_000)));
        assert_eq!(parse_rate("0.1"), Ok(Thousandths(100)));
        for bad in ["0", "-1", "0.0001", "x", "nan", "inf", "1000001"] {
            assert!(parse_rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn intents_are_read_by_their_kind() {
        let fact = |name: &str, kind, choices: &[&str]| IntentFacts {
            name: name.to_owned(),
            kind,
            choices: choices.iter().map(ToString::to_string).collect(),
            description: String::new(),
            baselines: Family::ALL.map(|family| (family, None)).into(),
            summary: Vec::new(),
        };
        let facts = [
            fact("flag", IntentKind::Flag, &[]),
            fact("number", IntentKind::Number, &[]),
            fact("bytes", IntentKind::Bytes, &[]),
            fact("word", IntentKind::Text, &["a", "b"]),
            fact("text", IntentKind::Text, &[]),
        ];
        for (text, value) in [
            ("flag=true", IntentValue::Flag(true)),
            ("number=7", IntentValue::Number(7)),
            ("bytes=2K", IntentValue::Bytes(2048)),
            ("word=b", IntentValue::Text("b".into())),
            ("text=x=y", IntentValue::Text("x=y".into())),
        ] {
            assert_eq!(parse_intent(text, &facts).map(|read| read.1), Ok(value));
        }
        for bad in [
            "flag",
            "=1",
            "flag=1",
            "number=-1",
            "bytes=x",
            "word=c",
            "flog=true",
        ] {
            assert!(parse_intent(bad, &facts).is_err(), "{bad}");
        }
    }

    #[test]
    fn workloads_have_all_their_parameters() {
        let workloads = embedded_workloads().unwrap();
        let named = |name: &str| workloads.iter().find(|w| w.name == name).unwrap();
        let workload = named("read-only");
        let set = |name: &str, value| BTreeMap::from([(name.to_owned(), value)]);
        let dataset = Dataset::sbtest(1, 1_000, 1);
        let target = prony_testkit::target("base", prony_model::Version::new(8, 0, 31));
        let on = |name, value| workload_on(workload, &dataset, &target, &set(name, value));
        let (_, parameters) = on("range", 10).unwrap();
        assert_eq!(parameters.len(), workload.parameters.len());
        assert_eq!(parameters["range"], 10);
        let unknown = on("rnage", 10).unwrap_err();
        assert!(unknown.message.contains("no parameter `rnage`"));
        assert!(unknown.help.contains("did you mean `range`?"));
        let empty = on("range", 5_000).unwrap_err();
        assert!(empty.message.contains("5000"), "{empty}");
    }
}
