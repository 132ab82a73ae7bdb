//! Workload files: `[[workload]]` tables with their `[[workload.statement]]` tables.

mod change;
pub(crate) mod distribution;
mod expect;
mod param;
mod statement;

use std::collections::BTreeMap;

use prony_model::{Change, Display, Effect, Expr, Group, Schema, Statement, Workload};

use self::param::{Scope, Uses, read_expr};
use crate::fields::{Fields, Located, Value, read_each, twice};
use crate::invalid::{Document, Invalid, Problem, Read, Span, read_toml};
use crate::schema;

/// Names with a value in every workload.
const BUILT_IN: [&str; 2] = ["rows", "tables"];

/// Bounds of the workloads' parameters, so that sums of them fit 64 bits.
pub(crate) const PARAMETER_MAX: i64 = 1_000_000_000_000;

/// A workload in its file.
struct Found {
    /// Start of its table.
    start: usize,
    /// Place of its name.
    name: Span,
    workload: Workload,
}

/// A parameter of a workload: its name, where that is, and its value.
type Parameter = Located<(String, i64)>;
type Parameters = Vec<Parameter>;

/// A workload with the part of its file that defines it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// The definition.
    pub workload: Workload,
    /// The text, with the comments directly above it; it ends with a newline.
    pub text: String,
}

/// Reads a workload file. `file_name` is used in messages only.
///
/// # Errors
/// When the text is not TOML or not a right workload file; all problems found are in the error.
pub fn parse_workloads(file_name: &str, text: &str) -> Result<Vec<Workload>, Invalid> {
    let read = read_workloads(file_name, text)?;
    Ok(read.into_iter().map(|found| found.workload).collect())
}

/// Reads a workload file, keeping the text of each workload. `file_name` is used in messages only.
///
/// # Errors
/// As [`parse_workloads`].
pub fn parse_definitions(file_name: &str, text: &str) -> Result<Vec<Definition>, Invalid> {
    let read = read_workloads(file_name, text)?;
    let starts: Vec<_> = read
        .iter()
        .map(|found| start_of_comments(text, found.start))
        .collect();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    let texts = starts.iter().zip(ends).map(|(start, end)| {
        let part = text.get(*start..end).unwrap_or_default();
        format!("{}\n", part.trim())
    });
    Ok(read
        .into_iter()
        .zip(texts)
        .map(|(found, text)| Definition {
            workload: found.workload,
            text,
        })
        .collect())
}

/// Start of the comments directly above the line at `at`.
fn start_of_comments(text: &str, at: usize) -> usize {
    let above = text.get(..at).unwrap_or_default();
    let comments = above
        .rsplit_terminator('\n')
        .take_while(|line| line.starts_with('#'));
    at - comments.map(|line| line.len() + 1).sum::<usize>()
}

fn read_workloads(file_name: &str, text: &str) -> Result<Vec<Found>, Invalid> {
    read_toml(file_name, text, |document, table| {
        let mut root = Fields::root(document, "a workload file", table);
        let workloads = read_all(&mut root).map(|(_, workloads)| workloads);
        root.finish()?;
        workloads
    })
}

/// Reads the schemas and the workloads of an experiment.
pub(crate) fn read_own(fields: &mut Fields<'_>) -> Read<(Vec<Schema>, Vec<Workload>)> {
    let (schemas, found) = read_all(fields)?;
    let workloads = found.into_iter().map(|found| found.workload);
    Ok((schemas, workloads.collect()))
}

fn read_all(fields: &mut Fields<'_>) -> Read<(Vec<Schema>, Vec<Found>)> {
    let document = fields.document();
    let schemas = schema::read_all(fields);
    let tables = fields.tables("workload", "a workload");
    let schemas = schemas?;
    let workloads = read_each(tables?, |fields| read_workload(fields, &schemas))?;
    check_unique(document, &workloads)?;
    Ok((schemas, workloads))
}

