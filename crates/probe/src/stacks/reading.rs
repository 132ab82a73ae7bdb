//! Reading samples while they come.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use perf_event::Record as Raw;
use perf_event::data::{Record, Sample, SampleRegsAbi};

use super::events::StackEvents;
use super::kernel::KernelNames;
use super::unwind::Memory;
use super::waits::Waits;
use super::{Frame, Stack, StackSamples};
use crate::members;
use crate::root::Root;
use crate::stat::Stat;

/// Time after which samples are looked for again.
const PAUSE: Duration = Duration::from_millis(5);
/// The kind of record that is a sample, `PERF_RECORD_SAMPLE`.
const SAMPLE: u32 = 9;

/// Samples of one server in the making.
pub struct StackReading {
    memory: Memory,
    kernel: KernelNames,
    processes: Processes,
    waits: Waits,
    samples: StackSamples,
    /// The server is a 32-bit program: its stacks are followed by frame pointers.
    is_narrow: bool,
}

/// The processes of a server, and others that were looked at.
struct Processes {
    root: Root,
    own: HashSet<u32>,
    others: HashSet<u32>,
}

impl Processes {
    fn find(root: &Root, pid: u32) -> Self {
        let found = members::find(root, pid).unwrap_or_default();
        let mut own: HashSet<u32> = found.iter().map(|member| member.pid).collect();
        own.insert(pid);
        Self {
            root: root.clone(),
            own,
            others: HashSet::new(),
        }
    }

    fn is_own(&mut self, pid: u32) -> bool {
        if self.own.contains(&pid) {
            return true;
        }
        if self.others.contains(&pid) {
            return false;
        }
        let stat = Stat::of(&self.root, pid);
        let is_own = stat
            .is_ok_and(|stat| self.own.contains(&stat.parent) || self.own.contains(&stat.group));
        let known = if is_own {
            &mut self.own
        } else {
            &mut self.others
        };
        known.insert(pid);
        is_own
    }
}

impl StackReading {
    /// Reads what there is to know of the server whose first process is `pid` before its first sample: which
    /// programs are in its memory, and their tables. This takes up to a second of a processor.
    pub fn new(root: &Root, pid: u32) -> Self {
        Self {
            memory: Memory::read(root, pid),
            kernel: KernelNames::read(root),
            processes: Processes::find(root, pid),
            waits: Waits::new(root.clone()),
            samples: StackSamples::default(),
            is_narrow: false,
        }
    }

    /// Reads the samples that are there, and waits for more.
    pub(super) fn read(&mut self, events: &mut StackEvents) {
        self.drain(events);
        self.waits.look(self.processes.own.iter().copied());
        std::thread::sleep(PAUSE);
    }

    /// Reads the last samples.
    pub(super) fn finish(mut self, events: &mut StackEvents) -> StackSamples {
        self.drain(events);
        if self.is_narrow {
            self.samples.stacks = with_beginnings(self.samples.stacks);
        }
        let of_stacks = |is_whole| {
            let stacks = self.samples.stacks.iter();
            let of_kind = stacks.filter(|(stack, _)| stack.is_whole == is_whole);
            of_kind.map(|(_, count)| count).sum()
        };
        StackSamples {
            objects: self.memory.objects,
            whole: of_stacks(true),
            cut: of_stacks(false),
            waits: self.waits.found,
            looks: self.waits.looks,
            ..self.samples
        }
    }

    fn drain(&mut self, events: &mut StackEvents) {
        for ring in events.rings() {
            while let Some(raw) = ring.next_record() {
                self.add(&raw);
            }
        }
    }

    fn add(&mut self, raw: &Raw<'_>) {
        if raw.ty() == SAMPLE && !process(raw).is_some_and(|pid| self.processes.is_own(pid)) {
            return;
        }
        match raw.parse_record() {
            Ok(Record::Sample(sample)) => {
                self.samples.period_ns += sample.period().unwrap_or(0);
                let stack = self.stack(&sample);
                *self.samples.stacks.entry(stack).or_default() += 1;
            }
            Ok(Record::Lost(lost)) => self.samples.lost += lost.lost,
            Ok(_) | Err(_) => {}
        }
    }

    fn stack(&mut self, sample: &Sample<'_>) -> Stack {
        let chain = sample.callchain().unwrap_or_default();
        let mut stack = Stack {
            thread: sample.tid().unwrap_or(0),
            kernel: self.kernel.entry(chain),
            frames: Vec::new(),
            is_whole: false,
        };
        let registers = sample.regs_user();
        let is_wide = registers.is_some_and(|registers| registers.abi == SampleRegsAbi::ABI_64);
        if is_wide {
            let top = sample.stack_user().unwrap_or_default();
            let three = registers.and_then(|it| <[u64; 3]>::try_from(&*it.regs).ok());
            stack.is_whole =
                three.is_some_and(|three| self.memory.unwind(three, top, &mut stack.frames));
        } else {
            // The kernel follows frame pointers, which compilers for 32 bits kept in programs, and not always in
            // the C library: such chains end anywhere.
            self.is_narrow = true;
            let user = chain.iter().filter(|ip| **ip < u64::from(u32::MAX));
            for (depth, ip) in user.enumerate() {
                // Callers are in the instruction before the one that they return to.
                let within = if depth == 0 {
                    *ip
                } else {
                    ip.saturating_sub(1)
                };
                stack.frames.push(self.memory.frame(within));
            }
        }
        stack
    }
}

/// Stacks that were followed by frame pointers: whole are those with the outermost frame that most have, which is
/// where threads begin.
fn with_beginnings(stacks: HashMap<Stack, u64>) -> HashMap<Stack, u64> {
    let mut outermost: HashMap<Frame, u64> = HashMap::new();
    for (stack, count) in &stacks {
        if let Some(frame) = stack.frames.last() {
            *outermost.entry(*frame).or_default() += count;
        }
    }
    let most = outermost.into_iter().max_by_key(|(_, count)| *count);
    let begin = most.map(|(frame, _)| frame);
    let stacks = stacks.into_iter().map(|(stack, count)| {
        let is_whole = begin.is_some() && stack.frames.last().copied() == begin;
        (Stack { is_whole, ..stack }, count)
    });
    stacks.collect()
}

/// The process of a sample, before all of it is read: the first field of those that are asked for.
fn process(raw: &Raw<'_>) -> Option<u32> {
    let bytes = raw.data().first()?.get(..4)?;
    Some(u32::from_ne_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_by_frame_pointers_are_whole_where_most_begin() {
        let stack = |addresses: &[u64]| {
            let frame = |address: &u64| Frame {
                object: Some(0),
                address: *address,
            };
            Stack {
                thread: 1,
                kernel: None,
                frames: addresses.iter().map(frame).collect(),
                is_whole: false,
            }
        };
        let stacks = [
            (stack(&[7, 5, 1]), 3),
            (stack(&[8, 1]), 2),
            (stack(&[9]), 4),
            (stack(&[]), 1),
        ];
        let found = with_beginnings(stacks.into());
        let whole: u64 = found
            .iter()
            .filter(|(it, _)| it.is_whole)
            .map(|(_, count)| count)
            .sum();
        assert_eq!((whole, found.values().sum::<u64>()), (5, 10));
    }
}
