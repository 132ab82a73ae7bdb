//! Workloads and their statements.

use std::collections::BTreeMap;

use prony_model::{
    Change, Display, Distribution, Effect, Expect, Generator, Group, Param, Schema, Statement,
    TableChoice, Workload,
};

/// Reads of whole tables, shown as a rate: one statement called `only`, without parameters.
pub fn workload(name: &str) -> Workload {
    Workload {
        name: name.into(),
        group: Group::Point,
        effect: Effect::None,
        schema: Schema::SBTEST,
        description: String::new(),
        parameters: BTreeMap::new(),
        transaction: false,
        display: Display::Rate,
        text_only: false,
        needs_rows: None,
        statements: vec![statement("only", "SELECT c FROM {table}", vec![])],
    }
}

/// A statement on a random table, run once in each operation, any answer to which is right.
pub fn statement(name: &str, sql: &str, params: Vec<Param>) -> Statement {
    Statement {
        name: name.into(),
        sql: sql.parse().unwrap(),
        row: None,
        repeat: 1,
        table: TableChoice::Random,
        params,
        expect: Expect::default(),
        expect_rows: None,
        expect_affected: None,
        change: Change::default(),
        weight: None,
    }
}

/// A parameter with the making of its values.
pub fn param(name: &str, generator: Generator) -> Param {
    Param {
        name: name.into(),
        generator,
    }
}

/// The making of a whole number between two expressions, all numbers being as likely.
pub fn draw(low: &str, high: &str) -> Generator {
    Generator::Draw {
        low: low.parse().unwrap(),
        high: high.parse().unwrap(),
        distribution: Distribution::Uniform,
        count: None,
    }
}
