//! Stored warnings about a step, and the clients that each concerns.

use prony_model::Plan;
use prony_store::WarningRow;

use crate::analysis::group::GroupId;

/// Codes of what the machine did to all clients of a step: they share the generator's threads, and
/// the processors.
const OF_ALL: [&str; 3] = ["generator-busy", "generator-waited", "steal"];

/// The text of a warning about these clients, without the group's name. `None` where it is about
/// others, or about no step.
///
/// The text of a warning about a group begins with the group's name, a colon and a space.
pub(crate) fn text_for<'a>(
    plan: &Plan,
    warning: &'a WarningRow,
    group: GroupId,
) -> Option<&'a str> {
    if warning.step != Some(group.step) {
        return None;
    }
    if OF_ALL.contains(&warning.code.as_str()) {
        return Some(&warning.text);
    }
    let of_group = |group: &str| warning.text.strip_prefix(group)?.strip_prefix(": ");
    if let Some(name) = group.work(plan).group {
        return of_group(name);
    }
    let mut groups = plan.steps[group.step].beside.iter();
    let of_other = groups.any(|group| of_group(&group.name).is_some());
    (!of_other).then_some(warning.text.as_str())
}
