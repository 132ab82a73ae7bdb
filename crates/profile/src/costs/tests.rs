#![allow(
    clippy::float_cmp,
    reason = "small whole numbers and their halves are exact"
)]

use proptest::prelude::*;

use super::*;
use crate::profile::Builder;

/// Names that no rule of the built-in table has.
const TABLE: &str = r#"
sessions = ["t_session"]
roots = ["t_command", "t_session"]

[[component]]
name = "T library"
object = "^libt[.]"

[[component]]
name = "T interface"
functions = ["t_handler"]
callees = "T engine"

[[component]]
name = "T engine"
functions = ["t_row"]

[[component]]
name = "T server"
functions = ["t_"]
"#;

fn components() -> Components {
    Components::parse(TABLE, "test.toml").unwrap()
}

/// Threads of chains of callers, each with its own count: `t_session;libt.so:malloc`, the outermost
/// first. Functions are of the object `t-server` if no other is named.
fn profile(threads: &[&[(&str, u64)]]) -> Profile {
    let mut builder = Builder::default();
    for chains in threads {
        let mut thread = Thread::default();
        for (chain, own) in *chains {
            let call = chain.split(';').fold(None, |parent, function| {
                let (object, symbol) = function.split_once(':').unwrap_or(("t-server", function));
                let function = builder.function(&format!("/opt/{object}"), symbol);
                Some(thread.call(parent, function))
            });
            thread.count(call.unwrap(), *own);
        }
        builder.add(thread);
    }
    builder.profile()
}

/// Costs of one operation of one thread.
fn costs(chains: &[(&str, u64)]) -> Costs {
    profile(&[chains]).costs(&components(), 1)
}

/// Functions with their own costs, components and ways of mapping.
fn functions(costs: &Costs) -> Vec<String> {
    let functions = costs.functions.iter();
    functions
        .map(|(name, cost)| {
            let FunctionCost {
                own,
                component,
                mapped,
                ..
            } = cost;
            format!("{name}: {own}, {component}, {mapped:?}")
        })
        .collect()
}

fn stacks(costs: &Costs) -> Vec<String> {
    let stacks = costs.stacks.iter();
    stacks
        .map(|(stack, own)| format!("{} {own}", stack.join(";")))
        .collect()
}

fn caller<'a>(costs: &'a Costs, function: &str) -> Option<&'a str> {
    let name = FunctionName::Named(function.to_owned());
    costs.functions[&name].caller.as_deref()
}

#[test]
fn costs_are_those_of_each_operation() {
    let profile = profile(&[&[("t_session", 100), ("t_session;+0x10", 50)]]);
    let costs = profile.costs(&components(), 4);
    assert_eq!(
        (costs.total, costs.unnamed, costs.background),
        (37.5, 12.5, 0.0)
    );
    assert_eq!(costs.components["T server"], 37.5);
    assert_eq!(profile.costs(&components(), 0).total, 150.0);
}

#[test]
fn threads_other_than_sessions_are_background() {
    let profile = profile(&[
        &[("start;t_session;t_command", 10)],
        &[("start;t_flush", 100), ("start;t_flush;libt.so:write", 200)],
        &[("t_session", 1)],
    ]);
    let costs = profile.costs(&components(), 1);
    assert_eq!((costs.total, costs.background), (11.0, 300.0));
    assert_eq!(costs.functions.len(), 2);
}

#[test]
fn functions_have_the_component_of_their_name() {
    let costs = costs(&[
        ("t_session", 1),
        ("t_session;t_handler_read", 2),
        ("t_session;t_handler_read;t_row_read", 4),
        ("t_session;t_handler_read;t_row_read;libt.so:malloc", 8),
        ("t_session;zz_other", 16),
    ]);
    let expected = [
        "malloc: 8, T library, Name",
        "t_handler_read: 2, T interface, Name",
        "t_row_read: 4, T engine, Name",
        "t_session: 1, T server, Name",
        "zz_other: 16, not mapped, Nothing",
    ];
    assert_eq!(functions(&costs), expected);
    assert_eq!(costs.components[NOT_MAPPED], 16.0);
    let mapped = BTreeMap::from([(MappedBy::Name, 15.0), (MappedBy::Nothing, 16.0)]);
    assert_eq!(costs.mapped, mapped);
}

#[test]
fn variants_of_a_function_are_one() {
    let costs = costs(&[
        ("t_session;_Z5t_rowv", 1),
        ("t_session;_Z5t_rowi.part.0", 2),
        ("t_session;t_row.cold", 4),
    ]);
    let expected = ["t_row: 7, T engine, Name"];
    assert_eq!(functions(&costs), expected);
}

#[test]
fn functions_without_symbol_belong_to_their_caller() {
    let costs = costs(&[
        ("t_session;t_row;+0x10", 1),
        ("t_session;t_row;+0x10;+0x20", 2),
        ("t_session;t_row;+0x10;+0x20;", 4),
        ("t_session;+0x10", 8),
    ]);
    let expected = [
        "(no symbol, called by t_row): 7, T engine, Caller",
        "(no symbol, called by t_session): 8, T server, Caller",
    ];
    assert_eq!(functions(&costs), expected);
    assert_eq!(costs.unnamed, 15.0);
}

