//! The same of servers of PostgreSQL.

mod damaged;
mod recorded;
mod walk;
