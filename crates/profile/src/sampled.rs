//! Samples of a server's stacks in one step.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::component::Components;
use crate::profile::{Builder, Profile, ProfileError, Thread, compressed, decompressed};

/// Functions, from the outermost on, by which threads are taken for one: there are many that serve clients.
const ALIKE: usize = 8;

/// What was sampled in the measured time of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampled {
    /// The samples.
    pub profile: Profile,
    /// How the samples were taken, and what became of them.
    pub taking: Taking,
    /// Counts of looks at each thread that found it at a place in the kernel, where it waits.
    pub waits: Vec<Wait>,
    /// Looks at all threads.
    pub looks: u64,
}

/// The way in which samples were taken, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taking {
    /// Samples per second of a processor that were asked for.
    pub rate: u32,
    /// `true` if the kernel was sampled too; else only user space.
    pub with_kernel: bool,
    /// Processor time that the samples stand for, in nanoseconds.
    pub period_ns: u64,
    /// Stacks that were followed to their end.
    pub whole: u64,
    /// Stacks that could not be.
    pub cut: u64,
    /// Samples that the kernel could not deliver in time.
    pub lost: u64,
    /// Processor time of the server as the kernel accounts for it, in nanoseconds; `None` where it is unknown.
    pub accounted_ns: Option<u64>,
}

/// How often a thread was found at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// Id of the thread.
    pub thread: u32,
    /// A function of the kernel; nothing for one that waits for nothing.
    pub place: String,
    /// Looks that found it there.
    pub count: u64,
}

/// The functions that a thread was at, and how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedStack<'a> {
    /// Id of the thread.
    pub thread: u32,
    /// Object and symbol of each function, from the outermost to the innermost.
    pub functions: Vec<(&'a str, &'a str)>,
    /// `true` if the first function is that in which the thread began.
    pub is_whole: bool,
    /// Samples.
    pub count: u64,
}

impl Profile {
    /// Makes a profile of samples. Threads that began alike become one. Stacks that are not whole stay with the
    /// thread that they are of.
    pub fn from_stacks<'a>(stacks: impl IntoIterator<Item = NamedStack<'a>>) -> Self {
        let mut builder = Builder::default();
        let mut threads: BTreeMap<(Option<u32>, Vec<u32>), Thread> = BTreeMap::new();
        for stack in stacks {
            let names = stack.functions.iter();
            let functions: Vec<u32> = names
                .map(|(object, symbol)| builder.function(object, symbol))
                .collect();
            if functions.is_empty() {
                continue;
            }
            let place = if stack.is_whole {
                (None, functions[..functions.len().min(ALIKE)].to_vec())
            } else {
                (Some(stack.thread), Vec::new())
            };
            let thread = threads.entry(place).or_default();
            thread.stand_for(stack.thread);
            let mut call = None;
            for function in functions {
                call = Some(thread.call(call, function));
            }
            if let Some(call) = call {
                thread.count(call, stack.count);
            }
        }
        for thread in threads.into_values() {
            builder.add(thread);
        }
        builder.profile()
    }
}

impl Sampled {
    /// In compressed form.
    ///
    /// # Errors
    /// When it can't be written as JSON, which does not happen.
    pub fn encode(&self) -> Result<Vec<u8>, ProfileError> {
        compressed(self)
    }

    /// Reads what [`Self::encode`] has written.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProfileError> {
        let sampled: Self = decompressed(bytes)?;
        sampled.profile.check()?;
        Ok(sampled)
    }

    /// Shares of the looks at threads of sessions, by what they waited for; they add up to 1. Empty where no
    /// session was found.
    pub fn waits_of_sessions(&self, components: &Components) -> BTreeMap<String, f64> {
        let sessions: BTreeSet<u32> = self.profile.session_ids(components);
        let of_sessions = self.waits.iter();
        let of_sessions: Vec<&Wait> = of_sessions
            .filter(|wait| sessions.contains(&wait.thread))
            .collect();
        let all: u64 = of_sessions.iter().map(|wait| wait.count).sum();
        let mut shares: BTreeMap<String, f64> = BTreeMap::new();
        let mut kinds: HashMap<&str, &str> = HashMap::new();
        for wait in of_sessions {
            let place = wait.place.as_str();
            let kind = *kinds.entry(place).or_insert_with(|| components.wait(place));
            *shares.entry(kind.to_owned()).or_default() += wait.count as f64 / all as f64;
        }
        shares
    }
}

#[cfg(test)]
mod tests;
