//! What a main table and the further ones have alike: key, columns, indexes and foreign keys.

use prony_model::{Column, Expr, ForeignKey, FurtherTable, IndexDefinition};

use super::{check_identifier, check_names, column, identifier, values};
use crate::fields::{Fields, Located, Value, read_each, unknown};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

/// A table as written.
pub(super) struct Table {
    pub(super) key: String,
    pub(super) counted: bool,
    pub(super) columns: Vec<Column>,
    pub(super) indexes: Vec<IndexDefinition>,
    pub(super) foreign_keys: Vec<Located<ForeignKey>>,
}

/// A further table as written.
pub(super) struct Further {
    name: String,
    rows: Expr,
    table: Table,
}

impl Further {
    pub(super) fn into_model(self) -> FurtherTable {
        let Table {
            key,
            counted,
            columns,
            indexes,
            foreign_keys,
        } = self.table;
        FurtherTable {
            name: self.name,
            rows: self.rows,
            key,
            counted,
            columns,
            indexes,
            foreign_keys: values(&foreign_keys),
        }
    }
}

/// Reads what all tables have; other keys of `fields` stay for its owner.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<Table> {
    let document = fields.document();
    let key = fields.required("key", identifier);
    let counted = fields.optional("counted", Value::located_flag);
    let columns = fields.tables("column", "a column");
    let indexes = fields.tables("index", "an index");
    let foreign_keys = fields.tables("foreign_key", "a foreign key");

    let columns = read_each(columns?, column::read)?;
    check_names(
        document,
        "columns",
        columns.iter().map(|c| (c.value.name.as_str(), &c.span)),
    )?;
    let (key, counted) = (key?, counted?);
    check_key(document, &key, counted.as_ref(), &columns)?;
    let indexes = read_each(indexes?, |fields| read_index(fields, &columns))?;
    check_names(
        document,
        "indexes",
        indexes.iter().map(|i| (i.value.name.as_str(), &i.span)),
    )?;
    let foreign_keys = read_each(foreign_keys?, |fields| read_foreign_key(fields, &columns))?;
    Ok(Table {
        key: key.value.to_owned(),
        counted: counted.is_some_and(|counted| counted.value),
        columns: columns.into_iter().map(|column| column.value).collect(),
        indexes: indexes.into_iter().map(|index| index.value).collect(),
        foreign_keys,
    })
}

/// Reads a `[[schema.table]]`.
pub(super) fn read_further(mut fields: Fields<'_>) -> Read<Further> {
    let name = fields.required("name", identifier);
    let rows = fields.required("rows", |value| {
        column::read_expr(&value, &["rows", "tables"])
    });
    let table = read(&mut fields);
    fields.finish()?;
    Ok(Further {
        name: name?.value.to_owned(),
        rows: rows?,
        table: table?,
    })
}

/// Reads a `[[schema.foreign_key]]`. Whether the other table is there is not known yet.
fn read_foreign_key(
    mut fields: Fields<'_>,
    columns: &[Located<Column>],
) -> Read<Located<ForeignKey>> {
    let document = fields.document();
    let column = fields.required("column", Value::text);
    let references = fields.required("references", Value::text);
    let cascade = fields.optional("cascade", Value::flag);
    fields.finish()?;
    let (column, references) = (column?, references?);
    if !columns.iter().any(|known| known.value.name == column.value) {
        return unknown_column(document, &column, columns);
    }
    Ok(Located {
        value: ForeignKey {
            column: column.value.to_owned(),
            references: references.value.to_owned(),
            cascade: cascade?.unwrap_or(false),
        },
        span: references.span,
    })
}

/// Checks that foreign keys refer to tables of the schema, and have the type of the keys there.
pub(super) fn check_foreign_keys(
    document: &Document<'_>,
    tables: &Located<&str>,
    main: &Table,
    further: &[Further],
) -> Read<()> {
    let others = further
        .iter()
        .map(|other| (other.name.as_str(), &other.table));
    let all: Vec<(&str, &Table)> = std::iter::once((tables.value, main))
        .chain(others)
        .collect();
    for (_, table) in &all {
        for foreign_key in &table.foreign_keys {
            let written = Located {
                value: foreign_key.value.references.as_str(),
                span: foreign_key.span.clone(),
            };
            let Some((_, other)) = all.iter().find(|(name, _)| *name == written.value) else {
                let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
                return unknown("table", &written, &names).fail(document);
            };
            let column = &foreign_key.value.column;
            let mine = table.columns.iter().find(|own| own.name == *column);
            let (Some(mine), Some(key)) = (mine, other.columns.first()) else {
                continue;
            };
            if mine.kind != key.kind {
                return Problem::new(format!(
                    "`{column}` is a {}, and the key of {} is a {}",
                    mine.kind, written.value, key.kind
                ))
                .at(&written.span, "refers to that key")
                .help("give both columns the same type")
                .fail(document);
            }
        }
    }
    Ok(())
}

