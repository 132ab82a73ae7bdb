//! InnoDB's monitor, the text of `SHOW ENGINE INNODB STATUS`: the one place where every version
//! since 4.1 tells all of this.

use prony_model::{Debt, DebtKind};

/// The size of a page in versions that have no variable for it.
pub(super) const PAGE_SIZE: u64 = 16_384;

/// The debt in the monitor's text, as far as a version writes it there.
pub(super) fn debt(text: &str, page_size: u64) -> Vec<Debt> {
    // The first of each counts: the lines of single parts of the buffer pool follow later.
    let after = |label: &str| text.lines().find_map(|line| line.strip_prefix(label));
    let bytes = |pages: u64| pages.saturating_mul(page_size);
    let dirty_pages = after("Modified db pages").and_then(first_number);
    let current = after("Log sequence number").and_then(log_position);
    let checkpoint = after("Last checkpoint at").and_then(log_position);
    let purge = after("Purge done for trx's n:o <");
    // Since 5.6 this line ends with a state, and its numbers are decimal.
    let decimal = purge.is_some_and(|line| line.contains("state:"));
    let next = after("Trx id counter").and_then(|line| transaction_number(line, decimal));
    // Transactions with lower numbers are purged.
    let purged = purge.and_then(|line| line.split_once(" undo"));
    let purged = purged.and_then(|(numbers, _)| transaction_number(numbers, decimal));
    // From 5.5 on the list is cut rarely, so that most of it may be purged already.
    let behind = next
        .zip(purged)
        .map(|(next, purged)| next.saturating_sub(purged));
    let history = after("History list length").and_then(first_number);
    let buffer = after("Ibuf: size ").or_else(|| after("Ibuf for space 0: size "));
    let values = [
        (DebtKind::DirtyBytes, dirty_pages.map(bytes)),
        (
            DebtKind::CheckpointAge,
            current
                .zip(checkpoint)
                .map(|(current, checkpoint)| current.saturating_sub(checkpoint)),
        ),
        (
            DebtKind::HistoryList,
            history.map(|length| length.min(behind.unwrap_or(u64::MAX))),
        ),
    ];
    let values = values.into_iter();
    values
        .filter_map(|(kind, value)| value.map(|value| Debt { kind, value }))
        .chain(
            buffer
                .and_then(first_number)
                .map(|pages| change_buffer(pages, page_size)),
        )
        .collect()
}

/// The debt of a change buffer whose tree has so many pages, its root included, which is always
/// there.
pub(super) fn change_buffer(pages: u64, page_size: u64) -> Debt {
    Debt {
        kind: DebtKind::ChangeBuffer,
        value: pages.saturating_sub(1).saturating_mul(page_size),
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

/// The number of a transaction: two decimal halves of 32 bits before 5.5, hexadecimal in 5.5,
/// decimal since.
fn transaction_number(text: &str, decimal: bool) -> Option<u64> {
    if decimal || text.split_ascii_whitespace().count() > 1 {
        return log_position(text);
    }
    u64::from_str_radix(text.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<(DebtKind, u64)> {
        debt(text, PAGE_SIZE)
            .into_iter()
            .map(|debt| (debt.kind, debt.value))
            .collect()
    }

    fn expected(dirty: u64, age: u64, history: u64, buffer: u64) -> Vec<(DebtKind, u64)> {
        vec![
            (DebtKind::DirtyBytes, dirty),
            (DebtKind::CheckpointAge, age),
            (DebtKind::HistoryList, history),
            (DebtKind::ChangeBuffer, buffer),
        ]
    }

    #[test]
    fn mysql_4_1_writes_numbers_in_halves() {
        let text = "Trx id counter 0 990\n\
            Purge done for trx's n:o < 0 0 undo n:o < 0 0\n\
            History list length 2\n\
            Ibuf for space 0: size 1, free list len 0, seg size 2, is empty\n\
            Ibuf for space 0: size 1, free list len 0, seg size 2,\n\
            Log sequence number 1 23497458\n\
            Log flushed up to   1 21256034\n\
            Last checkpoint at  0 36808\n\
            Modified db pages  1390\n";
        let age = (1 << 32) + 23_497_458 - 36_808;
        assert_eq!(values(text), expected(1390 * 16_384, age, 2, 0));
    }

    #[test]
    fn mysql_5_5_writes_transactions_in_hexadecimal() {
        let text = "Trx id counter 16C3\n\
            Purge done for trx's n:o < 13F9 undo n:o < 0\n\
            History list length 1526\n\
            Ibuf: size 3, free list len 0, seg size 2, 0 merges\n\
            Log sequence number 28284407\n\
            Last checkpoint at  1595720\n\
            Modified db pages  0\n";
        let age = 28_284_407 - 1_595_720;
        assert_eq!(values(text), expected(0, age, 714, 2 * 16_384));
    }

    #[test]
    fn mysql_8_0_has_a_state_behind_decimal_numbers() {
        let text = "Trx id counter 5866\n\
            Purge done for trx's n:o < 5865 undo n:o < 0 state: running but idle\n\
            History list length 1537\n\
            Ibuf: size 1, free list len 0, seg size 2, 0 merges\n\
            Log sequence number          49943241\n\
            Added dirty pages up to      49943241\n\
            Last checkpoint at           19014824\n\
            Modified db pages  2045\n\
            ---BUFFER POOL 0\n\
            Modified db pages  1000\n";
        let age = 49_943_241 - 19_014_824;
        assert_eq!(values(text), expected(2045 * 16_384, age, 1, 0));
    }

    #[test]
    fn what_is_not_said_is_no_debt() {
        assert!(values("").is_empty());
        assert_eq!(
            values("History list length 7\n"),
            [(DebtKind::HistoryList, 7)]
        );
    }
}
