//! Facts about a host from its past runs: how long trials take, and how often identical servers
//! seemed to differ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use prony_host::Roots;
use prony_model::{CalibratedHost, Plan, PlannedTrial, TrialKind, TrialState};
use prony_probe::Root;
use prony_store::{Store, StoreError};
use serde::{Deserialize, Serialize};

use crate::calibrate::calibrated_host;
use crate::campaign::took_ms;
use crate::replace::replace;

/// Kinds of trials whose times are kept; the oldest ones go first.
const TIMES_MAX: usize = 500;

/// The content of the file: every host that used this cache folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Histories {
    hosts: Vec<OfHost>,
}

/// The history of one host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OfHost {
    host: CalibratedHost,
    /// The kinds of trials, the last one to be measured at the end.
    trials: Vec<TrialTime>,
    /// Comparisons of identical servers, by run.
    identical: BTreeMap<String, Alarms>,
}

/// The time of a kind of trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TrialTime {
    /// Server build, kind, and fingerprint of the last step, which covers all before it.
    of: String,
    ms: u64,
}

/// Comparisons of identical servers, and those that found a difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarms {
    /// Intervals of ratios between identical servers.
    pub comparisons: u64,
    /// Those that do not hold 1.
    pub false_alarms: u64,
}

/// The file with the history of this host in the cache.
#[derive(Debug)]
pub struct History {
    path: PathBuf,
    host: CalibratedHost,
}

impl History {
    /// That of this host. Nothing is read yet.
    pub fn of(roots: &Roots, proc: &Root) -> Self {
        Self {
            path: roots.cache.join("history.json"),
            host: calibrated_host(proc),
        }
    }

    /// Milliseconds that the trials take by earlier runs on this host, without making images.
    /// `None` if one of them has never run here.
    pub fn predicted_ms(&self, plan: &Plan, trials: &[PlannedTrial]) -> Option<u64> {
        let known = self.read().of(&self.host)?.trials;
        let keys = keys(plan);
        trials.iter().try_fold(0_u64, |sum, trial| {
            let key = keys.get(&(trial.target, trial.kind))?;
            let known = known.iter().find(|known| known.of == *key)?;
            Some(sum.saturating_add(known.ms))
        })
    }

    /// False alarms between identical servers over all runs on this host.
    pub fn alarms(&self) -> Alarms {
        let runs = self.read().of(&self.host).map(|known| known.identical);
        let sum = |sum: Alarms, run: &Alarms| Alarms {
            comparisons: sum.comparisons + run.comparisons,
            false_alarms: sum.false_alarms + run.false_alarms,
        };
        let runs = runs.unwrap_or_default();
        runs.values().fold(Alarms::default(), sum)
    }

    /// Keeps what a run adds: the times of its done trials on its last host, which is this one,
    /// and its false alarms, if it compared identical servers. A run counts once, however often it
    /// is recorded.
    ///
    /// # Errors
    /// When the result file can't be read.
    pub fn record(&self, store: &Store, alarms: Option<Alarms>) -> Result<(), StoreError> {
        let mut all = self.read();
        let known = all.of_mut(&self.host);
        for (of, ms) in times(store)? {
            known.trials.retain(|trial| trial.of != of);
            known.trials.push(TrialTime { of, ms });
        }
        let too_many = known.trials.len().saturating_sub(TIMES_MAX);
        known.trials.drain(..too_many);
        if let Some(alarms) = alarms {
            let run = store.run()?;
            let run = format!("{} {}", run.id, run.started_at);
            known.identical.insert(run, alarms);
        }
        // Without it the next run predicts less well.
        let _ = self.write(&all);
        Ok(())
    }

    /// What is on record. A file that is not there, or in the form of another version, is empty.
    fn read(&self) -> Histories {
        let read = |path: &Path| serde_json::from_slice(&fs::read(path).ok()?).ok();
        read(&self.path).unwrap_or_default()
    }

    fn write(&self, all: &Histories) -> io::Result<()> {
        replace(&self.path, &serde_json::to_vec(all)?)
    }
}

impl Histories {
    fn of(self, host: &CalibratedHost) -> Option<OfHost> {
        let mut hosts = self.hosts.into_iter();
        hosts.find(|known| known.host == *host)
    }

    fn of_mut(&mut self, host: &CalibratedHost) -> &mut OfHost {
        let known = self.hosts.iter().position(|known| known.host == *host);
        let index = known.unwrap_or_else(|| {
            self.hosts.push(OfHost {
                host: host.clone(),
                trials: Vec::new(),
                identical: BTreeMap::new(),
            });
            self.hosts.len() - 1
        });
        &mut self.hosts[index]
    }
}

/// The key of each kind of trial of a plan.
fn keys(plan: &Plan) -> BTreeMap<(usize, TrialKind), String> {
    let mut keys = BTreeMap::new();
    for (target, fingerprints) in plan.fingerprints().iter().enumerate() {
        let build = &plan.targets[target].build.id;
        let last = fingerprints.last().map_or("", String::as_str);
        for kind in TrialKind::ALL {
            keys.insert((target, kind), format!("{build} {kind} {last}"));
        }
    }
    keys
}

