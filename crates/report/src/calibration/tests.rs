use insta::assert_snapshot;
use prony_model::{
    CounterSet, NoisePoint, NoiseWindow, PlacementRule, PricedRound, Spacing, Thousandths,
    WakeUpWindow, WakeUps,
};
use prony_testkit as testkit;

use super::*;

fn counts(queries: u64) -> CalibrationCounts {
    CalibrationCounts {
        queries,
        wall_ns: 2_000_000_000,
        client_user_ns: 300 * queries,
        client_system_ns: 4_950 * queries,
        server_ns: 4_000 * queries,
    }
}

fn closed(backend: Backend, clients: u32, queries: u64) -> ClosedPoint {
    ClosedPoint {
        family: Family::Mysql,
        backend,
        clients,
        threads: clients.min(2),
        cpus: None,
        host: None,
        counts: counts(queries),
    }
}

/// Ten thousand operations, one in a hundred of them much later than the others.
fn lateness() -> Vec<u8> {
    testkit::histogram(&[(6_000, 9_899), (48_000, 100), (210_000, 1)])
}

/// Two seconds of processors, of which a hypervisor took a part, and the measurement another.
fn host(processors: u32, steal_ms: u64, own_ms: u64) -> HostUse {
    HostUse {
        processors,
        wall_ns: 2_000_000_000,
        idle_ns: 0,
        interrupt_ns: 10_000_000,
        steal_ns: steal_ms * 1_000_000,
        own_ns: own_ms * 1_000_000,
    }
}

/// Wake-ups that the kernel moved from one processor to two and back.
fn wake_ups() -> WakeUps {
    let window = |us: u64| WakeUpWindow {
        round_trips: 20_000 / us,
        wall_ns: 20_000_000,
        cpu_ns: 9_000_000,
    };
    WakeUps {
        window_ns: 20_000_000,
        same: vec![window(10), window(12)],
        across: vec![window(100), window(100)],
        free: [10, 10, 100, 100, 10].map(window).to_vec(),
    }
}

fn noise(clients: u32) -> NoisePoint {
    let window = |queries| NoiseWindow {
        wall_ns: 250_000_000,
        queries,
    };
    NoisePoint {
        backend: Backend::IoUring,
        clients,
        threads: 1,
        cpus: None,
        host: Some(host(2, 0, 3_960)),
        window_ms: 250,
        windows: [5_000, 5_300, 4_900, 4_800, 5_100, 5_200, 5_000, 4_700]
            .map(window)
            .to_vec(),
    }
}

fn calibration() -> Calibration {
    Calibration {
        prony_version: "1.2.3".into(),
        host: CalibratedHost {
            cpu_model: Some("Example 1".into()),
            cpus: 2,
            kernel: Some("6.1.0-18-amd64".into()),
        },
        made_at_ms: 1_700_000_000_000,
        placement: PlacementRule::Together,
        wake_ups: Some(wake_ups()),
        closed: vec![
            ClosedPoint {
                cpus: Some("1".parse().unwrap()),
                host: Some(host(1, 0, 1_980)),
                ..closed(Backend::Epoll, 1, 190_246)
            },
            ClosedPoint {
                host: Some(host(2, 20, 3_380)),
                ..closed(Backend::Epoll, 1_000, 401_000)
            },
            ClosedPoint {
                family: Family::Postgresql,
                ..closed(Backend::Epoll, 1_000, 389_000)
            },
            closed(Backend::IoUring, 1_000, 0),
        ],
        open: vec![OpenPoint {
            backend: Backend::Epoll,
            clients: 8,
            threads: 2,
            cpus: None,
            host: None,
            rate: Thousandths(10_000_000),
            spacing: Spacing::Regular,
            counts: counts(10_000),
            planned: 10_000,
            error: lateness(),
        }],
        looking: [
            (CounterSet::Software, 1, 93),
            (CounterSet::Software, 16, 95),
        ]
        .map(|(counters, clients, percent)| LookingPrice {
            counters,
            clients,
            rounds: [100_000, 101_000, 99_000]
                .map(|queries| PricedRound {
                    without: counts(queries),
                    with: counts(queries * percent / 100),
                })
                .to_vec(),
        })
        .to_vec(),
        noise: vec![noise(1), noise(16)],
    }
}

#[test]
fn as_text() {
    assert_snapshot!("text", calibration_text(&calibration()).unwrap());
}

#[test]
fn as_json() {
    assert_snapshot!("json", calibration_json(&calibration()).unwrap());
}

#[test]
fn what_is_not_known_and_not_measured_is_left_out() {
    let mut calibration = calibration();
    calibration.host.cpu_model = None;
    calibration.host.kernel = None;
    calibration.open.clear();
    calibration.looking.clear();
    calibration.wake_ups = None;
    calibration.noise.clear();
    calibration.closed[0].host = None;
    calibration.closed.truncate(1);
    assert_snapshot!("closed-only", calibration_text(&calibration).unwrap());
}

#[test]
fn damage_is_said() {
    let mut calibration = calibration();
    calibration.open[0].error.truncate(9);
    let error = calibration_json(&calibration).unwrap_err().to_string();
    assert!(error.contains("epoll"), "{error}");
    assert!(error.contains("calibrate again"), "{error}");
}
