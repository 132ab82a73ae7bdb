//! The `prony` command.

fn main() {}
