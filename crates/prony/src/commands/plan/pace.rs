//! Pace of clients' operations, in words.

use prony_model::{ClientGroup, Pace, Spacing};

use crate::words::plural;

/// A group of clients beside those of a step.
pub(super) fn group(group: &ClientGroup) -> String {
    let workload = &group.workload.name;
    let name = group.name.as_ref().unwrap_or(workload);
    let clients = plural(group.clients.into(), "client");
    let apart = if name == workload {
        String::new()
    } else {
        format!(", {workload}")
    };
    let pace = words(group.pace, group.reconnect_every);
    format!("{name}, {clients}{apart}{pace}")
}

/// Everything beyond a plain closed loop on connections that last, led by a comma; else nothing.
pub(super) fn words(pace: Pace, reconnect_every: Option<u64>) -> String {
    let pace = match pace {
        Pace::Closed { think: None } => String::new(),
        Pace::Closed { think: Some(think) } => format!(
            ", thinking {} in between, {}",
            microseconds(think.mean_us),
            spread(think.spacing)
        ),
        Pace::Open { rate, spacing } => {
            format!(", {rate} operations/s, arriving {}", spread(spacing))
        }
    };
    match reconnect_every {
        None => pace,
        Some(every) => format!("{pace}, reconnecting after {}", plural(every, "operation")),
    }
}

const fn spread(spacing: Spacing) -> &'static str {
    match spacing {
        Spacing::Regular => "regularly",
        Spacing::Poisson => "at random",
    }
}

fn microseconds(us: u64) -> String {
    if us < 1000 {
        format!("{us} µs")
    } else {
        format!("{} ms", us as f64 / 1000.0)
    }
}

#[cfg(test)]
mod tests {
    use prony_model::{Think, Thousandths};

    use super::*;

    #[test]
    fn paces_in_words() {
        assert_eq!(words(Pace::default(), None), "");
        let rate = Pace::Open {
            rate: Thousandths(2_500),
            spacing: Spacing::Poisson,
        };
        assert_eq!(
            words(rate, Some(1)),
            ", 2.5 operations/s, arriving at random, reconnecting after 1 operation"
        );
        let think = |mean_us| Pace::Closed {
            think: Some(Think {
                mean_us,
                spacing: Spacing::Regular,
            }),
        };
        assert_eq!(
            words(think(50), None),
            ", thinking 50 µs in between, regularly"
        );
        assert_eq!(
            words(think(1_500), Some(100)),
            ", thinking 1.5 ms in between, regularly, reconnecting after 100 operations"
        );
    }
}
