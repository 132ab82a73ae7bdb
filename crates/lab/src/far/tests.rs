//! The two ends of the connection, each with a stand-in for the other.

use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread;
use std::time::Instant;

use super::words::{Order, Report};
use super::*;

fn launcher() -> Launcher {
    Launcher::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/guard.sh").into()).unwrap()
}

/// A connection to a far end that is a shell script.
fn open(script: &str) -> Result<Session, ClientHostError> {
    let setup = ClientHostSetup {
        name: "load".to_owned(),
        command: ["sh", "-c", script].map(str::to_owned).into(),
        listen: [127, 0, 0, 1].into(),
        cpus: None,
        build: "build-1".to_owned(),
    };
    Session::open(&setup, &launcher())
}

fn error(script: &str) -> String {
    match open(script) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    }
}

fn line(report: &Report) -> String {
    serde_json::to_string(report).unwrap()
}

fn greeting(build: &str) -> String {
    line(&Report::Greeting {
        version: "0.9.0".to_owned(),
        build: build.to_owned(),
    })
}

fn host() -> String {
    line(&Report::Host(Box::new(FarHost {
        address: [127, 0, 0, 1].into(),
        facts: HostFacts::read(&prony_probe::Root::live()),
        interface: None,
        generator: Hello::of_this_process(),
    })))
}

#[test]
fn what_was_said_instead_of_a_greeting_is_named() {
    let said = error("echo Welcome to this host; echo no such program >&2; exit 127");
    for words in ["exit code 127", "Welcome to this host", "no such program"] {
        assert!(said.contains(words), "{said}");
    }
    let said = error(&format!("echo '{}'; read order", host()));
    assert!(said.contains("does not say who it is"), "{said}");
}

#[test]
fn another_build_is_refused_with_the_command_that_copies_this_one() {
    let said = error(&format!("echo '{}'; cat", greeting("build-2")));
    assert!(said.contains("Prony 0.9.0 there"), "{said}");
    assert!(said.ends_with("prony client install load"), "{said}");
}

#[test]
fn a_far_end_that_falls_silent_is_lost_and_killed() {
    // A shell may print something before Prony starts.
    let greets = format!(
        "echo Hello; echo '{}'; read order; echo '{}'",
        greeting("build-1"),
        host()
    );
    let session = open(&format!("{greets}; sleep 60")).unwrap();
    let begin = Instant::now();
    while session.lost().is_none() && begin.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(50));
    }
    let lost = session.lost().unwrap();
    assert!(lost.contains("nothing was heard for 4 s"), "{lost}");
    assert!(begin.elapsed() >= SILENCE);
    // What is asked then has the reason as its answer, at once.
    assert_eq!(session.sample(prony_model::Moment::End).unwrap_err(), lost);
}

/// A far end in this process: what it reads, and what it says.
fn serve() -> (
    PipeWriter,
    BufReader<PipeReader>,
    thread::JoinHandle<std::io::Result<()>>,
) {
    let (input, orders) = pipe().unwrap();
    let (reports, output) = pipe().unwrap();
    let served = thread::spawn(move || {
        serve_far(
            &launcher(),
            "prony".into(),
            "build-1".to_owned(),
            input,
            output,
        )
    });
    (orders, BufReader::new(reports), served)
}

fn next(reports: &mut impl BufRead) -> Report {
    loop {
        let mut line = String::new();
        reports.read_line(&mut line).unwrap();
        match serde_json::from_str(&line).unwrap() {
            Report::Beat => {}
            report => return report,
        }
    }
}

#[test]
fn a_far_end_greets_describes_its_host_and_ends_with_its_input() {
    let (mut orders, mut reports, served) = serve();
    let greeted = next(&mut reports);
    assert!(matches!(greeted, Report::Greeting { build, .. } if build == "build-1"));
    let address = IpAddr::from([127, 0, 0, 1]);
    let describe = Order::Describe { server: address };
    let describe = serde_json::to_string(&describe).unwrap();
    writeln!(orders, "{describe}").unwrap();
    let Report::Host(host) = next(&mut reports) else {
        unreachable!("it describes its host");
    };
    assert_eq!(host.address, address);
    drop(orders);
    served.join().unwrap().unwrap();
}

#[test]
fn a_far_end_ends_when_nobody_speaks_to_it_or_nobody_understands() {
    let (orders, _reports, served) = serve();
    let begin = Instant::now();
    served.join().unwrap().unwrap();
    assert!(begin.elapsed() >= SILENCE);
    drop(orders);

    let (mut orders, _reports, served) = serve();
    writeln!(orders, "what is this").unwrap();
    served.join().unwrap().unwrap();
}
