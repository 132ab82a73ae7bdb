//! The load generator's ceiling on a host, for people and for programs.

mod noise;
#[cfg(test)]
mod tests;
mod wake_ups;

use prony_model::{
    Backend, CalibratedHost, Calibration, CalibrationCounts, ClosedPoint, Family, HostUse,
    LookingPrice, Loss, OpenPoint, Taken,
};
use serde::Serialize;

use crate::analysis::times::{Times, decode};
use crate::document::{Block, Cell, NONE, Table};
use crate::error::ReportError;
use crate::figures::{rounded, thousandths};
use crate::format::{object, pretty, text};
use crate::words::{count, plural, whole};

/// Changes whenever a key vanishes or changes its meaning.
const FORMAT: u32 = 1;

/// Writes a calibration for a terminal of 100 columns or more; ends with a line feed.
///
/// # Errors
/// When the distribution of schedule errors can't be decoded.
pub fn calibration_text(calibration: &Calibration) -> Result<String, ReportError> {
    Ok(text::write(&blocks(calibration)?))
}

/// Writes a calibration for programs: the raw counts and what follows from them. Ends with a line
/// feed.
///
/// # Errors
/// When the distribution of schedule errors can't be decoded.
pub fn calibration_json(calibration: &Calibration) -> Result<String, ReportError> {
    let open = calibration.open.iter().map(open_entry);
    pretty(&object! {
        format: FORMAT,
        prony_version: &calibration.prony_version,
        host: &calibration.host,
        made_at_ms: calibration.made_at_ms,
        disturbed: calibration.is_disturbed(),
        placement: calibration.placement,
        wake_ups: calibration.wake_ups.as_ref().map(wake_ups::entry),
        closed: calibration.closed.iter().map(closed_entry).collect::<Vec<_>>(),
        open: open.collect::<Result<Vec<_>, _>>()?,
        looking: calibration.looking.iter().map(looking_entry).collect::<Vec<_>>(),
        noise: calibration.noise.iter().map(noise::entry).collect::<Vec<_>>(),
    })
}

