//! Parameters of a statement: `params.id = { from = "1..rows" }`.

use prony_model::{
    DateTime, Expr, Generator, Lengths, NumberedText, Param, Statement, Thousandths,
};

use super::{check_parameter_name, distribution};
use crate::fields::{Located, Value};
use crate::invalid::{Document, Problem, Read};
use crate::schema::column;
use crate::suggest;

/// Names that an expression may use.
#[derive(Debug)]
pub(super) struct Scope<'a> {
    /// Names whose value is fixed for a whole step.
    pub(super) constants: &'a [&'a str],
    /// Parameters of the same statement that are made before, and the marks of its table.
    pub(super) earlier: Vec<(&'a str, Kind)>,
}

/// Kind of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number, or something that could not be read and is reported already.
    Number,
    /// A text.
    Text,
    /// Several numbers.
    List,
}

impl Kind {
    /// Kind of a parameter's values.
    pub(super) fn of(generator: &Generator) -> Self {
        match generator {
            Generator::Digits(_)
            | Generator::Letters { .. }
            | Generator::Numbered { .. }
            | Generator::DateTime { .. } => Self::Text,
            Generator::Draw { count: Some(_), .. } => Self::List,
            Generator::Draw { count: None, .. } | Generator::Derived(_) => Self::Number,
        }
    }
}

/// True where an expression may use values that change from statement to statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Uses {
    /// Only what is fixed for a whole step.
    Constants,
    /// The marks of the table too.
    Marks,
    /// Earlier parameters of the statement too.
    Earlier,
}

/// Reads the `params` of a statement, in the order of the file. `taken_over` are those of the
/// statement before, where it begins with their values.
pub(super) fn read_all<'a>(
    value: Value<'a>,
    constants: &'a [&'a str],
    taken_over: &'a [Param],
) -> Read<Vec<Located<Param>>> {
    let mut scope = Scope {
        constants,
        earlier: taken_over
            .iter()
            .map(|param| (param.name.as_str(), Kind::of(&param.generator)))
            .chain(Statement::MARKS.map(|mark| (mark, Kind::Number)))
            .collect(),
    };
    let mut outcome = Ok(());
    let mut params = Vec::new();
    for (name, value) in value.table("the params")?.entries() {
        let mut kind = Kind::Number;
        match read(&name, value, &scope) {
            Ok(param) => {
                kind = Kind::of(&param.generator);
                params.push(Located {
                    value: param,
                    span: name.span,
                });
            }
            Err(reported) => outcome = Err(reported),
        }
        if !constants.contains(&name.value) {
            scope.earlier.push((name.value, kind));
        }
    }
    outcome.map(|()| params)
}

fn read(name: &Located<&str>, value: Value<'_>, scope: &Scope<'_>) -> Read<Param> {
    let document = value.document();
    let span = value.span();
    check_free(document, name, scope)?;
    let mut fields = value.table("a param")?;
    let from = fields.optional("from", |value| read_bounds(value, scope));
    let distribution = distribution::read(&mut fields);
    let count = fields.optional("count", |value| {
        read_expr(&value.text_or_integer()?, document, scope, Uses::Constants)
    });
    let value = fields.optional("value", |value| {
        read_expr(&value.text_or_integer()?, document, scope, Uses::Earlier)
    });
    let digits = fields.optional("digits", Value::text);
    let text = fields.optional("text", column::parsed::<NumberedText>);
    let since = fields.optional("since", column::parsed::<DateTime>);
    let letters = fields.optional("letters", column::parsed_or_number::<Lengths>);
    let random = fields.optional("random", column::read_share);
    fields.finish()?;

    let written = Written {
        from: from?,
        distribution: distribution?,
        count: count?,
        value: value?,
        digits: digits?.map(|digits| digits.value.to_owned()),
        text: text?.map(|text| text.value),
        since: since?.map(|since| since.value),
        letters: letters?.map(|letters| letters.value),
        random: random?,
    };
    match written.generator(document)? {
        Some(generator) => Ok(Param {
            name: name.value.to_owned(),
            generator,
        }),
        None => unclear(name)
            .at(&span, "no rule for its value")
            .fail(document),
    }
}

/// Checks that the name of a parameter is well formed and not taken.
fn check_free(document: &Document<'_>, name: &Located<&str>, scope: &Scope<'_>) -> Read<()> {
    check_parameter_name(document, name)?;
    if scope.constants.contains(&name.value) {
        return Problem::new(format!(
            "`{}` is a parameter of the workload already",
            name.value
        ))
        .at(&name.span, "the same name again")
        .help("choose another name here")
        .fail(document);
    }
    let mut earlier = scope.earlier.iter();
    if earlier.any(|(earlier, _)| *earlier == name.value) {
        return Problem::new(format!("`{}` comes from the statement before", name.value))
            .at(&name.span, "the same name again")
            .help(
                "with table = \"previous\" a statement has the values of the one before: \
                     choose another name, or remove it",
            )
            .fail(document);
    }
    Ok(())
}

/// The keys of a parameter, as far as they are written.
struct Written {
    from: Option<(Expr, Expr)>,
    distribution: distribution::Written,
    count: Option<Expr>,
    value: Option<Expr>,
    digits: Option<String>,
    text: Option<NumberedText>,
    since: Option<DateTime>,
    letters: Option<Lengths>,
    random: Option<Thousandths>,
}

