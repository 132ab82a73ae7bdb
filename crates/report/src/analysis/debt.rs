//! Work that engines had left when a step began, where it is not the same for all targets.

use prony_model::DebtKind;

use crate::analysis::measurement::Measurement;
use crate::analysis::pairing;
use crate::words;

/// A kind of work left over whose amount differs from the base's by more than the bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unequal {
    pub(crate) kind: DebtKind,
    /// The block in which the difference was greatest, from 1.
    block: u32,
    /// The target's amount in that block, in the unit of the kind.
    value: u64,
    /// The base's amount.
    base: u64,
}

/// The kinds of which a target had more or less left than the base in the same block, beyond the
/// kind's bound. A kind that one of the two does not let one read is not compared.
pub(crate) fn unequal(measurements: &[Measurement], base: &[Measurement]) -> Vec<Unequal> {
    let greatest = |kind: DebtKind| {
        pairing::in_blocks(measurements, base)
            .filter_map(|(mine, other)| {
                Some(Unequal {
                    kind,
                    block: mine.block_number(),
                    value: *mine.debt.get(&kind)?,
                    base: *other.debt.get(&kind)?,
                })
            })
            .max_by_key(Unequal::difference)
            .filter(|unequal| unequal.difference() > kind.bound())
    };
    DebtKind::all().filter_map(greatest).collect()
}

impl Unequal {
    fn difference(&self) -> u64 {
        self.value.abs_diff(self.base)
    }

    /// As a warning of its cell.
    pub(crate) fn warning(&self, base: &str) -> String {
        format!(
            "block {}: work left over before the step differs from {base}'s by more than {}: {} {}, \
             there {}",
            self.block,
            amount(self.kind, self.kind.bound()),
            self.kind.name(),
            amount(self.kind, self.value),
            amount(self.kind, self.base)
        )
    }
}

/// An amount of a kind, as people read it.
pub(crate) fn amount(kind: DebtKind, value: u64) -> String {
    if kind.unit() == "bytes" {
        words::bytes(value)
    } else {
        words::count(value)
    }
}
