//! The tables and rows of the schemas that come with Prony, byte for byte: stored images and results
//! rest on them. Changing any of these means a new [`Dataset::VERSION`].

use prony_model::{Dataset, Schema};

use crate::dataset::checksum::{Digest, dataset_checksums};
use crate::dataset::rows::Rows;

const SBTEST: Dataset = Dataset::sbtest(2, 5_000, 42);
const DATASETS: [Dataset; 3] = [
    SBTEST,
    Dataset {
        schema: Schema::SBTEST_04,
        ..SBTEST
    },
    Dataset {
        schema: Schema::FOO,
        ..SBTEST
    },
];

/// The CRC-32 of all rows of the second table, as `LOAD DATA` sends them.
fn crc(dataset: &Dataset) -> u32 {
    let rows = Rows::new(dataset, 1);
    let mut row = rows.new_row();
    let mut crc = crc32fast::Hasher::new();
    for key in 1..=dataset.rows {
        rows.make(key, &mut row);
        for number in &row.numbers {
            crc.update(number.to_string().as_bytes());
            crc.update(b"\t");
        }
        for text in &row.texts {
            crc.update(text);
            crc.update(b"\t");
        }
    }
    crc.finalize()
}

#[test]
fn rows_and_sums_never_change() {
    let expected: [(u32, Vec<i128>); 3] = [
        (
            785_554_672,
            vec![
                5000,
                12_502_500,
                12_523_301,
                10_739_290_995_966,
                10_791_623_674_325,
            ],
        ),
        (
            1_402_114_264,
            vec![5000, 12_502_500, 0, 0, 21_346_112_880_000],
        ),
        (
            1_067_975_835,
            vec![5000, 12_502_500, 12_523_301, 12_447_135],
        ),
    ];
    for (dataset, expected) in DATASETS.iter().zip(expected) {
        let sums: Vec<_> = dataset_checksums(dataset, 0, Digest::Crc32)
            .sums()
            .collect();
        assert_eq!((crc(dataset), sums), expected, "{dataset:?}");
    }
}
