//! A small blocking connection for control statements.