impl Written {
    /// The rule that they make together; `None` if they make none, or several.
    fn generator(self, document: &Document<'_>) -> Read<Option<Generator>> {
        let drawn = !self.distribution.is_empty() || self.count.is_some();
        let random = self.random;
        Ok(match (self.from, self.value, self.digits, self.letters) {
            (Some((low, high)), None, None, None)
                if self.text.is_none() && self.since.is_none() && random.is_none() =>
            {
                Some(Generator::Draw {
                    low,
                    high,
                    distribution: self.distribution.finish(document)?,
                    count: self.count,
                })
            }
            (None, Some(number), None, None) if !drawn && random.is_none() => {
                match (self.text, self.since) {
                    (None, None) => Some(Generator::Derived(number)),
                    (Some(text), None) => Some(Generator::Numbered { text, number }),
                    (None, Some(since)) => Some(Generator::DateTime {
                        since,
                        seconds: number,
                    }),
                    (Some(_), Some(_)) => None,
                }
            }
            (None, None, digits, letters)
                if !drawn && self.text.is_none() && self.since.is_none() =>
            {
                match (digits, letters) {
                    (Some(digits), None) if random.is_none() => Some(Generator::Digits(digits)),
                    (None, Some(lengths)) => Some(Generator::Letters {
                        lengths,
                        random: random.unwrap_or(Thousandths(1000)),
                    }),
                    _ => None,
                }
            }
            _ => None,
        })
    }
}

fn unclear(name: &Located<&str>) -> Problem {
    Problem::new(format!(
        "`{}` needs one of `from`, `value`, `digits` and `letters`",
        name.value
    ))
    .help(
        "from = \"1..rows\" draws a number (with a `distribution`, if it is not uniform, and a \
         `count` for a list), value = \"low + range\" computes one (with text = \"user{number:12}\" \
         beside it, a text of it, with since = \"2024-01-01 00:00:00\" a time so many seconds \
         after), digits = \"###-###\" makes a text of random digits, letters = \
         \"10..20\" one of letters",
    )
}

fn read_bounds(value: Value<'_>, scope: &Scope<'_>) -> Read<(Expr, Expr)> {
    let document = value.document();
    let text = value.text()?;
    let Some((low, high)) = text.value.split_once("..") else {
        return Problem::new(format!("`{}` is not a range", text.value))
            .at(&text.span, "no `..` in it")
            .help("write the lowest and the highest value, such as \"1..rows\"")
            .fail(document);
    };
    let side = |part: &str| {
        let part = Located {
            value: part.trim().to_owned(),
            span: text.span.clone(),
        };
        read_expr(&part, document, scope, Uses::Marks)
    };
    let (low, high) = (side(low), side(high));
    Ok((low?, high?))
}

/// Reads an expression and checks that its names are defined.
pub(super) fn read_expr(
    text: &Located<String>,
    document: &Document<'_>,
    scope: &Scope<'_>,
    uses: Uses,
) -> Read<Expr> {
    let expr: Expr = match text.value.parse() {
        Ok(expr) => expr,
        Err(error) => {
            return Problem::new(format!("{error}"))
                .at(&text.span, "can't be computed")
                .fail(document);
        }
    };
    for name in expr.names() {
        if let Some(problem) = wrong_name(name, scope, uses) {
            let place = document.within(&text.span, name);
            return problem.at(&place, "can't be used here").fail(document);
        }
    }
    if let Some(name) = expr.nonlinear(|name| !scope.constants.contains(&name)) {
        return Problem::new(format!(
            "`{name}` is drawn: it can't be a dividend or divisor, nor be multiplied with another \
             drawn value"
        ))
        .at(
            &document.within(&text.span, name),
            "changes from statement to statement",
        )
        .help(
            "products and quotients are computed before the step: use numbers, the \
                 workload's parameters, `rows` and `tables`",
        )
        .fail(document);
    }
    Ok(expr)
}

fn wrong_name(name: &str, scope: &Scope<'_>, uses: Uses) -> Option<Problem> {
    if scope.constants.contains(&name) {
        return None;
    }
    let kind = scope
        .earlier
        .iter()
        .find_map(|(earlier, kind)| (*earlier == name).then_some(*kind));
    match (kind, uses) {
        (Some(Kind::Number), Uses::Earlier) => None,
        (Some(_), Uses::Marks) if Statement::MARKS.contains(&name) => None,
        (Some(Kind::Text), Uses::Earlier) => Some(
            Problem::new(format!("`{name}` is a text, but sums need numbers"))
                .help("only parameters with `from` or `value` are numbers"),
        ),
        (Some(Kind::List), Uses::Earlier) => Some(
            Problem::new(format!("`{name}` is a list, but sums need numbers"))
                .help("only parameters without a `count` are numbers"),
        ),
        (Some(_), Uses::Constants | Uses::Marks) => Some(
            Problem::new(format!("`{name}` changes from statement to statement"))
                .help("only the workload's parameters, `rows` and `tables` can be used here"),
        ),
        (None, _) => {
            let mut known = scope.constants.to_vec();
            if uses == Uses::Marks {
                known.extend(Statement::MARKS);
            }
            if uses == Uses::Earlier {
                known.extend(scope.earlier.iter().map(|(earlier, _)| *earlier));
            }
            Some(
                Problem::new(format!("`{name}` is not defined")).help(suggest::help(
                    name,
                    "names at this place",
                    &known,
                )),
            )
        }
    }
}

/// Checks that every parameter is used in the statement's text or in a later parameter.
pub(super) fn check_used(
    document: &Document<'_>,
    params: &[Located<Param>],
    holes: &[&str],
) -> Read<()> {
    let mut outcome = Ok(());
    for (index, param) in params.iter().enumerate() {
        let name = param.value.name.as_str();
        let later = params[index + 1..]
            .iter()
            .any(|later| later.value.generator.names().any(|used| used == name));
        if !later && !holes.contains(&name) {
            outcome = Problem::new(format!("the parameter `{name}` is not used"))
                .at(&param.span, "never sent")
                .help(format!("write {{{name}}} in `sql`, or remove it"))
                .fail(document);
        }
    }
    outcome
}
