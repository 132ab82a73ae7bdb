//! The figures as tables.

use std::fmt::Write as _;

use crate::peers::cell::{Cell, Quantity};
use crate::peers::lines::{Contestant, Lines, Protocol, Setting};
use crate::peers::spread::Spread;
use crate::peers::targets::{behind_bare_us, verdicts};
use crate::table::Table;

/// The mark in place of a figure.
const NONE: &str = "–";

/// Everything, as it goes into the documentation.
pub(super) fn page(lines: &Lines) -> String {
    let mut out = setting(&lines.setting);
    for protocol in [Protocol::Prepared, Protocol::Text] {
        if let Some(table) = costs(lines, protocol) {
            let _ = write!(out, "\nPoint queries, {}:\n\n{table}", protocol.name());
        }
    }
    if !lines.latencies.is_empty() {
        let _ = write!(out, "\nOne client's times:\n\n{}", latencies(lines));
    }
    let _ = write!(out, "\nWhat it should keep to:\n\n{}", limits(lines));
    out
}

/// When, where and what.
fn setting(setting: &Setting) -> String {
    let host = &setting.host;
    let date = jiff::Timestamp::from_second(setting.at_unix_s)
        .map_or_else(|_| NONE.to_owned(), |at| at.strftime("%F").to_string());
    let memory = host
        .memory_bytes
        .map(|bytes| format!(", {:.0} GB", bytes as f64 / 1e9))
        .unwrap_or_default();
    // What distributors append to the release says nothing here.
    let kernel = host
        .kernel
        .as_deref()
        .and_then(|release| release.split('-').next())
        .map(|release| format!(", Linux {release}"))
        .unwrap_or_default();
    format!(
        "{date}; {} cores of {}{}{memory}{kernel}; {}, InnoDB, {} rows, unix socket; {}; {} \
         rounds of {} s; medians, with the range over the rounds.\n",
        host.cpus,
        host.cpu_model.as_deref().unwrap_or("an unknown kind"),
        if host.virtual_machine == Some(true) {
            ", virtual"
        } else {
            ""
        },
        setting.build,
        setting.rows,
        setting.sysbench,
        setting.rounds,
        setting.seconds,
    )
}

/// Costs of each contestant. `None` where the protocol was not measured.
fn costs(lines: &Lines, protocol: Protocol) -> Option<String> {
    let mut table = Table::new(
        2,
        &[
            "clients",
            "who",
            "CPU, µs/query",
            "of it user",
            "÷ sysbench",
            "÷ bare loop",
            "queries/s",
            "÷ sysbench",
            "server CPU, µs/query",
            "switches/query",
            "memory, MB",
            "threads",
        ],
    );
    let cells = lines.cells().into_iter().filter(|cell| cell.1 == protocol);
    let mut found = false;
    for (clients, _) in cells {
        found = true;
        let cell = Cell::new(lines, clients, protocol);
        for contestant in cell.contestants() {
            table.push(cost(&cell, contestant));
        }
    }
    found.then(|| table.markdown())
}

fn cost(cell: &Cell<'_>, contestant: Contestant) -> Vec<String> {
    let median = |quantity, digits: usize| {
        let spread = cell.spread(contestant, quantity);
        spread.map_or_else(
            || NONE.to_owned(),
            |spread| format!("{:.digits$}", spread.median),
        )
    };
    let ratio = |other: Option<Contestant>, quantity| {
        let other = other.filter(|other| *other != contestant);
        let ratio = other.and_then(|other| cell.ratio(contestant, other, quantity));
        shown(ratio)
    };
    let sysbench = Some(Contestant::Sysbench);
    vec![
        cell.clients.to_string(),
        contestant.name().to_owned(),
        median(Quantity::ClientCpu, 2),
        median(Quantity::ClientUser, 2),
        ratio(sysbench, Quantity::ClientCpu),
        ratio(contestant.bare(cell.clients), Quantity::ClientCpu),
        median(Quantity::Throughput, 0),
        ratio(sysbench, Quantity::Throughput),
        median(Quantity::ServerCpu, 2),
        median(Quantity::Switches, 2),
        median(Quantity::Memory, 0),
        median(Quantity::Threads, 0),
    ]
}

fn latencies(lines: &Lines) -> String {
    let mut table = Table::new(
        1,
        &["who", "median, µs", "99 %, µs", "median − bare loop's, µs"],
    );
    let first = lines.latencies.iter().filter(|turn| turn.round == 0);
    for contestant in first.map(|turn| turn.contestant) {
        let turns = || {
            let turns = lines.latencies.iter();
            turns.filter(|turn| turn.contestant == contestant)
        };
        let medians = Spread::of(turns().map(|turn| turn.figures.p50 as f64 / 1e3));
        let tails = Spread::of(turns().map(|turn| turn.figures.p99 as f64 / 1e3));
        let behind = match contestant {
            Contestant::BareBlocking => None,
            _ => behind_bare_us(&lines.latencies, contestant),
        };
        table.push(vec![
            contestant.name().to_owned(),
            shown(medians),
            shown(tails),
            shown(behind),
        ]);
    }
    table.markdown()
}

fn limits(lines: &Lines) -> String {
    let mut table = Table::new(1, &["what", "at most", "seen", ""]);
    for verdict in verdicts(lines) {
        let words = verdict.words();
        table.push(vec![
            verdict.what,
            format!("{:.2}", verdict.limit),
            verdict.seen.to_string(),
            words,
        ]);
    }
    table.markdown()
}

fn shown(spread: Option<Spread>) -> String {
    spread.map_or_else(|| NONE.to_owned(), |spread| spread.to_string())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Three rounds of three contestants with 64 clients, and one round of times.
    pub(in crate::peers) fn lines() -> Lines {
        let mut raw = String::from(
            r#"{"event":"setting","at_unix_s":86400,"sysbench":"sysbench 1.0.20","build":"mariadb-10.11","rows":1000,"seconds":2,"rounds":3,"host":{"cpu_model":"Example","cpus":2,"virtual_machine":true,"memory_bytes":24000000000,"kernel":"6.1.0-9-amd64","governor":null,"transparent_huge_pages":null}}"#,
        );
        for (round, more) in [1_u64, 0, 2].into_iter().enumerate() {
            for (contestant, client_us, threads) in [
                ("sysbench", 10, 65),
                ("prony-epoll", 4, 2),
                ("bare-epoll", 2, 3),
            ] {
                let client_ns = 100_000 * 1000 * (client_us + more);
                let line = format!(
                    r#"{{"event":"turn","round":{round},"contestant":"{contestant}","clients":64,"protocol":"prepared","figures":{{"wall_ns":2000000000,"queries":100000,"client_ns":{client_ns},"client_user_ns":100000000,"client_system_ns":300000000,"client_slices":100000,"client_peak_bytes":33000000,"client_threads":{threads},"server_ns":2000000000}}}}"#,
                );
                raw.push('\n');
                raw.push_str(&line);
            }
        }
        for (contestant, p50) in [("prony-epoll", 19_500), ("bare-blocking", 18_000)] {
            let line = format!(
                r#"{{"event":"latency","round":0,"contestant":"{contestant}","figures":{{"p50":{p50},"p99":40000}}}}"#,
            );
            raw.push('\n');
            raw.push_str(&line);
        }
        Lines::parse(&raw).unwrap()
    }

    #[test]
    fn the_page() {
        insta::assert_snapshot!(page(&lines()));
    }

    #[test]
    fn lines_without_a_setting_are_refused() {
        assert!(Lines::parse("").is_err());
        assert!(Lines::parse("{}").is_err());
    }
}
