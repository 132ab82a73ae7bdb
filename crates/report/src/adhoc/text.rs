//! The summary for the terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use prony_model::{ErrorCount, Schedule, StepOutcome};

use super::summary::{Summary, Totals, client_us_per_query, share};
use crate::analysis::times::{NsHistogram, Times, decode};
use crate::document::NONE;
use crate::words::{count, listed, plural, whole};

impl Summary<'_> {
    /// For a terminal.
    pub fn text(&self) -> String {
        let mut text = heading(self);
        match &self.totals {
            None => text.push_str("\nNothing was measured.\n"),
            Some(totals) => {
                if self.load.outcome.is_none() {
                    text.push_str(
                        "\nStopped early: these are the figures of the intervals until then.\n",
                    );
                }
                text.push_str(&of_totals(totals));
                if let Some(reading) = self.load.placement {
                    line(&mut text, &format!("placement    {}", reading.placement));
                }
                text.push_str(&latencies(self, totals));
                text.push_str(&self.schedule().map_or_else(String::new, schedule_line));
                text.push_str(&processor_time(self));
                let own = self.load.outcome.map(|outcome| outcome.groups.own());
                text.push_str(&own.map_or_else(String::new, |own| errors(&own.errors)));
            }
        }
        for warning in &self.warnings {
            line(&mut text, &format!("\n! {}", warning.text));
        }
        text
    }
}

/// Adds a line. Writing to a String can't fail.
fn line(text: &mut String, line: &str) {
    let _ = writeln!(text, "{line}");
}

fn heading(summary: &Summary<'_>) -> String {
    let load = &summary.load;
    let own = load.step.own();
    let mut workload = own.workload.name.clone();
    for (name, value) in &own.parameters {
        // Writing to a String can't fail.
        let _ = write!(workload, " {name}={value}");
    }
    let version = match load.server_version {
        "" => String::new(),
        version => format!(" ({version})"),
    };
    let server = match &load.target.external {
        Some(external) => external.address.to_string(),
        None => load.target.build.id.clone(),
    };
    format!(
        "{workload} on {server}{version}, {} of {} rows, {}, {}, {}\n",
        plural(load.dataset.tables.into(), "table"),
        count(load.dataset.rows),
        load.target.engine,
        load.target.protocol,
        plural(own.clients.into(), "client"),
    )
}

fn of_totals(totals: &Totals<'_>) -> String {
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
        totals.seconds,
        count(totals.operations),
        per_second(totals.operations_per_second),
        count(totals.queries),
        per_second(totals.queries_per_second),
        count(totals.errors),
    )
}

/// A table with a row for each histogram.
fn latencies(summary: &Summary<'_>, totals: &Totals<'_>) -> String {
    let rows = latency_rows(summary, totals);
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let width = width.max(HEAD.len());
    let mut text = format!("\n{HEAD:width$}");
    for column in ["count", "mean", "p50", "p90", "p95", "p99", "p99.9", "max"] {
        let _ = write!(text, " {column:>9}");
    }
    text.push('\n');
    for (name, histogram) in rows {
        let _ = write!(text, "{name:width$} {:>9}", histogram.len());
        let columns = Times::of(&*histogram).map_or([None; 7], |times| {
            let Times { mean, max, .. } = times;
            [
                Some(mean),
                times.p50,
                times.p90,
                times.p95,
                times.p99,
                times.p999,
                Some(max),
            ]
        });
        for value in columns {
            let _ = write!(text, " {:>9}", value.map_or(NONE.to_owned(), milliseconds));
        }
        text.push('\n');
    }
    text
}

/// Above the names of the rows.
const HEAD: &str = "time in ms";

fn latency_rows<'a>(
    summary: &Summary<'_>,
    totals: &'a Totals<'_>,
) -> Vec<(String, Cow<'a, NsHistogram>)> {
    let decoded = |name: String, histogram| Some((name, Cow::Owned(decode(histogram).ok()?)));
    let whole = totals.service.as_deref();
    let whole = whole.map(|times| ("operation".to_owned(), Cow::Borrowed(times)));
    let response = summary.schedule().map(|schedule| &schedule.response);
    let response = response.and_then(|times| decoded("operation, response".to_owned(), times));
    let own = summary.load.outcome.map(|outcome| outcome.groups.own());
    let statements = own.into_iter().flat_map(|own| &own.statements);
    let statements = statements
        .filter_map(|statement| decoded(format!("  {}", statement.name), &statement.histogram));
    whole
        .into_iter()
        .chain(response)
        .chain(statements)
        .collect()
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

fn schedule_line(schedule: &Schedule) -> String {
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
    let late = decode(&schedule.error).ok();
    if let Some(p99) = late.and_then(|times| Times::of(&times)?.p99) {
        parts.push(format!("own lateness p99 {} ms", milliseconds(p99)));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("\nschedule     {}\n", parts.join("; "))
}

/// Processor time of a query. Connecting anew is no query, but part of the time.
fn processor_time(summary: &Summary<'_>) -> String {
    let per = match summary.load.step.own().reconnect_every {
        Some(_) => "of processor time per query, connecting included",
        None => "of processor time per query",
    };
    let client = summary.load.outcome;
    let mut text = client.map_or_else(String::new, |outcome| client_line(outcome, per));
    if let Some(us) = summary.server_us_per_query() {
        line(&mut text, &format!("server       {us:.1} µs {per}"));
    }
    text
}

fn client_line(outcome: &StepOutcome, per: &str) -> String {
    let per_query = client_us_per_query(outcome);
    let per_query = per_query.map_or(NONE.to_owned(), |us| format!("{us:.1}"));
    let threads = outcome.thread_use.iter();
    let shares: Vec<String> = threads
        .map(|thread| format!("{:.0} %", share(thread.cpu_ns, thread) * 100.0))
        .collect();
    let shares = match shares.as_slice() {
        [] => String::new(),
        shares => format!(", busy {}", listed(shares)),
    };
    format!(
        "\ngenerator    {per_query} µs {per}, {}{shares}, {}\n",
        plural(outcome.threads.into(), "thread"),
        outcome.backend,
    )
}

fn errors(errors: &[ErrorCount]) -> String {
    if errors.is_empty() {
        return String::new();
    }
    let mut text = "\nerrors\n".to_owned();
    for ErrorCount {
        code,
        class,
        count,
        message,
    } in errors
    {
        line(
            &mut text,
            &format!("  {code} ({class}), {count} times: {message}"),
        );
    }
    text
}