/// Checks that the key is the first column, whose values follow each other as the rows do.
fn check_key(
    document: &Document<'_>,
    key: &Located<&str>,
    counted: Option<&Located<bool>>,
    columns: &[Located<Column>],
) -> Read<()> {
    let Some(first) = columns.first() else {
        return Problem::new("a schema needs at least one column")
            .at(&key.span, "no such column")
            .help("write [[schema.column]] with `name`, `type` and a rule for its values")
            .fail(document);
    };
    if first.value.name != key.value {
        if !columns.iter().any(|column| column.value.name == key.value) {
            return unknown_column(document, key, columns);
        }
        return Problem::new(format!("the key `{}` is not the first column", key.value))
            .at(&first.span, "this one is")
            .help("write its [[schema.column]] before the others")
            .fail(document);
    }
    if !column::is_key(&first.value) {
        return Problem::new(format!(
            "the values of the key `{}` are not those of a key",
            key.value
        ))
        .at(&first.span, "must follow from the row")
        .help(
            "write value = \"row\"; a key of text has `text` beside it, such as \
                 text = \"user{number:12}\"",
        )
        .fail(document);
    }
    match counted {
        Some(counted) if counted.value && !first.value.kind.is_number() => {
            Problem::new(format!("the server can't count the key `{}`", key.value))
                .at(&counted.span, "for keys of numbers")
                .help("remove `counted`")
                .fail(document)
        }
        _ => Ok(()),
    }
}

fn unknown_column<T>(
    document: &Document<'_>,
    name: &Located<&str>,
    columns: &[Located<Column>],
) -> Read<T> {
    let known: Vec<_> = columns
        .iter()
        .map(|column| column.value.name.as_str())
        .collect();
    Problem::new(format!("unknown column `{}`", name.value))
        .at(&name.span, "no such column")
        .help(suggest::help(name.value, "columns", &known))
        .fail(document)
}

/// Bytes of an index that every server takes in every engine, with characters of one byte.
const INDEX_BYTES_MAX: u64 = 1000;
/// The same of one column of it.
const INDEX_COLUMN_BYTES_MAX: u64 = 767;

fn read_index(
    mut fields: Fields<'_>,
    columns: &[Located<Column>],
) -> Read<Located<IndexDefinition>> {
    let document = fields.document();
    let span = fields.span();
    let name = fields.required("name", |value| {
        let text = value.text()?;
        check_identifier(document, &text, &text.value.replace("{number}", "1"))?;
        Ok(text)
    });
    let named = fields.required("columns", |value| {
        let document = value.document();
        let span = value.span();
        let names = read_each(value.list()?, |value| {
            let name = value.text()?;
            if columns.iter().any(|column| column.value.name == name.value) {
                return Ok(name);
            }
            unknown_column(document, &name, columns)
        })?;
        if names.is_empty() {
            return Problem::new("an index needs at least one column")
                .at(&span, "no column")
                .fail(document);
        }
        check_names(
            document,
            "columns of an index",
            names.iter().map(|n| (n.value, &n.span)),
        )?;
        Ok(names)
    });
    let unique = fields.optional("unique", Value::located_flag);
    fields.finish()?;
    let (name, named, unique) = (name?, named?, unique?);
    let of = |name: &Located<&str>| {
        columns
            .iter()
            .find(|column| column.value.name == name.value)
    };
    check_length(document, &named, of)?;
    let is_unique = unique.is_some_and(|unique| unique.value);
    let fills = |name: &Located<&str>| of(name).is_some_and(|c| c.value.value.is_unique());
    if is_unique && !named.iter().any(fills) {
        return Problem::new(format!("nothing fills the unique index `{}`", name.value))
            .at(&span, "rows may have the same values")
            .help(
                "give one of its columns values that differ in all rows: value = \"row\", or \
                 distribution = \"unique\" beside `from`",
            )
            .fail(document);
    }
    Ok(Located {
        value: IndexDefinition {
            name: name.value.to_owned(),
            columns: named.iter().map(|name| name.value.to_owned()).collect(),
            unique: is_unique,
        },
        span: name.span,
    })
}

/// Checks that all servers take an index, whatever their version.
fn check_length<'a>(
    document: &Document<'_>,
    names: &[Located<&str>],
    of: impl Fn(&Located<&str>) -> Option<&'a Located<Column>>,
) -> Read<()> {
    let mut sum = 0;
    for name in names {
        let Some(column) = of(name) else { continue };
        let bytes = match column.value.kind.characters() {
            Some(characters) => u64::from(characters),
            None => column.value.value_bytes(),
        };
        sum += bytes;
        let problem = if bytes > INDEX_COLUMN_BYTES_MAX {
            format!(
                "a column of an index has at most {INDEX_COLUMN_BYTES_MAX} bytes in InnoDB before 5.7"
            )
        } else if sum > INDEX_BYTES_MAX {
            format!("an index has at most {INDEX_BYTES_MAX} bytes in MyISAM")
        } else {
            continue;
        };
        return Problem::new(problem)
            .at(&name.span, format!("a {}", column.value.kind))
            .help("make the text shorter, or leave it out of the index")
            .fail(document);
    }
    Ok(())
}
