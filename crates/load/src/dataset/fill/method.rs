//! The way of getting rows into a table: the fastest that a server offers, as measured
//! (`docs/benchmarks.md`), or that of any client.

use prony_client::Connection;
use prony_model::{ColumnType, ColumnValue, Dataset, Engine, LoadMethod};

use super::ask;
use super::ranges::Writers;
use super::settings::exists;
use crate::LoadError;

/// Statement that sends rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statement {
    /// Prepared `INSERT` of many rows.
    Insert,
    /// `INSERT` of as many rows as fit a statement of 512 KiB, as text.
    TextInsert,
    /// `LOAD DATA LOCAL`, which the server has less to parse of.
    LoadData,
    /// `COPY` of PostgreSQL, in the transaction that empties the table.
    Copy {
        /// `true` if the rows come in binary, and not as lines of text.
        binary: bool,
    },
}

/// Time of building the indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Index {
    /// They are there before the rows.
    WithRows,
    /// The secondary ones are built when all rows are in.
    Afterwards,
    /// All are built when all rows are in, also that of the key: tables of PostgreSQL do not lie in it.
    AllAfterwards,
}

/// Method of filling a dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Method {
    pub(super) statement: Statement,
    pub(super) index: Index,
    pub(super) writers: Writers,
    /// Session variable that is 1 while a range of rows goes in, and 0 to make it seen.
    pub(super) bulk: Option<&'static str>,
}

impl Method {
    /// As sysbench's `prepare` does it.
    const BY_INSERTS: Self = Self {
        statement: Statement::TextInsert,
        index: Index::Afterwards,
        writers: Writers::One,
        bulk: None,
    };

    /// Takes the dataset's method; for the fastest one, chooses by what the server says of itself.
    pub(super) fn choose(
        connection: &mut Connection,
        dataset: &Dataset,
        engine: Engine,
        connections: u32,
    ) -> Result<Self, LoadError> {
        if dataset.load == LoadMethod::Inserts {
            return Ok(Self {
                index: index_of(dataset),
                ..Self::BY_INSERTS
            });
        }
        if connection.is_postgresql() {
            return Ok(Self::copy(dataset));
        }
        let server = Offers {
            local_rows: takes_local_rows(connection)?,
            // It came with the InnoDB that can add an index without copying the table.
            fast_index: exists(connection, "innodb_strict_mode")?,
        };
        Ok(Self::by(server, dataset, engine, connections))
    }

    /// By PostgreSQL's `COPY`, one connection for each table: rows that come in the transaction that makes
    /// or empties a table are frozen from the start, and go without WAL where the server's `wal_level`
    /// allows it. A date would have to be converted for the binary form.
    fn copy(dataset: &Dataset) -> Self {
        let mut texts = dataset.schema.texts();
        Self {
            statement: Statement::Copy {
                binary: texts.all(|column| column.kind != ColumnType::Datetime),
            },
            index: if dataset.schema.index_first {
                Index::WithRows
            } else {
                Index::AllAfterwards
            },
            writers: Writers::One,
            bulk: None,
        }
    }

    fn by(server: Offers, dataset: &Dataset, engine: Engine, connections: u32) -> Self {
        let insert = Self {
            statement: if has_fixed_lengths(dataset) {
                Statement::Insert
            } else {
                Statement::TextInsert
            },
            index: index_of(dataset),
            writers: Writers::Many,
            bulk: None,
        };
        let load = Self {
            statement: Statement::LoadData,
            ..insert
        };
        let alone = Self {
            index: Index::WithRows,
            writers: Writers::One,
            ..load
        };
        if !server.local_rows {
            return insert;
        }
        // InnoDB locks the counter of an AUTO_INCREMENT column until a LOAD DATA ends.
        let counts = dataset.schema.counted && dataset.tables < connections;
        match engine {
            Engine::Innodb if !server.fast_index => alone,
            Engine::Innodb if counts => insert,
            // Their tables are locked as a whole; MyISAM and Aria sort the index of a table that
            // was empty when all rows are in.
            Engine::Myisam | Engine::Aria | Engine::Memory => alone,
            // Two connections that fill one table in bulk bring the server down.
            Engine::Rocksdb if dataset.primary_key => Self {
                bulk: Some("rocksdb_bulk_load"),
                ..alone
            },
            Engine::Innodb | Engine::Rocksdb | Engine::Heap => load,
        }
    }
}

