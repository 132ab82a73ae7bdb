//! An experiment, expanded: everything that the lab needs to run it and nothing left to decide.

use serde::{Deserialize, Serialize};

use crate::words::words;
use crate::{
    Backend, BlockWithout, BuildFacts, Campaign, CanaryRule, ClientGroup, Collect, Config,
    CountedSteps, Counting, Dataset, Effect, Engine, External, Groups, IntentValue, Pace,
    PlacementRule, PreloadedLibrary, Profiling, Thousandths, Tls, Transport, TrialKind,
    WantedPlacement,
};

/// Least time, in milliseconds, within which a backlog is worked off: a short step must be able to
/// end although its server was held up for seconds.
const DRAIN_MS_MIN: u64 = 10_000;

/// The bases of targets that do not all have the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bases {
    /// Index of the base of each target, in the order of the targets. A base is its own; the base of
    /// the twin is the target that it repeats. `None` for a target that has no ratios.
    pub of_target: Vec<Option<usize>>,
    /// Names of the aspects in which a target is equal to its base, as [`Aspect`](crate::Aspect)
    /// displays them.
    pub by: Vec<String>,
}

/// An expanded experiment. Stored whole in the result file, so that a run can be resumed and
/// reported without the experiment file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's name: letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// The question that it is meant to answer; may be empty.
    pub question: String,
    /// Index in `targets` of the base; of the first one where there are several.
    pub base: usize,
    /// The bases where targets have different ones; `None` for one base. [`Plan::base_of`] knows both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bases: Option<Bases>,
    /// Decides the order of trials and, mixed with step and client, every drawn value.
    pub seed: u64,
    /// The data to load.
    pub dataset: Dataset,
    /// The targets to compare; at least one.
    pub targets: Vec<Target>,
    /// The steps of every trial, in order: entry after entry of the sequence, each at its numbers
    /// of clients one after the other.
    pub steps: Vec<Step>,
    /// Groups and order of the steps in reports; empty where they follow the sequence.
    #[serde(default)]
    pub sections: Vec<Section>,
    /// The form in which reports show ratios of steps whose section sets none.
    #[serde(default)]
    pub display: RatioDisplay,
    /// The preset that the sequence comes from.
    #[serde(default)]
    pub preset: Option<String>,
    /// The profile of the experiment file that was laid over it.
    #[serde(default)]
    pub profile: Option<String>,
    /// Server variables that may differ between targets although they are known to matter.
    #[serde(default)]
    pub allow: Vec<String>,
    /// The backend of the generator's connections; `None` for the best that the host has,
    /// decided once for all trials when the run begins.
    #[serde(default)]
    pub backend: Option<Backend>,
    /// The placement of the steps and targets that ask for none; `None` for the rule that the run
    /// chooses once for all trials when it begins.
    #[serde(default)]
    pub placement: Option<WantedPlacement>,
    /// Trials that count apart from those that measure; `None` for none.
    #[serde(default)]
    pub counting: Option<Counting>,
    /// The reason for counting nothing although nobody forbade it, and the remedy.
    #[serde(default)]
    pub counting_note: Option<String>,
    /// Trials in which stacks are sampled; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiling: Option<Profiling>,
    /// The reason for sampling nothing although it was asked for, and the remedy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profiling_note: Option<String>,
    /// The bound on the canaries of its trials.
    #[serde(default)]
    pub canary: CanaryRule,
    /// Index in `targets` of the base's twin: the same target once more, so that the difference
    /// between identical servers is measured. `None` where the experiment does without.
    #[serde(default)]
    pub twin: Option<usize>,
    /// Milliseconds after which the targets of a block take turns within a step; `None` where each
    /// runs its steps alone. Timed trials only, and steps that [can pause](Step::can_pause).
    #[serde(default)]
    pub turn_ms: Option<u64>,
    /// The rule by which blocks are added; `None` where their number is fixed.
    #[serde(default)]
    pub campaign: Option<Campaign>,
    /// Blocks that leave out steps, ascending; none where every block runs all.
    #[serde(default)]
    pub without: Vec<BlockWithout>,
    /// Id of the run whose verdicts this one tests again on data of its own; `None` for none.
    #[serde(default)]
    pub confirms: Option<String>,
    /// Ids of the builds of optional targets that the catalogue did not have at the time of planning.
    /// These targets are not in `targets`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The trials in order of execution; block after block, each target once in each block, and
    /// after it, in the first blocks, each target once more to be counted.
    pub trials: Vec<PlannedTrial>,
}

