//! The schema of JSON reports, `docs/formats/report.schema.json`, fits the reports and nothing else.

use std::collections::BTreeSet;

use prony_report::{Format, JSON_SCHEMA, render};
use serde_json::Value;

use crate::bases::of_each_configuration;
use crate::costs::complete;
use crate::documentation::{full, sampled};
use crate::loads::by_inserts;
use crate::paces::{paced, paced_of};
use crate::promises::promising;
use crate::verdicts::{twins, waiting};

/// Reports that have every key together.
fn reports() -> Vec<Value> {
    let samples = [
        full(),
        paced(),
        sampled(),
        complete(),
        by_inserts(),
        twins(0.03),
        waiting(),
        of_each_configuration(),
        paced_of(&promising(98)),
    ];
    let reports = samples.iter().map(|sample| {
        let text = render(&sample.store, Format::Json).unwrap();
        serde_json::from_str(&text).unwrap()
    });
    reports.collect()
}

fn schema() -> Value {
    serde_json::from_str(JSON_SCHEMA).unwrap()
}

/// The part of JSON Schema that the file uses: `type`, `const`, `properties`, `required`,
/// `additionalProperties` and `items`.
struct Validator {
    errors: Vec<String>,
    /// Paths of the properties that a report has.
    seen: BTreeSet<String>,
}

impl Validator {
    fn check(&mut self, schema: &Value, value: &Value, path: &str) {
        let types = match &schema["type"] {
            Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
            Value::String(one) => vec![one.as_str()],
            _ => Vec::new(),
        };
        if !types.is_empty() && !types.iter().any(|name| is(name, value)) {
            self.errors
                .push(format!("{path}: {value} is none of {types:?}"));
        }
        if schema
            .get("const")
            .is_some_and(|constant| constant != value)
        {
            self.errors
                .push(format!("{path}: {value} is not {}", schema["const"]));
        }
        if let (Value::Array(values), Some(items)) = (value, schema.get("items")) {
            for value in values {
                self.check(items, value, &format!("{path}[]"));
            }
        }
        if let Value::Object(values) = value {
            for name in schema["required"].as_array().into_iter().flatten() {
                if !values.contains_key(name.as_str().unwrap()) {
                    self.errors.push(format!("{path}: it lacks {name}"));
                }
            }
            for (name, value) in values {
                let inner = format!("{path}.{name}");
                match (
                    &schema["properties"][name],
                    schema.get("additionalProperties"),
                ) {
                    (Value::Null, Some(Value::Bool(false))) => {
                        self.errors
                            .push(format!("{inner}: the schema has no such key"));
                    }
                    (Value::Null, Some(other)) => self.check(other, value, &format!("{path}.*")),
                    (Value::Null, None) => {}
                    (property, _) => {
                        self.seen.insert(inner.clone());
                        self.check(property, value, &inner);
                    }
                }
            }
        }
    }
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// The paths of all properties.
fn properties(schema: &Value, path: &str, all: &mut BTreeSet<String>) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let inner = format!("{path}.{name}");
        properties(property, &inner, all);
        all.insert(inner);
    }
    if schema["additionalProperties"].is_object() {
        properties(&schema["additionalProperties"], &format!("{path}.*"), all);
    }
    if schema["items"].is_object() {
        properties(&schema["items"], &format!("{path}[]"), all);
    }
}

#[test]
fn reports_fit_the_schema_and_have_all_of_it() {
    let schema = schema();
    let mut validator = Validator {
        errors: Vec::new(),
        seen: BTreeSet::new(),
    };
    for report in reports() {
        validator.check(&schema, &report, "");
    }
    assert!(validator.errors.is_empty(), "{:#?}", validator.errors);
    let mut all = BTreeSet::new();
    properties(&schema, "", &mut all);
    // Those of a host are what was wrong with the one on which a run was made.
    all.retain(|path| !path.starts_with(".run.hosts[].findings[]"));
    let unused: Vec<&String> = all.difference(&validator.seen).collect();
    assert!(all.len() > 100 && unused.is_empty(), "{unused:#?}");
}

#[test]
fn other_documents_do_not_fit() {
    let schema = schema();
    let mut report = reports().remove(0);
    report["new_key"] = 1.into();
    report["blocks"]["planned"] = "two".into();
    report["cells"][0].as_object_mut().unwrap().remove("target");
    let mut validator = Validator {
        errors: Vec::new(),
        seen: BTreeSet::new(),
    };
    validator.check(&schema, &report, "");
    assert_eq!(validator.errors.len(), 3, "{:#?}", validator.errors);
}
