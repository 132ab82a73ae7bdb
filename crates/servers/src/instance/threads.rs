//! Threads of a running server: those that serve clients, told from the others, and bound to
//! processors.
//!
//! A server makes a thread for a connection where its acceptor runs, and such a thread may use the
//! processors that the acceptor may use. The acceptor is the main thread. Where threads are
//! processes of their own (`LinuxThreads`, MySQL 4.1), the manager makes them, which is the main
//! process's only child. So threads that are made while the acceptor and the other threads have
//! different processors tell by theirs who made them. The threads that are there at first are
//! background threads, except the one that serves the connection that asks: its switches count the
//! questions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{
    Thread, bind_thread, group_members, is_gone, thread_cpus, threads_by_cpus, threads_of,
    usable_cpus,
};
use prony_model::{CpuSet, ThreadsOn};

use super::Running;

/// Limit for connecting and for each answer.
const LIMIT: Duration = Duration::from_secs(10);
/// A statement without effect that every version knows.
const QUESTION: &str = "DO 0";
/// Number of questions. The thread that answers them waits once for each.
const QUESTIONS: u64 = 64;
/// Number of times that questions are asked until one thread alone waits that often.
const TRIES: u32 = 20;

/// The threads of a server that runs.
#[derive(Debug)]
pub struct ServerThreads {
    pid: u32,
    kind: Kind,
    /// All processors that this process may use.
    usable: CpuSet,
    /// The main thread, and the manager where there is one.
    acceptors: BTreeSet<Thread>,
    sessions: BTreeSet<Thread>,
    background: BTreeSet<Thread>,
    /// Processors of the acceptor, and therefore of new sessions.
    for_sessions: CpuSet,
    /// Processors of the background threads, and therefore of those that these make.
    for_background: CpuSet,
    /// The role of new threads while both have the same processors.
    newcomers: Role,
}

/// Threads of a server by role, and by the processors that they may use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadsByRole {
    /// Sessions and the acceptor.
    pub sessions: Vec<ThreadsOn>,
    /// All others.
    pub background: Vec<ThreadsOn>,
}

/// The role of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It serves a client.
    Session,
    /// It does anything else.
    Background,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Threads of one process.
    Threads,
    /// Processes of one group.
    Processes,
}

/// The reason why threads can't be told or bound.
#[derive(Debug, thiserror::Error)]
pub enum ThreadsError {
    /// The kernel does not list, show or bind a thread.
    #[error("{task} of the server: {source}")]
    System {
        /// The task.
        task: &'static str,
        /// The answer of the system.
        source: io::Error,
    },
    /// The server does not answer the questions.
    #[error("tell the server's sessions from its other threads: {0}")]
    Client(#[from] ClientError),
    /// No thread of its own serves a connection, as where a server has a pool of threads.
    #[error(
        "tell the server's sessions from its other threads: no thread answers one connection \
         alone; set `placement = \"free\"` for this target"
    )]
    NoSession,
}

impl ThreadsError {
    fn system(task: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { task, source }
    }
}

impl ServerThreads {
    /// Tells the threads of a server that has just started and has had one connection at a time.
    /// From then on, background threads are bound to other processors than the acceptor.
    ///
    /// # Errors
    /// When threads can't be listed or bound, or no thread serves this connection alone.
    pub fn tell(server: &Running) -> Result<Self, ThreadsError> {
        let pid = server.pid();
        let usable = usable_cpus().map_err(ThreadsError::system("list the processors"))?;
        let processes = group_members(pid).map_err(ThreadsError::system("list the processes"))?;
        let kind = match processes.as_slice() {
            [_] | [] => Kind::Threads,
            _ => Kind::Processes,
        };
        let mut connection =
            Connection::connect(&server.admin_address(), &server.admin_login(), LIMIT)?;
        let session = serving(pid, kind, &mut connection)?;
        let all = list(pid, kind)?;
        let acceptors: BTreeSet<Thread> = acceptors(pid, kind, &all).collect();
        let background = all
            .into_iter()
            .filter(|thread| *thread != session && !acceptors.contains(thread))
            .collect();
        let mut threads = Self {
            pid,
            kind,
            for_background: usable.clone(),
            for_sessions: usable.clone(),
            usable,
            acceptors,
            sessions: BTreeSet::from([session]),
            background,
            newcomers: Role::Background,
        };
        threads.separate(&threads.usable.clone())?;
        Ok(threads)
    }

    /// Binds the sessions with the acceptor, and all other threads, before clients connect. Where
    /// both get the same processors, the background threads get theirs by [`Self::connected`], so
    /// that the threads of the clients can be told.
    ///
    /// # Errors
    /// When threads can't be listed or bound.
    pub fn bind(&mut self, sessions: &CpuSet, background: &CpuSet) -> Result<(), ThreadsError> {
        self.update()?;
        if sessions == background {
            self.separate(sessions)
        } else {
            self.bind_all(sessions, background)
        }
    }

    /// The same where clients connect within the measured time: all threads get their processors at
    /// once.
    ///
    /// # Errors
    /// When threads can't be listed or bound.
    pub fn bind_at_once(
        &mut self,
        sessions: &CpuSet,
        background: &CpuSet,
    ) -> Result<(), ThreadsError> {
        self.update()?;
        self.newcomers = Role::Session;
        self.bind_all(sessions, background)
    }

    /// Finds the threads of the clients that have connected since [`Self::bind`], and lets the
    /// background threads have the processors `background`. `newcomers` is the role of threads that
    /// are made later, as long as all have the same processors.
    ///
    /// # Errors
    /// When threads can't be listed or bound.
    pub fn connected(&mut self, background: &CpuSet, newcomers: Role) -> Result<(), ThreadsError> {
        self.update()?;
        self.newcomers = newcomers;
        if self.for_background == *background {
            return Ok(());
        }
        let sessions = self.for_sessions.clone();
        self.bind_all(&sessions, background)
    }

