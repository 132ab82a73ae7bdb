//! One `[[workload.statement]]`.

use prony_model::{Expr, Param, Piece, RowList, Schema, SqlTemplate, Statement, TableChoice};

use super::param::{Kind, Uses, read_expr};
use super::{change, expect, param};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read, Span};
use crate::schema::sets;
use crate::sql::WrittenSql;
use crate::{sql, suggest};

/// What the holes of a statement stand for.
const HOLES: &str = "a hole is a parameter's name in braces, such as {id}, or {ids:list} for a list; \
     {table} is the table";

/// Names that the load generator gives to what it counts beside a workload's statements.
const TAKEN: [&str; 3] = ["begin", "commit", "connect"];

/// Most repetitions in one operation.
const REPEAT_MAX: i64 = 1_000_000;

/// Largest share of a statement in a mix.
const WEIGHT_MAX: i64 = 1_000_000;

/// Facts against which a statement is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Names that expressions can use.
    pub(super) constants: &'a [&'a str],
    pub(super) schema: Schema,
    /// The statement before, if there is one and it could be read.
    pub(super) before: Option<Read<&'a Statement>>,
}

/// Reads a statement, with the place of its name.
pub(super) fn read<'a>(
    mut fields: Fields<'a>,
    around: Surroundings<'_>,
) -> Read<(Located<&'a str>, Statement)> {
    let document = fields.document();
    let place = fields.span();
    let name = fields.required("name", read_name);
    let sql = fields.required("sql", |value| sql::read(value, HOLES));
    let row = fields.optional("row", |value| read_row(value, around.constants));
    let repeat = fields.optional("repeat", |value| value.count(1..=REPEAT_MAX));
    let table = fields.optional("table", |value| value.choice(&TableChoice::NAMED));
    let taken_over = match &table {
        Ok(Some(table)) if table.value == TableChoice::Previous => {
            taken_over(document, &table.span, around.before)
        }
        _ => Ok(Vec::new()),
    };
    let known = taken_over.as_deref().unwrap_or_default();
    let params = fields.optional("params", |value| {
        param::read_all(value, around.constants, known)
    });
    let expect = fields.optional("expect", |value| expect::read(value, around.constants));
    let change = fields.optional("change", |value| change::read(value, around.schema));
    let weight = fields.optional("weight", |value| value.count(1..=WEIGHT_MAX));
    let unknown = fields.finish();

    let (sql, own, mut params) = (sql?, params?.unwrap_or_default(), taken_over?);
    params.extend(own.iter().map(|param| param.value.clone()));
    let row = row?;
    let of_row = row.as_ref().map(|row| &row.sql);
    for text in sql.texts.iter().chain(of_row) {
        check_holes(document, text, &params, around.schema)?;
    }
    check_row(document, &sql, row.as_ref())?;
    let texts = sql.texts.iter().chain(of_row);
    let holes: Vec<_> = texts.flat_map(|text| text.value.params()).collect();
    param::check_used(document, &own, &holes)?;
    unknown?;
    let (repeat, table) = (repeat?, table?.map(|table| table.value));
    if table == Some(TableChoice::Previous) {
        check_previous(document, &place, &sql, repeat.as_ref(), of_row)?;
    }
    if let Some(param) = own.iter().find(|param| {
        let mut names = param.value.generator.names();
        names.any(|name| Statement::MARKS.contains(&name))
    }) {
        check_marks(document, param, &sql, around.schema)?;
    }
    let weight = weight?;
    if let Some(weight) = &weight {
        check_drawn(document, weight, repeat.as_ref(), table)?;
    }

    let expect = expect?.unwrap_or_default();
    let name = name?;
    let statement = Statement {
        name: name.value.to_owned(),
        sql: sql.sql,
        row: row.map(|row| RowList {
            sql: row.sql.value,
            count: row.count,
        }),
        repeat: repeat.map_or(1, |repeat| repeat.value),
        table: table.unwrap_or(TableChoice::Random),
        params,
        expect: expect.counts,
        expect_rows: expect.rows,
        expect_affected: expect.affected,
        change: change?.unwrap_or_default(),
        weight: weight.map(|weight| weight.value),
    };
    Ok((name, statement))
}

/// The rows of a statement, as written.
struct WrittenRow {
    sql: Located<SqlTemplate>,
    count: Expr,
}

