//! The statements that make a dataset's tables.

pub(super) mod postgres;

use prony_model::{Column, ColumnType, Dataset, Engine, Family, Schema, TableIndex};

use super::method::Index;

/// Makes table `table`, counted from 0, with its index on the key and, if wanted, the others.
pub(super) fn create_table(dataset: &Dataset, engine: Engine, table: u32, index: Index) -> String {
    if engine == Engine::Heap {
        return postgres::create_table(dataset, table, index);
    }
    let name = dataset.table_name(table);
    let schema = dataset.schema.definition();
    let columns: Vec<_> = schema
        .columns
        .iter()
        .map(|column| column_sql(dataset, column))
        .collect();
    let key = if dataset.primary_key {
        "PRIMARY KEY".to_owned()
    } else {
        format!("KEY {}", Dataset::KEY_INDEX)
    };
    let using = index_type(dataset.schema, engine);
    // MySQL 5.0 never ends an UPDATE that finds its row by a B-tree of a MEMORY table whose keys
    // may repeat.
    let key_using = if dataset.primary_key { using } else { "" };
    let others: Vec<_> = match index {
        Index::WithRows => dataset.secondary_indexes(table).collect(),
        Index::Afterwards | Index::AllAfterwards => Vec::new(),
    };
    let others: Vec<_> = others
        .iter()
        .map(|index| {
            let unique = if index.unique { "UNIQUE " } else { "" };
            format!(", {unique}KEY {}{using} ({})", index.name, names(index))
        })
        .collect();
    format!(
        "CREATE TABLE {name} ({columns}, {key}{key_using} ({column}){others}) ENGINE={engine}",
        columns = columns.join(", "),
        column = schema.key,
        others = others.concat(),
        engine = engine.sql_name()
    )
}

/// A column with its type as servers of MySQL know it.
fn column_sql(dataset: &Dataset, column: &Column) -> String {
    let kind = match column.kind {
        number if dataset.is_short(number) => "INTEGER".to_owned(),
        ColumnType::Number | ColumnType::Integer | ColumnType::Bigint => "BIGINT".to_owned(),
        ColumnType::Char(length) => format!("CHAR({length})"),
        ColumnType::Varchar(length) => format!("VARCHAR({length})"),
        ColumnType::Datetime => "DATETIME".to_owned(),
    };
    let schema = dataset.schema.definition();
    let counted = if schema.counted && column.name == schema.key {
        " AUTO_INCREMENT"
    } else {
        ""
    };
    let default = default_sql(column);
    format!("{} {kind} NOT NULL{counted}{default}", column.name)
}

/// The value of rows that are inserted without one.
fn default_sql(column: &Column) -> String {
    match &column.default {
        Some(default) if column.kind.is_number() => format!(" DEFAULT {default}"),
        Some(default) => format!(" DEFAULT '{default}'"),
        None => String::new(),
    }
}

/// Statements that make the indexes of table `table`, counted from 0, which were left for when all rows are
/// in. They can run at the same time.
pub(super) fn create_indexes(
    dataset: &Dataset,
    engine: Engine,
    table: u32,
    index: Index,
) -> Vec<String> {
    match engine {
        Engine::Heap => postgres::create_indexes(dataset, table, index),
        _ => vec![create_secondary_indexes(dataset, engine, table)],
    }
}

/// Makes the secondary indexes of a table, of which there is one at least, by one statement, so that old
/// versions copy the table once.
fn create_secondary_indexes(dataset: &Dataset, engine: Engine, table: u32) -> String {
    let name = dataset.table_name(table);
    let using = index_type(dataset.schema, engine);
    let unique = |index: &TableIndex| if index.unique { "UNIQUE " } else { "" };
    let indexes: Vec<_> = dataset.secondary_indexes(table).collect();
    if let [index] = &indexes[..] {
        let (unique, columns) = (unique(index), names(index));
        return format!(
            "CREATE {unique}INDEX {}{using} ON {name} ({columns})",
            index.name
        );
    }
    let added: Vec<_> = indexes
        .iter()
        .map(|index| {
            let (unique, columns) = (unique(index), names(index));
            format!("ADD {unique}INDEX {}{using} ({columns})", index.name)
        })
        .collect();
    format!("ALTER TABLE {name} {}", added.join(", "))
}

