//! Plans with their targets and steps.

use std::collections::BTreeMap;

use prony_model::{
    BuildFacts, CanaryRule, ClientGroup, Collect, Config, Dataset, Engine, Family, Groups, Length,
    Pace, Plan, PlannedTrial, Protocol, RatioDisplay, Step, Target, Timing, Transport, TrialKind,
    Version, Workload,
};

use crate::workload;

/// A plan whose base is the first target, with a timed trial of each target in each block.
pub fn plan(name: &str, targets: Vec<Target>, steps: Vec<Step>, blocks: u32) -> Plan {
    let count = targets.len();
    Plan {
        name: name.into(),
        question: String::new(),
        base: 0,
        bases: None,
        seed: 1,
        dataset: Dataset::sbtest(1, 1000, 1),
        targets,
        steps,
        sections: Vec::new(),
        display: RatioDisplay::default(),
        placement: None,
        preset: None,
        profile: None,
        allow: Vec::new(),
        backend: None,
        counting: None,
        counting_note: None,
        profiling: None,
        profiling_note: None,
        canary: CanaryRule::default(),
        twin: None,
        turn_ms: None,
        campaign: None,
        without: Vec::new(),
        confirms: None,
        left_out: Vec::new(),
        trials: (0..blocks)
            .flat_map(|block| (0..count).map(move |target| planned(block, target)))
            .collect(),
    }
}

/// A timed trial.
pub fn planned(block: u32, target: usize) -> PlannedTrial {
    PlannedTrial {
        block,
        target,
        kind: TrialKind::Timed,
    }
}

/// A MySQL build with the engine `InnoDB`.
pub fn build(id: &str, version: Version) -> BuildFacts {
    BuildFacts {
        id: id.into(),
        family: Family::Mysql,
        version,
        engines: vec![Engine::Innodb],
        engine_options: BTreeMap::new(),
        lacks: Vec::new(),
        caution: None,
        compiled: None,
        no_valgrind: None,
    }
}

/// A build of the same name with the server's defaults, asked in prepared statements.
pub fn target(name: &str, version: Version) -> Target {
    Target {
        name: name.into(),
        build: build(name, version),
        engine: Engine::Innodb,
        config: Config::default(),
        protocol: Protocol::Prepared,
        transport: Transport::Socket,
        preload: Vec::new(),
        external: None,
        collect: Collect::default(),
        placement: None,
    }
}

/// Five seconds of [`workload()`] after one second of load, in a closed loop.
pub fn step(name: &str, clients: u32) -> Step {
    Step {
        name: name.into(),
        entry: 0,
        groups: Groups::new(group(workload(name), clients)),
        warmup_ms: 1000,
        length: Length::Time { ms: 5000 },
        phase: None,
        warm_only: false,
        settle: None,
        timing: Timing::Operations,
        ramp_ms: 0,
        placement: None,
        margin_percent: None,
    }
}

/// A step's own clients, in a closed loop without think times, with the workload's parameters.
pub fn group(workload: Workload, clients: u32) -> ClientGroup {
    ClientGroup {
        name: None,
        parameters: workload.parameters.clone(),
        workload,
        clients,
        pace: Pace::default(),
        reconnect_every: None,
        sla_percent: None,
    }
}
