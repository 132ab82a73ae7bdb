//! The statements of PostgreSQL that make a dataset's tables.

use prony_model::{Column, ColumnType, Dataset, TableIndex};

use super::{Index, default_sql, names};

/// Makes table `table`, counted from 0, with its index on the key and, if wanted, the others: several
/// statements in one text.
pub(super) fn create_table(dataset: &Dataset, table: u32, index: Index) -> String {
    let name = dataset.table_name(table);
    let schema = dataset.schema.definition();
    let mut columns: Vec<_> = schema
        .columns
        .iter()
        .map(|column| column_sql(dataset, column))
        .collect();
    let has_key = index != Index::AllAfterwards;
    if dataset.primary_key && has_key {
        columns.push(format!("PRIMARY KEY ({})", schema.key));
    }
    let mut sql = format!("CREATE TABLE {name} ({})", columns.join(", "));
    let mut indexes = Vec::new();
    if !dataset.primary_key && has_key {
        indexes.push(key_index(dataset, table));
    }
    if index == Index::WithRows {
        indexes.extend(index_statements(dataset, table));
    }
    for statement in indexes {
        sql.push_str("; ");
        sql.push_str(&statement);
    }
    sql
}

/// Statements that make the indexes of table `table` that were left out. An index of the key becomes the
/// primary key by [`primary_key`] when all are made: two indexes can be built at the same time, an index and
/// a primary key can't.
pub(super) fn create_indexes(dataset: &Dataset, table: u32, index: Index) -> Vec<String> {
    let key = (index == Index::AllAfterwards).then(|| key_index(dataset, table));
    key.into_iter()
        .chain(index_statements(dataset, table))
        .collect()
}

/// Makes the index of the key.
fn key_index(dataset: &Dataset, table: u32) -> String {
    let name = dataset.table_name(table);
    let key = &dataset.schema.definition().key;
    if dataset.primary_key {
        return format!("CREATE UNIQUE INDEX {name}_pkey ON {name} ({key})");
    }
    // Names of indexes are unique in a database.
    format!(
        "CREATE INDEX {}_{name} ON {name} ({key})",
        Dataset::KEY_INDEX
    )
}

/// Makes the unique index of the key the primary key, with the name that the server would give it.
pub(in crate::dataset::fill) fn primary_key(dataset: &Dataset, table: u32) -> Option<String> {
    let name = dataset.table_name(table);
    let add = format!("ALTER TABLE {name} ADD PRIMARY KEY USING INDEX {name}_pkey");
    dataset.primary_key.then_some(add)
}

fn index_statements(dataset: &Dataset, table: u32) -> impl Iterator<Item = String> {
    let name = dataset.table_name(table);
    dataset.secondary_indexes(table).map(move |index| {
        let unique = if index.unique { "UNIQUE " } else { "" };
        format!(
            "CREATE {unique}INDEX {} ON {name} ({})",
            index_name(&name, &index),
            names(&index)
        )
    })
}

/// The name of an index: its own where that has the number of the table, since names of indexes are
/// unique in a database.
fn index_name(table: &str, index: &TableIndex) -> String {
    let number = table.trim_start_matches(|c: char| !c.is_ascii_digit());
    if index.name.ends_with(number) {
        index.name.clone()
    } else {
        format!("{}_{table}", index.name)
    }
}

/// Counts the keys of rows that are inserted on from those that are there, where the server counts them.
pub(in crate::dataset::fill) fn count_on(dataset: &Dataset, table: u32) -> Option<String> {
    let schema = dataset.schema.definition();
    let (name, key) = (dataset.table_name(table), &schema.key);
    schema.counted.then(|| {
        format!(
            "SELECT SETVAL(PG_GET_SERIAL_SEQUENCE('{name}', '{key}'), \
             COALESCE(MAX({key}), 1), MAX({key}) IS NOT NULL) FROM {name}"
        )
    })
}

/// Drops all functions of this name: versions before 10 do so by name and types only.
pub(super) fn drop_functions(name: &str) -> String {
    format!(
        "DO $$ DECLARE found RECORD; BEGIN \
         FOR found IN SELECT oid::regprocedure AS name FROM pg_proc WHERE proname = '{name}' \
         AND pronamespace = current_schema()::regnamespace \
         LOOP EXECUTE 'DROP FUNCTION ' || found.name; END LOOP; END $$"
    )
}

fn column_sql(dataset: &Dataset, column: &Column) -> String {
    let schema = dataset.schema.definition();
    let counted = schema.counted && column.name == schema.key;
    let kind = match column.kind {
        ColumnType::Char(length) => format!("CHAR({length})"),
        ColumnType::Varchar(length) => format!("VARCHAR({length})"),
        ColumnType::Datetime => "TIMESTAMP(0)".to_owned(),
        number if dataset.is_short(number) && counted => "SERIAL".to_owned(),
        number if dataset.is_short(number) => "INTEGER".to_owned(),
        _ if counted => "BIGSERIAL".to_owned(),
        _ => "BIGINT".to_owned(),
    };
    let default = default_sql(column);
    format!("{} {kind} NOT NULL{default}", column.name)
}

#[cfg(test)]
mod tests {
    use prony_model::Schema;

    use super::*;

    const SBTEST: Dataset = Dataset::sbtest(2, 100, 1);

    #[test]
    fn tables_as_sysbench_makes_them() {
        assert_eq!(
            create_table(&SBTEST, 1, Index::Afterwards),
            "CREATE TABLE sbtest2 (id SERIAL NOT NULL, k INTEGER NOT NULL DEFAULT 0, \
             c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id))"
        );
        assert_eq!(
            create_indexes(&SBTEST, 1, Index::Afterwards),
            ["CREATE INDEX k_2 ON sbtest2 (k)"]
        );
    }

    #[test]
    fn the_index_of_the_key_can_come_last() {
        let table = create_table(&SBTEST, 0, Index::AllAfterwards);
        assert!(
            !table.contains("KEY") && !table.contains("INDEX"),
            "{table}"
        );
        assert_eq!(
            create_indexes(&SBTEST, 0, Index::AllAfterwards),
            [
                "CREATE UNIQUE INDEX sbtest1_pkey ON sbtest1 (id)",
                "CREATE INDEX k_1 ON sbtest1 (k)"
            ]
        );
        assert_eq!(
            primary_key(&SBTEST, 0).unwrap(),
            "ALTER TABLE sbtest1 ADD PRIMARY KEY USING INDEX sbtest1_pkey"
        );
        let keyless = Dataset {
            primary_key: false,
            ..SBTEST
        };
        let indexes = create_indexes(&keyless, 0, Index::AllAfterwards);
        assert_eq!(indexes[0], "CREATE INDEX xid_sbtest1 ON sbtest1 (id)");
        assert_eq!(primary_key(&keyless, 0), None);
    }

    #[test]
    fn names_of_indexes_are_unique() {
        let foo = Dataset {
            schema: Schema::FOO,
            primary_key: false,
            ..SBTEST
        };
        let sql = create_table(&foo, 0, Index::WithRows);
        assert!(sql.contains("; CREATE INDEX xid_foo1 ON foo1 (i)"), "{sql}");
        assert!(!sql.contains("PRIMARY"), "{sql}");
    }

    #[test]
    fn only_counted_keys_go_on() {
        let foo = Dataset {
            schema: Schema::FOO,
            ..SBTEST
        };
        assert_eq!(count_on(&foo, 0), None);
        assert!(count_on(&SBTEST, 0).is_some_and(|sql| sql.contains("'sbtest1', 'id'")));
    }
}