/// Mean milliseconds of the done trials on the run's last host that ran all their steps, by kind of
/// trial.
fn times(store: &Store) -> Result<BTreeMap<String, u64>, StoreError> {
    let plan = store.plan();
    let keys = keys(plan);
    let hosts = store.same_hosts()?;
    let mut times: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for trial in store.trials()? {
        let is_here = hosts.get(trial.host) == hosts.last();
        let without = &plan.without;
        let is_whole = without.iter().all(|left| left.block != trial.planned.block);
        let key = keys.get(&(trial.planned.target, trial.planned.kind));
        if let Some(key) = key
            && trial.state == TrialState::Done
            && is_here
            && is_whole
        {
            times
                .entry(key.clone())
                .or_default()
                .push(took_ms(plan, &trial));
        }
    }
    let mean = |times: Vec<u64>| times.iter().sum::<u64>() / (times.len() as u64).max(1);
    let means = times.into_iter().map(|(key, times)| (key, mean(times)));
    Ok(means.collect())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use prony_model::Version;
    use prony_store::NewRun;
    use prony_testkit as testkit;

    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    /// Two targets with one step, in two blocks.
    fn plan(clients: u32) -> Plan {
        let names = ["a", "b"];
        let targets = names.map(|name| testkit::target(name, Version::new(8, 0, 0)));
        testkit::plan("x", targets.to_vec(), vec![testkit::step("s", clients)], 2)
    }

    /// A run of the plan, in which the trials of the first target took this long.
    fn run(folder: &Path, id: &str, plan: &Plan, took_ms: &[i64]) -> Store {
        let run = NewRun {
            id,
            plan,
            prony_version: "0.1.0",
            host_json: "{}",
            started_at: at(0),
        };
        let mut store = Store::create(&folder.join(format!("{id}.sqlite")), &run).unwrap();
        for (block, ms) in (0..).zip(took_ms) {
            let trial = store
                .begin_trial(testkit::planned(block, 0), at(0))
                .unwrap();
            let group = testkit::group_outcome(plan.steps[0].own().clients, 1, 1, vec![]);
            store
                .record_step(trial, 0, &testkit::step_outcome(group))
                .unwrap();
            store.finish_trial(trial, at(*ms)).unwrap();
        }
        store
    }

    fn history(folder: &Path, cpus: u32) -> History {
        History {
            path: folder.join("history.json"),
            host: CalibratedHost {
                cpu_model: None,
                cpus,
                kernel: None,
            },
        }
    }

    #[test]
    fn trials_are_predicted_from_earlier_ones_on_this_host() {
        let folder = tempfile::tempdir().unwrap();
        let history = history(folder.path(), 2);
        let first = plan(1);
        let of_first = [testkit::planned(0, 0), testkit::planned(7, 0)];
        assert_eq!(history.predicted_ms(&first, &of_first), None);
        let store = run(folder.path(), "one", &first, &[1_000, 3_000]);
        history.record(&store, None).unwrap();
        assert_eq!(history.predicted_ms(&first, &of_first), Some(4_000));
        // The other target, other work and another host are not known.
        assert_eq!(history.predicted_ms(&first, &first.trials), None);
        assert_eq!(history.predicted_ms(&plan(2), &of_first), None);
        let elsewhere = self::history(folder.path(), 3);
        assert_eq!(elsewhere.predicted_ms(&first, &of_first), None);
        // The last run counts.
        let store = run(folder.path(), "two", &first, &[500]);
        history.record(&store, None).unwrap();
        assert_eq!(history.predicted_ms(&first, &of_first), Some(1_000));
        assert_eq!(history.predicted_ms(&first, &[]), Some(0));
    }

    #[test]
    fn a_run_counts_once_among_the_false_alarms() {
        let folder = tempfile::tempdir().unwrap();
        let history = history(folder.path(), 2);
        assert_eq!(history.alarms(), Alarms::default());
        let alarms = |comparisons, false_alarms| Alarms {
            comparisons,
            false_alarms,
        };
        for (id, found) in [("one", (10, 1)), ("two", (20, 0)), ("one", (12, 2))] {
            let file = folder.path().join(format!("{id}.sqlite"));
            let store = if file.exists() {
                Store::open(&file).unwrap()
            } else {
                run(folder.path(), id, &plan(1), &[])
            };
            history
                .record(&store, Some(alarms(found.0, found.1)))
                .unwrap();
        }
        assert_eq!(history.alarms(), alarms(32, 2));
        assert_eq!(self::history(folder.path(), 3).alarms(), Alarms::default());
        fs::write(folder.path().join("history.json"), "{").unwrap();
        assert_eq!(history.alarms(), Alarms::default());
    }
}
