//! The placement of a step on this host: a function of the rule, the clients and the processors.

mod binding;
mod planned;

use std::cmp::Reverse;
use std::io;

use prony_host::usable_cpus;
use prony_model::{
    CpuSet, DefaultPlacement, Placement, PlacementRule, Plan, Processors, Step, Target, Timing,
    WantedPlacement,
};
use prony_probe::{ProcessorPlace, Root, processor_place};

pub(crate) use self::binding::{Binding, free};
pub use self::planned::PlannedPlacements;
use crate::error::LabError;

/// The processors that Prony may use, in the order in which steps get them: distinct cores before
/// the other processors of the same cores, one package first, the last core first, because the
/// first processor serves most interrupts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostProcessors {
    in_order: Vec<u16>,
}

impl HostProcessors {
    /// Those of this process.
    ///
    /// # Errors
    /// When the kernel does not name them.
    pub fn find(root: &Root) -> io::Result<Self> {
        let usable = usable_cpus()?;
        let places = usable.cpus().iter().map(|cpu| processor_place(root, *cpu));
        Ok(Self::ordered(places))
    }

    /// Those at the places.
    fn ordered(places: impl IntoIterator<Item = ProcessorPlace>) -> Self {
        let mut places: Vec<ProcessorPlace> = places.into_iter().collect();
        places.sort_by_key(|place| place.cpu);
        let rank = |place: &ProcessorPlace| {
            let before = |other: &&ProcessorPlace| {
                (other.package, other.core) == (place.package, place.core) && other.cpu < place.cpu
            };
            places.iter().filter(before).count()
        };
        let mut ranked: Vec<(usize, ProcessorPlace)> =
            places.iter().map(|place| (rank(place), *place)).collect();
        ranked.sort_by_key(|(rank, place)| {
            (
                *rank,
                Reverse(place.package),
                Reverse(place.core),
                place.cpu,
            )
        });
        Self {
            in_order: ranked.into_iter().map(|(_, place)| place.cpu).collect(),
        }
    }

    /// The number of processors.
    pub fn count(&self) -> usize {
        self.in_order.len()
    }

    /// All of them; `None` where there are none.
    pub fn all(&self) -> Option<CpuSet> {
        CpuSet::of(self.in_order.iter().copied())
    }
}

/// The numbers of a step that its placement depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSize {
    /// Connections of all its groups.
    pub clients: u32,
    /// Threads of the load generator.
    pub generator_threads: u32,
    /// `true` if sessions can be told by the thread of the load generator whose clients they serve:
    /// these connect before the measured time, once, and nobody asks for a number of threads.
    pub pairable: bool,
}

impl StepSize {
    /// That of a step, with a generator that has at most this many threads where it is not paired.
    pub fn of(step: &Step, threads_max: u32) -> Self {
        let clients = step.all_clients();
        let mut groups = step.groups.iter();
        let reconnects = groups.any(|group| group.reconnect_every.is_some());
        Self {
            clients,
            generator_threads: clients.min(threads_max),
            pairable: step.timing == Timing::Operations && !reconnects,
        }
    }

    /// Decides if threads of the load generator are paired with sessions that share this many
    /// processors with it.
    fn pairs(self, shared: usize) -> bool {
        self.pairable && shared >= 2
    }
}

/// The placement of a step on these processors. On a single one, rules leave everything to the
/// kernel.
pub fn resolve(wanted: &WantedPlacement, size: StepSize, host: &HostProcessors) -> Placement {
    let rule = match wanted {
        WantedPlacement::Sets(processors) => {
            return Placement {
                rule: PlacementRule::Sets,
                paired: false,
                processors: processors.clone(),
            };
        }
        WantedPlacement::Rule(_) if host.count() < 2 => PlacementRule::Free,
        WantedPlacement::Rule(rule) => *rule,
    };
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX).max(1);
    let set = |cpus: &[u16]| CpuSet::of(cpus.iter().copied());
    let mut paired = false;
    let processors = match rule {
        PlacementRule::Together => {
            let shared = count(size.clients).min(host.count());
            let (own, others) = host.in_order.split_at(shared);
            paired = size.pairs(shared);
            Processors {
                sessions: set(own),
                background: set(others).or_else(|| host.all()),
                generator: set(own),
            }
        }
        PlacementRule::Apart => {
            let part = count(size.generator_threads).min(host.count() / 2);
            let (generator, server) = host.in_order.split_at(part);
            Processors {
                sessions: set(server),
                background: set(server),
                generator: set(generator),
            }
        }
        // Sets without processors: the kernel decides.
        PlacementRule::Free | PlacementRule::Sets => Processors::default(),
    };
    Placement {
        rule,
        paired,
        processors,
    }
}

/// The default of a plan on this host. `price` is that of a wake-up across processors, as a
/// multiple of that on one processor.
pub fn default_placement(
    plan: &Plan,
    price: Option<f64>,
    host: &HostProcessors,
) -> DefaultPlacement {
    let leaves_open = |target: &Target| {
        let mut steps = plan.steps.iter();
        steps.any(|step| plan.wanted_placement(target, step).is_none())
    };
    let mut external = plan
        .targets
        .iter()
        .filter(|target| target.external.is_some());
    if external.any(leaves_open) {
        return DefaultPlacement::EXTERNAL;
    }
    DefaultPlacement::decide(host.count(), price)
}

/// The placements of a plan on this host.
#[derive(Debug, Clone)]
pub(crate) struct Placements {
    pub(crate) host: HostProcessors,
    /// The rule where the experiment asks for none.
    pub(crate) default: PlacementRule,
    /// Threads of the load generator at most, where it is not paired.
    pub(crate) threads_max: u32,
    /// `true` if this number of threads was asked for, so that none is paired.
    pub(crate) threads_asked: bool,
}

impl Placements {
    /// The placement of a step.
    pub(crate) fn of(&self, plan: &Plan, target: &Target, step: &Step) -> Placement {
        let default = WantedPlacement::Rule(self.default);
        let wanted = plan.wanted_placement(target, step).unwrap_or(&default);
        let size = StepSize::of(step, self.threads_max);
        let pairable = size.pairable && !self.threads_asked;
        resolve(wanted, StepSize { pairable, ..size }, &self.host)
    }

    /// True where a step binds threads of the target's server.
    pub(crate) fn bind_server(&self, plan: &Plan, target: &Target) -> bool {
        let binds = |step: &Step| {
            let processors = self.of(plan, target, step).processors;
            processors.sessions.is_some() || processors.background.is_some()
        };
        plan.steps.iter().any(binds)
    }
}

/// Checks that Prony may use every processor that the experiment names.
pub(crate) fn check_processors(plan: &Plan, host: &HostProcessors) -> Result<(), LabError> {
    for target in &plan.targets {
        for step in &plan.steps {
            let Some(WantedPlacement::Sets(processors)) = plan.wanted_placement(target, step)
            else {
                continue;
            };
            for (role, cpus) in processors.named() {
                let missing = |cpu: &&u16| !host.in_order.contains(*cpu);
                if let Some(cpu) = cpus.cpus().iter().find(missing) {
                    return Err(LabError::Processor {
                        target: target.name.clone(),
                        step: step.name.clone(),
                        role,
                        cpu: *cpu,
                        usable: host.all().map_or_else(String::new, |all| all.to_string()),
                    });
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
