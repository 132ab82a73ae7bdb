//! SQL of statements, procedures and conditions: a text, or a table with texts of families.

use std::collections::BTreeMap;

use prony_model::{Family, Sql, SqlTemplate};
use toml::de::DeValue;

use crate::fields::{Located, Value};
use crate::invalid::{Problem, Read};

/// SQL with the places of its texts.
pub(crate) struct WrittenSql {
    pub(crate) sql: Sql,
    /// Every text, at least one.
    pub(crate) texts: Vec<Located<SqlTemplate>>,
}

/// Reads SQL. `help` says what its holes stand for.
pub(crate) fn read(value: Value<'_>, help: &str) -> Read<WrittenSql> {
    if !matches!(value.inner(), DeValue::Table(_)) {
        let text = read_text(value, help)?;
        return Ok(WrittenSql {
            sql: text.value.clone().into(),
            texts: vec![text],
        });
    }
    let document = value.document();
    let span = value.span();
    let mut fields = value.table("a table of texts")?;
    let any = fields.optional("any", |value| read_text(value, help));
    let own: Vec<_> = Family::NAMED
        .iter()
        .map(|(name, family)| {
            let text = fields.optional(name, |value| read_text(value, help))?;
            Ok(text.map(|text| (*family, text)))
        })
        .collect();
    fields.finish()?;
    let any = any?;
    let own: Vec<_> = own.into_iter().collect::<Read<Vec<_>>>()?;
    let own: BTreeMap<_, _> = own.into_iter().flatten().collect();
    let value = |text: &Located<SqlTemplate>| text.value.clone();
    let sql = Sql::new(
        any.as_ref().map(value),
        own.iter()
            .map(|(family, text)| (*family, value(text)))
            .collect(),
    );
    match sql {
        Ok(sql) => Ok(WrittenSql {
            sql,
            texts: any.into_iter().chain(own.into_values()).collect(),
        }),
        Err(error) => Problem::new(error.to_string())
            .at(&span, "an empty table")
            .help(
                "write `any` for the text that all families understand, and the name of a family \
                 for one of its own",
            )
            .fail(document),
    }
}

/// Reads one text.
pub(crate) fn read_text(value: Value<'_>, help: &str) -> Read<Located<SqlTemplate>> {
    let document = value.document();
    let text = value.text()?;
    match text.value.parse() {
        Ok(sql) => Ok(text.map(|_| sql)),
        Err(error) => Problem::new(format!("{error}"))
            .at(&text.span, "this statement")
            .help(help)
            .fail(document),
    }
}
