//! Schemas in files: `[[schema]]` tables with their `[[schema.column]]` and `[[schema.index]]` tables.

pub(crate) mod column;

use prony_model::{Column, IndexDefinition, Schema, SchemaDefinition};

use crate::fields::{Fields, Located, Value, read_each, twice};
use crate::invalid::{Document, Problem, Read, Span};
use crate::suggest;

/// Reads the schemas of a file, none of which may have the name of one that comes with Prony.
pub(crate) fn read_all(fields: &mut Fields<'_>) -> Read<Vec<Schema>> {
    let document = fields.document();
    let tables = fields.tables("schema", "a schema")?;
    let schemas = read_each(tables, read)?;
    for (index, schema) in schemas.iter().enumerate() {
        let name = &schema.value.name;
        if Schema::built_in(name).is_some() {
            return Problem::new(format!("the name `{name}` is taken"))
                .at(&schema.span, "a schema that comes with Prony")
                .help("choose another name: reports and images know schemas by it")
                .fail(document);
        }
        let mut earlier = schemas[..index].iter();
        if let Some(first) = earlier.find(|other| other.value.name == *name) {
            let message = format!("two schemas are named `{name}`");
            return twice(message, &schema.span, &first.span)
                .help("give each its own name")
                .fail(document);
        }
    }
    let own = schemas.into_iter().map(|schema| Schema::own(schema.value));
    Ok(own.collect())
}

/// Reads the name of a schema: one of `own`, or one that comes with Prony.
pub(crate) fn named(value: Value<'_>, own: &[Schema]) -> Read<Located<Schema>> {
    let mut known: Vec<(&str, Schema)> = Vec::new();
    for schema in Schema::BUILT_IN.iter().chain(own) {
        if known.iter().all(|(name, _)| *name != schema.name()) {
            known.push((schema.name(), *schema));
        }
    }
    value.choice(&known)
}

/// Reads a schema, with the place of its name.
pub(crate) fn read(mut fields: Fields<'_>) -> Read<Located<SchemaDefinition>> {
    let document = fields.document();
    let name = fields.required("name", Value::name);
    let description = fields.optional("description", Value::text);
    let tables = fields.required("tables", identifier);
    let key = fields.required("key", identifier);
    let counted = fields.optional("counted", Value::located_flag);
    let index_first = fields.optional("index_first", Value::flag);
    let hashed = fields.optional("hashed", Value::flag);
    let columns = fields.tables("column", "a column");
    let indexes = fields.tables("index", "an index");
    let unknown = fields.finish();

    let columns = read_each(columns?, column::read)?;
    check_names(
        document,
        "columns",
        columns.iter().map(|c| (c.value.name.as_str(), &c.span)),
    )?;
    let (name, key, counted) = (name?, key?, counted?);
    check_key(document, &key, counted.as_ref(), &columns)?;
    let indexes = read_each(indexes?, |fields| read_index(fields, &columns))?;
    check_names(
        document,
        "indexes",
        indexes.iter().map(|i| (i.value.name.as_str(), &i.span)),
    )?;
    unknown?;
    Ok(Located {
        value: SchemaDefinition {
            name: name.value.to_owned(),
            description: description?.map_or_else(String::new, |text| text.value.to_owned()),
            table_prefix: tables?.value.to_owned(),
            key: key.value.to_owned(),
            counted: counted.is_some_and(|counted| counted.value),
            index_first: index_first?.unwrap_or(false),
            hashed: hashed?.unwrap_or(false),
            columns: columns.into_iter().map(|column| column.value).collect(),
            indexes: indexes.into_iter().map(|index| index.value).collect(),
        },
        span: name.span,
    })
}

/// A name that SQL takes without quotes, as far as its characters decide.
fn identifier(value: Value<'_>) -> Read<Located<&str>> {
    let document = value.document();
    let text = value.text()?;
    check_identifier(document, &text, text.value)?;
    Ok(text)
}

/// Most characters of a name of SQL, so that a number still fits behind it.
const IDENTIFIER_MAX: usize = 48;

fn check_identifier(document: &Document<'_>, text: &Located<&str>, name: &str) -> Read<()> {
    let is_word = name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= IDENTIFIER_MAX
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if is_word {
        return Ok(());
    }
    Problem::new(format!("`{}` can't be a name in SQL", text.value))
        .at(&text.span, "not a name")
        .help(format!(
            "such a name has small letters, digits and `_`, at most {IDENTIFIER_MAX} of them, and \
             begins with a letter: every server takes it without quotes"
        ))
        .fail(document)
}

fn check_names<'a>(
    document: &Document<'_>,
    noun: &str,
    names: impl Iterator<Item = (&'a str, &'a Span)>,
) -> Read<()> {
    let mut seen: Vec<(&str, &Span)> = Vec::new();
    for (name, span) in names {
        if let Some((_, first)) = seen.iter().find(|(other, _)| *other == name) {
            return twice(format!("two {noun} are named `{name}`"), span, first)
                .help("give each its own name")
                .fail(document);
        }
        seen.push((name, span));
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