#[test]
fn a_component_may_name_another_for_its_callees() {
    let costs = costs(&[
        ("t_session;t_handler_read;+0x10", 1),
        ("t_session;t_handler_read;+0x10;t_parse;+0x20", 2),
    ]);
    let expected = [
        "(no symbol, called by t_handler_read): 1, T engine, Caller",
        "(no symbol, called by t_parse): 2, T server, Caller",
    ];
    assert_eq!(functions(&costs), expected);
}

#[test]
fn functions_without_symbol_in_a_library_belong_to_it() {
    let costs = costs(&[
        ("t_session;t_row;libt.so:+0x10", 1),
        ("t_session;libt.so:+0x20", 2),
        // The library calls back.
        ("t_session;t_row;libt.so:+0x10;+0x30", 4),
    ]);
    let expected = [
        "(no symbol, called by t_row): 4, T engine, Caller",
        "(no symbol, in libt.so): 3, T library, Object",
    ];
    assert_eq!(functions(&costs), expected);
}

#[test]
fn unknown_callers_leave_their_callees_unmapped() {
    let costs = costs(&[("+0x10", 1), ("+0x10;t_session;zz_other;+0x20", 2)]);
    let expected = [
        "(no symbol, called by the thread's start): 1, not mapped, Nothing",
        "(no symbol, called by zz_other): 2, not mapped, Nothing",
    ];
    assert_eq!(functions(&costs), expected);
}

#[test]
fn stacks_begin_at_the_first_root() {
    let costs = costs(&[
        ("clone;t_session;t_command;t_row", 1),
        ("clone;t_session;t_read;t_command;t_command;t_row", 2),
        ("clone;t_session;t_read", 4),
        ("clone;t_start", 8),
    ]);
    let expected = [
        "clone;t_start;[T server] 8",
        "t_command;t_command;t_row;[T engine] 2",
        "t_command;t_row;[T engine] 1",
        "t_session;t_read;[T server] 4",
    ];
    assert_eq!(stacks(&costs), expected);
}

#[test]
fn stacks_have_no_functions_without_symbol() {
    let costs = costs(&[
        ("t_session;+0x10;t_row;", 1),
        ("t_session;t_row;libt.so:+0x10", 2),
        ("+0x10;t_session;t_row", 4),
        ("+0x10", 8),
    ]);
    let expected = [
        "[not mapped] 8",
        "t_session;t_row;[T engine] 5",
        "t_session;t_row;[T library] 2",
    ];
    assert_eq!(stacks(&costs), expected);
}

#[test]
fn the_caller_is_of_another_component() {
    let costs = costs(&[
        ("t_session", 1),
        ("t_session;t_read;t_row_find;t_row_next", 2),
        ("t_session;t_write;t_row_next", 1),
    ]);
    assert_eq!(caller(&costs, "t_row_next"), Some("t_read"));
    assert_eq!(caller(&costs, "t_session"), None);
}

#[test]
fn the_caller_is_where_it_costs_most() {
    let costs = costs(&[
        ("t_session;t_a;t_row", 3),
        ("t_session;t_b;t_row", 2),
        ("t_session;t_b;t_b;t_row", 2),
    ]);
    assert_eq!(caller(&costs, "t_row"), Some("t_b"));
}

#[test]
fn the_caller_has_a_symbol() {
    let costs = costs(&[(
        "t_session;t_read;+0x10;t_row;+0x20;libt.so:+0x30;libt.so:malloc",
        1,
    )]);
    assert_eq!(caller(&costs, "malloc"), Some("t_row"));
}

/// Chains of one to seven functions, with and without symbols.
fn any_chain() -> impl Strategy<Value = (String, u64)> {
    let function = prop::sample::select(vec![
        "t_session",
        "t_command",
        "t_handler_read",
        "t_row_read",
        "_Z5t_rowv",
        "zz_other",
        "+0x10",
        "+0x20",
        "",
        "[PLT]",
        "libt.so:malloc",
        "libt.so:+0x10",
        "libu.so:",
    ]);
    let chain = prop::collection::vec(function, 1..8).prop_map(|chain| chain.join(";"));
    (chain, 0..1_000_000_u64)
}

proptest! {
    #[test]
    fn all_tables_add_up_to_the_total(
        threads in prop::collection::vec(prop::collection::vec(any_chain(), 0..20), 0..4),
        operations in 1..1_000_u64,
    ) {
        let threads: Vec<Vec<(&str, u64)>> = threads
            .iter()
            .map(|chains| chains.iter().map(|(chain, own)| (chain.as_str(), *own)).collect())
            .collect();
        let threads: Vec<&[(&str, u64)]> = threads.iter().map(Vec::as_slice).collect();
        let profile = profile(&threads);
        let costs = profile.costs(&components(), operations);
        let near = |sum: f64, total: f64| (sum - total).abs() <= total * 1e-6;
        let all = profile.total() as f64 / operations as f64;
        prop_assert!(near(costs.total + costs.background, all));
        prop_assert!(near(costs.functions.values().map(|f| f.own).sum(), costs.total));
        prop_assert!(near(costs.components.values().sum(), costs.total));
        prop_assert!(near(costs.stacks.values().sum(), costs.total));
        prop_assert!(near(costs.mapped.values().sum(), costs.total));
        prop_assert!(costs.unnamed <= costs.total * (1.0 + 1e-6));
    }
}
