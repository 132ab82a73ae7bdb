//! The state of a host, as far as it decides how well measurements repeat.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Judgement of one property of a host, the worst first.
    pub enum FindingState {
        /// A ratio of a few percent can't be trusted.
        Bad = "bad",
        /// A ratio of a few percent may be due to it, or it matters for some experiments only.
        Doubtful = "doubtful",
        /// It could not be read.
        Unknown = "unknown",
        /// It does no harm.
        Good = "good",
    }
}

words! {
    /// A property of a host, in the order of the harm that it usually does.
    pub enum HostProperty {
        /// Processor time that other programs take.
        Programs = "other programs",
        /// Processor time that the hypervisor gives to other machines.
        Hypervisor = "hypervisor",
        /// The limit of processor time of the control group.
        Quota = "processor quota",
        /// Differences between equal pieces of work on a fixed processor.
        Steadiness = "steadiness",
        /// Placement of threads by the kernel, and the price of wake-ups.
        Placement = "placement",
        /// Frequency of the processors.
        Frequency = "frequency",
        /// Processors that share a core.
        SharedCores = "shared cores",
        /// Scheduling groups of servers that run here.
        Groups = "scheduling groups",
        /// Memory on disk.
        Swap = "swap",
        /// Transparent huge pages.
        HugePages = "huge pages",
        /// The price of reading the clock.
        Clock = "clock",
        /// Free disk and free memory.
        Space = "free space",
        /// Limits of files and processes.
        Limits = "limits",
        /// Permission to count instructions.
        Counters = "counters",
    }
}

/// A property of a host: the observation, its effect and its remedy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// The property.
    pub property: HostProperty,
    /// The judgement.
    pub state: FindingState,
    /// The observation; for [`FindingState::Unknown`] the reason why there is none.
    pub seen: String,
    /// Its effect on ratios. `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// The change that removes it. `None` if nothing needs to change, or nothing helps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// Error of a ratio that it may cause, in percent. `None` if that is not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_percent: Option<f64>,
    /// Observed numbers; each name ends with its unit.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
}

impl Finding {
    /// A finding without an effect.
    pub fn new(property: HostProperty, state: FindingState, seen: impl Into<String>) -> Self {
        Self {
            property,
            state,
            seen: seen.into(),
            effect: None,
            remedy: None,
            error_percent: None,
            figures: BTreeMap::new(),
        }
    }

    /// The same with an effect.
    #[must_use]
    pub fn effect(mut self, effect: impl Into<String>) -> Self {
        self.effect = Some(effect.into());
        self
    }

    /// The same with a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// The same with the error of a ratio, in percent.
    #[must_use]
    pub fn error(mut self, percent: f64) -> Self {
        self.error_percent = Some(percent);
        self
    }

    /// The same with an observed number.
    #[must_use]
    pub fn figure(mut self, name: &str, value: f64) -> Self {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// Orders findings by harm: by their state, then by the measured error of a ratio, then by the
/// order of [`HostProperty`].
pub fn sort_findings(findings: &mut [Finding]) {
    findings.sort_by(|left, right| {
        let error = |finding: &Finding| finding.error_percent.unwrap_or(0.0);
        let by_error = error(right).total_cmp(&error(left));
        left.state
            .cmp(&right.state)
            .then(by_error)
            .then(left.property.cmp(&right.property))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_harmful_findings_come_first() {
        let finding = |property, state| Finding::new(property, state, "");
        let mut findings = [
            finding(HostProperty::Programs, FindingState::Good),
            finding(HostProperty::Swap, FindingState::Doubtful),
            finding(HostProperty::Groups, FindingState::Doubtful),
            finding(HostProperty::Clock, FindingState::Bad),
            finding(HostProperty::Counters, FindingState::Doubtful).error(2.0),
        ];
        sort_findings(&mut findings);
        let order = findings.map(|finding| finding.property);
        let expected = [
            HostProperty::Clock,
            HostProperty::Counters,
            HostProperty::Groups,
            HostProperty::Swap,
            HostProperty::Programs,
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn every_property_and_state_is_documented() {
        let document = include_str!("../../../docs/check.md");
        let properties = HostProperty::ALL.map(|property| format!("| {property} | "));
        let states = FindingState::ALL.map(|state| format!("| `{state}` | "));
        for word in properties.iter().chain(&states) {
            assert!(document.contains(word), "{word}");
        }
    }

    #[test]
    fn findings_survive_their_json() {
        let finding = Finding::new(HostProperty::Hypervisor, FindingState::Bad, "took 4 %")
            .effect("ratios differ")
            .remedy("bind it")
            .error(4.0)
            .figure("steal_percent", 4.0);
        let text = serde_json::to_string(&finding).unwrap();
        assert_eq!(serde_json::from_str::<Finding>(&text).unwrap(), finding);
        let bare = r#"{"property":"clock","state":"good","seen":"tsc"}"#;
        let read: Finding = serde_json::from_str(bare).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), bare);
    }
}
