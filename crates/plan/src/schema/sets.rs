//! What a schema says of a whole set of tables: names, procedures and conditions.

use prony_model::{Condition, Piece, Procedure, Schema, SchemaDefinition, SqlTemplate};

use super::{check_names, identifier};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::{sql, suggest};

/// What the holes of a procedure or condition stand for.
const HOLES: &str = "{table} is the main table, {table:name} a further one";

/// A procedure or a condition, with the places of its texts.
pub(super) struct Written<T> {
    pub(super) value: T,
    texts: Vec<Located<SqlTemplate>>,
}

/// Reads a `[[schema.procedure]]`.
pub(super) fn read_procedure(mut fields: Fields<'_>) -> Read<Written<Procedure>> {
    let name = fields.required("name", identifier);
    let sql = fields.required("sql", |value| sql::read(value, HOLES));
    fields.finish()?;
    let (name, sql) = (name?, sql?);
    Ok(Written {
        value: Procedure {
            name: name.value.to_owned(),
            sql: sql.sql,
        },
        texts: sql.texts,
    })
}

/// Reads a `[[schema.condition]]`.
pub(super) fn read_condition(mut fields: Fields<'_>) -> Read<Written<Condition>> {
    let name = fields.required("name", Value::name);
    let sql = fields.required("sql", |value| sql::read(value, HOLES));
    fields.finish()?;
    let (name, sql) = (name?, sql?);
    Ok(Written {
        value: Condition {
            name: name.value.to_owned(),
            sql: sql.sql,
        },
        texts: sql.texts,
    })
}

/// Checks the names of a set of tables, and those that procedures and conditions use.
pub(super) fn check(
    document: &Document<'_>,
    tables: &Located<&str>,
    definition: &SchemaDefinition,
    procedures: &[Written<Procedure>],
    conditions: &[Written<Condition>],
) -> Read<()> {
    let further = definition.further.iter().map(|table| table.name.as_str());
    let made = definition.procedures.iter().map(|p| p.name.as_str());
    let names = std::iter::once(tables.value).chain(further).chain(made);
    let places: Vec<(&str, _)> = names.map(|name| (name, &tables.span)).collect();
    check_names(document, "tables or procedures", places.iter().copied())?;
    let has_further = places.len() > 1;
    if let Some((name, _)) = places.iter().find(|(name, _)| {
        has_further && (name.ends_with(|c: char| c.is_ascii_digit()) || *name == "list")
    }) {
        return Problem::new(format!(
            "`{name}` can't be the name of one of several tables"
        ))
        .at(&tables.span, "in this schema")
        .help("a number follows each name: choose one that ends with a letter, other than `list`")
        .fail(document);
    }
    let schema = Schema::own(definition.clone());
    let of_procedures = procedures.iter().flat_map(|procedure| &procedure.texts);
    let of_conditions = conditions.iter().flat_map(|condition| &condition.texts);
    for text in of_procedures.chain(of_conditions) {
        for piece in text.value.pieces() {
            if matches!(piece, Piece::Text(_)) {
                continue;
            }
            check_piece(document, schema, piece, &text.span)?;
        }
    }
    Ok(())
}

/// Checks that a hole is the name of a table or a procedure of the schema.
pub(crate) fn check_piece(
    document: &Document<'_>,
    schema: Schema,
    piece: &Piece,
    span: &std::ops::Range<usize>,
) -> Read<()> {
    if schema.place(piece).is_some() {
        return Ok(());
    }
    let (written, noun, known): (&str, &str, Vec<&str>) = match piece {
        Piece::Procedure(name) => {
            let known = schema.procedures.iter().map(|p| p.name.as_str());
            (name, "procedure", known.collect())
        }
        Piece::Further(name) => {
            let known = schema.further.iter().map(|table| table.name.as_str());
            (name, "table", known.collect())
        }
        Piece::Param(_) | Piece::List(_) | Piece::Rows => {
            let hole = piece.to_string();
            return Problem::new(format!("`{hole}` has no value here"))
                .at(&document.within(span, &hole), "not the name of a table")
                .help("only {table}, {table:name} and {procedure:name} can stand in it")
                .fail(document);
        }
        _ => return Ok(()),
    };
    let problem = Problem::new(format!(
        "`{}` has no further {noun} `{written}`",
        schema.name()
    ))
    .at(&document.within(span, written), format!("no such {noun}"));
    let help = if known.is_empty() {
        format!("add one to the schema with [[schema.{noun}]]")
    } else {
        suggest::help(written, &format!("{noun}s of the schema"), &known)
    };
    problem.help(help).fail(document)
}
