//! Tests of quantities, and measurements for other tests.

use super::*;

/// Three rounds of three contestants with 64 clients, and one round of times.
pub(in crate::peers) fn measured() -> Measured {
    let mut raw = String::from(
        r#"{"event":"setting","at_unix_s":86400,"sysbench":"sysbench 1.0.20","build":"mariadb-10.11","rows":1000,"seconds":2,"rounds":3,"host":{"cpu_model":"Example","cpus":2,"virtual_machine":true,"memory_bytes":24000000000,"kernel":"6.1.0-9-amd64","governor":null,"transparent_huge_pages":null}}"#,
    );
    for (round, more) in [1_u64, 0, 2].into_iter().enumerate() {
        for (contestant, client_us, threads) in [
            ("sysbench", 10, 65),
            ("prony-epoll", 4, 2),
            ("bare-epoll", 2, 3),
        ] {
            let client_ns = 100_000 * 1000 * (client_us + more);
            let line = format!(
                r#"{{"event":"turn","round":{round},"contestant":"{contestant}","clients":64,"protocol":"prepared","figures":{{"wall_ns":2000000000,"queries":100000,"client_ns":{client_ns},"client_user_ns":100000000,"client_system_ns":300000000,"client_slices":100000,"client_peak_bytes":33000000,"client_threads":{threads},"server_ns":2000000000}}}}"#,
            );
            raw.push('\n');
            raw.push_str(&line);
        }
    }
    for (contestant, p50) in [("prony-epoll", 19_500), ("bare-blocking", 18_000)] {
        let line = format!(
            r#"{{"event":"latency","round":0,"contestant":"{contestant}","figures":{{"p50":{p50},"p99":40000}}}}"#,
        );
        raw.push('\n');
        raw.push_str(&line);
    }
    Measured::parse(&raw).unwrap()
}

fn close(spread: Option<Spread>, median: f64) {
    let found = spread.unwrap().median;
    assert!((found - median).abs() < 1e-9, "{found} and not {median}");
}

#[test]
fn quantities_are_per_query() {
    let measured = measured();
    let cell = measured.cell(Group::Own, 64, Protocol::Prepared);
    let of = |quantity| cell.spread(Contestant::Sysbench, quantity);
    close(of(Figures::client_us), 11.0);
    close(of(Figures::client_user_us), 2.75);
    close(of(Figures::server_us), 20.0);
    close(of(Figures::throughput), 50_000.0);
    close(of(Figures::switches), 1.0);
    close(of(Figures::memory_mb), 33.0);
    close(of(Figures::threads), 65.0);
}

#[test]
fn ratios_are_within_rounds() {
    let measured = measured();
    let cell = measured.cell(Group::Own, 64, Protocol::Prepared);
    // Prony takes 4, 5 and 6 µs where sysbench takes 10, 11 and 12 µs.
    let (prony, sysbench) = (Contestant::PronyEpoll, Contestant::Sysbench);
    let ratio = cell.ratio(prony, sysbench, Figures::client_us);
    close(ratio, 5.0 / 11.0);
    assert!((ratio.unwrap().min - 0.4).abs() < 1e-9);
    assert!((ratio.unwrap().max - 0.5).abs() < 1e-9);
}

#[test]
fn an_absent_contestant_has_no_figures() {
    let measured = measured();
    assert_eq!(
        measured
            .cell(Group::Own, 64, Protocol::Text)
            .contestants()
            .count(),
        0
    );
    let cell = measured.cell(Group::Own, 64, Protocol::Prepared);
    let bare = Contestant::BareIoUring;
    assert_eq!(cell.spread(bare, Figures::memory_mb), None);
    let ratio = cell.ratio(Contestant::PronyEpoll, bare, Figures::client_us);
    assert_eq!(ratio, None);
}

#[test]
fn lines_without_a_setting_are_refused() {
    assert!(Measured::parse("").is_err());
    assert!(Measured::parse("{}").is_err());
}
