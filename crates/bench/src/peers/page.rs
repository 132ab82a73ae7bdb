//! The figures as tables.

use std::fmt::Write as _;

use prony_model::Protocol;

use super::contestant::Contestant;
use super::groups::Group;
use super::limits::verdicts;
use super::measured::{Cell, Figures, Measured, OpenFigures, Setting};
use crate::spread::Spread;
use crate::table::Table;

/// The mark in place of a missing figure.
const NONE: &str = "–";

/// All figures, as the documentation shows them.
pub(super) fn page(measured: &Measured) -> String {
    let mut out = setting(&measured.setting);
    let cells = measured.cells();
    for group in Group::ALL {
        for protocol in [Protocol::Prepared, Protocol::Text] {
            let of_table = |cell: &&Cell<'_>| (cell.group, cell.protocol) == (group, protocol);
            let mut cells = cells.iter().filter(of_table).peekable();
            if cells.peek().is_some() {
                let (name, heading) = (protocol.name(), group.heading());
                let costs = costs(measured.setting.peer(), cells);
                let _ = write!(out, "\nPoint queries, {name}{heading}:\n\n{costs}");
            }
        }
    }
    if !measured.latencies.is_empty() {
        let _ = write!(out, "\nOne client's times:\n\n{}", latencies(measured));
    }
    if let Some(first) = measured.opens.first() {
        let (rate, clients) = (first.rate, first.clients);
        let _ = write!(
            out,
            "\nOpen loop, {rate} operations per second, {clients} clients:\n\n{}",
            open_loops(measured)
        );
    }
    if let Some(table) = against_other(&cells) {
        let _ = write!(out, "\nBeside the other Prony:\n\n{table}");
    }
    let mut limits = Table::new(1, &["what", "at most", "seen", ""]);
    for verdict in verdicts(measured) {
        let (limit, words) = (format!("{:.2}", verdict.limit), verdict.words());
        limits.push(vec![verdict.what, limit, verdict.seen.to_string(), words]);
    }
    let _ = write!(out, "\nWhat it should keep to:\n\n{}", limits.markdown());
    out
}

/// The date, the machine and the choices.
fn setting(setting: &Setting) -> String {
    let host = &setting.host;
    let build = match setting.peer() {
        Contestant::Pgbench => setting.build.clone(),
        _ => format!("{}, InnoDB", setting.build),
    };
    let date = jiff::Timestamp::from_second(setting.at_unix_s)
        .map_or_else(|_| NONE.to_owned(), |at| at.strftime("%F").to_string());
    let gigabytes = |bytes| format!(", {:.0} GB", bytes as f64 / 1e9);
    let memory = host.memory_bytes.map(gigabytes).unwrap_or_default();
    // The additions of distributors to the release carry no information here.
    let release = host
        .kernel
        .as_deref()
        .and_then(|kernel| kernel.split('-').next());
    let kernel = release
        .map(|release| format!(", Linux {release}"))
        .unwrap_or_default();
    format!(
        "{date}; {} cores of {}{}{memory}{kernel}; {}, {} rows, unix socket; {}; {} \
         rounds of {} s; medians, with the range over the rounds.\n",
        host.cpus,
        host.cpu_model.as_deref().unwrap_or("an unknown kind"),
        if host.virtual_machine == Some(true) {
            ", virtual"
        } else {
            ""
        },
        build,
        setting.rows,
        setting.peer,
        setting.rounds,
        setting.seconds,
    )
}

/// Costs of each contestant.
fn costs<'a>(peer: Contestant, cells: impl Iterator<Item = &'a Cell<'a>>) -> String {
    let beside = format!("÷ {}", peer.name());
    let headings = [
        "clients",
        "who",
        "CPU, µs/query",
        "of it user",
        &beside,
        "÷ bare loop",
        "queries/s",
        &beside,
        "server CPU, µs/query",
        "switches/query",
        "p50, ms",
        "p99, ms",
        "memory, MB",
        "threads",
    ];
    let mut table = Table::new(2, &headings);
    for cell in cells {
        for contestant in cell.contestants() {
            table.push(cost(cell, peer, contestant));
        }
    }
    table.markdown()
}

