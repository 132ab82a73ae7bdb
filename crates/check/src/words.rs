//! Numbers in words.

/// A percentage, with a decimal below ten.
pub(crate) fn percent(value: f64) -> String {
    if value.abs() < 9.95 {
        format!("{value:.1} %")
    } else {
        format!("{value:.0} %")
    }
}

/// Bytes in gibibytes or mebibytes.
pub(crate) fn bytes(bytes: u64) -> String {
    if bytes >= 1 << 30 {
        format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
    } else {
        format!("{} MiB", bytes >> 20)
    }
}

/// The value of a line of `/proc/meminfo` such as `SwapTotal:  12 kB`, in bytes.
pub(crate) fn memory(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    let number = line.strip_prefix(':')?.trim().strip_suffix("kB")?;
    number.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_two_digits_or_so() {
        assert_eq!(percent(0.04), "0.0 %");
        assert_eq!(percent(9.94), "9.9 %");
        assert_eq!(percent(9.96), "10 %");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(bytes(700 << 20), "700 MiB");
        let meminfo = "SwapTotal:  12 kB\nSwapFree: x kB\n";
        assert_eq!(memory(meminfo, "SwapTotal"), Some(12 << 10));
        assert_eq!(memory(meminfo, "SwapFree"), None);
        assert_eq!(memory(meminfo, "Swap"), None);
    }
}
