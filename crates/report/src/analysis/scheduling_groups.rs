//! Scheduling groups of external servers, and their consequences for the figures.

use std::collections::BTreeSet;

use prony_model::{Plan, SchedulingGroups};
use prony_store::{Store, StoreError, Subject, WarningRow};

use crate::analysis::trials::Trials;

/// Word for the warning in JSON.
pub(crate) const CODE: &str = "scheduling-group";

/// One warning for each target and pair of groups.
pub(crate) fn warnings(
    store: &Store,
    plan: &Plan,
    trials: &Trials,
) -> Result<Vec<WarningRow>, StoreError> {
    let rows = store.scheduling_groups()?;
    let texts = rows.iter().filter_map(|(trial, groups)| {
        let target = trials.get(*trial)?.planned.target;
        Some(format!("{}: {}", plan.targets[target].name, note(groups)?))
    });
    let texts: BTreeSet<String> = texts.collect();
    let warning = |text| WarningRow {
        subject: Subject::Run,
        code: CODE.to_owned(),
        text,
    };
    Ok(texts.into_iter().map(warning).collect())
}

/// The warning about an external server; `None` if it is in the load generator's group.
pub(crate) fn note(groups: &SchedulingGroups) -> Option<String> {
    let SchedulingGroups { server, generator } = groups;
    match server {
        Ok(server) if server == generator => None,
        Ok(server) => Some(format!(
            "the server is in another scheduling group ({server}) than the load generator \
             ({generator}): the kernel divides processors between the two groups first, so that \
             figures differ from those of a server that Prony starts; to avoid it, start the \
             server from the session of Prony"
        )),
        Err(reason) => Some(format!(
            "the server's scheduling group is unknown: failed to {reason}; in another group than \
             the load generator's ({generator}) figures differ from those of a server that Prony \
             starts"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_group_needs_no_words() {
        let of = |server: Result<&str, &str>| {
            note(&SchedulingGroups {
                server: server.map(str::to_owned).map_err(str::to_owned),
                generator: "autogroup 30".into(),
            })
        };
        assert_eq!(of(Ok("autogroup 30")), None);
        let other = of(Ok("autogroup 31")).unwrap();
        assert!(other.contains("(autogroup 31)") && other.contains("(autogroup 30)"));
        assert!(of(Err("find it")).unwrap().contains("failed to find it;"));
    }
}
