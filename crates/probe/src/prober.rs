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
    pub fn sample(&mut self, moment: Moment) -> Sample {
        let mut draft = Draft::default();
        let at_ns = monotonic_ns();
        // What the edges cost is left out of the difference between them.
        if moment != Moment::Start {
            put_own(&mut draft);
        }
        if let Some(cgroup) = &mut self.cgroup {
            cgroup.sample(&mut draft);
        }
        if let Some(system) = &mut self.system {
            system.sample(&self.root, moment, &mut draft);
        }
        if let (Some(counters), false) = (&mut self.counters, moment == Moment::Period) {
            match counters.read() {
                Ok(values) => draft.values.extend(values),
                Err(error) => draft.gap(Source::Perf, &error),
            }
        }
        if moment == Moment::Start {
            put_own(&mut draft);
        }
        Sample {
            moment,
            at_ns,
            took_ns: monotonic_ns().saturating_sub(at_ns),
            values: draft.values,
            gaps: draft.gaps,
        }
    }
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

    fn sample(&mut self, root: &Root, moment: Moment, draft: &mut Draft) {
        if let Some(server) = &mut self.server {
            server.sample(root, moment, draft);
        }
        if let Some(device) = &self.device {
            device.sample(root, draft);
        }
        self.pressure.sample(root, draft);
        self.host.sample(root, moment, draft);
        if let (Some(files), false) = (&self.files, moment == Moment::Period) {
            files.sample(draft);
        }
    }
}