/// What makes the foreign keys of all tables, with a name of each for errors. Only InnoDB and PostgreSQL
/// have them, and only where the tables have their indexes.
pub(super) fn foreign_keys(dataset: &Dataset, engine: Engine) -> Vec<(String, String)> {
    let parts = dataset.parts();
    let mut statements = Vec::new();
    if !engine.keeps_foreign_keys() || !dataset.indexes {
        return statements;
    }
    for (set, part) in (0..dataset.tables).flat_map(|set| parts.iter().map(move |part| (set, part)))
    {
        let name = part.table_name(set);
        for foreign_key in &part.schema.foreign_keys {
            let mut others = parts.iter();
            let other = others.find(|other| other.schema.table_prefix == foreign_key.references);
            let Some(other) = other else { continue };
            let action = if foreign_key.cascade {
                " ON DELETE CASCADE"
            } else {
                ""
            };
            let sql = format!(
                "ALTER TABLE {name} ADD FOREIGN KEY ({}) REFERENCES {} ({}){action}",
                foreign_key.column,
                other.table_name(set),
                other.schema.key_column()
            );
            statements.push((
                format!("the foreign key of {name}.{}", foreign_key.column),
                sql,
            ));
        }
    }
    statements
}

/// What makes the procedures of all sets anew, with a name of each for errors.
pub(super) fn procedures(dataset: &Dataset, family: Family) -> Vec<(String, String)> {
    let mut statements = Vec::new();
    for set in 0..dataset.tables {
        for procedure in &dataset.schema.procedures {
            // Planning refuses servers that a procedure has no text for.
            let Some(sql) = procedure.sql.of(family) else {
                continue;
            };
            let name = format!("{}{}", procedure.name, set + 1);
            let sql = dataset.sql_of_set(sql, set);
            if family == Family::Postgresql {
                let made = format!("the function {name}");
                statements.push((made.clone(), postgres::drop_functions(&name)));
                statements.push((made, format!("CREATE FUNCTION {name} {sql}")));
                continue;
            }
            let made = format!("the procedure {name}, which servers before 5.0 don't have");
            statements.push((made.clone(), format!("DROP PROCEDURE IF EXISTS {name}")));
            statements.push((made, format!("CREATE PROCEDURE {name} {sql}")));
        }
    }
    statements
}

/// The columns of an index, with commas between them.
fn names(index: &TableIndex) -> String {
    let names: Vec<_> = index
        .columns
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    names.join(", ")
}

/// MEMORY hashes by default, which no range can be read from. Workloads over most schemas read
/// ranges; those over foo don't, and the study that it comes from had the default.
fn index_type(schema: Schema, engine: Engine) -> &'static str {
    if engine == Engine::Memory && !schema.hashed {
        " USING BTREE"
    } else {
        ""
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
            schema: Schema::FOO,
            rows: Dataset::BIG_ROWS,
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
    fn procedures_are_functions_in_postgresql() {
        let dataset = Dataset {
            schema: Schema::built_in("wholesale").unwrap(),
            ..SBTEST
        };
        let made = |family| {
            let statements = procedures(&dataset, family);
            // Two sets of six, each dropped and made.
            assert_eq!(statements.len(), 2 * 6 * 2);
            let texts = statements.into_iter().map(|(_, sql)| sql);
            texts.collect::<Vec<_>>()
        };
        let mysql = made(Family::Mysql);
        assert_eq!(mysql[12], "DROP PROCEDURE IF EXISTS new_order2");
        assert!(
            mysql[13].contains("PROCEDURE new_order2 (p_warehouse"),
            "{}",
            mysql[13]
        );
        let postgresql = made(Family::Postgresql);
        assert!(postgresql[12].contains("proname = 'new_order2'"));
        assert!(postgresql[13].starts_with("CREATE FUNCTION new_order2"));
        assert!(postgresql[13].contains("FROM districts2 WHERE id = v_district FOR UPDATE"));
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
            create_indexes(&SBTEST, Engine::Memory, 0, Index::Afterwards),
            ["CREATE INDEX k_1 USING BTREE ON sbtest1 (k)"]
        );
        assert_eq!(
            create_indexes(&SBTEST, Engine::Myisam, 0, Index::Afterwards),
            ["CREATE INDEX k_1 ON sbtest1 (k)"]
        );
    }
}
