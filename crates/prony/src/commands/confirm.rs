//! `prony run --confirm`: the flagged cells of a run once more, on data of their own.

use std::collections::BTreeSet;
use std::path::Path;

use prony_model::{Plan, Verdict};
use prony_plan::{FlaggedCell, confirmation};
use prony_report::{Judgement, judgements};
use prony_store::Store;

use crate::cli::RunArgs;
use crate::commands::report::result_file;
use crate::commands::run::start;
use crate::definitions::{self, Experiment};
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;
use crate::words::plural;

/// Runs the cells that a run judges improved or regressed again, and prints their report.
pub(crate) fn confirm(run: &Path, args: &RunArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.definitions.catalogue)?;
    let first = Store::open_read_only(&result_file(run)?).map_err(Failure::usage)?;
    let id = first.run().map_err(Failure::usage)?.id;
    let flagged = flagged(first.plan(), &judgements(&first).map_err(Failure::usage)?);
    let Some(plan) = confirmation(first.plan(), &id, &flagged) else {
        output::notice(&format!(
            "nothing to confirm: no metric is judged improved or regressed in {id}"
        ));
        return Ok(());
    };
    let files = first.definitions().map_err(Failure::usage)?;
    drop(first);
    let judged = plan.steps.iter().filter(|step| !step.warm_only).count() as u64;
    output::talk(&format!(
        "confirming {} of {id}: {} beside the base at {}",
        plural(flagged.len() as u64, "cell"),
        plural(plan.contenders().count() as u64, "target"),
        plural(judged, "step")
    ));
    start(&Experiment { plan, files }, args, &catalogue, signals)
}

/// The cells of contenders with a metric that is judged improved or regressed.
fn flagged(plan: &Plan, judgements: &[Judgement]) -> Vec<FlaggedCell> {
    let contenders: BTreeSet<usize> = plan.contenders().collect();
    let differs = |judgement: &&Judgement| {
        let verdict = judgement.verdict;
        contenders.contains(&judgement.target)
            && matches!(verdict, Verdict::Improved | Verdict::Regressed)
    };
    let cell = |judgement: &Judgement| FlaggedCell {
        step: judgement.step,
        target: judgement.target,
    };
    let cells: BTreeSet<_> = judgements.iter().filter(differs).map(cell).collect();
    cells.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use prony_model::{Metric, Version};
    use prony_testkit as testkit;

    use super::*;

    #[test]
    fn a_cell_is_flagged_once_by_any_of_its_metrics() {
        let targets = ["a", "b", "c", "a again"];
        let targets = targets.map(|name| testkit::target(name, Version::new(8, 0, 0)));
        let mut plan = testkit::plan("x", targets.to_vec(), vec![testkit::step("s", 1)], 5);
        plan.twin = Some(3);
        let judgement = |target, metric, verdict| Judgement {
            step: 0,
            group: 0,
            target,
            metric,
            pairs: 5,
            ratio: 1.1,
            interval: None,
            verdict,
        };
        let judgements = [
            judgement(1, Metric::Operations, Verdict::Improved),
            judgement(1, Metric::ServerCpu, Verdict::Regressed),
            judgement(2, Metric::Operations, Verdict::Equivalent),
            judgement(2, Metric::ServerCpu, Verdict::Inconclusive),
            judgement(3, Metric::Operations, Verdict::Regressed),
        ];
        let cell = FlaggedCell { step: 0, target: 1 };
        assert_eq!(flagged(&plan, &judgements), [cell]);
    }
}
