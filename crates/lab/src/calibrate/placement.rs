//! Processors of load generator and null server.

use prony_model::{CpuSet, PlacementRule, WantedPlacement};

use crate::placement::{HostProcessors, StepSize, resolve};

/// The rule by which both get their processors, and the processors that there are.
#[derive(Debug, Clone)]
pub(super) struct ChildPlacement {
    pub(super) rule: PlacementRule,
    /// `None` if the kernel does not name them.
    pub(super) host: Option<HostProcessors>,
}

impl ChildPlacement {
    /// The processors that both share with a number of clients. `None` if these are all, or the
    /// kernel chooses.
    pub(super) fn processors(&self, clients: u32) -> Option<CpuSet> {
        let host = self.host.as_ref()?;
        let size = StepSize {
            clients,
            generator_threads: clients,
            // The threads of the null server serve all clients.
            pairable: false,
        };
        let placement = resolve(&WantedPlacement::Rule(self.rule), size, host);
        let shared = placement.processors.sessions?;
        (Some(&shared) != host.all().as_ref()).then_some(shared)
    }
}

#[cfg(test)]
mod tests {
    use prony_probe::Root;

    use super::*;

    #[test]
    fn fewer_clients_than_processors_share_as_many() {
        let folder = tempfile::tempdir().unwrap();
        let host = HostProcessors::find(&Root::recorded(folder.path())).unwrap();
        let count = u32::try_from(host.count()).unwrap();
        let shared = |rule, clients| {
            let host = Some(host.clone());
            ChildPlacement { rule, host }.processors(clients)
        };
        let one = shared(PlacementRule::Together, 1);
        assert_eq!(one.map(|cpus| cpus.cpus().len()), (count > 1).then_some(1));
        assert_eq!(shared(PlacementRule::Together, count), None);
        assert_eq!(shared(PlacementRule::Together, 1_000), None);
        assert_eq!(shared(PlacementRule::Free, 1), None);
        let unknown = ChildPlacement {
            rule: PlacementRule::Together,
            host: None,
        };
        assert_eq!(unknown.processors(1), None);
    }
}
