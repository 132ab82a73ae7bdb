//! One `[[workload.statement]]`.

use prony_model::{Change, SqlTemplate, Statement, TableChoice};

use super::{expect, param};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::suggest;

const TABLES: [(&str, TableChoice); 2] = [
    ("random", TableChoice::Random),
    ("by-client", TableChoice::ByClient),
];

/// Names that the load generator gives to the statements around a transaction.
const TAKEN: [&str; 2] = ["begin", "commit"];

/// Most repetitions in one operation.
const REPEAT_MAX: i64 = 1_000_000;

/// Reads a statement, with the place of its name. `constants` are the names that expressions can
/// use.
pub(super) fn read<'a>(
    mut fields: Fields<'a>,
    constants: &[&str],
) -> Read<(Located<&'a str>, Statement)> {
    let document = fields.document();
    let name = fields.required("name", read_name);
    let sql = fields.required("sql", read_sql);
    let repeat = fields.optional("repeat", |value| value.count(1..=REPEAT_MAX));
    let table = fields.optional("table", |value| value.choice(&TABLES));
    let params = fields.optional("params", |value| param::read_all(value, constants));
    let expect = fields.optional("expect", |value| expect::read(value, constants));
    let unknown = fields.finish();

    let (sql, params) = (sql?, params?.unwrap_or_default());
    check_holes(document, &sql, &params)?;
    let holes: Vec<_> = sql.value.params().collect();
    param::check_used(document, &params, &holes)?;
    unknown?;

    let (expect, expect_rows) = expect?.unwrap_or_default();
    let name = name?;
    let statement = Statement {
        name: name.value.to_owned(),
        sql: sql.value,
        repeat: repeat?.map_or(1, |repeat| repeat.value),
        table: table?.map_or(TableChoice::Random, |table| table.value),
        params: params.into_iter().map(|param| param.value).collect(),
        expect,
        expect_rows,
        expect_affected: None,
        change: Change::default(),
    };
    Ok((name, statement))
}

fn read_name(value: Value<'_>) -> Read<Located<&str>> {
    let document = value.document();
    let name = value.name()?;
    if TAKEN.contains(&name.value) {
        return Err(document.report(
            Problem::new(format!("`{}` already has a meaning", name.value))
                .at(&name.span, "taken")
                .help("the statements around a transaction have this name: choose another one"),
        ));
    }
    Ok(name)
}

fn read_sql(value: Value<'_>) -> Read<Located<SqlTemplate>> {
    let document = value.document();
    let text = value.text()?;
    let problem = match text.value.parse() {
        Ok(sql) => return Ok(text.map(|_| sql)),
        Err(_) if text.value.contains(":list}") => {
            Problem::new("in-lists are not available yet").help("for now, compare with one value")
        }
        Err(error) => Problem::new(format!("{error}"))
            .help("a hole is a parameter's name in braces, such as {id}; {table} is the table"),
    };
    Err(document.report(problem.at(&text.span, "this statement")))
}

/// Checks that every hole has its parameter.
fn check_holes(
    document: &Document<'_>,
    sql: &Located<SqlTemplate>,
    params: &[Located<prony_model::Param>],
) -> Read<()> {
    let known: Vec<_> = params
        .iter()
        .map(|param| param.value.name.as_str())
        .collect();
    let mut outcome = Ok(());
    for hole in sql.value.params().filter(|hole| !known.contains(hole)) {
        let place = document.within(&sql.span, &format!("{{{hole}}}"));
        outcome = Err(document.report(
            Problem::new(format!("the parameter `{hole}` is not defined"))
                .at(&place, "no value for this hole")
                .help(format!(
                    "{}\nadd params.{hole} = {{ from = \"1..rows\" }} below the statement",
                    suggest::help(hole, "params of this statement", &known)
                )),
        ));
    }
    outcome
}
