//! Noise of a host: the throughput of one closed loop in short windows.

use serde::{Deserialize, Serialize};

use super::HostUse;
use crate::{Backend, CpuSet};

/// A closed loop against the null server, counted in windows of equal length. The null server does
/// the same for each query, so that differences between windows are the host's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoisePoint {
    /// The backend that carried the connections.
    pub backend: Backend,
    /// Connections.
    pub clients: u32,
    /// Threads of the generator.
    pub threads: u32,
    /// The processors of generator and null server; `None` where the kernel chose.
    pub cpus: Option<CpuSet>,
    /// Use of the processors; `None` where it can't be read.
    pub host: Option<HostUse>,
    /// Planned length of a window, in milliseconds.
    pub window_ms: u64,
    /// The windows, one after the other.
    pub windows: Vec<NoiseWindow>,
}

/// One window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoiseWindow {
    /// Its length, in nanoseconds.
    pub wall_ns: u64,
    /// Queries answered in it.
    pub queries: u64,
}

impl NoisePoint {
    /// Queries per second of each window. The last one is left out if it is shorter than planned.
    pub fn rates(&self) -> Vec<f64> {
        let planned_ns = self.window_ms as f64 * 1e6;
        let whole = |window: &&NoiseWindow| window.wall_ns as f64 >= 0.9 * planned_ns;
        let rate = |window: &NoiseWindow| window.queries as f64 / (window.wall_ns as f64 / 1e9);
        self.windows.iter().filter(whole).map(rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_last_window_is_left_out() {
        let window = |wall_ns, queries| NoiseWindow { wall_ns, queries };
        let point = NoisePoint {
            backend: Backend::Epoll,
            clients: 1,
            threads: 1,
            cpus: None,
            host: None,
            window_ms: 250,
            windows: vec![
                window(250_000_000, 1_000),
                window(250_000_000, 500),
                window(1_000, 1),
            ],
        };
        assert_eq!(point.rates(), [4_000.0, 2_000.0]);
    }
}
