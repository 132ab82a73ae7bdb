//! "Did you mean": the nearest of the words that would have been right.

/// The words nearest to `written`: those that begin with it, else the closest one if it is close
/// enough to be a slip of the finger.
fn nearest<'a>(written: &str, words: &[&'a str]) -> Vec<&'a str> {
    let begins: Vec<_> = words
        .iter()
        .copied()
        .filter(|word| !written.is_empty() && word.starts_with(written))
        .collect();
    if !begins.is_empty() {
        return begins;
    }
    let limit = (written.chars().count() / 3).clamp(1, 4);
    let distance = |word: &str| {
        strsim::damerau_levenshtein(&written.to_ascii_lowercase(), &word.to_ascii_lowercase())
    };
    words
        .iter()
        .copied()
        .map(|word| (distance(word), word))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, word)| word)
        .into_iter()
        .collect()
}

/// More words than this are not listed below the nearest one.
const MANY: usize = 30;

/// A help text: what was probably meant, and everything that would be right, unless these are many.
/// `kind` is a plural,
/// such as `keys`.
pub fn help(written: &str, kind: &str, words: &[&str]) -> String {
    let all = if words.is_empty() {
        format!("there are no {kind}")
    } else {
        listed(&format!("known {kind}:"), words)
    };
    match nearest(written, words).as_slice() {
        [] => all,
        near => {
            let near: Vec<_> = near.iter().map(|word| format!("`{word}`")).collect();
            let near = format!("did you mean {}?", near.join(" or "));
            if words.len() > MANY {
                return near;
            }
            format!("{near}\n{all}")
        }
    }
}

/// The words after `start`, broken into lines between words: what shows the message would break
/// at the hyphens inside them.
fn listed(start: &str, words: &[&str]) -> String {
    const WIDTH: usize = 76;
    let mut text = start.to_owned();
    let mut column = text.len();
    for (index, word) in words.iter().enumerate() {
        let comma = if index + 1 < words.len() { "," } else { "" };
        let length = 1 + word.len() + comma.len();
        if column + length > WIDTH {
            text.push_str("\n ");
            column = 1;
        }
        text.push(' ');
        text.push_str(word);
        text.push_str(comma);
        column += length;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_slips_and_beginnings() {
        let words = ["blocks", "base", "mysql-5.0.21", "mysql-5.7.22"];
        assert_eq!(nearest("block", &words), ["blocks"]);
        assert_eq!(nearest("bsae", &words), ["base"]);
        assert_eq!(nearest("mysql-5", &words), ["mysql-5.0.21", "mysql-5.7.22"]);
        assert_eq!(nearest("mysql-5.7.23", &words), ["mysql-5.7.22"]);
        assert_eq!(nearest("Blocks", &words), ["blocks"]);
        assert!(nearest("postgres", &words).is_empty());
        assert!(nearest("", &words).is_empty());
    }
}