fn read_row(value: Value<'_>, constants: &[&str]) -> Read<WrittenRow> {
    let document = value.document();
    let mut fields = value.table("a row")?;
    let sql = fields.required("sql", |value| sql::read_text(value, HOLES));
    let scope = param::Scope {
        constants,
        earlier: Vec::new(),
    };
    let count = fields.required("count", |value| {
        read_expr(&value.text_or_integer()?, document, &scope, Uses::Constants)
    });
    fields.finish()?;
    let row = WrittenRow {
        sql: sql?,
        count: count?,
    };
    let mut pieces = row.sql.value.pieces().iter();
    if let Some(piece) = pieces.find(|piece| piece.is_name() || **piece == Piece::Rows) {
        let hole = &piece.to_string();
        return Problem::new(format!("a row can't have {hole} in it"))
            .at(
                &document.within(&row.sql.span, hole),
                "belongs into `sql` of the statement",
            )
            .help("write the values of one row, such as sql = \"({k}, {c})\"")
            .fail(document);
    }
    Ok(row)
}

/// Checks that rows have a place, and a place has its rows.
fn check_row(document: &Document<'_>, sql: &WrittenSql, row: Option<&WrittenRow>) -> Read<()> {
    let mut texts = sql.texts.iter();
    texts.try_for_each(|text| check_row_of(document, text, row))
}

fn check_row_of(
    document: &Document<'_>,
    sql: &Located<SqlTemplate>,
    row: Option<&WrittenRow>,
) -> Read<()> {
    let places = sql.value.pieces().iter().filter(|p| **p == Piece::Rows);
    match (places.count(), row) {
        (0, None) | (1, Some(_)) => Ok(()),
        (0, Some(row)) => Problem::new("the rows have no place in the statement")
            .at(&row.sql.span, "never sent")
            .at(&sql.span, "no {row:list} in it")
            .help("write {row:list} where the rows are to stand, with commas between them")
            .fail(document),
        (_, None) => Problem::new("`{row:list}` needs `row`")
            .at(&document.within(&sql.span, "{row:list}"), "which rows?")
            .help("add row = { sql = \"({k}, {c})\", count = 50 } below the statement")
            .fail(document),
        (_, Some(_)) => Problem::new("the rows have several places in the statement")
            .at(&sql.span, "more than one {row:list}")
            .help("write {row:list} once")
            .fail(document),
    }
}

/// The parameters that a statement has from the one before.
fn taken_over(
    document: &Document<'_>,
    place: &Span,
    before: Option<Read<&Statement>>,
) -> Read<Vec<Param>> {
    match before {
        Some(Ok(before)) if before.row.is_some() => {
            Problem::new("the statement before this one has many values of each parameter")
                .at(place, "which of its rows?")
                .help("its values are made for each of its rows: write \"random\" or \"by-client\"")
                .fail(document)
        }
        Some(before) => before.map(|before| before.params.clone()),
        None => Problem::new("there is no statement before this one")
            .at(place, "which table?")
            .help(
                "\"previous\" is the table of the statement above, with its values: write \
                     \"random\" or \"by-client\" in the first",
            )
            .fail(document),
    }
}

/// Checks that a statement whose parameter uses the marks of its table has one, with keys that are
/// numbers.
fn check_marks(
    document: &Document<'_>,
    param: &Located<Param>,
    sql: &WrittenSql,
    schema: Schema,
) -> Read<()> {
    let name = &param.value.name;
    let mut texts = sql.texts.iter();
    if let Some(text) = texts.find(|text| !text.value.pieces().contains(&Piece::Table)) {
        return Problem::new(format!("`{name}` needs the keys of a table"))
            .at(&text.span, "no {table} in it")
            .help("write {table} in `sql`, or another range")
            .fail(document);
    }
    if !schema.numbers().any(|column| column.name == schema.key) {
        return Problem::new(format!("`{name}` needs keys that are numbers"))
            .at(&param.span, "computes with them")
            .help(format!(
                "`{}` of {} is a text: draw its number from another range",
                schema.key,
                schema.name()
            ))
            .fail(document);
    }
    Ok(())
}

