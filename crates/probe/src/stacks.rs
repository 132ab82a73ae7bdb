//! Samples of what a server's threads execute, by the kernel's clock: each with the functions that were under
//! way, in user space and in the kernel; and beside them the places where its threads wait.
//!
//! They need no counters of the processor. Samples come at equal steps of the time that threads are on a
//! processor. User space is unwound here, from a copy of the stack's top, because most servers keep no frame
//! pointers that the kernel could follow.

mod events;
mod kernel;
mod reading;
mod unwind;
mod waits;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::counters::CountersError;
pub use events::{Reach, StackEvents, check_stack_samples};
pub use reading::StackReading;

/// What was sampled between two instants.
#[derive(Debug, Clone, Default)]
pub struct StackSamples {
    /// Paths of the programs and libraries that frames are in.
    pub objects: Vec<String>,
    /// How often each stack was found.
    pub stacks: HashMap<Stack, u64>,
    /// How often each thread was found at each place in the kernel where it waits; the place is empty where
    /// the thread waited for nothing.
    pub waits: HashMap<(u32, String), u64>,
    /// Looks at the places of all threads.
    pub looks: u64,
    /// Processor time that the samples stand for, in nanoseconds.
    pub period_ns: u64,
    /// Samples of the server whose stack was followed to its end.
    pub whole: u64,
    /// Those whose stack was followed up to a place where it could not be.
    pub cut: u64,
    /// Samples of any program that the kernel could not deliver in time.
    pub lost: u64,
}

/// The functions under way when a sample was taken.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stack {
    /// Id of the thread.
    pub thread: u32,
    /// Entry of the kernel: a system call or an interruption; `None` in user space.
    pub kernel: Option<Arc<str>>,
    /// From the innermost to the outermost.
    pub frames: Vec<Frame>,
    /// `true` if the last frame is that in which the thread began.
    pub is_whole: bool,
}

/// A place in a program or library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Index in [`StackSamples::objects`]; `None` outside of files.
    pub object: Option<u32>,
    /// Address in that file; in memory, where there is none. In frames that called another one, it is within
    /// the instruction that called.
    pub address: u64,
}

/// Samples that are being taken.
pub struct StackSampler {
    stop: Arc<AtomicBool>,
    reading: JoinHandle<(StackEvents, StackSamples)>,
}

impl StackSampler {
    /// Begins to sample.
    ///
    /// # Errors
    /// If the events can't be switched on, or no thread can be started to read them.
    pub fn begin(
        mut reading: StackReading,
        mut events: StackEvents,
    ) -> Result<Self, CountersError> {
        events.enable()?;
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("stacks".into());
        let reading = thread.spawn(move || {
            while !asked.load(Ordering::Acquire) {
                reading.read(&mut events);
            }
            events.disable();
            let samples = reading.finish(&mut events);
            (events, samples)
        });
        let reading = reading.map_err(|source| CountersError::Read {
            event: events::NAME,
            source,
        })?;
        Ok(Self { stop, reading })
    }

    /// Ends sampling. The events can be used again.
    ///
    /// # Errors
    /// If the thread that read them has failed.
    pub fn end(self) -> Result<(StackEvents, StackSamples), CountersError> {
        self.stop.store(true, Ordering::Release);
        self.reading.join().map_err(|_| CountersError::Read {
            event: events::NAME,
            source: std::io::Error::other("the thread that reads the samples has failed"),
        })
    }
}

#[cfg(test)]
mod tests;
