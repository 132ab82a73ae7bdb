//! The end of a child process in words.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The end of a process, in words that follow its name, such as "the server".
pub fn describe_exit(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(9)) => {
            "was killed by signal 9 (if no person or program did that, the machine ran out of \
             memory)"
                .to_owned()
        }
        (None, Some(signal)) => format!("was killed by signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_signals_are_told_apart() {
        for (raw, words) in [
            (0, "ended with exit code 0"),
            (3 << 8, "ended with exit code 3"),
            (15, "was killed by signal 15"),
            (
                9,
                "was killed by signal 9 (if no person or program did that, the machine ran out of \
                 memory)",
            ),
        ] {
            assert_eq!(describe_exit(ExitStatus::from_raw(raw)), words);
        }
    }
}