/// One of the things compared: a build with an engine and a configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// Unique in the experiment; the column heading of reports.
    pub name: String,
    /// The catalogue's facts of its build at the time of planning.
    pub build: BuildFacts,
    /// The engine of the dataset's tables.
    pub engine: Engine,
    /// The configuration asked of the server.
    pub config: Config,
    /// The form in which statements are sent.
    pub protocol: Protocol,
    /// The transport of statements to a server that Prony starts.
    #[serde(default)]
    pub transport: Transport,
    /// The libraries that the measured server's process loads before all others, in this order.
    #[serde(default)]
    pub preload: Vec<PreloadedLibrary>,
    /// The server that runs already, where Prony does not start one. `build` then has the id
    /// [`BuildFacts::EXTERNAL`], and its version is what the experiment says, or 0.0.0.
    #[serde(default)]
    pub external: Option<External>,
    /// The counters that are read while it is measured.
    #[serde(default)]
    pub collect: Collect,
    /// The placement of all its steps, whatever these and the experiment ask for.
    #[serde(default)]
    pub placement: Option<WantedPlacement>,
}

words! {
    /// The form in which statements are sent.
    pub enum Protocol {
        /// Prepared once for each connection, executed with binary parameters.
        Prepared = "prepared",
        /// As SQL text every time.
        Text = "text",
    }
}

/// One step of the sequence at one number of clients. With the target it names a cell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Unique among the steps with the same number of clients, such as `read-only.range100`.
    pub name: String,
    /// Index of the sequence entry it comes from; equal for the same entry at other clients.
    pub entry: usize,
    /// The clients, with what they do: the step's own first, then the groups that run beside them
    /// at the same time, with figures of their own, until the step's own clients end.
    pub groups: Groups<ClientGroup>,
    /// Milliseconds of load before measuring begins.
    pub warmup_ms: u64,
    /// The length of its measured time.
    pub length: Length,
    /// The part of the sequence that it belongs to.
    #[serde(default)]
    pub phase: Option<Phase>,
    /// True where it only brings the server into a state: it is measured and stored, but no ratios
    /// are made of it.
    #[serde(default)]
    pub warm_only: bool,
    /// Settling before this step; `None` for none.
    #[serde(default)]
    pub settle: Option<Settle>,
    /// The time that counts.
    #[serde(default)]
    pub timing: Timing,
    /// Milliseconds over which load sets in before measuring begins, within the warm-up or
    /// prolonging it: clients of a closed loop begin one after the other, the rate of an open one
    /// rises evenly.
    #[serde(default)]
    pub ramp_ms: u64,
    /// The placement of targets that ask for none, whatever the experiment asks for.
    #[serde(default)]
    pub placement: Option<WantedPlacement>,
    /// The difference in percent below which targets count as equivalent; `None` for the usual one.
    #[serde(default)]
    pub margin_percent: Option<Thousandths>,
}

words! {
    /// Parts of a sequence, in the order in which they follow each other.
    pub enum Phase {
        /// Reads after the load.
        ReadBefore = "read-before",
        /// Writes.
        Write = "write",
        /// Reads after the writes.
        ReadAfter = "read-after",
        /// Work that shrinks and grows the tables.
        End = "end",
    }
}

