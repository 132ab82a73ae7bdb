//! Pace of clients' operations, and reconnecting.

use prony_model::{Pace, Spacing, Think, Thousandths};

use crate::duration::Microseconds;
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Problem, Read, Span};
use crate::percent;

/// Least and most operations per second: a million are more than any generator sends from one
/// machine.
const RATES: (Thousandths, Thousandths) = (Thousandths(1), Thousandths(1_000_000_000));

/// Least and most of the planned operations that can be promised, in percent.
const SLA: (Thousandths, Thousandths) = (Thousandths(1_000), Thousandths(100_000));

/// Most operations between two connections.
const RECONNECT_MAX: i64 = 1_000_000_000_000;

/// Notation of a think time.
const THINK_RULE: &str = "write a whole number and a unit: \"500us\", \"10ms\", \"2s\"";

/// A pace as written.
#[derive(Debug, Clone)]
pub(super) struct WrittenPace {
    /// Of all clients together, or of each of them.
    pace: Pace,
    per_client: bool,
    pub(super) reconnect_every: Option<u64>,
    pub(super) sla_percent: Option<Thousandths>,
}

impl WrittenPace {
    /// The pace of so many clients together; a rate that is too high is cut to the highest.
    pub(super) fn of(&self, clients: u32) -> Pace {
        match self.pace {
            Pace::Open { rate, spacing } if self.per_client => Pace::Open {
                rate: Thousandths(rate.0.saturating_mul(clients)).min(RATES.1),
                spacing,
            },
            pace => pace,
        }
    }
}

/// Reads the keys of a step, or of a group of clients, that say when operations begin.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<WrittenPace> {
    let rate = fields.optional("rate", |value| value.thousandths(RATES.0..=RATES.1));
    let each = fields.optional("rate_per_client", |value| {
        value.thousandths(RATES.0..=RATES.1)
    });
    let arrivals = fields.optional("arrivals", read_spacing);
    let think = fields.optional("think", |value| read_think(&value));
    let think_spacing = fields.optional("think_spacing", read_spacing);
    let sla = fields.optional("sla", |value| percent::read(value, SLA.0..=SLA.1, "95 %"));
    let reconnect = fields.optional("reconnect_every", |value| value.count(1..=RECONNECT_MAX));
    let (rate, each) = (rate?, each?);
    if let (Some(rate), Some(each)) = (&rate, &each) {
        return Problem::new("a rate is that of all clients together, or of each of them")
            .at(&rate.span, "of all")
            .at(&each.span, "of each")
            .help("remove one of them")
            .fail(fields.document());
    }
    let per_client = each.is_some();
    let rate = rate.or(each);
    let open = with_spacing(
        fields,
        rate.as_ref(),
        arrivals?.as_ref(),
        "arrivals",
        "rate",
    );
    let think = think?;
    let thinking = with_spacing(
        fields,
        think.as_ref(),
        think_spacing?.as_ref(),
        "think_spacing",
        "think",
    );
    let (open, thinking) = (open?, thinking?);
    if let (Some(rate), Some(think)) = (&rate, &think) {
        return Err(either(fields, &rate.span, &think.span));
    }
    let pace = match open {
        Some((rate, spacing)) => Pace::Open { rate, spacing },
        None => Pace::Closed {
            think: thinking.map(|(mean_us, spacing)| Think { mean_us, spacing }),
        },
    };
    let sla = sla?;
    if let (Some(sla), Pace::Closed { .. }) = (&sla, pace) {
        return Problem::new("`sla` needs `rate` beside it")
            .at(&sla.span, "of what?")
            .help("write `rate`, the operations per second that are planned, or remove `sla`")
            .fail(fields.document());
    }
    Ok(WrittenPace {
        pace,
        per_client,
        sla_percent: sla.map(|sla| sla.value),
        reconnect_every: reconnect?.map(|every| every.value),
    })
}

/// A value with its spacing, which can't stand alone. It is Poisson's where nothing else is
/// written: clients that begin together and all wait equally long would go on in step.
fn with_spacing<T: Copy>(
    fields: &Fields<'_>,
    value: Option<&Located<T>>,
    spacing: Option<&Located<Spacing>>,
    spacing_key: &str,
    value_key: &str,
) -> Read<Option<(T, Spacing)>> {
    match (value, spacing) {
        (Some(value), spacing) => {
            let spacing = spacing.map_or(Spacing::default(), |spacing| spacing.value);
            Ok(Some((value.value, spacing)))
        }
        (None, None) => Ok(None),
        (None, Some(spacing)) => {
            Problem::new(format!("`{spacing_key}` needs `{value_key}` beside it"))
                .at(&spacing.span, "of what?")
                .help(format!("write `{value_key}`, or remove `{spacing_key}`"))
                .fail(fields.document())
        }
    }
}

fn either(fields: &Fields<'_>, rate: &Span, think: &Span) -> crate::invalid::Reported {
    fields.document().report(
        Problem::new("clients work at a `rate`, or they `think` between operations, not both")
            .at(rate, "begins operations by a schedule")
            .at(think, "begins them after the last answer")
            .help("remove one of them"),
    )
}

fn read_spacing(value: Value<'_>) -> Read<Located<Spacing>> {
    value.choice(&Spacing::NAMED)
}

/// Reads a think time in microseconds.
fn read_think(value: &Value<'_>) -> Read<Located<u64>> {
    match value.clone().time("milliseconds? seconds?", THINK_RULE)? {
        Microseconds(0) => Err(value.report("must be longer than 0", "no time to think")),
        Microseconds(us) => Ok(Located {
            value: us,
            span: value.span(),
        }),
    }
}
