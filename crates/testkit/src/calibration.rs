//! Calibrations of the load generator.

use prony_model::{
    Backend, CalibratedHost, Calibration, CalibrationCounts, ClosedPoint, Family, PlacementRule,
};

/// A calibration of version 1.2.3 on a host with two processors, without any points.
pub fn calibration() -> Calibration {
    Calibration {
        prony_version: "1.2.3".into(),
        host: CalibratedHost {
            cpu_model: None,
            cpus: 2,
            kernel: Some("6.1.0".into()),
        },
        made_at_ms: 7,
        placement: PlacementRule::Together,
        wake_ups: None,
        closed: Vec::new(),
        open: Vec::new(),
        looking: Vec::new(),
        noise: Vec::new(),
    }
}

/// A closed loop of one second, in which one thread did this many queries.
pub fn closed_point(backend: Backend, clients: u32, queries: u64) -> ClosedPoint {
    ClosedPoint {
        family: Family::Mysql,
        backend,
        clients,
        threads: 1,
        cpus: None,
        host: None,
        counts: CalibrationCounts {
            queries,
            wall_ns: 1_000_000_000,
            client_user_ns: 1,
            client_system_ns: 1,
            server_ns: 1,
        },
    }
}
