//! Threads of a running server: those that serve clients, told from the others, and bound to
//! processors.
//!
//! A server makes a thread for a connection where its acceptor runs, and such a thread may use the
//! processors that the acceptor may use. The acceptor is the main thread. Where threads are
//! processes of their own (`LinuxThreads`, MySQL 4.1), the manager makes them, which is the main
//! process's only child. PostgreSQL has a process for each session, which its first process makes. So threads that are made while the acceptor and the other threads have
//! different processors tell by theirs who made them. The threads that are there at first are
//! background threads, except those that serve connections: their switches count the questions
//! that are asked there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;

use prony_client::{ClientError, Connection};
use prony_host::{
    Thread, bind_thread, children_of, group_members, is_gone, thread_cpus, threads_by_cpus,
    threads_of, usable_cpus,
};
use prony_model::{CpuSet, Family, ThreadsOn};

use super::Running;

/// Limit for connecting and for each answer.
const LIMIT: Duration = Duration::from_secs(10);
/// A statement without effect that every version knows.
const QUESTION: &str = "DO 0";
/// The same in PostgreSQL.
const QUESTION_OF_POSTGRES: &str = "SELECT 0";
/// Number of questions. The thread that answers them leaves its processor once for each.
const QUESTIONS: u64 = 64;
/// Time before each question, in which the thread that answered the last one goes to wait.
const PAUSE: Duration = Duration::from_micros(100);
/// Number of times that questions are asked until one thread alone switches that often.
const TRIES: u32 = 20;

/// Time without a switch after which threads rest.
const REST: Duration = Duration::from_millis(2);
/// Number of such times that threads are waited for.
const REST_TRIES: u32 = 50;

/// The threads of a server that runs.
#[derive(Debug)]
pub struct ServerThreads {
    pid: u32,
    kind: Kind,
    /// All processors that this process may use.
    usable: CpuSet,
    /// The main thread. Where threads are processes also the manager, and what works for every
    /// statement: woken on another processor, it would make each of them dearer.
    acceptors: BTreeSet<Thread>,
    sessions: BTreeSet<Thread>,
    background: BTreeSet<Thread>,
    /// Sessions with a processor of their own, which they share with the thread of the load
    /// generator that drives their clients, and their switches while these connected.
    paired: BTreeMap<Thread, (CpuSet, u64)>,
    /// The pair whose clients connect.
    connecting: Option<Pair>,
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
    /// A process and its children, one for each session, as in PostgreSQL.
    Children,
}

