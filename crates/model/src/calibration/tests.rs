//! Tests of what a calibration says.

use super::*;

fn point(backend: Backend, clients: u32) -> ClosedPoint {
    ClosedPoint {
        family: Family::Mysql,
        backend,
        clients,
        threads: 1,
        cpus: None,
        host: None,
        counts: CalibrationCounts {
            queries: 1_000,
            wall_ns: 500_000_000,
            client_user_ns: 1_000_000,
            client_system_ns: 3_000_000,
            server_ns: 2_000_000,
        },
    }
}

fn calibration() -> Calibration {
    Calibration {
        prony_version: "1.2.3".into(),
        host: CalibratedHost {
            cpu_model: Some("Example 1".into()),
            cpus: 2,
            kernel: None,
        },
        made_at_ms: 5,
        placement: PlacementRule::Together,
        wake_ups: None,
        closed: vec![
            point(Backend::Epoll, 1),
            point(Backend::Epoll, 64),
            point(Backend::IoUring, 512),
        ],
        open: vec![OpenPoint {
            backend: Backend::Epoll,
            clients: 8,
            threads: 2,
            cpus: None,
            host: None,
            rate: Thousandths(10_000_000),
            spacing: Spacing::Regular,
            counts: point(Backend::Epoll, 8).counts,
            planned: 1_000,
            error: vec![1, 255],
        }],
        looking: Vec::new(),
        noise: Vec::new(),
    }
}

#[test]
fn rates_come_from_counts() {
    let counts = point(Backend::Epoll, 1).counts;
    assert_eq!(counts.queries_per_second(), Some(2_000.0));
    assert_eq!(counts.client_us_per_query(), Some(4.0));
    assert_eq!(counts.client_user_us_per_query(), Some(1.0));
    assert_eq!(counts.server_us_per_query(), Some(2.0));
    let none = CalibrationCounts {
        queries: 0,
        ..counts
    };
    assert_eq!(none.queries_per_second(), None);
    assert_eq!(none.client_us_per_query(), None);
}

#[test]
fn the_point_at_or_above_is_of_the_same_backend() {
    let calibration = calibration();
    let found = |backend, clients| {
        let point = calibration.at_or_above(Family::Mariadb, backend, clients);
        point.map(|point| point.clients)
    };
    assert_eq!(found(Backend::Epoll, 1), Some(1));
    assert_eq!(found(Backend::Epoll, 2), Some(64));
    assert_eq!(found(Backend::Epoll, 64), Some(64));
    assert_eq!(found(Backend::Epoll, 65), None);
    assert_eq!(found(Backend::IoUring, 1), Some(512));
    let epoll_only = Calibration {
        closed: vec![point(Backend::Epoll, 1)],
        ..calibration
    };
    let covers = |family, backend| epoll_only.covers(family, backend);
    assert!(covers(Family::Mysql, Backend::Epoll) && !covers(Family::Mysql, Backend::IoUring));
    assert!(!covers(Family::Postgresql, Backend::Epoll));
    let uring = epoll_only.at_or_above(Family::Mysql, Backend::IoUring, 1);
    assert_eq!(uring, None);
}

#[test]
fn a_step_strikes_the_ceiling_that_it_exceeds() {
    let calibration = calibration();
    for (backend, clients, rate, struck) in [
        (Backend::Epoll, 1, 2_000.0, None),
        (Backend::Epoll, 1, 2_000.1, Some(1)),
        (Backend::Epoll, 2, 2_000.1, Some(64)),
        (Backend::Epoll, 65, 1e9, None),
        (Backend::IoUring, 1, 1_999.0, None),
    ] {
        let point = calibration.struck_by(Family::Mysql, backend, clients, rate);
        assert_eq!(point.map(|point| point.clients), struck);
    }
}

#[test]
fn one_disturbed_point_disturbs_a_calibration() {
    let mut calibration = calibration();
    assert!(!calibration.is_disturbed());
    let busy = HostUse {
        processors: 1,
        wall_ns: 1_000_000_000,
        idle_ns: 0,
        interrupt_ns: 0,
        steal_ns: 0,
        own_ns: 900_000_000,
    };
    calibration.open[0].host = Some(busy);
    assert!(calibration.is_disturbed());
}

#[test]
fn noise_is_that_of_the_nearest_number_of_clients() {
    let mut calibration = calibration();
    assert_eq!(calibration.noise_at(1), None);
    calibration.noise = [1, 16]
        .map(|clients| NoisePoint {
            backend: Backend::Epoll,
            clients,
            threads: 1,
            cpus: None,
            host: None,
            window_ms: 250,
            windows: Vec::new(),
        })
        .to_vec();
    let nearest = |clients| calibration.noise_at(clients).map(|point| point.clients);
    for (clients, of) in [(0, 1), (1, 1), (3, 1), (5, 16), (16, 16), (1_000, 16)] {
        assert_eq!(nearest(clients), Some(of), "{clients}");
    }
}

#[test]
fn it_is_of_one_version_on_one_host() {
    let calibration = calibration();
    let host = calibration.host.clone();
    assert!(calibration.is_of("1.2.3", &host));
    assert!(!calibration.is_of("1.2.4", &host));
    let other = CalibratedHost { cpus: 4, ..host };
    assert!(!calibration.is_of("1.2.3", &other));
}

#[test]
fn what_was_planned_and_not_answered_is_left() {
    let [point] = <[OpenPoint; 1]>::try_from(calibration().open).unwrap();
    assert_eq!(point.left(), 0);
    let overloaded = OpenPoint {
        planned: 1_020,
        ..point
    };
    assert_eq!(overloaded.left(), 20);
}

#[test]
fn the_price_of_looking_is_what_is_lost() {
    let counts = |queries| CalibrationCounts {
        queries,
        wall_ns: 1_000_000_000,
        client_user_ns: 1,
        client_system_ns: 1,
        server_ns: 1,
    };
    let price = |with: [u64; 3]| LookingPrice {
        counters: CounterSet::Hardware,
        clients: 1,
        rounds: with
            .map(|with| PricedRound {
                without: counts(1_000),
                with: counts(with),
            })
            .to_vec(),
    };
    let loss = price([900, 900, 900]).loss().unwrap();
    assert!((loss.mean - 0.1).abs() < 1e-9, "{loss:?}");
    assert!((loss.most - 0.1).abs() < 1e-9, "{loss:?}");
    let spread = price([800, 900, 1_000]).loss().unwrap();
    assert!((spread.range.1 - 0.2).abs() < 1e-9 && spread.range.0.abs() < 1e-9);
    assert!(spread.most > 0.2, "{spread:?}");
    let mut few = price([900, 900, 900]);
    few.rounds.pop();
    assert_eq!(few.loss(), None);

    let mut calibration = calibration();
    let may = |calibration: &Calibration| calibration.may_ride(CounterSet::Hardware);
    assert!(!may(&calibration));
    calibration.looking = vec![price([999, 999, 999])];
    assert!(may(&calibration) && !calibration.may_ride(CounterSet::Software));
    calibration.looking.push(price([990, 990, 990]));
    assert!(!may(&calibration));
}

#[test]
fn travels_as_json() {
    let json = serde_json::to_string(&calibration()).unwrap();
    assert!(json.contains(r#""error":"01ff""#), "{json}");
    assert_eq!(
        serde_json::from_str::<Calibration>(&json).unwrap(),
        calibration()
    );
}
