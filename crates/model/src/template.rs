//! SQL with holes: `SELECT c FROM {table} WHERE id = {id}`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::written_as_text;

/// A statement's text split at its holes. Two pieces of text never follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SqlTemplate {
    pieces: Vec<Piece>,
}

/// One piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// SQL as written.
    Text(String),
    /// `{table}`: the name of the table that the operation draws.
    Table,
    /// `{table:name}`: that of the further table of this name in the same set.
    Further(String),
    /// `{procedure:name}`: that of the procedure of this name for the same set.
    Procedure(String),
    /// `{name}`: the value of a parameter.
    Param(String),
    /// `{name:list}`: the values of a parameter that is a list, separated by commas.
    List(String),
    /// `{row:list}`: the rows of the statement, separated by commas.
    Rows,
}

/// The reason why a template can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// A `{` without its `}`.
    #[error("`{{` without `}}` at byte {0}")]
    Unclosed(usize),
    /// A `}` without its `{`.
    #[error("`}}` without `{{` at byte {0}")]
    Unopened(usize),
    /// Something else than a name between the braces.
    #[error(
        "`{{{0}}}` is not a hole: expected a name in braces, such as {{id}}, or a list, such as {{ids:list}}"
    )]
    BadName(String),
    /// No text at all.
    #[error("the statement is empty")]
    Empty,
}

impl SqlTemplate {
    /// The pieces in order.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The parameters' names in order of appearance, repeated where the template repeats them.
    pub fn params(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Param(name) | Piece::List(name) => Some(name.as_str()),
            Piece::Text(_)
            | Piece::Table
            | Piece::Further(_)
            | Piece::Procedure(_)
            | Piece::Rows => None,
        })
    }

    /// Returns `true` if it names a table or procedure of the set that the operation draws.
    pub fn names_tables(&self) -> bool {
        self.pieces.iter().any(Piece::is_name)
    }
}

impl Piece {
    /// Returns `true` for the name of a table or a procedure.
    pub const fn is_name(&self) -> bool {
        matches!(self, Self::Table | Self::Further(_) | Self::Procedure(_))
    }
}

impl FromStr for SqlTemplate {
    type Err = TemplateError;

    fn from_str(sql: &str) -> Result<Self, Self::Err> {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < sql.len() {
            let text_end = sql[at..]
                .find(['{', '}'])
                .map_or(sql.len(), |offset| at + offset);
            if text_end > at {
                pieces.push(Piece::Text(sql[at..text_end].to_owned()));
            }
            if text_end == sql.len() {
                break;
            }
            if sql.as_bytes()[text_end] == b'}' {
                return Err(TemplateError::Unopened(text_end));
            }
            let close = sql[text_end..]
                .find('}')
                .ok_or(TemplateError::Unclosed(text_end))?;
            pieces.push(parse_hole(&sql[text_end + 1..text_end + close])?);
            at = text_end + close + 1;
        }
        if pieces.is_empty() {
            return Err(TemplateError::Empty);
        }
        Ok(Self { pieces })
    }
}

fn parse_hole(hole: &str) -> Result<Piece, TemplateError> {
    let (name, kind) = match hole.split_once(':') {
        Some((name, kind)) => (name, Some(kind)),
        None => (hole, None),
    };
    let is_word = |word: &str| {
        let mut chars = word.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic())
            && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let is_name = is_word(name);
    match (name, kind) {
        ("table", None) => Ok(Piece::Table),
        ("table", Some(further)) if is_word(further) && further != "list" => {
            Ok(Piece::Further(further.to_owned()))
        }
        ("procedure", Some(procedure)) if is_word(procedure) && procedure != "list" => {
            Ok(Piece::Procedure(procedure.to_owned()))
        }
        (_, None) if is_name => Ok(Piece::Param(name.to_owned())),
        ("row", Some("list")) => Ok(Piece::Rows),
        (_, Some("list")) if is_name && !["table", "procedure"].contains(&name) => {
            Ok(Piece::List(name.to_owned()))
        }
        _ => Err(TemplateError::BadName(hole.to_owned())),
    }
}

written_as_text!(SqlTemplate, TemplateError);

impl fmt::Display for SqlTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| piece.fmt(f))
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Table => f.write_str("{table}"),
            Self::Further(name) => write!(f, "{{table:{name}}}"),
            Self::Procedure(name) => write!(f, "{{procedure:{name}}}"),
            Self::Param(name) => write!(f, "{{{name}}}"),
            Self::List(name) => write!(f, "{{{name}:list}}"),
            Self::Rows => f.write_str("{row:list}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_the_holes() {
        let sql = "SELECT c FROM {table} WHERE id BETWEEN {low} AND {high}";
        let template: SqlTemplate = sql.parse().unwrap();
        assert_eq!(template.params().collect::<Vec<_>>(), ["low", "high"]);
        assert_eq!(template.pieces()[1], Piece::Table);
        assert_eq!(template.to_string(), sql);
    }

    #[test]
    fn lists_are_holes_of_their_own() {
        let sql = "SELECT c FROM {table} WHERE id IN ({ids:list})";
        let template: SqlTemplate = sql.parse().unwrap();
        assert_eq!(template.pieces()[3], Piece::List("ids".into()));
        assert_eq!(template.to_string(), sql);
    }

    #[test]
    fn rows_are_a_hole_of_their_own() {
        let sql = "INSERT INTO {table} (k) VALUES {row:list}";
        let template: SqlTemplate = sql.parse().unwrap();
        assert_eq!(template.pieces()[3], Piece::Rows);
        assert_eq!(template.params().next(), None);
        assert_eq!(template.to_string(), sql);
    }

    #[test]
    fn names_of_a_set_are_holes_of_their_own() {
        let sql = "SELECT 1 FROM {table}, {table:branches} -- {procedure:pay} {id}";
        let template: SqlTemplate = sql.parse().unwrap();
        assert_eq!(template.pieces()[3], Piece::Further("branches".into()));
        assert_eq!(template.pieces()[5], Piece::Procedure("pay".into()));
        assert_eq!(template.params().collect::<Vec<_>>(), ["id"]);
        assert!(template.names_tables());
        assert_eq!(template.to_string(), sql);
    }

    #[test]
    fn refuses_broken_holes() {
        let error = |sql: &str| sql.parse::<SqlTemplate>().unwrap_err();
        assert_eq!(error("SELECT {id"), TemplateError::Unclosed(7));
        assert_eq!(error("SELECT id}"), TemplateError::Unopened(9));
        assert_eq!(error("SELECT {}"), TemplateError::BadName(String::new()));
        for bad in ["k:lists", "table:list", ":list", "1:list"] {
            assert_eq!(
                error(&format!("SELECT {{{bad}}}")),
                TemplateError::BadName(bad.into())
            );
        }
        assert_eq!(error(""), TemplateError::Empty);
    }
}