/// The bounds within which an engine is brought to a quiet state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Settle {
    /// Milliseconds that it takes at least: who is quiet earlier waits, so that all targets are
    /// idle for as long.
    pub idle_ms: u64,
    /// Milliseconds after which it is given up, and reported; at least 1.
    pub limit_ms: u64,
}

words! {
    /// The time of a step that counts.
    #[derive(Default)]
    pub enum Timing {
        /// From the first to the last operation of each client, connecting excluded.
        #[default]
        Operations = "operations",
        /// From before the first connection is made until the last client has disconnected, for all
        /// clients alike, as mysqlslap does it. There is no warm-up.
        WholeRun = "whole-run",
    }
}

/// A group of steps in reports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// Entries of the sequence ([`Step::entry`]) in the order in which they are shown.
    pub entries: Vec<usize>,
    /// The form in which reports show the ratios of its steps; `None` for that of the plan.
    #[serde(default)]
    pub display: Option<RatioDisplay>,
}

words! {
    /// The form in which reports show ratios to people. What is computed and judged is the same.
    #[derive(Default)]
    pub enum RatioDisplay {
        /// Throughput ÷ that of the base: above 1 is faster.
        #[default]
        Throughput = "throughput",
        /// Time of an operation ÷ that of the base: above 1 is slower.
        Time = "time",
    }
}

/// The length of a step's measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Length {
    /// For this many milliseconds, at least 1.
    Time {
        /// Milliseconds.
        ms: u64,
    },
    /// For this many operations over all clients, at least 1.
    Count {
        /// Operations.
        operations: u64,
    },
}

/// One trial to run: its block and its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PlannedTrial {
    /// Block, counted from 0.
    pub block: u32,
    /// Index in [`Plan::targets`].
    pub target: usize,
    /// Its purpose.
    #[serde(default)]
    pub kind: TrialKind,
}

impl Target {
    /// True where the load comes from another host, over the network.
    pub fn is_far(&self) -> bool {
        self.transport == Transport::Network
    }

    /// True where the connections of the load are encrypted.
    pub fn is_encrypted(&self) -> bool {
        match &self.external {
            Some(external) => external.tls != Tls::Off,
            None => self.config.intents.get("tls") == Some(&IntentValue::Flag(true)),
        }
    }
}

impl Step {
    /// The usual margin, in percent.
    const MARGIN: Thousandths = Thousandths(3_000);
    /// The usual margin where one client reads, in percent.
    const MARGIN_OF_ONE_READER: Thousandths = Thousandths(1_000);

    /// Milliseconds after the measured time within which backlogs are worked off: four times the
    /// measured time, and 10 seconds at least, so that a server which carries out a fifth of what
    /// is asked of it is still measured to the end. 10 seconds where only the server decides the
    /// measured time: the step's own clients count operations in a closed loop, and groups beside
    /// them work at a rate. 0 where no clients work at a rate.
    pub fn drain_ms(&self) -> u64 {
        let is_open = |group: &ClientGroup| matches!(group.pace, Pace::Open { .. });
        if !self.groups.iter().any(is_open) {
            return 0;
        }
        let measured_ms = self.planned_ms().unwrap_or(0);
        measured_ms.saturating_mul(4).max(DRAIN_MS_MIN)
    }

    /// Milliseconds that it measures, where the plan decides them and not the server.
    pub fn planned_ms(&self) -> Option<u64> {
        match (self.length, self.groups.own().pace) {
            (Length::Time { ms }, _) => Some(ms),
            (Length::Count { operations }, Pace::Open { rate, .. }) => {
                Some(operations.saturating_mul(1_000_000) / u64::from(rate.0).max(1))
            }
            (Length::Count { .. }, Pace::Closed { .. }) => None,
        }
    }

