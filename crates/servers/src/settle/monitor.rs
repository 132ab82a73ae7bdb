//! InnoDB's monitor, the text of `SHOW ENGINE INNODB STATUS`: the one place where every version
//! since 4.1 tells all of this.

use prony_model::{Debt, DebtKind};

/// What the monitor says; `None` where a version does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Monitor {
    pub(super) dirty_pages: Option<u64>,
    pub(super) history: Option<u64>,
    pub(super) current_lsn: Option<u64>,
    pub(super) checkpoint_lsn: Option<u64>,
    pub(super) change_buffer_pages: Option<u64>,
}

impl Monitor {
    /// The size of a page in versions that have no variable for it.
    pub(super) const PAGE_SIZE: u64 = 16_384;

    pub(super) fn parse(text: &str) -> Self {
        // The first of each counts: the lines of single parts of the buffer pool follow later.
        let after = |label: &str| text.lines().find_map(|line| line.strip_prefix(label));
        Self {
            dirty_pages: after("Modified db pages").and_then(first_number),
            history: after("History list length").and_then(first_number),
            current_lsn: after("Log sequence number").and_then(log_position),
            checkpoint_lsn: after("Last checkpoint at").and_then(log_position),
            change_buffer_pages: after("Ibuf: size ")
                .or_else(|| after("Ibuf for space 0: size "))
                .and_then(first_number),
        }
    }

    /// The same as debt.
    pub(super) fn debt(&self, page_size: u64) -> Vec<Debt> {
        let age = self
            .current_lsn
            .zip(self.checkpoint_lsn)
            .map(|(current, checkpoint)| current.saturating_sub(checkpoint));
        let pages = |count: Option<u64>| count.map(|count| count.saturating_mul(page_size));
        let values = [
            (DebtKind::DirtyBytes, pages(self.dirty_pages)),
            (DebtKind::CheckpointAge, age),
            (DebtKind::HistoryList, self.history),
            (DebtKind::ChangeBuffer, pages(self.change_buffer_pages)),
        ];
        values
            .into_iter()
            .filter_map(|(kind, value)| value.map(|value| Debt { kind, value }))
            .collect()
    }
}

fn first_number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// Before 5.5, a position in the log is written as two halves of 32 bits.
fn log_position(text: &str) -> Option<u64> {
    let mut words = text.split_ascii_whitespace();
    let first: u64 = words.next()?.parse().ok()?;
    match words.next() {
        None => Some(first),
        Some(second) => Some((first << 32) | second.parse::<u64>().ok()?),
    }
}