fn cost(cell: &Cell<'_>, peer: Contestant, contestant: Contestant) -> Vec<String> {
    let median = |quantity, digits: usize| {
        let spread = cell.spread(contestant, quantity);
        // What a contestant does not report is no number.
        let spread = spread.filter(|spread| spread.median.is_finite());
        spread.map_or_else(
            || NONE.to_owned(),
            |spread| format!("{:.digits$}", spread.median),
        )
    };
    let ratio = |other: Option<Contestant>, quantity| {
        let other = other.filter(|other| *other != contestant);
        shown(other.and_then(|other| cell.ratio(contestant, other, quantity)))
    };
    let peer = Some(peer);
    vec![
        cell.clients.to_string(),
        contestant.name().to_owned(),
        median(Figures::client_us, 2),
        median(Figures::client_user_us, 2),
        ratio(peer, Figures::client_us),
        ratio(contestant.bare(cell.clients), Figures::client_us),
        median(Figures::throughput, 0),
        ratio(peer, Figures::throughput),
        median(Figures::server_us, 2),
        median(Figures::switches, 2),
        median(Figures::p50_ms, 2),
        median(Figures::p99_ms, 2),
        median(Figures::memory_mb, 0),
        median(Figures::threads, 0),
    ]
}

fn latencies(measured: &Measured) -> String {
    let headings = ["who", "median, µs", "99 %, µs", "median − bare loop's, µs"];
    let mut table = Table::new(1, &headings);
    for first in measured.latencies.iter().filter(|turn| turn.round == 0) {
        let contestant = first.contestant;
        let times = || measured.latencies_of(contestant).map(|turn| turn.figures);
        let behind = match contestant {
            Contestant::BareBlocking => None,
            _ => measured.behind_bare_us(contestant),
        };
        table.push(vec![
            contestant.name().to_owned(),
            shown(Spread::of(times().map(|times| times.p50 as f64 / 1e3))),
            shown(Spread::of(times().map(|times| times.p99 as f64 / 1e3))),
            shown(behind),
        ]);
    }
    table.markdown()
}

/// Lateness of scheduled operations, which is the client's own.
fn open_loops(measured: &Measured) -> String {
    let headings = [
        "server's group",
        "who",
        "late, 99 %, µs",
        "response time, 50 %, µs",
        "response time, 99 %, µs",
        "CPU, µs/query",
    ];
    let mut table = Table::new(2, &headings);
    for first in measured.opens.iter().filter(|turn| turn.round == 0) {
        let spread = |quantity| {
            let spread = measured.open_spread(first.group, first.contestant, quantity);
            spread.map_or_else(|| NONE.to_owned(), |spread| format!("{spread:.1}"))
        };
        table.push(vec![
            first.group.name().to_owned(),
            first.contestant.name().to_owned(),
            spread(OpenFigures::late_p99_us),
            spread(|figures| figures.response.p50 as f64 / 1e3),
            spread(|figures| figures.response.p99 as f64 / 1e3),
            spread(OpenFigures::client_us),
        ]);
    }
    table.markdown()
}

/// Prony's cost as a multiple of that of the binary of `--prony`. `None` without this option.
fn against_other(cells: &[Cell<'_>]) -> Option<String> {
    let headings = [
        "who",
        "protocol",
        "server's group",
        "clients",
        "CPU ÷ other's",
        "queries/s ÷ other's",
        "p99 ÷ other's",
    ];
    let mut table = Table::new(3, &headings);
    let mut found = false;
    for cell in cells {
        for (prony, other) in [
            (Contestant::PronyEpoll, Contestant::OtherEpoll),
            (Contestant::PronyIoUring, Contestant::OtherIoUring),
            (Contestant::SwitchedEpoll, Contestant::OtherEpoll),
            (Contestant::SwitchedIoUring, Contestant::OtherIoUring),
        ] {
            if let Some(cpu) = cell.ratio(prony, other, Figures::client_us) {
                found = true;
                table.push(vec![
                    prony.name().to_owned(),
                    cell.protocol.name().to_owned(),
                    cell.group.name().to_owned(),
                    cell.clients.to_string(),
                    cpu.to_string(),
                    shown(cell.ratio(prony, other, Figures::throughput)),
                    shown(cell.ratio(prony, other, Figures::p99_ms)),
                ]);
            }
        }
    }
    found.then(|| table.markdown())
}

fn shown(spread: Option<Spread>) -> String {
    spread.map_or_else(|| NONE.to_owned(), |spread| spread.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::measured::tests::measured;
    use super::*;

    #[test]
    fn the_page() {
        insta::assert_snapshot!(page(&measured()));
    }
}
