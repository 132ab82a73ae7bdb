//! Places in the kernel where threads wait, looked at again and again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::root::Root;

/// Time between two looks.
const EVERY: Duration = Duration::from_millis(10);
/// Most files that are read in that time: with more threads, looks are rarer.
const READ_MOST: usize = 100;

/// The places of a server's threads.
pub(super) struct Waits {
    root: Root,
    next: Instant,
    pub(super) found: HashMap<(u32, String), u64>,
    pub(super) looks: u64,
}

impl Waits {
    pub(super) fn new(root: Root) -> Self {
        Self {
            root,
            next: Instant::now(),
            found: HashMap::new(),
            looks: 0,
        }
    }

    /// Looks at all threads of these processes, if it is time.
    pub(super) fn look(&mut self, processes: impl Iterator<Item = u32>) {
        if Instant::now() < self.next {
            return;
        }
        let mut read = 0_usize;
        for process in processes {
            let folder = format!("proc/{process}/task");
            for name in self.root.list(&folder).unwrap_or_default() {
                read += 1;
                // A thread that has ended waits nowhere.
                let Ok(thread) = name.parse() else { continue };
                let path = self.root.path(format!("{folder}/{name}/wchan"));
                let Ok(place) = std::fs::read_to_string(path) else {
                    continue;
                };
                let place = if place == "0" { String::new() } else { place };
                *self.found.entry((thread, place)).or_default() += 1;
            }
        }
        self.looks += 1;
        let times = u32::try_from(read.div_ceil(READ_MOST)).unwrap_or(u32::MAX);
        self.next = Instant::now() + EVERY.saturating_mul(times.max(1));
    }
}