fn read_workload(mut fields: Fields<'_>, schemas: &[Schema]) -> Read<Found> {
    let document = fields.document();
    let span = fields.span();
    let name = fields.required("name", Value::name);
    let group = fields.required("group", |value| value.choice(&Group::NAMED));
    let effect = fields.required("effect", |value| value.choice(&Effect::NAMED));
    let schema = fields.optional("schema", |value| schema::named(value, schemas));
    let description = fields.required("description", Value::text);
    let transaction = fields.optional("transaction", Value::flag);
    let display = fields.optional("display", |value| value.choice(&Display::NAMED));
    let text_only = fields.optional("text_only", Value::flag);
    let parameters = fields.optional("parameters", read_parameters);
    let needs_rows = fields.optional("needs_rows", |value| read_needed(value, &parameters));
    let statements = fields.tables("statement", "a statement");
    let unknown = fields.finish();

    let parameters = parameters?.unwrap_or_default();
    let constants: Vec<_> = BUILT_IN
        .into_iter()
        .chain(parameters.iter().map(name_of))
        .collect();
    let schema = schema?.map_or(Schema::SBTEST, |schema| schema.value);
    let statements = read_statements(document, &span, statements?, &constants, schema)?;
    check_used(document, &parameters, &statements)?;
    unknown?;
    let needs_rows = needs_rows?;

    let (name, effect) = (name?, effect?);
    check_effect(document, &effect, &statements)?;
    let workload = Workload {
        name: name.value.to_owned(),
        group: group?.value,
        effect: effect.value,
        schema,
        description: description?.value.to_owned(),
        parameters: parameters
            .into_iter()
            .map(|parameter| parameter.value)
            .collect(),
        transaction: transaction?.unwrap_or(false),
        display: display?.map_or(Display::Rate, |display| display.value),
        text_only: text_only?.unwrap_or(false),
        needs_rows,
        statements,
    };
    Ok(Found {
        start: span.start,
        name: name.span,
        workload,
    })
}

fn read_parameters(value: Value<'_>) -> Read<Parameters> {
    let entries = value.table("the parameters")?.entries();
    read_each(entries, |(name, value)| {
        check_parameter_name(value.document(), &name)?;
        let number = value.integer(-PARAMETER_MAX..=PARAMETER_MAX)?;
        Ok(name.map(|name| (name.to_owned(), number.value)))
    })
}

fn name_of(parameter: &Parameter) -> &str {
    &parameter.value.0
}

/// Reads how many rows a table must have: an expression of the workload's parameters.
fn read_needed(value: Value<'_>, parameters: &Read<Option<Parameters>>) -> Read<Expr> {
    let document = value.document();
    let parameters = parameters.as_ref().map_err(|reported| *reported)?;
    let names: Vec<_> = parameters.iter().flatten().map(name_of).collect();
    let scope = Scope {
        constants: &names,
        earlier: Vec::new(),
    };
    read_expr(&value.text_or_integer()?, document, &scope, Uses::Constants)
}

/// Checks that a parameter's name can stand in a hole and in an expression, and is not taken.
fn check_parameter_name(document: &Document<'_>, name: &Located<&str>) -> Read<()> {
    let well_formed = name.value.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    let problem = if !well_formed {
        Problem::new(format!("`{}` can't be the name of a parameter", name.value))
            .at(&name.span, "not a name")
            .help("such a name has letters, digits and `_`, and begins with a letter")
    } else if name.value == "table"
        || BUILT_IN.contains(&name.value)
        || Statement::MARKS.contains(&name.value)
    {
        Problem::new(format!("the name `{}` is reserved", name.value))
            .at(&name.span, "taken")
            .help(
                "`table`, `tables`, `rows`, `lowest_key` and `highest_key` come from the dataset: \
                 choose another name",
            )
    } else {
        return Ok(());
    };
    problem.fail(document)
}

