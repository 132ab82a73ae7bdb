//! The host that load generators run on.

use prony_model::{ClientHostFacts, NetworkFacts};
use prony_store::StoreError;

use crate::sample::{Sample, at};

fn facts(name: &str, median_ns: u64) -> ClientHostFacts {
    ClientHostFacts {
        name: name.to_owned(),
        listen: [10, 0, 0, 1].into(),
        address: [10, 0, 0, 2].into(),
        host: serde_json::json!({ "cpus": 4 }),
        interface: serde_json::Value::Null,
        network: NetworkFacts {
            round_trips: 200,
            shortest_ns: 10_000,
            median_ns,
            p99_ns: 90_000,
            to_client_bytes_per_second: 1_000_000,
            to_server_bytes_per_second: 2_000_000,
        },
    }
}

#[test]
fn a_run_has_one_client_host() {
    let sample = Sample::new();
    let mut store = sample.create();
    assert_eq!(store.client_hosts().unwrap(), []);
    let (began, resumed) = (facts("load1", 20_000), facts("load1", 30_000));
    store.record_client_host(&began, at(1)).unwrap();
    store.record_client_host(&resumed, at(2)).unwrap();
    let other = store.record_client_host(&facts("load2", 20_000), at(3));
    assert!(matches!(
        other,
        Err(StoreError::ClientHostChanged { before, now }) if before == "load1" && now == "load2"
    ));
    drop(store);
    assert_eq!(sample.open().client_hosts().unwrap(), [began, resumed]);
}
