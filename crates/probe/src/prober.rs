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

/// Where a server is found on this machine, and what was prepared for it at its birth.
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

/// What the kernel accounts for without having been prepared.
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

    /// What of the sources asked for is not there, and how to allow it.
    pub fn absences(&self) -> Vec<Gap> {
        self.absences.clone()
    }

    /// Takes a sample.
    ///
    /// What is exact and cheap is read last at the start of the measured time, and first at its
    /// end, so that reading the rest is not part of what is measured.
    pub fn sample(&mut self, moment: Moment) -> Sample {
        let mut draft = Draft::default();
        let at_ns = monotonic_ns();
        let mut parts = Part::ALL;
        if moment == Moment::Start {
            parts.reverse();
        }
        for part in parts {
            self.read(part, moment, &mut draft);
        }
        Sample {
            moment,
            at_ns,
            took_ns: monotonic_ns().saturating_sub(at_ns),
            values: draft.values,
            gaps: draft.gaps,
        }
    }

    fn read(&mut self, part: Part, moment: Moment, draft: &mut Draft) {
        let at_edge = moment != Moment::Period;
        match (part, &mut self.system) {
            (Part::Own, _) => put_own(draft),
            (Part::Prepared, _) => {
                if let Some(cgroup) = &mut self.cgroup {
                    cgroup.sample(draft);
                }
                if let Some(counters) = self.counters.as_mut().filter(|_| at_edge) {
                    match counters.read() {
                        Ok(values) => draft.values.extend(values),
                        Err(error) => draft.gap(Source::Perf, &error),
                    }
                }
            }
            (Part::Host, Some(system)) => {
                system.host.sample(&self.root, moment, draft);
                system.pressure.sample(&self.root, draft);
                if let Some(device) = &system.device {
                    device.sample(&self.root, draft);
                }
            }
            (Part::Server, Some(system)) => {
                if let Some(server) = &mut system.server {
                    server.sample(&self.root, moment, draft);
                }
            }
            (Part::Files, Some(system)) => {
                if let Some(files) = system.files.as_ref().filter(|_| at_edge) {
                    files.sample(draft);
                }
            }
            (_, None) => {}
        }
    }
}

/// The parts of a sample, the cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    /// What looking costs.
    Own,
    /// Control group and counters.
    Prepared,
    /// The host and its device.
    Host,
    /// The server's processes, threads and memory.
    Server,
    /// The data directory.
    Files,
}

impl Part {
    const ALL: [Self; 5] = [
        Self::Own,
        Self::Prepared,
        Self::Host,
        Self::Server,
        Self::Files,
    ];
}

/// What this program has used, and of that the thread which takes samples.
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
}