fn read_statements(
    document: &Document<'_>,
    workload: &Span,
    tables: Vec<Fields<'_>>,
    constants: &[&str],
    schema: Schema,
) -> Read<Vec<Statement>> {
    if tables.is_empty() {
        return Problem::new("a workload needs at least one statement")
            .at(workload, "no [[workload.statement]] follows")
            .help("write [[workload.statement]] with `name` and `sql` below it")
            .fail(document);
    }
    let mut read: Vec<Read<(Located<&str>, Statement)>> = Vec::new();
    for fields in tables {
        let before = read.last().map(|read| match read {
            Ok((_, statement)) => Ok(statement),
            Err(reported) => Err(*reported),
        });
        let around = statement::Surroundings {
            constants,
            schema,
            before,
        };
        let statement = statement::read(fields, around);
        read.push(statement);
    }
    let statements: Vec<_> = read.into_iter().collect::<Read<_>>()?;
    check_weights(document, &statements)?;
    for (index, (name, _)) in statements.iter().enumerate() {
        let mut earlier = statements[..index].iter();
        if let Some((first, _)) = earlier.find(|(n, _)| n.value == name.value) {
            let message = format!("two statements are named `{}`", name.value);
            return twice(message, &name.span, &first.span)
                .help("counters and histograms are stored by name: give each its own")
                .fail(document);
        }
    }
    Ok(statements
        .into_iter()
        .map(|(_, statement)| statement)
        .collect())
}

/// Checks that all statements have a weight, or none.
fn check_weights(document: &Document<'_>, statements: &[(Located<&str>, Statement)]) -> Read<()> {
    let with = |weighted: bool| {
        let mut all = statements.iter();
        all.find(move |(_, statement)| statement.weight.is_some() == weighted)
    };
    let (Some((weighted, _)), Some((other, _))) = (with(true), with(false)) else {
        return Ok(());
    };
    Problem::new(format!("`{}` has no `weight`", other.value))
        .at(&other.span, "how often?")
        .at(&weighted.span, "has one")
        .help(
            "with weights an operation runs one statement, drawn by weight; without, all of \
                 them: write `weight` in all statements of the workload, or in none",
        )
        .fail(document)
}

/// Checks that every parameter of the workload has an effect on a statement.
fn check_used(
    document: &Document<'_>,
    parameters: &[Parameter],
    statements: &[Statement],
) -> Read<()> {
    let used: Vec<_> = statements.iter().flat_map(expressions).collect();
    let mut outcome = Ok(());
    for parameter in parameters {
        let name = &parameter.value.0;
        if !used
            .iter()
            .any(|expr| expr.names().any(|used| used == name))
        {
            outcome = Problem::new(format!("the parameter `{name}` is not used"))
                .at(&parameter.span, "changes nothing")
                .help("use it in a statement's `params`, or remove it")
                .fail(document);
        }
    }
    outcome
}

/// Checks that the statements of a workload that only reads change nothing.
fn check_effect(
    document: &Document<'_>,
    effect: &Located<Effect>,
    statements: &[Statement],
) -> Read<()> {
    let changes = statements
        .iter()
        .find(|statement| statement.change != Change::default());
    match changes {
        Some(statement) if effect.value == Effect::None => {
            Problem::new(format!("`{}` changes its table", statement.name))
                .at(&effect.span, "changes nothing")
                .help("write the effect that its `change` has, or remove `change`")
                .fail(document)
        }
        _ => Ok(()),
    }
}

/// The expressions of a statement that decide what it does.
fn expressions(statement: &Statement) -> impl Iterator<Item = &Expr> {
    let params = statement.params.iter();
    params
        .flat_map(|param| param.generator.expressions())
        .chain(statement.row.iter().map(|row| &row.count))
}

fn check_unique(document: &Document<'_>, workloads: &[Found]) -> Read<()> {
    let mut seen = BTreeMap::new();
    let mut outcome = Ok(());
    for Found { name, workload, .. } in workloads {
        if let Some(first) = seen.insert(workload.name.as_str(), name) {
            let message = format!("two workloads are named `{}`", workload.name);
            outcome = twice(message, name, first)
                .help("experiments refer to workloads by name: give each its own")
                .fail(document);
        }
    }
    outcome
}
