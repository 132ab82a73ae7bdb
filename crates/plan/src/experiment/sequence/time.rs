//! Lengths of time, and what ends a step.

use prony_model::{Expr, Length};
use toml::de::DeValue;

use crate::duration::Milliseconds;
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Problem, Read, Span};

/// Most operations of a step that is limited by their number.
pub(super) const OPERATIONS_MAX: u64 = 1_000_000_000_000;

/// Shortest warm-up that scaling leaves: below it, connections that were just made are not in step
/// yet.
const SCALED_WARMUP_LEAST_MS: u64 = 200;

/// Notation of a duration.
const TIME_RULE: &str = "write a whole number and a unit: \"500ms\", \"10s\", \"5m\", \"2h\"";

/// Limit of a step; as written, with expressions for numbers of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit<N = u64> {
    /// Milliseconds.
    Time(u64),
    /// Operations over all clients.
    Operations(N),
    /// Operations of each client.
    PerClient(N),
}

/// A proportion of times.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    to_ms: u64,
    from_ms: u64,
}

impl Limit {
    /// Limit at this number of clients.
    pub(super) fn at(self, clients: u32) -> Length {
        match self {
            Self::Time(ms) => Length::Time { ms },
            Self::Operations(operations) => Length::Count { operations },
            Self::PerClient(each) => Length::Count {
                operations: each.saturating_mul(u64::from(clients)),
            },
        }
    }
}

impl<N> Limit<N> {
    /// The same with its time scaled; work stays as it is.
    pub(super) fn scaled(self, scale: Scale) -> Self {
        match self {
            Self::Time(ms) => Self::Time(scale.of(ms).max(1)),
            work => work,
        }
    }

    /// The same with its number of operations computed.
    ///
    /// # Errors
    /// What `compute` returns.
    pub(super) fn try_map<M, E>(
        &self,
        compute: impl FnOnce(&N) -> Result<M, E>,
    ) -> Result<Limit<M>, E> {
        match self {
            Self::Time(ms) => Ok(Limit::Time(*ms)),
            Self::Operations(number) => compute(number).map(Limit::Operations),
            Self::PerClient(number) => compute(number).map(Limit::PerClient),
        }
    }
}

impl Scale {
    /// As written.
    pub(super) const ONE: Self = Self {
        to_ms: 1,
        from_ms: 1,
    };

    /// Factor that makes `to_ms` of `from_ms`.
    pub(super) const fn new(to_ms: u64, from_ms: u64) -> Self {
        Self { to_ms, from_ms }
    }

    /// `ms` in proportion.
    pub(super) fn of(self, ms: u64) -> u64 {
        let scaled = u128::from(ms) * u128::from(self.to_ms) / u128::from(self.from_ms.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    /// A warm-up in proportion, which stays long enough to be one.
    pub(super) fn of_warmup(self, ms: u64) -> u64 {
        self.of(ms).max(ms.min(SCALED_WARMUP_LEAST_MS))
    }
}

/// Reads a length of time of at least `least_ms`, in milliseconds.
pub(crate) fn read_time(value: &Value<'_>, least_ms: u64) -> Read<u64> {
    let Milliseconds(ms) = value.clone().time("seconds? minutes?", TIME_RULE)?;
    if ms < least_ms {
        return Err(value.report("must be longer than 0", "nothing would be measured"));
    }
    Ok(ms)
}

/// Reads a number of operations.
pub(crate) fn read_operations(value: Value<'_>) -> Read<Located<u64>> {
    value.count(1..=OPERATIONS_MAX.cast_signed())
}

/// Reads a number of operations, which may be an expression of `rows`, `tables` and the workload's
/// parameters.
fn read_computed_operations(value: Value<'_>) -> Read<Located<Expr>> {
    let document = value.document();
    if !matches!(value.inner(), DeValue::String(_)) {
        read_operations(value.clone())?;
    }
    let text = value.text_or_integer()?;
    match text.value.parse() {
        Ok(expr) => Ok(text.map(|_| expr)),
        Err(error) => Problem::new(format!("{error}"))
            .at(&text.span, "can't be computed")
            .fail(document),
    }
}

/// Reads what ends a step, or all steps of a sequence: at most one of `time`, `operations` and
/// `operations_per_client`.
pub(super) fn read_limit(fields: &mut Fields<'_>) -> Read<Option<Located<Limit<Expr>>>> {
    let document = fields.document();
    let time = fields.optional("time", |value| {
        let span = value.span();
        Ok(located(span, Limit::Time(read_time(&value, 1)?)))
    });
    let operations = fields.optional("operations", |value| {
        Ok(read_computed_operations(value)?.map(Limit::Operations))
    });
    let each = fields.optional("operations_per_client", |value| {
        Ok(read_computed_operations(value)?.map(Limit::PerClient))
    });
    let mut written = [time?, operations?, each?].into_iter().flatten();
    let (first, second) = (written.next(), written.next());
    let (Some(one), Some(other)) = (&first, &second) else {
        return Ok(first);
    };
    Problem::new("a step ends after a `time` or after a number of `operations`, not both")
        .at(&one.span, "this")
        .at(&other.span, "or this")
        .help("remove one of them")
        .fail(document)
}

fn located<T>(span: Span, value: T) -> Located<T> {
    Located { value, span }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_their_proportion() {
        let scale = Scale::new(10_000, 600_000);
        assert_eq!(scale.of(300_000), 5000);
        assert_eq!(Limit::<u64>::Time(60_000).scaled(scale), Limit::Time(1000));
        assert_eq!(Limit::<u64>::Time(10).scaled(scale), Limit::Time(1));
        assert_eq!(Limit::PerClient(7).scaled(scale), Limit::PerClient(7));
    }

    #[test]
    fn scaled_warmups_stay_warmups() {
        let scale = Scale::new(1, 600);
        assert_eq!(scale.of_warmup(5000), 200);
        assert_eq!(scale.of_warmup(100), 100);
        assert_eq!(scale.of_warmup(0), 0);
        assert_eq!(Scale::new(2, 1).of_warmup(5000), 10_000);
    }

    #[test]
    fn work_of_each_client_adds_up() {
        let operations = 1200;
        assert_eq!(Limit::PerClient(300).at(4), Length::Count { operations });
        assert_eq!(Limit::Operations(1200).at(4), Length::Count { operations });
    }
}
