//! The shapes that the kernel gives its files.

/// The number behind a word at the start of a line, such as `4` in `rchar: 4`.
pub(crate) fn value(text: &str, word: &str) -> Option<u64> {
    behind(text, word)?.trim().parse().ok()
}

/// The same if the number is followed by `kB`, in bytes.
pub(crate) fn kibibytes(text: &str, word: &str) -> Option<u64> {
    let number = behind(text, word)?.trim().strip_suffix("kB")?;
    number.trim_end().parse::<u64>().ok()?.checked_mul(1024)
}

/// The rest of the line that begins with a word.
pub(crate) fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(word))
}

/// The first `N` numbers of a text; `None` if it has fewer.
pub(crate) fn numbers<const N: usize>(text: &str) -> Option<[u64; N]> {
    let mut words = text.split_ascii_whitespace();
    let mut numbers = [0; N];
    for number in &mut numbers {
        *number = words.next()?.parse().ok()?;
    }
    Some(numbers)
}

/// The sum of numbers; `None` if one is missing or the sum is too large.
pub(crate) fn sum(numbers: impl IntoIterator<Item: Into<Option<u64>>>) -> Option<u64> {
    numbers
        .into_iter()
        .try_fold(0_u64, |sum, number| sum.checked_add(number.into()?))
}

/// Adds numbers to as many sums; `None` if a sum is too large.
pub(crate) fn add<const N: usize>(sums: [u64; N], numbers: [u64; N]) -> Option<[u64; N]> {
    let mut total = sums;
    for (sum, number) in total.iter_mut().zip(numbers) {
        *sum = sum.checked_add(number)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_by_the_whole_word() {
        let text = "read_bytes: 4\ncancelled_write_bytes: 9\nwrite_bytes: 7\nPss:  12 kB\n";
        assert_eq!(value(text, "write_bytes:"), Some(7));
        assert_eq!(value(text, "syscr:"), None);
        assert_eq!(kibibytes(text, "Pss:"), Some(12 * 1024));
        assert_eq!(kibibytes(text, "read_bytes:"), None);
        assert_eq!(kibibytes("Pss: 18446744073709551615 kB", "Pss:"), None);
    }

    #[test]
    fn a_sum_has_all_its_numbers_or_is_none() {
        assert_eq!(sum([1, 2]), Some(3));
        assert_eq!(sum([Some(1), None]), None);
        assert_eq!(sum([1, u64::MAX]), None);
    }
}