/// When the secondary indexes are best made; sysbench 0.4 made its one before the rows.
fn index_of(dataset: &Dataset) -> Index {
    if dataset.schema.index_first || dataset.secondary_indexes(0).next().is_none() {
        Index::WithRows
    } else {
        Index::Afterwards
    }
}

/// True where all values of a column have the same length: prepared statements of many rows are made
/// for one.
fn has_fixed_lengths(dataset: &Dataset) -> bool {
    dataset.schema.texts().all(|column| match &column.value {
        ColumnValue::Letters { lengths, .. } => lengths.min == lengths.max,
        _ => true,
    })
}

/// Features of a server for loading.
#[derive(Debug, Clone, Copy)]
struct Offers {
    /// It takes `LOAD DATA LOCAL`.
    local_rows: bool,
    /// Its InnoDB adds an index without copying the table.
    fast_index: bool,
}

fn takes_local_rows(connection: &mut Connection) -> Result<bool, LoadError> {
    let answer = ask(connection, "SHOW VARIABLES LIKE 'local_infile'", || {
        "look for the fastest way to load".to_owned()
    })?;
    let value = answer.rows.first().and_then(|row| row.get(1)?.as_deref());
    Ok(value.is_some_and(|value| value.eq_ignore_ascii_case("ON")))
}

#[cfg(test)]
mod tests {
    use prony_model::Schema;

    use super::*;

    const CURRENT: Offers = Offers {
        local_rows: true,
        fast_index: true,
    };
    const OLD: Offers = Offers {
        fast_index: false,
        ..CURRENT
    };
    const CLOSED: Offers = Offers {
        local_rows: false,
        ..CURRENT
    };
    const SBTEST: Dataset = Dataset::sbtest(1, 10, 1);

    #[test]
    fn every_engine_has_its_way() {
        let foo = Dataset {
            schema: Schema::FOO,
            ..SBTEST
        };
        let two = Dataset {
            tables: 2,
            ..SBTEST
        };
        let method = |server, dataset, engine| {
            let method = Method::by(server, dataset, engine, 2);
            (method.statement, method.index, method.writers)
        };
        let insert = (Statement::Insert, Index::Afterwards, Writers::Many);
        let load = (Statement::LoadData, Index::Afterwards, Writers::Many);
        let alone = (Statement::LoadData, Index::WithRows, Writers::One);
        for (server, dataset, engine, expected) in [
            (CURRENT, &SBTEST, Engine::Innodb, insert),
            (CURRENT, &two, Engine::Innodb, load),
            (CURRENT, &foo, Engine::Innodb, load),
            (OLD, &SBTEST, Engine::Innodb, alone),
            (CLOSED, &two, Engine::Innodb, insert),
            (CURRENT, &SBTEST, Engine::Myisam, alone),
            (CURRENT, &SBTEST, Engine::Memory, alone),
            (CLOSED, &SBTEST, Engine::Myisam, insert),
            (CURRENT, &SBTEST, Engine::Rocksdb, alone),
        ] {
            assert_eq!(
                method(server, dataset, engine),
                expected,
                "{engine} {server:?}"
            );
        }
    }

    #[test]
    fn rows_without_primary_key_go_in_one_by_one() {
        let rocks = |primary_key| {
            let dataset = Dataset {
                primary_key,
                ..SBTEST
            };
            Method::by(CURRENT, &dataset, Engine::Rocksdb, 2).bulk
        };
        assert_eq!(rocks(true), Some("rocksdb_bulk_load"));
        assert_eq!(rocks(false), None);
    }
}