/// Clients that connect, and whose sessions get one processor.
#[derive(Debug)]
struct Pair {
    cpu: CpuSet,
    /// Switches of each session before the first of them connected.
    switches: BTreeMap<Thread, u64>,
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
        "tell the server's sessions from its other threads: no thread serves one connection \
         alone; write `placement = \"free\"` in the experiment"
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
            _ if server.build().facts.family == Family::Postgresql => Kind::Children,
            [_] | [] => Kind::Threads,
            _ => Kind::Processes,
        };
        let connect = || Connection::connect(&server.admin_address(), &server.admin_login(), LIMIT);
        let (mut one, mut other) = (connect()?, connect()?);
        let sessions = serving(pid, kind, &mut one, &mut other)?;
        drop(other);
        let helpers = helpers(pid, kind, &mut one, &sessions)?;
        let all = list(pid, kind)?;
        let acceptors: BTreeSet<Thread> = acceptors(pid, kind, &all).chain(helpers).collect();
        let background = all
            .into_iter()
            .filter(|thread| !sessions.contains(thread) && !acceptors.contains(thread))
            .collect();
        let mut threads = Self {
            pid,
            kind,
            for_background: usable.clone(),
            for_sessions: usable.clone(),
            usable,
            acceptors,
            sessions,
            background,
            paired: BTreeMap::new(),
            connecting: None,
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
        self.unpair()?;
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
        self.unpair()?;
        self.newcomers = Role::Session;
        self.bind_all(sessions, background)
    }

    /// Lets the sessions of clients that are about to connect have the processor `cpu`, and ends the
    /// same for the clients that connected before, which now rest. A session serves one of these
    /// clients if it was made meanwhile, or if it was idle and has been woken. `background` are the
    /// processors of the background threads, and others than `cpu` alone.
    ///
    /// # Errors
    /// When threads can't be listed or bound.
    pub fn pair(&mut self, cpu: &CpuSet, background: &CpuSet) -> Result<(), ThreadsError> {
        self.end_pair()?;
        self.bind_all(cpu, background)?;
        self.connecting = Some(Pair {
            cpu: cpu.clone(),
            switches: at_rest(&self.sessions),
        });
        Ok(())
    }

    /// Finds the threads of the clients that have connected since [`Self::bind`], and lets all
    /// threads but those that [`Self::pair`] has bound have the processors `sessions` and
    /// `background`. `newcomers` is the role of threads that are made later, as long as all have the
    /// same processors.
    ///
    /// # Errors
    /// When threads can't be listed or bound.
    pub fn connected(
        &mut self,
        sessions: &CpuSet,
        background: &CpuSet,
        newcomers: Role,
    ) -> Result<(), ThreadsError> {
        self.end_pair()?;
        self.newcomers = newcomers;
        if self.for_sessions == *sessions && self.for_background == *background {
            return Ok(());
        }
        self.bind_all(sessions, background)
    }

    /// Finds the sessions of the clients that connected, if any did for a processor. One that was made
    /// serves its client. One that was woken serves the client for which it switched most: another
    /// connection may have woken it in passing.
    fn end_pair(&mut self) -> Result<(), ThreadsError> {
        self.update()?;
        let Some(Pair { cpu, switches }) = self.connecting.take() else {
            return Ok(());
        };
        let now = at_rest(&self.sessions);
        for (thread, count) in now {
            let before = switches.get(&thread);
            let moved = before.map_or(u64::MAX, |before| count.saturating_sub(*before));
            let earlier = self.paired.get(&thread).map_or(0, |(_, moved)| *moved);
            if moved > earlier {
                bind(thread, &cpu)?;
                self.paired.insert(thread, (cpu.clone(), moved));
            }
        }
        Ok(())
    }

    /// Forgets the pairs of earlier clients.
    fn unpair(&mut self) -> Result<(), ThreadsError> {
        self.update()?;
        self.paired.clear();
        self.connecting = None;
        Ok(())
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
        for thread in &self.acceptors {
            bind(*thread, sessions)?;
        }
        self.bind_known(sessions, background)?;
        self.for_sessions = sessions.clone();
        self.for_background = background.clone();
        // A thread can have been made by one that was not bound yet.
        let before = self.len();
        self.update()?;
        if self.len() == before {
            return Ok(());
        }
        self.bind_known(sessions, background)
    }

    /// Binds all threads but the acceptors. Sessions that are paired keep their processor.
    fn bind_known(&self, sessions: &CpuSet, background: &CpuSet) -> Result<(), ThreadsError> {
        for thread in &self.sessions {
            bind(
                *thread,
                self.paired.get(thread).map_or(sessions, |(cpu, _)| cpu),
            )?;
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
        self.paired.retain(|thread, _| now.contains(thread));
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

/// The threads that serve two connections: each is busy with the questions of its own connection
/// only.
fn serving(
    pid: u32,
    kind: Kind,
    one: &mut Connection,
    other: &mut Connection,
) -> Result<BTreeSet<Thread>, ThreadsError> {
    let mut candidates: Option<[BTreeSet<Thread>; 2]> = None;
    for _ in 0..TRIES {
        let with_one = busy_with(pid, kind, one)?;
        let with_other = busy_with(pid, kind, other)?;
        let now = [&with_one - &with_other, &with_other - &with_one];
        // Any other thread may have been as busy once.
        let both = match candidates {
            Some([one, other]) => [&one & &now[0], &other & &now[1]],
            None => now,
        };
        if both.iter().all(|threads| threads.len() == 1) {
            return Ok(both.into_iter().flatten().collect());
        }
        let lost = both.iter().any(BTreeSet::is_empty);
        candidates = (!lost).then_some(both);
    }
    Err(ThreadsError::NoSession)
}

/// The threads that work for every statement beside the one that serves the only connection. Where
/// threads are processes, the one that watches over limits of time is woken for each statement.
fn helpers(
    pid: u32,
    kind: Kind,
    connection: &mut Connection,
    sessions: &BTreeSet<Thread>,
) -> Result<BTreeSet<Thread>, ThreadsError> {
    if kind != Kind::Processes {
        return Ok(BTreeSet::new());
    }
    let first = busy_with(pid, kind, connection)?;
    let second = busy_with(pid, kind, connection)?;
    Ok(&(&first & &second) - sessions)
}

/// The threads that leave their processor about once for each question of a connection.
fn busy_with(
    pid: u32,
    kind: Kind,
    connection: &mut Connection,
) -> Result<BTreeSet<Thread>, ThreadsError> {
    let question = match kind {
        Kind::Children => QUESTION_OF_POSTGRES,
        Kind::Threads | Kind::Processes => QUESTION,
    };
    let before = switches(&list(pid, kind)?);
    for _ in 0..QUESTIONS {
        thread::sleep(PAUSE);
        connection.query(question)?;
    }
    let after = switches(&list(pid, kind)?);
    let busy = after.into_iter().filter(|(thread, switches)| {
        let before = before.get(thread).copied();
        before.is_some_and(|before| switches.saturating_sub(before) >= QUESTIONS / 2)
    });
    Ok(busy.map(|(thread, _)| thread).collect())
}

/// The number of times that each thread has left its processor: to wait, or because the one that it
/// woke ran in its place. One that has ended is left out.
fn switches(threads: &[Thread]) -> BTreeMap<Thread, u64> {
    let count_of = |text: &str, name: &str| -> Option<u64> {
        let count = text.lines().find_map(|line| line.strip_prefix(name))?;
        count.trim().parse().ok()
    };
    let switches_of = |thread: &Thread| {
        let text = fs::read_to_string(format!("/proc/{}/status", thread.id)).ok()?;
        let waits = count_of(&text, "voluntary_ctxt_switches:")?;
        let displaced = count_of(&text, "nonvoluntary_ctxt_switches:")?;
        Some((*thread, waits + displaced))
    };
    threads.iter().filter_map(switches_of).collect()
}

/// The switches of threads, as soon as all sleep and none has switched for a while: the last ones
/// that served a client have gone to wait. After [`REST_TRIES`] such times they are taken as they are.
fn at_rest(threads: &BTreeSet<Thread>) -> BTreeMap<Thread, u64> {
    let threads: Vec<Thread> = threads.iter().copied().collect();
    let mut last = switches(&threads);
    for _ in 0..REST_TRIES {
        thread::sleep(REST);
        let now = switches(&threads);
        if now == last && threads.iter().all(sleeps) {
            break;
        }
        last = now;
    }
    last
}

/// Returns `false` if a thread runs or would if it had a processor.
fn sleeps(thread: &Thread) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", thread.id));
    status.map_or(true, |text| !text.contains("State:\tR"))
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
        Kind::Children => children_of(pid).and_then(|mut processes| {
            processes.extend(group_members(pid)?);
            Ok(processes)
        }),
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

#[cfg(test)]
mod tests;
