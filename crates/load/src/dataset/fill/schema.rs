//! The statements that make a dataset's tables.

use prony_model::{Dataset, Engine, Schema};

use super::method::Index;

/// From this many rows on, keys are 64 bits wide. Below it a table may still grow by 147 million
/// rows before keys of 31 bits end.
const BIG_ROWS: u64 = 2_000_000_000;

/// Makes table `table`, counted from 0, with its index on the key and, if wanted, that on `k`.
pub(super) fn create_table(dataset: &Dataset, engine: Engine, table: u32, index: Index) -> String {
    let name = dataset.table_name(table);
    let integer = if dataset.rows < BIG_ROWS {
        "INTEGER"
    } else {
        "BIGINT"
    };
    let columns = match dataset.schema {
        Schema::Sbtest | Schema::Sbtest04 => format!(
            "id {integer} NOT NULL AUTO_INCREMENT, \
             k {integer} NOT NULL DEFAULT 0, \
             c CHAR(120) NOT NULL DEFAULT '', \
             pad CHAR(60) NOT NULL DEFAULT ''"
        ),
        Schema::Foo => {
            format!("i {integer} NOT NULL, k {integer} NOT NULL, l {integer} NOT NULL")
        }
    };
    let key = if dataset.primary_key {
        "PRIMARY KEY".to_owned()
    } else {
        format!("KEY {}", Dataset::KEY_INDEX)
    };
    let using = index_type(dataset.schema, engine);
    // MySQL 5.0 never ends an UPDATE that finds its row by a B-tree of a MEMORY table whose keys
    // may repeat.
    let key_using = if dataset.primary_key { using } else { "" };
    let second = match index {
        Index::WithRows => {
            let index = Dataset::secondary_index_name(table);
            format!(", KEY {index}{using} (k)")
        }
        Index::Afterwards => String::new(),
    };
    format!(
        "CREATE TABLE {name} ({columns}, {key}{key_using} ({column}){second}) ENGINE={engine}",
        column = dataset.schema.key_column(),
        engine = engine.sql_name()
    )
}

/// Makes the secondary index of table `table`, counted from 0.
pub(super) fn create_index(dataset: &Dataset, engine: Engine, table: u32) -> String {
    format!(
        "CREATE INDEX {index}{using} ON {name} (k)",
        index = Dataset::secondary_index_name(table),
        using = index_type(dataset.schema, engine),
        name = dataset.table_name(table)
    )
}

/// MEMORY hashes by default, which no range can be read from. Workloads over sbtest read ranges;
/// those over foo don't, and the study that it comes from had the default.
const fn index_type(schema: Schema, engine: Engine) -> &'static str {
    match (schema, engine) {
        (Schema::Sbtest | Schema::Sbtest04, Engine::Memory) => " USING BTREE",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SBTEST: Dataset = Dataset::sbtest(2, 10, 1);

    #[test]
    fn tables() {
        assert_eq!(
            create_table(&SBTEST, Engine::Innodb, 1, Index::Afterwards),
            "CREATE TABLE sbtest2 (id INTEGER NOT NULL AUTO_INCREMENT, \
             k INTEGER NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '', \
             pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id)) ENGINE=InnoDB"
        );
        let foo = Dataset {
            schema: Schema::Foo,
            rows: BIG_ROWS,
            primary_key: false,
            ..SBTEST
        };
        assert_eq!(
            create_table(&foo, Engine::Memory, 0, Index::WithRows),
            "CREATE TABLE foo1 (i BIGINT NOT NULL, k BIGINT NOT NULL, l BIGINT NOT NULL, \
             KEY xid (i), KEY k_1 (k)) ENGINE=MEMORY"
        );
    }

    #[test]
    fn only_memory_tables_that_ranges_are_read_from_name_a_kind_of_index() {
        let memory = create_table(&SBTEST, Engine::Memory, 0, Index::WithRows);
        let keys = "PRIMARY KEY USING BTREE (id), KEY k_1 USING BTREE (k)) ENGINE=MEMORY";
        assert!(memory.ends_with(keys), "{memory}");
        let keyless = Dataset {
            primary_key: false,
            ..SBTEST
        };
        let memory = create_table(&keyless, Engine::Memory, 0, Index::WithRows);
        assert!(
            memory.contains("KEY xid (id), KEY k_1 USING BTREE (k)"),
            "{memory}"
        );
        assert_eq!(
            create_index(&SBTEST, Engine::Memory, 0),
            "CREATE INDEX k_1 USING BTREE ON sbtest1 (k)"
        );
        assert_eq!(
            create_index(&SBTEST, Engine::Myisam, 0),
            "CREATE INDEX k_1 ON sbtest1 (k)"
        );
    }
}
