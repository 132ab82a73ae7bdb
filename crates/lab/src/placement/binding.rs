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
            Server::Own(running) if binds => {
                Some(ServerThreads::tell(running).map_err(|error| failed(&error))?)
            }
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
        let background = placement.processors.background.as_ref();
        self.background = background.unwrap_or(&self.usable).clone();
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
        let sessions = self.sessions();
        let Some(threads) = &mut self.threads else {
            return Ok(());
        };
        match step.timing {
            Timing::Operations => threads.bind(&sessions, &self.background),
            Timing::WholeRun => threads.bind_at_once(&sessions, &self.background),
        }
        .map_err(|error| failed(&error))
    }

    /// The processors of the current step's sessions.
    fn sessions(&self) -> CpuSet {
        let sessions = self.current.processors.sessions.as_ref();
        sessions.unwrap_or(&self.usable).clone()
    }

    /// The processors of the current step's load generator, if not all.
    pub(crate) fn generator_cpus(&self) -> Option<CpuSet> {
        self.current.processors.generator.clone()
    }

    /// The processor of each thread of the current step's load generator; none where threads are
    /// not paired with sessions.
    pub(crate) fn thread_cpus(&self) -> Vec<u16> {
        match &self.current.processors.sessions {
            Some(shared) if self.current.paired => shared.cpus().to_vec(),
            _ => Vec::new(),
        }
    }

    /// Lets the sessions of the clients of a thread of the load generator, which are about to
    /// connect, have the thread's processor.
    pub(crate) fn connecting(&mut self, thread: u32) -> Result<(), Fault> {
        let cpus = self.thread_cpus();
        let cpu = usize::try_from(thread).ok().and_then(|i| cpus.get(i));
        match (
            &mut self.threads,
            cpu.copied().and_then(|cpu| CpuSet::of([cpu])),
        ) {
            (Some(threads), Some(cpu)) => threads
                .pair(&cpu, &self.background)
                .map_err(|error| failed(&error)),
            _ => Ok(()),
        }
    }

    /// Finishes binding, when the clients of the current step have connected.
    pub(crate) fn connected(&mut self) -> Result<(), Fault> {
        let sessions = self.sessions();
        match &mut self.threads {
            Some(threads) => threads
                .connected(&sessions, &self.background, self.newcomers)
                .map_err(|error| failed(&error)),
            None => Ok(()),
        }
    }

    /// Reads the processors of all threads of the server and of the load generator, whose process id
    /// is `generator`, if it runs on this host.
    pub(crate) fn read(&mut self, generator: Option<u32>) -> Result<PlacementReading, Fault> {
        let unread = |error| Fault::failed(format!("failed to read threads' processors: {error}"));
        let server = match (&mut self.threads, self.server) {
            (Some(threads), _) => threads.read().map_err(|error| failed(&error))?,
            (None, Some(pid)) => ThreadsByRole {
                sessions: Vec::new(),
                background: group_threads(pid)
                    .and_then(|threads| threads_by_cpus(&threads))
                    .map_err(unread)?,
            },
            (None, None) => ThreadsByRole::default(),
        };
        let generator = match generator {
            Some(pid) => threads_of(pid).and_then(|threads| threads_by_cpus(&threads)),
            None => Ok(Vec::new()),
        };
        Ok(PlacementReading {
            placement: self.current.clone(),
            sessions: server.sessions,
            background: server.background,
            generator: generator.map_err(unread)?,
        })
    }
}

/// Everything is left to the kernel.
pub(crate) fn free() -> Placement {
    Placement {
        rule: PlacementRule::Free,
        paired: false,
        processors: Processors::default(),
    }
}

fn failed(error: &ThreadsError) -> Fault {
    Fault::failed(format!("failed to {error}"))
}
