//! The rows of a dataset: each a pure function of version, seed, table and number.

mod number;
#[cfg(test)]
mod own;
mod text;

use prony_model::Dataset;

use crate::dataset::rows::number::NumberMaker;
use crate::dataset::rows::text::TextMaker;
use crate::values::random::{KeyedRandom, scatter};

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    /// Values of the schema's columns of numbers, in its order.
    pub(crate) numbers: Vec<i64>,
    /// Values of all its other columns, in its order.
    pub(crate) texts: Vec<Vec<u8>>,
}

/// The rows of one table.
#[derive(Debug)]
pub(crate) struct Rows {
    key: u64,
    numbers: Vec<NumberMaker>,
    texts: Vec<TextMaker>,
}

impl Rows {
    /// The rows of table `table`, counted from 0.
    pub(crate) fn new(dataset: &Dataset, table: u32) -> Self {
        let seeded = scatter(dataset.seed).wrapping_add(u64::from(Dataset::VERSION));
        let key = scatter(scatter(seeded).wrapping_add(u64::from(table)));
        let schema = dataset.schema;
        // Orders that a column goes through are its own.
        let order = |column: usize| scatter(key ^ scatter(column as u64));
        Self {
            key,
            numbers: (schema.numbers().enumerate())
                .map(|(index, column)| NumberMaker::of(dataset, &column.value, order(index)))
                .collect(),
            texts: (schema.texts().enumerate())
                .map(|(index, column)| {
                    TextMaker::new(dataset, &column.value, order(usize::MAX - index))
                })
                .collect(),
        }
    }

    /// Room for a row: no text gets longer than it is here.
    pub(crate) fn new_row(&self) -> Row {
        Row {
            numbers: vec![0; self.numbers.len()],
            texts: self.texts.iter().map(TextMaker::longest).collect(),
        }
    }

    /// Makes the row with this number, in `1..=rows`. Allocates nothing.
    pub(crate) fn make(&self, number: u64, row: &mut Row) {
        let mut random = KeyedRandom::new(scatter(self.key.wrapping_add(number)));
        for (maker, value) in self.numbers.iter().zip(&mut row.numbers) {
            *value = maker.make(number, &mut random);
        }
        for (maker, value) in self.texts.iter().zip(&mut row.texts) {
            maker.make(number, &mut random, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use prony_model::Schema;

    use super::*;

    const SBTEST: Dataset = Dataset::sbtest(2, 1000, 42);
    const FOO: Dataset = Dataset {
        schema: Schema::FOO,
        ..SBTEST
    };

    fn row(dataset: &Dataset, table: u32, key: u64) -> Row {
        let rows = Rows::new(dataset, table);
        let mut row = rows.new_row();
        rows.make(key, &mut row);
        row
    }

    /// Changing any of these means a new [`Dataset::VERSION`]: stored images and results rest on
    /// them.
    #[test]
    fn rows_never_change() {
        let sbtest = row(&SBTEST, 0, 1);
        assert_eq!(sbtest.numbers, [1, 218]);
        let [c, pad] = &sbtest.texts[..] else {
            panic!("two texts");
        };
        assert_eq!(
            str::from_utf8(c).unwrap(),
            "28853598452-00985306388-64866824689-99613048913-59830035315-\
             99360158055-05046391190-60918584971-37426394526-25414395077"
        );
        assert_eq!(
            str::from_utf8(pad).unwrap(),
            "12845932978-10583017974-77486426366-51140447577-54997020206"
        );
        let foo = row(&FOO, 0, 1);
        assert_eq!(foo.numbers, [1, 218, 289]);
        assert!(foo.texts.is_empty());
    }

    #[test]
    fn rows_of_sysbench_0_4_differ_in_their_key_alone() {
        let dataset = Dataset {
            schema: Schema::SBTEST_04,
            ..SBTEST
        };
        let of_key = row(&dataset, 1, 7);
        assert_eq!(of_key.numbers, [7, 0]);
        let texts = of_key.texts.iter().map(|text| str::from_utf8(text));
        let texts: Vec<&str> = texts.map(Result::unwrap).collect();
        let pad = "qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt";
        assert_eq!(texts, ["", pad]);
    }

    #[test]
    fn rows_depend_on_everything_that_names_them() {
        for dataset in [SBTEST, FOO] {
            let base = row(&dataset, 0, 1);
            let seeded = Dataset {
                seed: 43,
                ..dataset
            };
            assert_eq!(row(&dataset, 0, 1), base);
            assert_ne!(row(&dataset, 1, 1).numbers[1], base.numbers[1]);
            assert_ne!(row(&dataset, 0, 2).numbers[1], base.numbers[1]);
            assert_ne!(row(&seeded, 0, 1).numbers[1], base.numbers[1]);
        }
    }

    #[test]
    fn values_have_the_shape_of_the_schema() {
        for dataset in [SBTEST, FOO] {
            let rows = Rows::new(&dataset, 1);
            let mut row = rows.new_row();
            for key in 1..=dataset.rows {
                rows.make(key, &mut row);
                assert_eq!(row.numbers.len(), dataset.schema.number_columns().len());
                assert_eq!(row.numbers[0], i64::try_from(key).unwrap());
                assert!(row.numbers.iter().all(|n| (1..=1000).contains(n)));
            }
        }
        let sbtest = row(&SBTEST, 1, 1);
        let groups =
            |text: &[u8]| -> Vec<usize> { text.split(|b| *b == b'-').map(<[u8]>::len).collect() };
        assert_eq!(groups(&sbtest.texts[0]), [11; 10]);
        assert_eq!(groups(&sbtest.texts[1]), [11; 5]);
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let rows = Rows::new(&FOO, 0);
        let mut row = rows.new_row();
        for column in [1, 2] {
            let sum: i64 = (1..=FOO.rows)
                .map(|key| {
                    rows.make(key, &mut row);
                    row.numbers[column]
                })
                .sum();
            // Within four standard deviations of the mean of uniform numbers.
            assert!((sum / 1000).abs_diff(500) < 4 * 289 / 31, "{sum}");
        }
    }
}
