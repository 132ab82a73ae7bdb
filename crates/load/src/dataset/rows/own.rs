//! Rows of users' own schemas: what every rule promises.

use std::collections::HashSet;

use prony_model::{Dataset, Schema, SchemaDefinition};
use proptest::prelude::*;

use super::{Row, Rows};

/// A dataset of a schema with every kind of rule.
fn dataset(rows: u64, seed: u64) -> Dataset {
    let definition: SchemaDefinition = serde_json::from_str(
        r##"{"name": "own", "tables": "own", "key": "id", "column": [
            {"name": "id", "type": "bigint", "value": "row"},
            {"name": "place", "type": "integer", "from": "1..2 * rows", "distribution": "unique"},
            {"name": "turn", "type": "integer", "from": "0..9", "distribution": "sequential"},
            {"name": "often", "type": "integer", "from": "1..rows",
             "distribution": {"zipfian": {"exponent": 900, "hot": "adjacent"}}},
            {"name": "below", "type": "integer", "from": "0 - 9..0 - 5"},
            {"name": "user", "type": "char(12)", "value": "row", "text": "u{number:8}"},
            {"name": "at", "type": "datetime", "since": "2024-02-28 23:59:58", "value": "row"},
            {"name": "card", "type": "char(5)", "digits": "#-#-#"},
            {"name": "note", "type": "varchar(20)", "letters": "5..20", "random": 0.5}]}"##,
    )
    .unwrap();
    Dataset {
        schema: Schema::own(definition),
        ..Dataset::sbtest(2, rows, seed)
    }
}

fn rows_of(dataset: &Dataset, table: u32) -> Vec<Row> {
    let rows = Rows::new(dataset, table);
    let mut row = rows.new_row();
    let rooms: Vec<_> = row.texts.iter().map(Vec::capacity).collect();
    let made = (1..=dataset.rows)
        .map(|number| {
            rows.make(number, &mut row);
            row.clone()
        })
        .collect();
    assert!(
        row.texts.iter().map(Vec::capacity).eq(rooms),
        "nothing is allocated"
    );
    made
}

proptest! {
    /// Unique numbers are unique and in their range, texts have their lengths and characters, and the
    /// same seed gives the same rows.
    #[test]
    fn rules_keep_what_they_promise(count in 1..400_u64, seed: u64, table in 0..2_u32) {
        let dataset = dataset(count, seed);
        prop_assert_eq!(dataset.check(), Ok(()));
        let rows = rows_of(&dataset, table);
        prop_assert_eq!(&rows, &rows_of(&dataset, table));
        let last = i64::try_from(count).unwrap();
        let places: HashSet<i64> = rows.iter().map(|row| row.numbers[1]).collect();
        prop_assert_eq!(places.len(), rows.len());
        for (row, number) in rows.iter().zip(1..) {
            let [id, place, turn, often, below] = row.numbers[..] else {
                panic!("five numbers");
            };
            prop_assert_eq!(id, number);
            prop_assert!((1..=2 * last).contains(&place));
            prop_assert_eq!(turn, (number - 1) % 10);
            prop_assert!((1..=last).contains(&often));
            prop_assert!((-9..=-5).contains(&below));
            let texts: Vec<&str> = row.texts.iter().map(|t| str::from_utf8(t).unwrap()).collect();
            prop_assert_eq!(texts[0], format!("u{number:08}"));
            prop_assert!(texts[1].starts_with("2024-02-2"));
            prop_assert!(texts[2].bytes().filter(u8::is_ascii_digit).count() == 3);
            prop_assert!((5..=20).contains(&texts[3].len()));
            prop_assert!(texts[3].bytes().all(|byte| byte.is_ascii_lowercase()));
            let same = &texts[3][texts[3].len() / 2..];
            prop_assert!(same.bytes().all(|byte| byte == b'a'));
        }
    }
}

/// Changing any of these means a new [`Dataset::VERSION`].
#[test]
fn rows_never_change() {
    let row = rows_of(&dataset(1000, 42), 0).swap_remove(2);
    assert_eq!(row.numbers, [3, 528, 2, 406, -8]);
    let texts: Vec<&[u8]> = row.texts.iter().map(Vec::as_slice).collect();
    let expected: [&[u8]; 4] = [b"u00000003", b"2024-02-29 00:00:01", b"1-7-2", b"ogvaaaa"];
    assert_eq!(texts, expected);
}
