//! The threads of a trial's processes on the processors of their steps.

use prony_host::{group_threads, threads_by_cpus, threads_of, usable_cpus};
use prony_model::{CpuSet, Placement, PlacementReading, PlacementRule, Processors, Step, Timing};
use prony_servers::{Role, ServerThreads, ThreadsByRole, ThreadsError};

use crate::fault::Fault;
use crate::server::Server;

/// The binding of a server's threads, through the steps of a trial.
#[derive(Debug)]
pub(crate) struct Binding {
    /// Its process; `None` for an external server.
    server: Option<u32>,
    /// Its threads by role, where a step binds them.
    threads: Option<ServerThreads>,
    usable: CpuSet,
    /// The placement of the current step.
    current: Placement,
    /// The processors of the current step's background threads.
    background: CpuSet,
    /// The role of threads that the server makes within the current step while all threads have the
    /// same processors.
    newcomers: Role,
}

impl Binding {
    /// That of a server that has just started. `binds` is true where a step binds its threads.
    pub(crate) fn new(server: &Server, binds: bool) -> Result<Self, Fault> {
        let threads = match server {
            Server::Own(running) if binds => Some(ServerThreads::tell(running).map_err(failed)?),
            Server::Own(_) | Server::External(_) => None,
        };
        let usable = usable_cpus()
            .map_err(|error| Fault::failed(format!("failed to list the processors: {error}")))?;
        Ok(Self {
            server: server.pid(),
            threads,
            background: usable.clone(),
            usable,
            current: free(),
            newcomers: Role::Background,
        })
    }

    /// Binds the server's threads for a step, before its clients connect.
    pub(crate) fn begin(&mut self, step: &Step, placement: Placement) -> Result<(), Fault> {
        let of = |cpus: &Option<CpuSet>| cpus.as_ref().unwrap_or(&self.usable).clone();
        let sessions = of(&placement.processors.sessions);
        self.background = of(&placement.processors.background);
        let reconnects = step
            .groups
            .iter()
            .any(|group| group.reconnect_every.is_some());
        self.newcomers = if reconnects {
            Role::Session
        } else {
            Role::Background
        };
        self.current = placement;
        let Some(threads) = &mut self.threads else {
            return Ok(());
        };
        match step.timing {
            Timing::Operations => threads.bind(&sessions, &self.background),
            Timing::WholeRun => threads.bind_at_once(&sessions, &self.background),
        }
        .map_err(failed)
    }

    /// The processors of the current step's load generator, if not all.
    pub(crate) fn generator_cpus(&self) -> Option<CpuSet> {
        self.current.processors.generator.clone()
    }

    /// Finishes binding, when the clients of the current step have connected.
    pub(crate) fn connected(&mut self) -> Result<(), Fault> {
        match &mut self.threads {
            Some(threads) => threads
                .connected(&self.background, self.newcomers)
                .map_err(failed),
            None => Ok(()),
        }
    }

    /// Reads the processors of all threads of the server and of the load generator, whose process id
    /// is `generator`.
    pub(crate) fn read(&mut self, generator: u32) -> Result<PlacementReading, Fault> {
        let unread = |error| Fault::failed(format!("failed to read threads' processors: {error}"));
        let server = match (&mut self.threads, self.server) {
            (Some(threads), _) => threads.read().map_err(failed)?,
            (None, Some(pid)) => ThreadsByRole {
                sessions: Vec::new(),
                background: group_threads(pid)
                    .and_then(|threads| threads_by_cpus(&threads))
                    .map_err(unread)?,
            },
            (None, None) => ThreadsByRole::default(),
        };
        let threads = threads_of(generator).and_then(|threads| threads_by_cpus(&threads));
        Ok(PlacementReading {
            placement: self.current.clone(),
            sessions: server.sessions,
            background: server.background,
            generator: threads.map_err(unread)?,
        })
    }
}

/// Everything is left to the kernel.
pub(crate) fn free() -> Placement {
    Placement {
        rule: PlacementRule::Free,
        processors: Processors::default(),
    }
}

fn failed(error: ThreadsError) -> Fault {
    Fault::failed(format!("failed to {error}"))
}
