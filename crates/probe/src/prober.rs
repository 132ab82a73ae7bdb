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
use crate::pressure;
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
    cgroup: Option<Cgroup>,
    counters: Option<Counters>,
    server: Option<Server>,
    files: Option<DataFiles>,
    device: Option<Device>,
    host: Option<Host>,
    has_pressure: bool,
}

impl Prober {
    /// Finds out what can be read. The server runs already.
    pub fn new(root: Root, server: Option<ServerPlace>, collect: &Collect) -> Self {
        let mut absences = Vec::new();
        let mut prober = Self {
            root,
            absences: Vec::new(),
            cgroup: None,
            counters: None,
            server: None,
            files: None,
            device: None,
            host: None,
            has_pressure: false,
        };
        let root = &prober.root;
        if let Some(place) = server {
            if collect.system {
                prober.server = Some(Server::new(root, place.pid, &mut absences));
                let folder = place.data_dir.as_deref();
                prober.device = folder.and_then(|it| Device::find(root, it, &mut absences));
                prober.files = place.data_dir.map(DataFiles::new);
            }
            prober.cgroup = place.cgroup;
            prober.counters = place.counters;
        }
        if collect.system {
            prober.has_pressure = pressure::is_present(root, &mut absences);
            prober.host = Some(Host::new(root, &mut absences));
        }
        if let Some(counters) = &prober.counters {
            absences.extend_from_slice(counters.lacking());
        }
        prober.absences = absences;
        prober
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
        match part {
            Part::Own => {
                draft.put(Source::Lab, "cpu_ns", own_cpu_ns());
                draft.put(Source::Lab, "sampler_ns", own_thread_cpu_ns());
            }
            Part::Group => {
                if let Some(cgroup) = &mut self.cgroup {
                    cgroup.sample(draft);
                }
            }
            Part::Counters => match self.counters.as_mut().map(Counters::read) {
                Some(Ok(values)) => draft.values.extend(values),
                Some(Err(error)) => draft.gap(Source::Perf, &error),
                None => {}
            },
            Part::Host => {
                if let Some(host) = &self.host {
                    host.sample(root, moment, draft);
                }
                if self.has_pressure {
                    pressure::sample(root, draft);
                }
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
        }
    }
}

/// A part of a sample.
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
    /// Order of parts at a moment; the last at the start is the first at the end.
    const fn in_order(moment: Moment) -> &'static [Self] {
        use Part::{Counters, Files, Group, Host, Own, Server, Stock};
        match moment {
            Moment::Start => &[Files, Stock, Server, Host, Group, Counters, Own],
            Moment::Period => &[Own, Group, Host, Server],
            Moment::End => &[Own, Counters, Group, Host, Server, Stock, Files],
        }
    }

    /// Returns `true` if it takes longer the more the server has.
    const fn is_costly(self) -> bool {
        matches!(self, Self::Stock | Self::Files)
    }
}

#[cfg(test)]
mod tests;
