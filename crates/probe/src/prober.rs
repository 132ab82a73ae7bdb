//! Takes samples: everything that there is, at once.

use std::path::PathBuf;

use prony_model::{Collect, Gap, Moment, Sample, Source};

use crate::cgroup::Cgroup;
use crate::clock::{own_cpu_ns, own_thread_cpu_ns};
use crate::counters::Counters;
use crate::device::Device;
use crate::draft::Draft;
use crate::files::DataFiles;
use crate::host::Host;
use crate::pressure::Pressure;
use crate::root::{Root, monotonic_ns};
use crate::server::Server;

/// Location of a server on this machine, and the preparations at its birth.
#[derive(Debug)]
pub struct ServerPlace {
    /// Its first process, which leads a process group.
    pub pid: u32,
    /// Its data directory.
    pub data_dir: Option<PathBuf>,
    /// The control group that it was put into.
    pub cgroup: Option<Cgroup>,
    /// Counters that were opened on it.
    pub counters: Option<Counters>,
}

/// Takes samples of one server and of the host.
#[derive(Debug)]
pub struct Prober {
    root: Root,
    absences: Vec<Gap>,
    system: Option<System>,
    cgroup: Option<Cgroup>,
    counters: Option<Counters>,
}

/// Sources that the kernel accounts for without preparation.
#[derive(Debug)]
struct System {
    server: Option<Server>,
    files: Option<DataFiles>,
    device: Option<Device>,
    pressure: Pressure,
    host: Host,
}

impl Prober {
    /// Finds out what can be read. The server runs already.
    pub fn new(root: Root, server: Option<ServerPlace>, collect: &Collect) -> Self {
        let mut absences = Vec::new();
        let (mut cgroup, mut counters) = (None, None);
        let (mut pid, mut data_dir) = (None, None);
        if let Some(place) = server {
            pid = Some(place.pid);
            data_dir = place.data_dir;
            cgroup = place.cgroup;
            counters = place.counters;
        }
        let system = collect
            .system
            .then(|| System::new(&root, pid, data_dir, &mut absences));
        if let Some(counters) = &counters {
            absences.extend_from_slice(counters.lacking());
        }
        Self {
            root,
            absences,
            system,
            cgroup,
            counters,
        }
    }

    /// Missing ones of the requested sources, with remedies.
    pub fn absences(&self) -> Vec<Gap> {
        self.absences.clone()
    }

    /// Takes a sample.
    ///
    /// At the start of the measured time, what is costly is read before the sample's time; at its
    /// end, after all that is exact. So reading it is not part of what is measured.
    pub fn sample(&mut self, moment: Moment) -> Sample {
        let mut draft = Draft::default();
        let begun_ns = monotonic_ns();
        let mut at_ns = None;
        for part in Part::in_order(moment) {
            if !part.is_costly() {
                at_ns.get_or_insert_with(monotonic_ns);
            }
            self.read(*part, moment, &mut draft);
        }
        Sample {
            moment,
            at_ns: at_ns.unwrap_or(begun_ns),
            took_ns: monotonic_ns().saturating_sub(begun_ns),
            values: draft.values,
            gaps: draft.gaps,
        }
    }

    fn read(&mut self, part: Part, moment: Moment, draft: &mut Draft) {
        let root = &self.root;
        match (part, &mut self.system) {
            (Part::Own, _) => put_own(draft),
            (Part::Group, _) => {
                if let Some(cgroup) = &mut self.cgroup {
                    cgroup.sample(draft);
                }
            }
            (Part::Counters, _) => match self.counters.as_mut().map(Counters::read) {
                Some(Ok(values)) => draft.values.extend(values),
                Some(Err(error)) => draft.gap(Source::Perf, &error),
                None => {}
            },
            (_, Some(system)) => system.read(root, part, moment, draft),
            (_, None) => {}
        }
    }
}

/// The parts of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Cost of sampling.
    Own,
    /// The control group.
    Group,
    /// Counters, whose reading interrupts every processor.
    Counters,
    /// The host and its device.
    Host,
    /// The server's processes.
    Server,
    /// Its threads and what it shares of its memory.
    Stock,
    /// The data directory.
    Files,
}

impl Part {
    /// Order of sources at a moment: the order is reversed at the end.
    const fn in_order(moment: Moment) -> &'static [Self] {
        match moment {
            Moment::Start => &[
                Self::Files,
                Self::Stock,
                Self::Server,
                Self::Host,
                Self::Group,
                Self::Counters,
                Self::Own,
            ],
            Moment::Period => &[Self::Own, Self::Group, Self::Host, Self::Server],
            Moment::End => &[
                Self::Own,
                Self::Counters,
                Self::Group,
                Self::Host,
                Self::Server,
                Self::Stock,
                Self::Files,
            ],
        }
    }

    /// Returns `true` if it takes longer the more the server has.
    const fn is_costly(self) -> bool {
        matches!(self, Self::Stock | Self::Files)
    }
}

/// Processor time of this program, and of its sampling thread.
fn put_own(draft: &mut Draft) {
    draft.put_known(Source::Lab, "cpu_ns", own_cpu_ns());
    draft.put_known(Source::Lab, "sampler_ns", own_thread_cpu_ns());
}

impl System {
    fn new(
        root: &Root,
        pid: Option<u32>,
        data_dir: Option<PathBuf>,
        absences: &mut Vec<Gap>,
    ) -> Self {
        Self {
            server: pid.map(|pid| Server::new(root, pid, absences)),
            device: data_dir
                .as_deref()
                .and_then(|folder| Device::find(root, folder, absences)),
            files: data_dir.map(DataFiles::new),
            pressure: Pressure::new(root, absences),
            host: Host::new(root, absences),
        }
    }

    fn read(&mut self, root: &Root, part: Part, moment: Moment, draft: &mut Draft) {
        match part {
            Part::Host => {
                self.host.sample(root, moment, draft);
                self.pressure.sample(root, draft);
                if let Some(device) = &self.device {
                    device.sample(root, draft);
                }
            }
            Part::Server => {
                if let Some(server) = &mut self.server {
                    server.sample(root, moment, draft);
                }
            }
            Part::Stock => {
                if let Some(server) = &mut self.server {
                    server.take_stock(root, moment, draft);
                }
            }
            Part::Files => {
                if let Some(files) = &self.files {
                    files.sample(draft);
                }
            }
            Part::Own | Part::Group | Part::Counters => {}
        }
    }
}