    /// The share below which a difference counts as none: the experiment's, else 1 % for one client
    /// that reads, and 3 % where clients wait for each other or the server writes behind them.
    pub fn margin(&self) -> f64 {
        let usual = match self.all_clients() {
            1 if self.only_reads() => Self::MARGIN_OF_ONE_READER,
            _ => Self::MARGIN,
        };
        f64::from(self.margin_percent.unwrap_or(usual).0) / 1e5
    }

    /// True where its measured time can pause between any two operations: time ends it, operations
    /// alone are timed, and all clients are its own and wait for nothing but answers.
    pub fn can_pause(&self) -> bool {
        self.timing == Timing::Operations
            && matches!(self.length, Length::Time { .. })
            && self.groups.len() == 1
            && !self.own().pace.is_scheduled()
    }

    /// True where the clients of all groups leave the tables as they are.
    pub fn only_reads(&self) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| group.workload.effect == Effect::None)
    }

    /// The step's own clients, with what they do.
    pub fn own(&self) -> &ClientGroup {
        self.groups.own()
    }

    /// Connections of all groups.
    pub fn all_clients(&self) -> u32 {
        let clients = self.groups.iter().map(|group| group.clients);
        clients.fold(0, u32::saturating_add)
    }

    /// Connections that the server can see at once: one that is closed to be made anew may still
    /// count while the new one does.
    pub fn connections_max(&self) -> u32 {
        let at_once = |group: &ClientGroup| match group.reconnect_every {
            Some(_) => group.clients.saturating_mul(2),
            None => group.clients,
        };
        self.groups.iter().map(at_once).fold(0, u32::saturating_add)
    }
}

impl Profiling {
    /// The length of a step.
    pub fn length(&self, step: Length) -> Length {
        match (step, self.time_ms) {
            (Length::Time { .. }, Some(ms)) => Length::Time { ms },
            _ => step,
        }
    }
}

impl Counting {
    /// True where counting trials run a step.
    pub fn counts(&self, step: &Step) -> bool {
        match self.steps {
            CountedSteps::All => true,
            CountedSteps::Reads => step.only_reads(),
        }
    }
}

impl Plan {
    /// True where a trial runs the step with this index: counting trials may leave out those that
    /// write, and timed trials those that their block leaves out.
    pub fn runs(&self, trial: PlannedTrial, step: usize) -> bool {
        match trial.kind {
            TrialKind::Counting => {
                let counts = |counting: Counting| counting.counts(&self.steps[step]);
                self.counting.is_none_or(counts)
            }
            TrialKind::Timed | TrialKind::Profiling => {
                let of_block = |without: &&BlockWithout| without.block == trial.block;
                let mut without = self.without.iter().filter(of_block);
                !without.any(|without| without.steps.contains(&step))
            }
        }
    }

