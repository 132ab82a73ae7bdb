//! `prony check`: what makes measurements on this machine untrustworthy.

use prony_check::{CheckStage, HostCheck, Lengths};
use prony_host::Roots;
use prony_lab::{Alarms, History};
use prony_model::{Finding, FindingState};
use prony_probe::Root;

use crate::cli::{CheckArgs, ListFormatArg};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::words::{plural, whole};

/// Checks the machine and prints the findings, the most harmful first.
pub(crate) fn check(args: &CheckArgs, signals: &Signals) -> Result<(), Failure> {
    let roots = Roots::from_environment().map_err(Failure::host)?;
    let lengths = Lengths::default();
    output::talk(&format!(
        "checking this machine: about {}",
        whole(lengths.sum())
    ));
    let check = HostCheck {
        root: &Root::live(),
        cache: &roots.cache,
        lengths,
    };
    let findings = check.run(&signals.stop, &mut |stage| {
        output::talk(&format!("  {}", words(stage)));
    });
    let Some(findings) = findings else {
        return Err(Failure::interrupted(signals, "interrupted"));
    };
    match args.format {
        ListFormatArg::Text => {
            let alarms = History::of(&roots, &Root::live()).alarms();
            output::data(&(text(&findings, args.all) + &alarms_line(alarms)))?;
        }
        ListFormatArg::Json => {
            let json = serde_json::to_string_pretty(&findings).map_err(Failure::defect)?;
            output::data(&(json + "\n"))?;
        }
    }
    verdict(&findings)
}

const fn words(stage: CheckStage) -> &'static str {
    match stage {
        CheckStage::Busy => "keeping every processor busy",
        CheckStage::Neighbour => "working on one processor beside another",
        CheckStage::Canaries => "repeating a fixed computation",
        CheckStage::WakeUps => {
            "waking threads on one processor, across two, and left to the kernel"
        }
    }
}

/// One line for each finding, and one with the number of good ones if these are left out.
fn text(findings: &[Finding], all: bool) -> String {
    let shown = findings
        .iter()
        .filter(|finding| all || finding.state != FindingState::Good);
    let lines: String = shown.map(line).collect();
    let good = count(findings, FindingState::Good);
    let left_out = if all { "" } else { "; --all shows them" };
    format!("{lines}{good} of {} good{left_out}\n", findings.len())
}

fn line(finding: &Finding) -> String {
    let parts = [
        Some(&finding.seen),
        finding.effect.as_ref(),
        finding.remedy.as_ref(),
    ];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    let (state, property) = (finding.state.name(), finding.property.name());
    format!("{state:8}  {property:17}  {}\n", parts.join(" → "))
}

/// One line about the runs on this host that compared identical servers; nothing without such runs.
fn alarms_line(alarms: Alarms) -> String {
    let Alarms {
        comparisons,
        false_alarms,
    } = alarms;
    if comparisons == 0 {
        return String::new();
    }
    let percent = false_alarms as f64 / comparisons as f64 * 100.0;
    format!(
        "false alarms between identical servers on this host: {false_alarms} of {} ({percent:.1} %), \
         expected 5 %\n",
        plural(comparisons, "comparison")
    )
}

fn count(findings: &[Finding], state: FindingState) -> usize {
    let of_state = findings.iter().filter(|finding| finding.state == state);
    of_state.count()
}

/// The failure that tells scripts of bad findings.
fn verdict(findings: &[Finding]) -> Result<(), Failure> {
    match count(findings, FindingState::Bad) {
        0 => Ok(()),
        bad => Err(Failure::new(
            ExitStatus::Unfit,
            format!(
                "ratios of a few percent can't be trusted on this machine: {}",
                plural(bad as u64, "bad finding")
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use prony_model::HostProperty;

    use super::*;

    fn findings() -> [Finding; 3] {
        [
            Finding::new(HostProperty::Quota, FindingState::Bad, "half a processor")
                .effect("it stands still")
                .remedy("remove it"),
            Finding::new(
                HostProperty::Frequency,
                FindingState::Unknown,
                "not reported",
            ),
            Finding::new(HostProperty::Clock, FindingState::Good, "tsc"),
        ]
    }

    #[test]
    fn bad_findings_come_first_and_good_ones_on_request() {
        let short = "\
bad       processor quota    half a processor → it stands still → remove it
unknown   frequency          not reported
1 of 3 good; --all shows them
";
        assert_eq!(text(&findings(), false), short);
        let all = text(&findings(), true);
        assert!(
            all.ends_with("good      clock              tsc\n1 of 3 good\n"),
            "{all}"
        );
    }

    #[test]
    fn false_alarms_of_past_runs_follow() {
        let of = |comparisons, false_alarms| {
            alarms_line(Alarms {
                comparisons,
                false_alarms,
            })
        };
        assert_eq!(of(0, 0), "");
        let expected = "false alarms between identical servers on this host: 3 of 96 comparisons \
                        (3.1 %), expected 5 %\n";
        assert_eq!(of(96, 3), expected);
    }

    #[test]
    fn scripts_see_bad_findings_by_the_exit_code() {
        let failure = verdict(&findings()).unwrap_err();
        assert_eq!(failure.code.code(), 7);
        assert!(failure.message.ends_with("1 bad finding"));
        assert!(verdict(&findings()[1..]).is_ok());
    }
}
