//! The placements of a plan on this host, before anything has been started.

use std::io;

use prony_load::Hello;
use prony_model::{Backend, DefaultPlacement, Placement, Plan, Step, Target};
use prony_probe::Root;

use super::{HostProcessors, Placements, default_placement};

/// The placements that a run of a plan would have on this host.
#[derive(Debug, Clone)]
pub struct PlannedPlacements<'a> {
    /// The rule for steps whose placement the experiment leaves open.
    pub default: DefaultPlacement,
    plan: &'a Plan,
    placements: Placements,
}

impl<'a> PlannedPlacements<'a> {
    /// Those of a plan. `price` is that of a wake-up across processors, as a multiple of that on
    /// one processor; `None` if it is unknown.
    ///
    /// # Errors
    /// If the kernel does not name the processors that this process may use.
    pub fn find(plan: &'a Plan, price: Option<f64>, root: &Root) -> io::Result<Self> {
        let host = HostProcessors::find(root)?;
        let default = default_placement(plan, price, &host);
        let hello = Hello::of_this_process();
        let encrypted = plan.targets.iter().any(Target::is_encrypted);
        // A run whose wish can't be met does not begin.
        let backend = hello.choose_backend(plan.backend, encrypted);
        let placements = Placements {
            host,
            default: default.rule,
            threads_max: hello.usual_threads(backend.unwrap_or(Backend::Epoll)),
            threads_asked: false,
        };
        Ok(Self {
            default,
            plan,
            placements,
        })
    }

    /// The placement of a step.
    pub fn of(&self, target: &Target, step: &Step) -> Placement {
        self.placements.of(self.plan, target, step)
    }
}
