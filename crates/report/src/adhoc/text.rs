//! The summary for the terminal.

use std::fmt::Write as _;

use super::figures::{ClientFigures, Figures, ScheduleFigures, TimesEntry};
use super::summary::Summary;
use crate::document::NONE;
use crate::words::{count, listed, plural, whole};

impl Summary {
    /// For a terminal.
    pub fn text(&self) -> String {
        text(self)
    }
}

fn text(summary: &Summary) -> String {
    let mut text = heading(summary);
    match &summary.figures {
        None => text.push_str("\nNothing was measured.\n"),
        Some(figures) => {
            if !summary.complete {
                text.push_str(
                    "\nStopped early: these are the figures of the intervals until \
                               then.\n",
                );
            }
            text.push_str(&totals(figures));
            if let Some(placed) = &summary.placed {
                line(&mut text, &format!("placement    {}", placed.0.placement));
            }
            text.push_str(&latencies(figures));
            if let Some(schedule) = &figures.schedule {
                text.push_str(&schedule_line(schedule));
            }
            text.push_str(&processor_time(
                figures,
                summary.work.reconnect_every.is_some(),
            ));
            text.push_str(&errors(figures));
        }
    }
    for warning in &summary.warnings {
        line(&mut text, &format!("\n! {}", warning.text));
    }
    text
}

/// Adds a line. Writing to a String can't fail.
fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}

fn heading(summary: &Summary) -> String {
    let (server, work) = (&summary.server, &summary.work);
    let mut workload = work.workload.clone();
    for (name, value) in &work.parameters {
        // Writing to a String can't fail.
        let _ = write!(workload, " {name}={value}");
    }
    let version = match server.version.as_str() {
        "" => String::new(),
        version => format!(" ({version})"),
    };
    let name = server.build.as_ref().or(server.address.as_ref());
    format!(
        "{workload} on {}{version}, {} of {} rows, {}, {}, {}\n",
        name.map_or("a server", String::as_str),
        plural(work.tables.into(), "table"),
        count(work.rows),
        work.engine,
        work.protocol,
        plural(work.clients.into(), "client"),
    )
}

fn totals(figures: &Figures) -> String {
    let per_second = |value: Option<f64>| {
        value.map_or(NONE.to_owned(), |value| {
            if value < 100.0 {
                format!("{value:.1}")
            } else {
                whole(value)
            }
        })
    };
    format!(
        "\nmeasured     {:.1} s\n\
         operations   {} ({} per second)\n\
         queries      {} ({} per second)\n\
         errors       {}\n",
        figures.seconds,
        count(figures.operations),
        per_second(figures.operations_per_second),
        count(figures.queries),
        per_second(figures.queries_per_second),
        count(figures.error_count),
    )
}

/// A table with a row for each histogram.
fn latencies(figures: &Figures) -> String {
    let rows = latency_rows(figures);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let width = width.max(HEAD.len());
    let mut text = format!("\n{HEAD:width$}");
    for column in ["count", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"] {
        let _ = write!(text, " {column:>9}");
    }
    text.push('\n');
    for (name, times) in rows {
        let _ = write!(text, "{name:width$} {:>9}", times.count);
        for value in [
            times.mean, times.p50, times.p90, times.p95, times.p99, times.p999, times.max,
        ] {
            let _ = write!(text, " {:>9}", value.map_or(NONE.to_owned(), milliseconds));
        }
        text.push('\n');
    }
    text
}

/// Above the names of the rows.
const HEAD: &str = "time in ms";

fn latency_rows(figures: &Figures) -> Vec<(String, &TimesEntry)> {
    let mut rows = Vec::new();
    let whole = [
        ("operation", &figures.service_us),
        ("operation, response", &figures.response_us),
    ];
    for (name, times) in whole {
        rows.extend(times.as_ref().map(|times| (name.to_owned(), times)));
    }
    let statements = figures.statements.iter();
    rows.extend(statements.filter_map(|statement| {
        let times = statement.service_us.as_ref()?;
        Some((format!("  {}", statement.name), times))
    }));
    rows
}

/// Microseconds as milliseconds, to three digits or so.
pub(super) fn milliseconds(us: f64) -> String {
    let ms = us / 1e3;
    match ms {
        ms if ms < 10.0 => format!("{ms:.3}"),
        ms if ms < 1_000.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}

fn schedule_line(schedule: &ScheduleFigures) -> String {
    let mut parts = Vec::new();
    // Think times plan nothing ahead.
    if schedule.planned > 0 {
        parts.push(format!(
            "{} planned, {} waiting at the end, {} never started",
            count(schedule.planned),
            count(schedule.backlog),
            count(schedule.left),
        ));
    }
    if let Some(p99) = schedule.error_us.as_ref().and_then(|times| times.p99) {
        parts.push(format!("own lateness p99 {} ms", milliseconds(p99)));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("\nschedule     {}\n", parts.join("; "))
}

/// Processor time of a query. Connecting anew is no query, but part of the time.
fn processor_time(figures: &Figures, reconnects: bool) -> String {
    let per = if reconnects {
        "of processor time per query, connecting included"
    } else {
        "of processor time per query"
    };
    let mut text = String::new();
    if let Some(client) = &figures.client {
        text.push_str(&client_line(client, per));
    }
    if let Some(us) = figures.server_cpu_us_per_query {
        line(&mut text, &format!("server       {us:.1} µs {per}"));
    }
    text
}

fn client_line(client: &ClientFigures, per: &str) -> String {
    let per_query = client
        .cpu_us_per_query
        .map_or(NONE.to_owned(), |us| format!("{us:.1}"));
    let shares: Vec<String> = client
        .thread_use
        .iter()
        .map(|thread| format!("{:.0} %", thread.cpu_share * 100.0))
        .collect();
    let shares = match shares.as_slice() {
        [] => String::new(),
        shares => format!(", busy {}", listed(shares)),
    };
    format!(
        "\ngenerator    {per_query} µs {per}, {}{shares}, {}\n",
        plural(client.threads.into(), "thread"),
        client.backend,
    )
}

fn errors(figures: &Figures) -> String {
    if figures.errors.is_empty() {
        return String::new();
    }
    let mut text = "\nerrors\n".to_owned();
    for error in &figures.errors {
        line(
            &mut text,
            &format!(
                "  {} ({}), {} times: {}",
                error.code, error.class, error.count, error.message
            ),
        );
    }
    text
}
