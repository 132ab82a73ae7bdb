//! The instructions of a server that runs in valgrind, and the functions that they belong to.

use std::collections::{HashMap, HashSet};
use std::fs;

use prony_model::{Counter, Gap, Sample, Source};
use prony_profile::{Extents, Profile};
use prony_servers::Callgrind;

use super::reader::EdgeReader;

/// The count of valgrind from the start of the measured time on.
const INSTRUCTIONS: Counter = Counter::new(Source::Valgrind, "instructions_user");

/// The reader of a server that runs in valgrind.
pub(super) struct Instructions {
    callgrind: Callgrind,
    /// The functions of the step that ended last.
    profile: Option<Profile>,
    /// Places of functions without symbols, by path of a program or library that was read.
    extents: HashMap<String, Extents>,
    read: HashSet<String>,
}

impl Instructions {
    /// Those of a server.
    pub(super) fn of(callgrind: Callgrind) -> Self {
        Self {
            callgrind,
            profile: None,
            extents: HashMap::new(),
            read: HashSet::new(),
        }
    }

    /// The profile since the start of the measured time.
    fn profile(&mut self) -> Result<Profile, String> {
        let counts = self.callgrind.counts();
        let counts = counts.map_err(|error| format!("failed to {error}"))?;
        let profile = Profile::from_callgrind(&counts);
        let profile = profile.map_err(|error| format!("failed to {error}"))?;
        for path in profile.objects_without_symbols() {
            if self.read.insert(path.to_owned()) {
                // A file that can't be read has no places of functions, as one without tables.
                let extents = fs::read(path)
                    .ok()
                    .and_then(|file| Extents::read(file.as_slice()));
                self.extents
                    .extend(extents.map(|extents| (path.to_owned(), extents)));
            }
        }
        Ok(profile.with_starts(&self.extents))
    }
}

impl EdgeReader for Instructions {
    fn read_start(&mut self, start: &mut Sample) {
        self.profile = None;
        let zeroed = self.callgrind.zero();
        let zeroed = zeroed.map_err(|error| format!("failed to {error}"));
        add(start, zeroed.map(|()| 0));
    }

    fn read_end(&mut self, end: &mut Sample) -> Vec<Sample> {
        let profile = self.profile();
        add(
            end,
            profile.as_ref().map(Profile::total).map_err(Clone::clone),
        );
        self.profile = profile.ok();
        Vec::new()
    }

    fn take_profile(&mut self) -> Option<Profile> {
        self.profile.take()
    }
}

/// Adds the instructions counted up to a sample, or the reason that they could not be.
fn add(sample: &mut Sample, instructions: Result<u64, String>) {
    match instructions {
        Ok(count) => {
            sample.values.insert(INSTRUCTIONS, count);
        }
        Err(reason) => sample.gaps.push(Gap {
            source: INSTRUCTIONS.source,
            reason,
        }),
    }
}
