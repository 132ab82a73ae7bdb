//! Patterns in which `*` stands for any characters but `/`.

/// True where `pattern` names `path` or a folder that `path` lies in.
pub(crate) fn covers(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern
        .split('/')
        .all(|segment| parts.next().is_some_and(|part| matches(segment, part)))
}

/// True where `pattern`, which holds no `/`, matches `text`.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == text;
    };
    let Some(text) = text.strip_prefix(head) else {
        return false;
    };
    // The star takes as little as possible, then more.
    let ends = (0..=text.len()).filter(|at| text.is_char_boundary(*at));
    ends.into_iter().any(|at| matches(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stay_within_a_name() {
        for (pattern, text) in [
            ("a", "a"),
            ("*", ""),
            ("a*", "abc"),
            ("*c", "abc"),
            ("a*b*c", "a-b-b-c"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "ab"), ("a*", "b"), ("*c", "cb"), ("a*b*c", "acb")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn folders_cover_what_is_in_them() {
        assert!(covers("lib/*.a", "lib/x.a"));
        assert!(covers("lib", "lib/deep/x.a"));
        assert!(covers("*/deep", "lib/deep/x.a"));
        assert!(!covers("lib/*.a", "lib/deep/x.a"));
        assert!(!covers("lib/deep", "lib"));
        assert!(!covers("li", "lib/x.a"));
    }
}
