//! Figures in words, as messages and progress show them.

use std::time::Duration;

use prony_model::Plan;

pub(crate) use prony_report::words::{listed, plural, whole as rate};

/// A line about the builds that are left out of a plan. `None` without one.
pub(crate) fn left_out(plan: &Plan) -> Option<String> {
    let (verb, id) = match plan.left_out.as_slice() {
        [] => return None,
        [id] => ("is", id.as_str()),
        _ => ("are", "ID"),
    };
    Some(format!(
        "{} {verb} not on this machine: left out; add a build with `prony servers add FOLDER --id {id}`",
        listed(&plan.left_out)
    ))
}

/// A time in words, to two units: `700 ms`, `2.5 s`, `4 min 10 s`, `3 h 20 min`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..10_000 if !ms.is_multiple_of(1_000) => format!("{:.1} s", ms as f64 / 1e3),
        1_000..60_000 => format!("{} s", ms / 1_000),
        60_000..3_600_000 => two(ms / 60_000, "min", ms % 60_000 / 1_000, "s"),
        _ => two(ms / 3_600_000, "h", ms % 3_600_000 / 60_000, "min"),
    }
}

fn two(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    }
}

/// A time in words, in whole seconds.
pub(crate) fn whole(time: Duration) -> String {
    duration(time.as_secs() * 1_000).replace("0 ms", "0 s")
}

/// Bytes as mebibytes with one decimal.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20))
}

/// Lines of columns that are aligned to the left.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let longest = |column: usize| {
        rows.iter()
            .filter_map(|row| Some(row.get(column)?.len()))
            .max()
    };
    let widths: Vec<_> = (0..columns).filter_map(longest).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths);
        let cells: Vec<_> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_two_units_at_most() {
        for (ms, text) in [
            (0, "0 ms"),
            (700, "700 ms"),
            (2_500, "2.5 s"),
            (3_000, "3 s"),
            (59_999, "59 s"),
            (250_000, "4 min 10 s"),
            (3_600_000, "1 h"),
            (12_000_000, "3 h 20 min"),
        ] {
            assert_eq!(duration(ms), text);
        }
        assert_eq!(whole(Duration::from_millis(300)), "0 s");
    }
}
