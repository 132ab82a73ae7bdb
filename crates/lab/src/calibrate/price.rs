//! The cost of counters: the null server with them and without, by turns.

use prony_load::{DriveTask, Hello};
use prony_model::{Backend, CounterSet, CpuSet, Family, LookingPrice, PricedRound, Workload};
use prony_probe::{Counters, hardware_counters};

use super::placement::ChildPlacement;
use super::tasks::{closed_loop, warmup_ms};
use super::{CalibrationError, CalibrationEvent, Calibrator, NullServer};
use crate::drive::GeneratorSetup;
use crate::fault::Stop;

/// Numbers of clients: one that waits for each answer, and as many as keep the server from waiting.
const CLIENTS: [u32; 2] = [1, 16];
/// Turns of each.
const ROUNDS: usize = 10;
/// Milliseconds of measured time of one turn.
const TIME_MS: u64 = 500;

/// Counters whose price can be measured on this host.
pub(super) fn priced() -> Vec<CounterSet> {
    let is_there = |set: &CounterSet| match set {
        CounterSet::Software => true,
        CounterSet::Hardware => hardware_counters().is_ok(),
    };
    let sets = [CounterSet::Software, CounterSet::Hardware];
    sets.into_iter().filter(is_there).collect()
}

/// Milliseconds of measuring the cost of this many sets, warm-up included.
pub(super) fn predicted_ms(sets: usize) -> u64 {
    let turns = sets * CLIENTS.len() * ROUNDS * 2;
    turns as u64 * (TIME_MS + warmup_ms(TIME_MS))
}

impl Calibrator<'_> {
    /// Measures the cost of counters. A set that can't be opened has no price, and an event reports
    /// that.
    pub(super) fn price(
        &self,
        (family, set): (Family, CounterSet),
        workload: &Workload,
        hello: &Hello,
        placement: &ChildPlacement,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Vec<LookingPrice>, Stop<CalibrationError>> {
        let backend = hello.backends.last().copied();
        let setup = GeneratorSetup::new(hello, backend.unwrap_or(Backend::Epoll));
        let mut prices = Vec::new();
        for clients in CLIENTS {
            let task = closed_loop(workload, setup, clients, TIME_MS);
            let cpus = placement.processors(clients);
            match self.price_at(set, (family, &task), cpus.as_ref())? {
                Ok(price) => {
                    events(CalibrationEvent::Looking(&price));
                    prices.push(price);
                }
                Err(reason) => {
                    events(CalibrationEvent::NoPrice {
                        counters: set,
                        reason: &reason,
                    });
                    // Kept nevertheless, so that it is not tried again before every run.
                    let without_rounds = |clients| LookingPrice {
                        counters: set,
                        clients,
                        rounds: Vec::new(),
                    };
                    return Ok(CLIENTS.map(without_rounds).to_vec());
                }
            }
        }
        Ok(prices)
    }

    /// The same for one task. The inner error is the reason why the counters can't be opened.
    fn price_at(
        &self,
        set: CounterSet,
        (family, task): (Family, &DriveTask),
        cpus: Option<&CpuSet>,
    ) -> Result<Result<LookingPrice, String>, Stop<CalibrationError>> {
        let mut plain = self.start_null(family, cpus)?;
        let open = |pid| Counters::open(pid, set);
        let (mut counted, counters) =
            NullServer::start_with(self.roots, self.launcher, self.prony, (family, cpus), open)
                .map_err(|reason| CalibrationError::NullServer { reason })?;
        // Held until the end: what is not open costs nothing.
        let _counters = match counters {
            Ok(counters) => counters,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let measure = |null: &mut NullServer| -> Result<_, Stop<CalibrationError>> {
            Ok(self.drive(null, task, cpus)?.counts())
        };
        let mut rounds = Vec::new();
        for round in 0..ROUNDS {
            // By turns, and each comes first as often as the other.
            let (without, with) = if round % 2 == 0 {
                (measure(&mut plain)?, measure(&mut counted)?)
            } else {
                let with = measure(&mut counted)?;
                (measure(&mut plain)?, with)
            };
            rounds.push(PricedRound { without, with });
        }
        Ok(Ok(LookingPrice {
            counters: set,
            clients: task.groups.own().clients,
            rounds,
        }))
    }
}
