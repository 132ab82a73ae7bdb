//! `bench-instructions`: what the load generator executes in user space for one point query.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::programs::{self, Programs};
use crate::table::Table;

/// The most for one query that is prepared, ...
const LIMIT: f64 = 1000.0;
/// ... with so many clients.
const LIMIT_CLIENTS: u32 = 64;

/// The feature that programs need under callgrind: it hides the kernel's page of clocks (vDSO), which rustix
/// would otherwise look up behind its back. System calls then go through the C library.
const FEATURES: &str = "rustix/use-libc";

/// One case, as the benchmark prints it.
#[derive(Deserialize)]
struct Case {
    counter: String,
    clients: u32,
    protocol: String,
    backend: String,
    /// Queries of two runs, and what each executed.
    queries: [u64; 2],
    instructions: [u64; 2],
}

impl Case {
    fn per_query(&self) -> f64 {
        let difference = |[short, long]: [u64; 2]| long as f64 - short as f64;
        difference(self.instructions) / difference(self.queries)
    }

    fn verdict(&self) -> String {
        if self.clients != LIMIT_CLIENTS || self.protocol != "prepared" {
            return String::new();
        }
        let above = self.per_query() - LIMIT;
        if above <= 0.0 {
            format!("at most {LIMIT:.0}: met")
        } else {
            format!("at most {LIMIT:.0}: missed by {above:.0}")
        }
    }
}

/// Counts, and prints a table.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let (counter, features) = if has_counter() {
        ("perf", None)
    } else {
        ("callgrind", Some(FEATURES))
    };
    let programs = Programs::build(root, &["instructions"], features)?;
    let mut command = Command::new(programs.path("instructions")?);
    command.arg(programs.path("prony")?).arg(counter);
    let raw = programs::lines(command, &mut |line| {
        eprintln!("{line}");
        Ok(())
    })?;
    print!("{}", table(&raw)?);
    Ok(())
}

/// Tells if the processor's counter of instructions can be read.
fn has_counter() -> bool {
    Command::new("perf")
        .args(["stat", "-x,", "-e", "instructions:u", "true"])
        .output()
        .is_ok_and(|output| {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            said.starts_with(|first: char| first.is_ascii_digit())
        })
}

fn table(raw: &str) -> Result<String, String> {
    let headings = [
        "backend",
        "protocol",
        "counted by",
        "clients",
        "instructions/query",
        "",
    ];
    let mut table = Table::new(3, &headings);
    for line in raw.lines() {
        let case: Case = serde_json::from_str(line)
            .map_err(|error| format!("read the line `{line}`: {error}"))?;
        let (per_query, verdict) = (case.per_query(), case.verdict());
        table.push(vec![
            case.backend,
            case.protocol,
            case.counter,
            case.clients.to_string(),
            format!("{per_query:.0}"),
            verdict,
        ]);
    }
    Ok(table.markdown())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(clients: u32, protocol: &str, instructions: [u64; 2]) -> String {
        let [short, long] = instructions;
        format!(
            r#"{{"counter":"callgrind","clients":{clients},"protocol":"{protocol}","backend":"epoll","queries":[100,300],"instructions":[{short},{long}]}}"#
        )
    }

    #[test]
    fn what_is_done_once_does_not_count() {
        let raw = [
            line(1, "prepared", [1_000_000, 1_180_000]),
            line(64, "prepared", [1_000_000, 1_180_000]),
            line(64, "prepared", [1_000_000, 1_300_000]),
            line(64, "text", [1_000_000, 1_300_000]),
        ];
        insta::assert_snapshot!(table(&raw.join("\n")).unwrap());
    }

    #[test]
    fn rubbish_is_refused() {
        assert!(table("{}").is_err());
    }
}
