//! Schemas in files: `[[schema]]` with what is in it.

pub(crate) mod column;
pub(crate) mod sets;
mod table;

use prony_model::{Schema, SchemaDefinition};

use crate::fields::{Fields, Located, Value, read_each, twice};
use crate::invalid::{Document, Problem, Read, Span};

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
    for schema in Schema::all_built_in().chain(own.iter().copied()) {
        if known.iter().all(|(name, _)| *name != schema.name()) {
            known.push((schema.name(), schema));
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
    let index_first = fields.optional("index_first", Value::flag);
    let hashed = fields.optional("hashed", Value::flag);
    let further = fields.tables("table", "a further table");
    let procedures = fields.tables("procedure", "a procedure");
    let conditions = fields.tables("condition", "a condition");
    let main = table::read(&mut fields);
    let unknown = fields.finish();

    let further = read_each(further?, table::read_further)?;
    let (name, tables, main) = (name?, tables?, main?);
    table::check_foreign_keys(document, &tables, &main, &further)?;
    let procedures = read_each(procedures?, sets::read_procedure)?;
    let conditions = read_each(conditions?, sets::read_condition)?;
    unknown?;
    let schema = Located {
        value: SchemaDefinition {
            name: name.value.to_owned(),
            description: description?.map_or_else(String::new, |text| text.value.to_owned()),
            table_prefix: tables.value.to_owned(),
            key: main.key,
            counted: main.counted,
            index_first: index_first?.unwrap_or(false),
            hashed: hashed?.unwrap_or(false),
            columns: main.columns,
            indexes: main.indexes,
            foreign_keys: values(&main.foreign_keys),
            further: further
                .into_iter()
                .map(table::Further::into_model)
                .collect(),
            procedures: procedures.iter().map(|p| p.value.clone()).collect(),
            conditions: conditions.iter().map(|c| c.value.clone()).collect(),
        },
        span: name.span,
    };
    sets::check(document, &tables, &schema.value, &procedures, &conditions)?;
    Ok(schema)
}

fn values<T: Clone>(located: &[Located<T>]) -> Vec<T> {
    located.iter().map(|part| part.value.clone()).collect()
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