    /// Reads the processors of every thread.
    ///
    /// # Errors
    /// When threads can't be listed or read.
    pub fn read(&mut self) -> Result<ThreadsByRole, ThreadsError> {
        self.update()?;
        let by_cpus = |threads: &mut dyn Iterator<Item = &Thread>| {
            threads_by_cpus(threads).map_err(ThreadsError::system("read the processors"))
        };
        Ok(ThreadsByRole {
            sessions: by_cpus(&mut self.sessions.iter().chain(&self.acceptors))?,
            background: by_cpus(&mut self.background.iter())?,
        })
    }

    /// Gives `sessions` to the sessions and to the acceptor, and any other set to the rest.
    fn separate(&mut self, sessions: &CpuSet) -> Result<(), ThreadsError> {
        let other = match self.usable.cpus() {
            // All but the last: this one is the first to serve sessions.
            [others @ .., _] if *sessions == self.usable => CpuSet::of(others.iter().copied()),
            _ => Some(self.usable.clone()),
        };
        let other = other.unwrap_or_else(|| self.usable.clone());
        self.bind_all(sessions, &other)
    }

    fn bind_all(&mut self, sessions: &CpuSet, background: &CpuSet) -> Result<(), ThreadsError> {
        for thread in self.acceptors.iter().chain(&self.sessions) {
            bind(*thread, sessions)?;
        }
        for thread in &self.background {
            bind(*thread, background)?;
        }
        self.for_sessions = sessions.clone();
        self.for_background = background.clone();
        // A thread can have been made by one that was not bound yet.
        let before = self.len();
        self.update()?;
        if self.len() == before {
            return Ok(());
        }
        for thread in &self.sessions {
            bind(*thread, sessions)?;
        }
        for thread in &self.background {
            bind(*thread, background)?;
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.sessions.len() + self.background.len()
    }

    /// Forgets the threads that have ended and sorts the new ones.
    fn update(&mut self) -> Result<(), ThreadsError> {
        let now: BTreeSet<Thread> = list(self.pid, self.kind)?.into_iter().collect();
        self.sessions.retain(|thread| now.contains(thread));
        self.background.retain(|thread| now.contains(thread));
        let known = |thread: &&Thread| {
            [&self.acceptors, &self.sessions, &self.background]
                .iter()
                .any(|role| role.contains(thread))
        };
        let new: Vec<Thread> = now
            .iter()
            .filter(|thread| !known(thread))
            .copied()
            .collect();
        for thread in new {
            let Some(cpus) = unless_gone("read the processors", thread_cpus(thread.id))? else {
                continue;
            };
            let role = match cpus {
                _ if self.for_sessions == self.for_background => self.newcomers,
                cpus if cpus == self.for_sessions => Role::Session,
                _ => Role::Background,
            };
            match role {
                Role::Session => self.sessions.insert(thread),
                Role::Background => self.background.insert(thread),
            };
        }
        Ok(())
    }
}

/// The thread that serves a connection: the one that waits once for each question.
fn serving(pid: u32, kind: Kind, connection: &mut Connection) -> Result<Thread, ThreadsError> {
    connection.query(QUESTION)?;
    let mut candidates: Option<BTreeSet<Thread>> = None;
    for _ in 0..TRIES {
        let before = waits(&list(pid, kind)?);
        for _ in 0..QUESTIONS {
            connection.query(QUESTION)?;
        }
        let after = waits(&list(pid, kind)?);
        let busy = after.into_iter().filter(|(thread, waits)| {
            let before = before.get(thread).copied();
            before.is_some_and(|before| waits.saturating_sub(before) >= QUESTIONS / 2)
        });
        let busy: BTreeSet<Thread> = busy.map(|(thread, _)| thread).collect();
        // Another thread may have been as busy once.
        let both = match candidates {
            Some(earlier) => earlier.intersection(&busy).copied().collect(),
            None => busy,
        };
        match both.first() {
            Some(thread) if both.len() == 1 => return Ok(*thread),
            Some(_) => candidates = Some(both),
            None => candidates = None,
        }
    }
    Err(ThreadsError::NoSession)
}

/// The number of times that each thread has waited. One that has ended is left out.
fn waits(threads: &[Thread]) -> BTreeMap<Thread, u64> {
    let waits_of = |thread: &Thread| {
        let text = fs::read_to_string(format!("/proc/{}/status", thread.id)).ok()?;
        let count = text
            .lines()
            .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?;
        Some((*thread, count.trim().parse().ok()?))
    };
    threads.iter().filter_map(waits_of).collect()
}

/// The threads that accept connections, and those that make the threads of these.
fn acceptors(pid: u32, kind: Kind, all: &[Thread]) -> impl Iterator<Item = Thread> {
    let is_acceptor = move |thread: &&Thread| {
        thread.id == pid || (kind == Kind::Processes && thread.parent == pid)
    };
    all.iter().filter(is_acceptor).copied()
}

fn list(pid: u32, kind: Kind) -> Result<Vec<Thread>, ThreadsError> {
    match kind {
        Kind::Threads => threads_of(pid),
        Kind::Processes => group_members(pid),
    }
    .map_err(ThreadsError::system("list the threads"))
}

fn bind(thread: Thread, cpus: &CpuSet) -> Result<(), ThreadsError> {
    unless_gone("bind a thread", bind_thread(thread.id, cpus)).map(drop)
}

/// `None` for a thread that has ended.
fn unless_gone<T>(task: &'static str, done: io::Result<T>) -> Result<Option<T>, ThreadsError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(ThreadsError::system(task)(error)),
    }
}
