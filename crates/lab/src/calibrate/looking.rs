//! What counters cost: the null server with them and without, by turns.

use prony_model::{Backend, LookingPrice, PricedRound, RidingCounters, Workload};
use prony_probe::{CounterSet, Counters, hardware_counters};

use super::points::{available_backends, closed_loop};
use super::{CalibrationError, CalibrationEvent, Calibrator, counts};
use crate::null_server::NullServer;

/// Numbers of clients: one that waits for each answer, and as many as keep the server from waiting.
const CLIENTS: [u32; 2] = [1, 16];
/// Turns of each.
const ROUNDS: usize = 5;
/// Milliseconds of measured time of one turn.
const TIME_MS: u64 = 1_000;

/// Counters whose price can be measured on this host.
pub(super) fn priced() -> Vec<RidingCounters> {
    let hardware = hardware_counters().is_ok();
    let sets = [
        (RidingCounters::Software, true),
        (RidingCounters::Hardware, hardware),
    ];
    sets.into_iter()
        .filter_map(|(set, is_there)| is_there.then_some(set))
        .collect()
}

/// Milliseconds that it takes to price so many sets, warm-up included.
pub(super) fn predicted_ms(sets: usize) -> u64 {
    let turns = sets * CLIENTS.len() * ROUNDS * 2;
    turns as u64 * (TIME_MS + super::points::warmup_ms(TIME_MS))
}

impl Calibrator<'_> {
    /// Measures what counters cost. `None` when the user stopped it. A set that can't be opened,
    /// though it seemed so, has no price.
    pub(super) fn price(
        &self,
        set: RidingCounters,
        workload: &Workload,
        events: &mut dyn FnMut(CalibrationEvent<'_>),
    ) -> Result<Option<Vec<LookingPrice>>, CalibrationError> {
        let Some(opened) = counter_set(set) else {
            return Ok(Some(Vec::new()));
        };
        let failed = |reason| CalibrationError::NullServer { reason };
        let mut plain = NullServer::start(self.roots, self.launcher, self.prony).map_err(failed)?;
        let mut counters = None;
        let mut on_birth = |pid| {
            counters = Some(Counters::open(pid, opened).map_err(|error| error.to_string())?);
            Ok(())
        };
        let counted = NullServer::start_with(self.roots, self.launcher, self.prony, &mut on_birth);
        let mut counted = counted.map_err(failed)?;
        let backend = available_backends()
            .last()
            .copied()
            .unwrap_or(Backend::Epoll);
        let mut prices = Vec::new();
        for clients in CLIENTS {
            let task = closed_loop(workload, backend, clients, TIME_MS);
            let mut rounds = Vec::new();
            for round in 0..ROUNDS {
                let measure = |null: &mut NullServer| -> Result<_, CalibrationError> {
                    let measured = self.drive(null, &task)?;
                    Ok(measured.map(|(outcome, server_ns)| counts(&outcome, server_ns)))
                };
                // By turns, and each comes first as often as the other.
                let (first, second) = if round % 2 == 0 {
                    (measure(&mut plain)?, measure(&mut counted)?)
                } else {
                    let with = measure(&mut counted)?;
                    (measure(&mut plain)?, with)
                };
                let (Some(without), Some(with)) = (first, second) else {
                    return Ok(None);
                };
                rounds.push(PricedRound { without, with });
            }
            let price = LookingPrice {
                counters: set,
                clients,
                rounds,
            };
            events(CalibrationEvent::Looking(&price));
            prices.push(price);
        }
        // Open until here: what is not open costs nothing.
        drop(counters);
        Ok(Some(prices))
    }
}

const fn counter_set(counters: RidingCounters) -> Option<CounterSet> {
    match counters {
        RidingCounters::Software => Some(CounterSet::Software),
        RidingCounters::Hardware => Some(CounterSet::Hardware),
        RidingCounters::Auto | RidingCounters::Off => None,
    }
}
