//! Comparison of the settings of servers: their effective variables, read after start,
//! side by side.
//!
//! A pure function of what the servers said and of a table, `catalog/variables.toml`, that names
//! the variables known to matter for speed and those that can't. It reads no server, knows no
//! version, and does not decide what is done about a difference: [`Difference::stops`] says what
//! should be, [`UnequalTargets`] says it to the user.

mod compare;
mod conflict;
mod difference;
mod item;
mod settings;
mod subject;
mod table;
mod unequal;
mod value;

pub use difference::{Difference, DifferenceKind};
pub use settings::{Setting, SettingCell};
pub use subject::Subject;
pub use table::{VariableTable, VariableTableError};
pub use unequal::UnequalTargets;