/// Checks what only statements need that go to the table of the one before.
fn check_previous(
    document: &Document<'_>,
    place: &Span,
    sql: &WrittenSql,
    repeat: Option<&Located<u32>>,
    row: Option<&Located<SqlTemplate>>,
) -> Read<()> {
    if let Some(row) = row {
        return Problem::new("a statement with the values of the one before has no rows")
            .at(&row.span, "would have the same values in all of them")
            .help("remove `row`, or `table`")
            .fail(document);
    }
    if let Some(repeat) = repeat.filter(|repeat| repeat.value != 1) {
        return Problem::new("a statement with the values of the one before can't be repeated")
            .at(&repeat.span, "would send the same again")
            .help("remove `repeat`")
            .fail(document);
    }
    let mut texts = sql.texts.iter();
    if let Some(text) = texts.find(|text| !text.value.names_tables()) {
        return Problem::new("the statement names no table")
            .at(&text.span, "no {table} in it")
            .at(place, "goes to the table of the statement before")
            .help("write {table} in `sql`, or remove `table`")
            .fail(document);
    }
    Ok(())
}

/// Checks that a statement which an operation may leave out can stand alone.
fn check_drawn(
    document: &Document<'_>,
    weight: &Located<u32>,
    repeat: Option<&Located<u32>>,
    table: Option<TableChoice>,
) -> Read<()> {
    if let Some(repeat) = repeat.filter(|repeat| repeat.value != 1) {
        return Problem::new("an operation of a mix runs one statement, once")
            .at(&repeat.span, "several times")
            .at(&weight.span, "drawn by weight")
            .help("remove `repeat`; a higher `weight` makes the statement more frequent")
            .fail(document);
    }
    if table == Some(TableChoice::Previous) {
        return Problem::new("an operation of a mix has no statement before the one that is drawn")
            .at(&weight.span, "drawn by weight")
            .help("remove `table = \"previous\"`, or the weights")
            .fail(document);
    }
    Ok(())
}

fn read_name(value: Value<'_>) -> Read<Located<&str>> {
    let document = value.document();
    let name = value.name()?;
    if TAKEN.contains(&name.value) {
        return Problem::new(format!("the name `{}` is reserved", name.value))
            .at(&name.span, "taken")
            .help(
                "statements around transactions and connections have this name: choose another one",
            )
            .fail(document);
    }
    Ok(name)
}

/// Checks that every hole has its parameter or is a name of the schema, and that lists and single values are where they
/// belong.
fn check_holes(
    document: &Document<'_>,
    sql: &Located<SqlTemplate>,
    params: &[Param],
    schema: Schema,
) -> Read<()> {
    let mut outcome = Ok(());
    for piece in sql.value.pieces() {
        let (name, is_list) = match piece {
            Piece::Param(name) => (name, false),
            Piece::List(name) => (name, true),
            Piece::Further(_) | Piece::Procedure(_) => {
                sets::check_piece(document, schema, piece, &sql.span)?;
                continue;
            }
            Piece::Text(_) | Piece::Table | Piece::Rows => continue,
        };
        let param = params.iter().find(|param| param.name == *name);
        let problem = match param.map(|param| Kind::of(&param.generator)) {
            None => undefined(name, is_list, params),
            Some(Kind::List) if !is_list => {
                Problem::new(format!("`{name}` is a list, and this hole takes one value"))
                    .help(format!("write {{{name}:list}}, or remove its `count`"))
            }
            Some(Kind::Number | Kind::Text) if is_list => {
                Problem::new(format!("`{name}` is one value, and this hole takes a list"))
                    .help(format!("write {{{name}}}, or give it a `count`"))
            }
            Some(_) => continue,
        };
        let hole = if is_list {
            format!("{{{name}:list}}")
        } else {
            format!("{{{name}}}")
        };
        let label = param.map_or("no value for this hole", |_| "does not fit");
        let place = document.within(&sql.span, &hole);
        outcome = problem.at(&place, label).fail(document);
    }
    outcome
}

fn undefined(hole: &str, is_list: bool, params: &[Param]) -> Problem {
    let known: Vec<_> = params.iter().map(|param| param.name.as_str()).collect();
    let count = if is_list { ", count = 10" } else { "" };
    Problem::new(format!("the parameter `{hole}` is not defined")).help(format!(
        "{}\nadd params.{hole} = {{ from = \"1..rows\"{count} }} below the statement",
        suggest::help(hole, "params of this statement", &known)
    ))
}
