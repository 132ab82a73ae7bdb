//! Times of one client's queries, from sending to the last byte, as the contestant took them.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use prony_load::Message;
use serde::{Deserialize, Serialize};

use crate::contestant::{Contestant, Program};
use crate::running::Contending;

/// In nanoseconds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Figures {
    p50: u64,
    p99: u64,
}

/// What a bare loop says; the rest of it does not matter here.
#[derive(Deserialize)]
struct Report {
    latency_ns: Figures,
}

/// Runs the program to its end.
pub(crate) fn take(contestant: Contestant, program: Program) -> Figures {
    let output = Contending::start(program).output();
    let last = output.lines().next_back().unwrap();
    if contestant == Contestant::BareBlocking {
        let report: Report = serde_json::from_str(last).unwrap();
        return report.latency_ns;
    }
    let Message::Done { outcome } = serde_json::from_str(last).unwrap() else {
        unreachable!("a workload ends with its outcome");
    };
    let times: Histogram<u64> = Deserializer::new()
        .deserialize(&mut outcome.groups.own().histogram.as_slice())
        .unwrap();
    Figures {
        p50: times.value_at_quantile(0.5),
        p99: times.value_at_quantile(0.99),
    }
}
