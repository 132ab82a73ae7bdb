//! Placements of steps.

use prony_model::{Placement, PlacementReading, PlacementRule, Processors, ThreadsOn};

/// The reading of a step that was placed as planned: two sessions, thirty other threads of the
/// server and one of the load generator, each on the processors of its role.
pub fn placed(
    rule: PlacementRule,
    sessions: &str,
    background: &str,
    generator: &str,
) -> PlacementReading {
    let set = |text: &str| Some(text.parse().unwrap());
    PlacementReading {
        placement: Placement {
            rule,
            paired: false,
            processors: Processors {
                sessions: set(sessions),
                background: set(background),
                generator: set(generator),
            },
        },
        sessions: vec![threads_on(sessions, 2)],
        background: vec![threads_on(background, 30)],
        generator: vec![threads_on(generator, 1)],
    }
}

/// The reading of a step whose sessions and threads of the load generator are paired on two
/// processors: this number of clients on each, the acceptor and an idle session on both.
pub fn paired(clients: [u32; 2]) -> PlacementReading {
    let mut reading = placed(PlacementRule::Together, "0-1", "0-1", "0-1");
    reading.placement.paired = true;
    reading.sessions = vec![
        threads_on("0", clients[0]),
        threads_on("0-1", 2),
        threads_on("1", clients[1]),
    ];
    reading.generator = vec![threads_on("0", 1), threads_on("1", 1)];
    reading
}

/// The reading of a step that the kernel placed, on a host with this number of processors.
pub fn free(processors: u16) -> PlacementReading {
    let all = match processors {
        1 => "0".to_owned(),
        _ => format!("0-{}", processors - 1),
    };
    PlacementReading {
        placement: Placement {
            rule: PlacementRule::Free,
            paired: false,
            processors: Processors::default(),
        },
        ..placed(PlacementRule::Free, &all, &all, &all)
    }
}

/// A number of threads that may use these processors.
pub fn threads_on(cpus: &str, threads: u32) -> ThreadsOn {
    ThreadsOn {
        cpus: cpus.parse().unwrap(),
        threads,
    }
}