fn blocks(calibration: &Calibration) -> Result<Vec<Block>, ReportError> {
    let CalibratedHost {
        cpu_model,
        cpus,
        kernel,
    } = &calibration.host;
    let unknown = "unknown".to_owned();
    let host = format!(
        "{}, {}, kernel {}",
        cpu_model.as_ref().unwrap_or(&unknown),
        plural(u64::from(*cpus), "processor"),
        kernel.as_ref().unwrap_or(&unknown),
    );
    let mut facts = vec![
        ("host", host),
        ("version", format!("Prony {}", calibration.prony_version)),
    ];
    if calibration.is_disturbed() {
        let disturbed = "yes: other programs or the hypervisor took processors away, see `taken`";
        facts.push(("disturbed", disturbed.to_owned()));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(wake_ups::blocks(calibration));
    if !calibration.closed.is_empty() {
        blocks.push(Block::Heading(
            "Closed loop: a prepared point query to the null server, unix socket".to_owned(),
        ));
        blocks.push(Block::Table(closed_table(&calibration.closed)));
    }
    if !calibration.open.is_empty() {
        blocks.push(Block::Heading(
            "By schedule: the same query at a rate, and its lateness".to_owned(),
        ));
        blocks.push(Block::Table(open_table(&calibration.open)?));
    }
    if !calibration.looking.is_empty() {
        blocks.push(Block::Heading(
            "Cost of counters: the throughput that counters on the null server take".to_owned(),
        ));
        blocks.push(Block::Table(looking_table(calibration)));
    }
    blocks.extend(noise::blocks(&calibration.noise));
    Ok(blocks)
}

fn looking_table(calibration: &Calibration) -> Table {
    let row = |price: &LookingPrice| {
        let loss = price.loss();
        let shown = |of: &dyn Fn(Loss) -> String| loss.map_or_else(|| NONE.to_owned(), of);
        let rides = if calibration.may_ride(price.counters) {
            "yes"
        } else {
            "no"
        };
        [
            format!(
                "{}, {}",
                price.counters.name(),
                plural(u64::from(price.clients), "client")
            ),
            price.rounds.len().to_string(),
            shown(&|loss| percent(loss.mean)),
            shown(&|loss| format!("{} to {}", percent(loss.range.0), percent(loss.range.1))),
            shown(&|loss| percent(loss.most)),
            rides.to_owned(),
        ]
        .map(Cell::from)
        .to_vec()
    };
    let header = [
        "counters",
        "rounds",
        "lost",
        "range",
        "at most",
        "ride along in timed trials",
    ];
    Table::of_figures(header, calibration.looking.iter().map(row))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn closed_table(points: &[ClosedPoint]) -> Table {
    let row = |point: &ClosedPoint| {
        let counts = &point.counts;
        [
            closed_name(point),
            point.threads.to_string(),
            counts.queries_per_second().map_or(NONE.to_owned(), whole),
            microseconds(counts.client_us_per_query()),
            microseconds(counts.client_user_us_per_query()),
            microseconds(counts.server_us_per_query()),
            taken(point.host),
        ]
        .map(Cell::from)
        .to_vec()
    };
    let header = [
        "generator",
        "threads",
        "queries/s",
        "CPU µs/query",
        "of it user",
        "null server",
        "taken",
    ];
    Table::of_figures(header, points.iter().map(row))
}

fn open_table(points: &[OpenPoint]) -> Result<Table, ReportError> {
    let row = |point: &OpenPoint| {
        let lateness = Lateness::of(point)?;
        Ok([
            name(point.backend, point.clients),
            format!("{} {}", whole(point.rate.as_f64()), point.spacing.name()),
            count(point.counts.queries),
            microseconds(point.counts.client_us_per_query()),
            microseconds(lateness.p50),
            microseconds(lateness.p99),
            microseconds(lateness.max),
            taken(point.host),
        ]
        .map(Cell::from)
        .to_vec())
    };
    let header = [
        "generator",
        "rate/s",
        "queries",
        "CPU µs/query",
        "late µs p50",
        "p99",
        "max",
        "taken",
    ];
    let rows: Vec<Vec<Cell>> = points.iter().map(row).collect::<Result<_, ReportError>>()?;
    Ok(Table::of_figures(header, rows))
}

/// The name of a closed loop; the usual protocol is not named.
fn closed_name(point: &ClosedPoint) -> String {
    let name = name(point.backend, point.clients);
    match point.family {
        Family::Mysql | Family::Mariadb => name,
        family @ Family::Postgresql => format!("{name}, {family}"),
    }
}

fn name(backend: Backend, clients: u32) -> String {
    format!("{backend}, {}", plural(u64::from(clients), "client"))
}

/// Share of the processors that was taken away; with an exclamation mark if it disturbed the
/// measurement.
fn taken(host: Option<HostUse>) -> String {
    let share = host
        .and_then(|host| host.taken())
        .as_ref()
        .map(Taken::share);
    let mark = if host.is_some_and(|host| host.is_disturbed()) {
        "! "
    } else {
        ""
    };
    share.map_or_else(
        || NONE.to_owned(),
        |share| format!("{mark}{}", percent(share)),
    )
}

/// The same for programs.
fn doubt(host: Option<HostUse>) -> impl Serialize + use<> {
    let taken = host.and_then(|host| host.taken());
    object! {
        disturbed: host.is_some_and(|host| host.is_disturbed()),
        hypervisor: taken.map(|taken| rounded(taken.hypervisor, 4)),
        others: taken.map(|taken| rounded(taken.others, 4)),
    }
}

fn microseconds(value: Option<f64>) -> String {
    value.map_or_else(|| NONE.to_owned(), |value| format!("{value:.2}"))
}

/// Lateness of operations when they were sent, in microseconds.
#[derive(Debug, Clone, Copy, Serialize)]
struct Lateness {
    p50: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

impl Lateness {
    fn of(point: &OpenPoint) -> Result<Self, ReportError> {
        let histogram = decode(&point.error).map_err(|problem| ReportError::Calibration {
            backend: point.backend,
            problem,
        })?;
        let times = Times::of(&histogram);
        Ok(Self {
            p50: times.and_then(|times| times.p50),
            p99: times.and_then(|times| times.p99),
            max: times.map(|times| times.max),
        })
    }
}

/// The figures that follow from the counts.
fn figures(counts: &CalibrationCounts) -> impl Serialize + use<> {
    object! {
        queries_per_second: counts.queries_per_second().map(thousandths),
        client_cpu_us_per_query: counts.client_us_per_query().map(thousandths),
        client_user_us_per_query: counts.client_user_us_per_query().map(thousandths),
        server_cpu_us_per_query: counts.server_us_per_query().map(thousandths),
    }
}

fn closed_entry(point: &ClosedPoint) -> impl Serialize {
    object! {
        #[serde(flatten)]
        point: point,
        figures: figures(&point.counts),
        taken: doubt(point.host),
    }
}

fn looking_entry(price: &LookingPrice) -> impl Serialize {
    let rate = |counts: &CalibrationCounts| counts.queries_per_second().map(thousandths);
    let rounds = price.rounds.iter();
    let rates = rounds.map(|round| [rate(&round.without), rate(&round.with)]);
    let loss = price.loss();
    object! {
        counters: price.counters,
        clients: price.clients,
        // Without and with the counters, round by round.
        queries_per_second: rates.collect::<Vec<_>>(),
        loss: loss.map(|loss| rounded(loss.mean, 5)),
        loss_at_most: loss.map(|loss| rounded(loss.most, 5)),
    }
}

fn open_entry(point: &OpenPoint) -> Result<impl Serialize, ReportError> {
    Ok(object! {
        backend: point.backend,
        clients: point.clients,
        threads: point.threads,
        rate: point.rate.as_f64(),
        spacing: point.spacing,
        cpus: &point.cpus,
        host: point.host,
        planned: point.planned,
        counts: point.counts,
        figures: figures(&point.counts),
        taken: doubt(point.host),
        schedule_error_us: Lateness::of(point)?,
    })
}
