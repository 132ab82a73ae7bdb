//! One `[[step]]`: a workload to run, or a place to settle.

use prony_model::{Dataset, Expr, Phase, Settle, Thousandths, Timing, WantedPlacement, Workload};

use super::beside::{self, Beside};
use super::clients::{self, Clients};
use super::settings::read_timing;
use super::time::{Limit, Scale, read_limit, read_time};
use super::work::{self, Work};
use crate::duration::Milliseconds;
use crate::experiment::placement;
use crate::fields::{Fields, Located, Value, read_each};
use crate::invalid::{Document, Problem, Read, Span};
use crate::percent;

/// After how long settling is given up where nothing is written: as long as the longest wait of the
/// scripts that the presets come from.
const DEFAULT_SETTLE_LIMIT: Milliseconds = Milliseconds(20 * 60_000);

/// One entry of a sequence as written.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) what: What,
    /// Place of messages about it.
    pub(super) place: Span,
}

/// Action of an entry.
#[derive(Debug, Clone)]
pub(super) enum What {
    Run(Box<Run>),
    Settle(WrittenSettle),
}

/// A workload to run, with what the step sets itself.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) work: Work,
    pub(super) warmup_ms: Option<u64>,
    pub(super) ramp_ms: Option<u64>,
    pub(super) limit: Option<Limit<Expr>>,
    pub(super) clients: Option<Vec<Clients>>,
    pub(super) phase: Option<Phase>,
    pub(super) warm_only: bool,
    pub(super) timing: Option<Timing>,
    pub(super) placement: Option<Located<WantedPlacement>>,
    /// In percent.
    pub(super) margin: Option<Thousandths>,
    pub(super) beside: Vec<Beside>,
}

impl Run {
    /// Its own clients and those beside them.
    pub(super) fn works(&self) -> impl Iterator<Item = &Work> {
        let beside = self.beside.iter().map(|group| &group.work);
        std::iter::once(&self.work).chain(beside)
    }
}

/// Settings of settling, for any dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrittenSettle {
    pub(super) idle: Milliseconds,
    pub(super) idle_per_million_rows: Milliseconds,
    pub(super) limit: Milliseconds,
}

impl WrittenSettle {
    /// Settings of settling with this dataset: idle times in proportion, never longer than the
    /// limit.
    pub(super) fn with(self, dataset: &Dataset, scale: Scale) -> Settle {
        let rows = u128::from(dataset.tables) * u128::from(dataset.rows);
        let for_rows = u128::from(self.idle_per_million_rows.0) * rows / 1_000_000;
        let for_rows = u64::try_from(for_rows).unwrap_or(u64::MAX);
        let idle_ms = scale.of(self.idle.0.saturating_add(for_rows));
        Settle {
            idle_ms: idle_ms.min(self.limit.0),
            limit_ms: self.limit.0,
        }
    }
}

/// Reads all `[[step]]` tables of a file; none at all is right too.
pub(super) fn read_all(root: &mut Fields<'_>, workloads: &[Workload]) -> Read<Vec<Entry>> {
    let document = root.document();
    let tables = root.tables("step", "a step")?;
    let entries = read_each(tables, |fields| read(fields, workloads))?;
    check_settles(document, &entries)?;
    Ok(entries)
}

fn read(mut fields: Fields<'_>, workloads: &[Workload]) -> Read<Entry> {
    let place = fields.span();
    if !fields.has("settle") {
        return read_run(fields, workloads);
    }
    let both = fields.refuse("workload", |span| {
        Problem::new("a step runs a `workload` or is a place to `settle`, not both")
            .at(span, "runs something")
            .help("write `settle` in a [[step]] of its own, in front of this one")
    });
    let settle = fields.required("settle", read_settle);
    fields.finish()?;
    both?;
    Ok(Entry {
        what: What::Settle(settle?),
        place,
    })
}

fn read_settle(value: Value<'_>) -> Read<WrittenSettle> {
    let mut fields = value.table("settling")?;
    let idle = fields.optional("idle", |value| read_time(&value, 0));
    let for_rows = fields.optional("idle_per_million_rows", |value| read_time(&value, 0));
    let limit = fields.optional("limit", |value| read_time(&value, 1));
    fields.finish()?;
    Ok(WrittenSettle {
        idle: Milliseconds(idle?.unwrap_or(0)),
        idle_per_million_rows: Milliseconds(for_rows?.unwrap_or(0)),
        limit: limit?.map_or(DEFAULT_SETTLE_LIMIT, Milliseconds),
    })
}

fn read_run(mut fields: Fields<'_>, workloads: &[Workload]) -> Read<Entry> {
    let work = work::read(&mut fields, workloads);
    let warmup = fields.optional("warmup", |value| read_time(&value, 0));
    let ramp = fields.optional("ramp", |value| read_time(&value, 0));
    let limit = read_limit(&mut fields);
    let clients = fields.optional("clients", clients::read);
    let phase = fields.optional("phase", |value| value.choice(&Phase::NAMED));
    let warm_only = fields.optional("warm_only", Value::flag);
    let timing = fields.optional("timing", read_timing);
    let placement = fields.optional("placement", placement::read);
    let margin = fields.optional("margin", percent::read_difference);
    let step = work.as_ref().ok().map(|work| &work.name);
    let beside = beside::read_all(&mut fields, workloads, step);
    fields.finish()?;
    let work = work?;
    Ok(Entry {
        place: work.name.span.clone(),
        what: What::Run(Box::new(Run {
            work,
            warmup_ms: warmup?,
            ramp_ms: ramp?,
            limit: limit?.map(|limit| limit.value),
            clients: clients?,
            phase: phase?.map(|phase| phase.value),
            warm_only: warm_only?.unwrap_or(false),
            timing: timing?,
            placement: placement?,
            margin: margin?.map(|margin| margin.value),
            beside: beside?,
        })),
    })
}

/// Checks that every place to settle is followed by a step that finds the engine settled.
fn check_settles(document: &Document<'_>, entries: &[Entry]) -> Read<()> {
    let settles = |entry: &&Entry| matches!(entry.what, What::Settle(_));
    for (index, entry) in entries.iter().enumerate() {
        if settles(&entry) && entries.get(index + 1).is_none_or(|next| settles(&next)) {
            return Problem::new("no step that runs something follows after settling")
                .at(&entry.place, "settles for no step")
                .help("write the [[step]] that needs a quiet engine below it, or remove it")
                .fail(document);
        }
    }
    Ok(())
}
