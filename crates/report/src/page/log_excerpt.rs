//! The lines of a failed server's log that are worth showing.

/// Lines that are shown.
const LINES_MAX: usize = 10;

/// Of these, the last ones of the log, whatever they say.
const LAST_LINES: usize = 4;

/// Words of lines that name a cause, in any version: `[ERROR]`, `Error: Write to file … failed`,
/// `The table is full`, `No space left on device`, `Assertion failure`, `got signal 11`.
const CAUSES: [&str; 6] = ["error", "full", "no space", "assertion", "signal", "fatal"];

/// The first lines that name a cause and the last lines of all, in their order.
pub(crate) fn excerpt(log: &str) -> Vec<String> {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let last = lines.len().saturating_sub(LAST_LINES);
    let causes = lines[..last]
        .iter()
        .filter(|line| names_a_cause(line))
        .take(LINES_MAX - LAST_LINES);
    causes
        .chain(&lines[last..])
        .map(|line| (*line).to_owned())
        .collect()
}

fn names_a_cause(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    CAUSES.iter().any(|cause| line.contains(cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_come_before_the_last_lines() {
        let noise: Vec<String> = (0..30)
            .map(|number| format!("stack frame {number}"))
            .collect();
        let log = format!(
            "starting\n[ERROR] disk full\n\n{}\nthe end\n",
            noise.join("\n")
        );
        let expected = [
            "[ERROR] disk full",
            "stack frame 27",
            "stack frame 28",
            "stack frame 29",
            "the end",
        ];
        assert_eq!(excerpt(&log), expected);
    }

    #[test]
    fn no_more_lines_than_fit_a_page() {
        let log: Vec<String> = (0..100).map(|number| format!("error {number}")).collect();
        let lines = excerpt(&log.join("\n"));
        assert_eq!(lines.len(), LINES_MAX);
        assert_eq!(
            (lines[0].as_str(), lines[9].as_str()),
            ("error 0", "error 99")
        );
        assert!(excerpt("\n \n").is_empty());
    }
}
