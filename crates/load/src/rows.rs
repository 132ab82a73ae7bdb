//! The rows of the sbtest dataset: each a pure function of version, seed, table and id.

use prony_model::Dataset;

use crate::digits::DigitPattern;
use crate::random::{KeyedRandom, below, scatter};

/// `c`: ten groups of eleven random digits.
const C_PATTERN: &[u8] = b"###########-###########-###########-###########-###########-\
    ###########-###########-###########-###########-###########";
/// `pad`: five such groups.
const PAD_PATTERN: &[u8] = b"###########-###########-###########-###########-###########";

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: u64,
    /// Uniform in `1..=rows`.
    pub(crate) k: u64,
    pub(crate) c: Vec<u8>,
    pub(crate) pad: Vec<u8>,
}

/// The rows of one table.
#[derive(Debug)]
pub(crate) struct Rows {
    key: u64,
    count: u64,
    c: DigitPattern,
    pad: DigitPattern,
}

impl Rows {
    /// The rows of table `table`, counted from 0.
    pub(crate) fn new(dataset: &Dataset, table: u32) -> Self {
        let seeded = scatter(dataset.seed).wrapping_add(u64::from(Dataset::VERSION));
        let key = scatter(scatter(seeded).wrapping_add(u64::from(table)));
        Self {
            key,
            count: dataset.rows,
            c: DigitPattern::new(C_PATTERN),
            pad: DigitPattern::new(PAD_PATTERN),
        }
    }

    /// Room for a row.
    pub(crate) fn new_row(&self) -> Row {
        Row {
            id: 0,
            k: 0,
            c: self.c.text().to_vec(),
            pad: self.pad.text().to_vec(),
        }
    }

    /// Makes the row with this id, in `1..=rows`.
    pub(crate) fn make(&self, id: u64, row: &mut Row) {
        let mut random = KeyedRandom::new(scatter(self.key.wrapping_add(id)));
        row.id = id;
        row.k = 1 + below(random.next(), self.count);
        self.c.fill(&mut row.c, || random.next());
        self.pad.fill(&mut row.pad, || random.next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATASET: Dataset = Dataset::sbtest(2, 1000, 42);

    fn row(dataset: &Dataset, table: u32, id: u64) -> Row {
        let rows = Rows::new(dataset, table);
        let mut row = rows.new_row();
        rows.make(id, &mut row);
        row
    }

    /// Changing any of these means a new [`Dataset::VERSION`]: stored images and results rest on
    /// them.
    #[test]
    fn rows_never_change() {
        let row = row(&DATASET, 0, 1);
        assert_eq!(row.k, 218);
        assert_eq!(
            String::from_utf8(row.c).unwrap(),
            "28853598452-00985306388-64866824689-99613048913-59830035315-\
             99360158055-05046391190-60918584971-37426394526-25414395077"
        );
        assert_eq!(
            String::from_utf8(row.pad).unwrap(),
            "12845932978-10583017974-77486426366-51140447577-54997020206"
        );
    }

    #[test]
    fn rows_depend_on_everything_that_names_them() {
        let base = row(&DATASET, 0, 1);
        assert_eq!(row(&DATASET, 0, 1), base);
        assert_ne!(row(&DATASET, 1, 1).c, base.c);
        assert_ne!(row(&DATASET, 0, 2).c, base.c);
        assert_ne!(
            row(
                &Dataset {
                    seed: 43,
                    ..DATASET
                },
                0,
                1
            )
            .c,
            base.c
        );
    }

    #[test]
    fn values_have_the_shape_of_the_schema() {
        let rows = Rows::new(&DATASET, 1);
        let mut row = rows.new_row();
        for id in 1..=DATASET.rows {
            rows.make(id, &mut row);
            assert!((1..=DATASET.rows).contains(&row.k));
            assert_eq!((row.c.len(), row.pad.len()), (119, 59));
        }
        let groups: Vec<usize> = row.c.split(|b| *b == b'-').map(<[u8]>::len).collect();
        assert_eq!(groups, [11; 10]);
    }
}
