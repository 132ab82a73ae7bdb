//! Spellings of a value that mean the same.

use serde::Deserialize;

/// Groups of spellings that mean the same.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Vec<Vec<String>>")]
pub(crate) struct Synonyms {
    /// Each in the form of [`plain`].
    groups: Vec<Vec<String>>,
}

impl From<Vec<Vec<String>>> for Synonyms {
    fn from(groups: Vec<Vec<String>>) -> Self {
        let plain_group = |group: Vec<String>| group.iter().map(|text| plain(text)).collect();
        Self {
            groups: groups.into_iter().map(plain_group).collect(),
        }
    }
}

impl Synonyms {
    /// The spelling that stands for a value in the form of [`plain`].
    pub(crate) fn representative(&self, value: String) -> String {
        let group = self.groups.iter().find(|group| group.contains(&value));
        group.map_or(value, |group| group[0].clone())
    }
}

/// A value without differences of spelling that never mean anything: case, spaces around it, a
/// slash at its end, units of sizes and times, zeros after the decimal point, the order of a list.
pub(crate) fn plain(text: &str) -> String {
    let text = text.trim().to_ascii_lowercase();
    let mut items: Vec<&str> = text.split(',').map(str::trim).collect();
    items.sort_unstable();
    items.dedup();
    let [text] = items[..] else {
        return items.join(",");
    };
    let text = match text.trim_end_matches(|c: char| c == '/' || c.is_whitespace()) {
        "" => text,
        folder => folder,
    };
    if let Some(bytes) = size(text) {
        return bytes.to_string();
    }
    match microseconds(text) {
        Some(0) => return "0".to_owned(),
        Some(time) => return format!("{time}us"),
        None => {}
    }
    without_zeros(text).to_owned()
}

/// The flags of a list such as `mrr=on,mrr_cost_based=off`. `None` for anything else.
pub(crate) fn flags(value: &str) -> Option<Vec<(String, String)>> {
    value
        .split(',')
        .map(|item| {
            let (name, value) = item.trim().split_once('=')?;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let fits = !name.is_empty() && name.chars().all(is_name);
            let is_switch = ["on", "off", "default"].contains(&value);
            (fits && is_switch).then(|| (name.to_owned(), value.to_owned()))
        })
        .collect()
}

/// Bytes of a size such as `64m` or `64mb`.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = with_unit(text)?;
    let shift = match unit {
        "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        _ => return None,
    };
    number.checked_mul(1 << shift)
}

/// Microseconds of a time such as `200ms` or `5min`.
fn microseconds(text: &str) -> Option<u64> {
    let (number, unit) = with_unit(text)?;
    let unit = match unit {
        "us" => 1,
        "ms" => 1_000,
        "s" => 1_000_000,
        "min" => 60_000_000,
        "h" => 3_600_000_000,
        "d" => 86_400_000_000,
        _ => return None,
    };
    number.checked_mul(unit)
}

/// A whole number and what stands behind it.
fn with_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit))
}

/// `10.000000` as `10`, `0.750` as `0.75`.
fn without_zeros(text: &str) -> &str {
    let is_decimal = |text: &str| {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        !whole.is_empty() && !fraction.is_empty() && digits(whole) && digits(fraction)
    };
    if is_decimal(text) {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings() {
        for (one, other) in [
            ("ON", "on"),
            ("64M", "67108864"),
            ("64MB", "65536kB"),
            ("1kB", "1024"),
            ("1GB", "1073741824"),
            ("5min", "300s"),
            ("200ms", "200000us"),
            ("1d", "24h"),
            ("0s", "0"),
            ("10.000000", "10"),
            ("0.750", "0.75"),
            ("/var/lib/", "/var/lib"),
            ("A, B", "b,a"),
            (" x ", "x"),
        ] {
            assert_eq!(plain(one), plain(other), "{one} {other}");
        }
        for (one, other) in [
            ("10", "1"),
            ("0.5", "5"),
            ("", "0"),
            ("/", ""),
            ("m", "0"),
            ("1min", "1M"),
            ("200ms", "200"),
            ("5s", "5"),
        ] {
            assert_ne!(plain(one), plain(other), "{one} {other}");
        }
    }

    #[test]
    fn groups_have_one_representative() {
        let group = ["", "fsync"].map(str::to_owned).to_vec();
        let synonyms = Synonyms::from(vec![group]);
        assert_eq!(
            synonyms.representative(plain("FSYNC")),
            synonyms.representative(plain(""))
        );
        assert_eq!(synonyms.representative("o_direct".into()), "o_direct");
    }

    #[test]
    fn flags_are_switches_only() {
        assert_eq!(flags("mrr=on, icp=off").map(|flags| flags.len()), Some(2));
        for other in ["", "ON", "a=on,b", "/x=on", "size=5", "TLSv1,TLSv1.1"] {
            assert_eq!(flags(other), None, "{other}");
        }
    }

    proptest::proptest! {
        /// A plain value stays as it is.
        #[test]
        fn plain_is_idempotent(text in "[a-zA-Z0-9.,/ =kKmM]{0,12}|[0-9]{1,3}(us|ms|s|min|h|d|B|kB|MB)") {
            let once = plain(&text);
            proptest::prop_assert_eq!(plain(&once), once);
        }
    }
}
