//! Statements as text.

use std::collections::BTreeMap;

use prony_load::{JobError, LoadError, sample_statements};
use prony_model::{Dataset, Family};

use crate::drive::mixed;

const DATASET: Dataset = Dataset::sbtest(3, 1000, 1);

fn samples(parameters: &[(&str, i64)], seed: u64) -> Result<Vec<(String, String)>, LoadError> {
    let parameters = parameters
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value))
        .collect();
    sample_statements(
        Family::Mysql,
        None,
        &mixed(true),
        &parameters,
        &DATASET,
        seed,
    )
}

/// The numbers of a text, in order.
fn numbers(sql: &str) -> Vec<i64> {
    sql.split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect()
}

#[test]
fn each_statement_once_with_values() {
    let texts = samples(&[("range", 30)], 5).unwrap();
    let names: Vec<_> = texts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["read", "write"]);
    let read = &texts[0].1;
    let write = &texts[1].1;
    assert!(read.starts_with("SELECT c FROM sbtest"), "{read}");
    assert!(write.contains(" SET c = '"), "{write}");
    let [table, low, high] = numbers(read)[..] else {
        panic!("{read}");
    };
    assert!((1..=3).contains(&table) && (1..=970).contains(&low) && high == low + 30);
}

#[test]
fn the_seed_decides() {
    let of = |seed| samples(&[], seed).unwrap();
    assert_eq!(of(5), of(5));
    assert_ne!(of(5), of(6));
}

#[test]
fn what_makes_no_sense_is_refused() {
    assert!(matches!(
        samples(&[("rnage", 5)], 1),
        Err(LoadError::Job(JobError::UnknownParameter { .. }))
    ));
    let mut broken = mixed(true);
    broken.statements[1].params.pop();
    let error =
        sample_statements(Family::Mysql, None, &broken, &BTreeMap::new(), &DATASET, 1).unwrap_err();
    assert!(error.to_string().contains("{c}"), "{error}");
    let empty = Dataset {
        tables: 0,
        ..DATASET
    };
    assert!(
        sample_statements(
            Family::Mysql,
            None,
            &mixed(true),
            &BTreeMap::new(),
            &empty,
            1
        )
        .is_err()
    );
}
