//! Comparison of the settings of servers: their effective variables, read after start,
//! side by side.
//!
//! A pure function of what the servers said and of tables, `catalog/variables.toml` and
//! `catalog/variables-postgresql.toml`, that name the variables known to matter for speed and those that
//! can't. Variables are compared within a family (MySQL and MariaDB are one here), intents between
//! families. It reads no server, knows no
//! version, and does not decide what is done about a difference: [`Difference::stops`] says what
//! should be, [`UnequalTargets`] says it to the user.

mod compare;
mod conflict;
mod difference;
mod families;
mod item;
mod settings;
mod subject;
mod table;
mod tables;
mod unequal;
mod value;

pub use difference::{Difference, DifferenceKind};
pub use families::{UnlikeIntent, unlike_intents};
pub use settings::{Setting, SettingCell};
pub use subject::Subject;
pub use table::VariableTableError;
pub use tables::VariableTable;
pub use unequal::UnequalTargets;