    /// The placement that a step has with a target: the target's own, else the step's own, else
    /// the experiment's. `None` where the run chooses the rule. Where the load comes from another host,
    /// the kernel places the server's threads.
    pub fn wanted_placement<'a>(
        &'a self,
        target: &'a Target,
        step: &'a Step,
    ) -> Option<&'a WantedPlacement> {
        if target.is_far() {
            return Some(&WantedPlacement::Rule(PlacementRule::Free));
        }
        let wishes = [&target.placement, &step.placement, &self.placement];
        wishes.into_iter().find_map(Option::as_ref)
    }

    /// `true` if every trial of a target loads the rows, because no image brings them.
    pub fn loads_in_trials(&self, target: &Target) -> bool {
        target.external.is_some() || !self.dataset.is_in_image(target.engine)
    }

    /// The form in which reports show the ratios of a step: that of its section, else the plan's.
    pub fn ratio_display(&self, step: &Step) -> RatioDisplay {
        let mut sections = self.sections.iter();
        let of_step = sections.find(|section| section.entries.contains(&step.entry));
        let own = of_step.and_then(|section| section.display);
        own.unwrap_or(self.display)
    }

    /// Returns `true` if canaries run before and after its trials: an external server would run
    /// beside them, and its work would decide their times.
    pub fn has_canaries(&self) -> bool {
        self.targets.iter().all(|target| target.external.is_none())
    }

    /// `true` if a step has a target with which the run chooses its placement.
    pub fn leaves_placement_open(&self, step: &Step) -> bool {
        let mut targets = self.targets.iter();
        targets.any(|target| self.wanted_placement(target, step).is_none())
    }

    /// Indices of the targets that are compared with a base: all but the bases and the twin.
    pub fn contenders(&self) -> impl Iterator<Item = usize> {
        let is_twin = |target| Some(target) == self.twin;
        (0..self.targets.len()).filter(move |&target| !self.is_base(target) && !is_twin(target))
    }

    /// True where a trial's server takes turns with the others of its block.
    pub fn takes_turns(&self, trial: PlannedTrial) -> bool {
        self.turn_ms.is_some() && trial.kind == TrialKind::Timed
    }

    /// True where two neighbouring trials run together: they take turns.
    pub fn run_together(&self, one: PlannedTrial, next: PlannedTrial) -> bool {
        self.takes_turns(one) && self.takes_turns(next) && one.block == next.block
    }

    /// Number of trials that run together with a trial, itself included: they share its time.
    pub fn sharing(&self, trial: PlannedTrial) -> u32 {
        if !self.takes_turns(trial) {
            return 1;
        }
        let together = self
            .trials
            .iter()
            .filter(|it| self.run_together(trial, **it));
        together.map(|_| 1).sum()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> u32 {
        self.trials
            .iter()
            .map(|trial| trial.block + 1)
            .max()
            .unwrap_or(0)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Display, Effect, Group, Schema, Spacing, Thousandths, Workload};

    pub(crate) fn step(length: Length, pace: Pace) -> Step {
        let workload = Workload {
            name: "w".into(),
            group: Group::Point,
            effect: Effect::None,
            schema: Schema::SBTEST,
            description: String::new(),
            parameters: BTreeMap::new(),
            transaction: false,
            display: Display::Rate,
            text_only: false,
            needs_rows: None,
            statements: Vec::new(),
        };
        Step {
            name: "s".into(),
            entry: 0,
            groups: Groups::new(ClientGroup {
                name: None,
                workload,
                parameters: BTreeMap::new(),
                clients: 2,
                pace,
                reconnect_every: None,
                sla_percent: None,
            }),
            warmup_ms: 0,
            length,
            phase: None,
            warm_only: false,
            settle: None,
            timing: Timing::Operations,
            ramp_ms: 0,
            placement: None,
            margin_percent: None,
        }
    }

    #[test]
    fn a_backlog_is_worked_off_where_operations_arrive_at_a_rate() {
        let spacing = Spacing::Regular;
        let rate = |rate| Pace::Open {
            rate: Thousandths(rate),
            spacing,
        };
        let time = Length::Time { ms: 20_000 };
        assert_eq!(step(time, Pace::default()).drain_ms(), 0);
        assert_eq!(step(time, rate(1)).drain_ms(), 80_000);
        assert_eq!(step(Length::Time { ms: 50 }, rate(1)).drain_ms(), 10_000);
        // 600 operations at half an operation per second.
        let count = Length::Count { operations: 600 };
        assert_eq!(step(count, rate(500)).planned_ms(), Some(1_200_000));
        assert_eq!(step(count, Pace::default()).planned_ms(), None);
        let mut mixed = step(time, Pace::default());
        mixed.groups.push(ClientGroup {
            name: Some("g".into()),
            clients: 3,
            pace: rate(1),
            reconnect_every: Some(1),
            sla_percent: None,
            ..mixed.own().clone()
        });
        assert_eq!(mixed.connections_max(), 8);
        assert_eq!((mixed.drain_ms(), mixed.all_clients()), (80_000, 5));
        mixed.length = count;
        assert_eq!(mixed.drain_ms(), 10_000);
    }
}
