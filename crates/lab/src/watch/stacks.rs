//! Samples of the stacks of a server, with the names of its functions.

use std::collections::HashMap;
use std::fs::File;

use object::ReadCache;
use prony_model::Sample;
use prony_probe::{Frame, Reach, Root, StackEvents, StackReading, StackSampler, StackSamples};
use prony_profile::{KERNEL, NamedStack, Profile, Sampled, Symbols, Taking, Wait};

use super::reader::EdgeReader;
use crate::server::Server;

/// The object of code that belongs to no file.
const NO_FILE: &str = "[memory]";
/// The folder of debug symbols by the build that they are of, where distributions put them.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// The reader of a server whose stacks are sampled.
pub(super) struct Stacks {
    root: Root,
    /// Between steps.
    events: Option<StackEvents>,
    /// What was read before a step.
    reading: Option<StackReading>,
    sampler: Option<Result<StackSampler, String>>,
    taken: Option<Result<Sampled, String>>,
    with_kernel: bool,
    rate: u32,
    /// By path.
    symbols: HashMap<String, Symbols>,
}

impl Stacks {
    /// That of the server on which events were opened.
    pub(super) fn of(root: Root, events: StackEvents) -> Self {
        Self {
            root,
            with_kernel: events.reach() == Reach::Processors,
            rate: events.rate(),
            events: Some(events),
            reading: None,
            sampler: None,
            taken: None,
            symbols: HashMap::new(),
        }
    }

    fn begin(&mut self) -> Result<StackSampler, String> {
        let (Some(reading), Some(events)) = (self.reading.take(), self.events.take()) else {
            return Err("an earlier step could not be sampled".to_owned());
        };
        StackSampler::begin(reading, events).map_err(|error| format!("failed to {error}"))
    }

    fn end(&mut self) -> Result<Sampled, String> {
        let sampler = self.sampler.take();
        let sampler = sampler.ok_or("sampling has not begun")??;
        let ended = sampler.end().map_err(|error| format!("failed to {error}"));
        let (events, found) = ended?;
        self.events = Some(events);
        for path in &found.objects {
            if !self.symbols.contains_key(path) {
                self.symbols.insert(path.clone(), symbols(path));
            }
        }
        Ok(self.named(&found))
    }

    /// The samples, with names.
    fn named(&self, samples: &StackSamples) -> Sampled {
        let mut names: HashMap<Frame, (&str, String)> = HashMap::new();
        for stack in samples.stacks.keys() {
            for frame in &stack.frames {
                names
                    .entry(*frame)
                    .or_insert_with(|| self.name(samples, *frame));
            }
        }
        let stacks = samples.stacks.iter().map(|(stack, count)| {
            let frames = stack.frames.iter().rev();
            let functions = frames.filter_map(|frame| names.get(frame));
            let functions = functions.map(|(object, symbol)| (*object, symbol.as_str()));
            let kernel = stack.kernel.as_deref().map(|entry| (KERNEL, entry));
            NamedStack {
                thread: stack.thread,
                functions: functions.chain(kernel).collect(),
                is_whole: stack.is_whole,
                count: *count,
            }
        });
        let mut waits: Vec<Wait> = samples
            .waits
            .iter()
            .map(|((thread, place), count)| Wait {
                thread: *thread,
                place: place.clone(),
                count: *count,
            })
            .collect();
        waits.sort_by(|a, b| (a.thread, &a.place).cmp(&(b.thread, &b.place)));
        Sampled {
            profile: Profile::from_stacks(stacks),
            taking: Taking {
                rate: self.rate,
                with_kernel: self.with_kernel,
                period_ns: samples.period_ns,
                whole: samples.whole,
                cut: samples.cut,
                lost: samples.lost,
                accounted_ns: None,
            },
            waits,
            looks: samples.looks,
        }
    }

    fn name<'a>(&self, samples: &'a StackSamples, frame: Frame) -> (&'a str, String) {
        let path = frame.object.and_then(|it| samples.objects.get(it as usize));
        let Some(path) = path else {
            return (NO_FILE, String::new());
        };
        let symbols = self.symbols.get(path);
        let name = symbols.map_or_else(String::new, |symbols| symbols.name(frame.address));
        (path, name)
    }
}

/// The functions of a file, with the names of its debug symbols where they are installed.
fn symbols(path: &str) -> Symbols {
    let Ok(file) = File::open(path) else {
        return Symbols::default();
    };
    let mut symbols = Symbols::read(&ReadCache::new(file));
    let debug_file = symbols.build_id().and_then(|id| {
        let (folder, name) = id.split_at_checked(2)?;
        File::open(format!("{DEBUG_FILES}/{folder}/{name}.debug")).ok()
    });
    if let Some(file) = debug_file {
        symbols.add_names(&ReadCache::new(file));
    }
    symbols
}

impl EdgeReader for Stacks {
    fn prepare(&mut self, server: &Server) {
        self.taken = None;
        self.reading = server.pid().map(|pid| StackReading::new(&self.root, pid));
    }

    fn read_start(&mut self, _start: &mut Sample) {
        self.sampler = Some(self.begin());
    }

    fn read_end(&mut self, _end: &mut Sample) -> Vec<Sample> {
        self.taken = Some(self.end());
        Vec::new()
    }

    fn take_stacks(&mut self) -> Option<Result<Sampled, String>> {
        self.taken.take()
    }
}
