//! Cost of a sample: `cargo bench -p prony-probe --bench sampling`.
//!
//! Samples are taken of this program, started anew with many threads or many processes, as servers
//! have them. Printed is processor time of the thread that takes them.
#![expect(clippy::print_stdout, reason = "this is a program that prints a table")]

use std::env;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use prony_model::{Collect, Counter, Moment, Source};
use prony_probe::{Prober, Root, ServerPlace};

/// Tells a started copy what to be: `threads N` or `processes N`.
const ROLE: &str = "PRONY_BENCH_ROLE";

const PERIOD_SAMPLES: u64 = 500;
const EDGE_SAMPLES: u64 = 10;
/// Time for the copies to start what they are told.
const SETTLING: Duration = Duration::from_secs(2);

fn main() -> io::Result<()> {
    if let Ok(role) = env::var(ROLE) {
        return play(&role);
    }
    println!("microseconds of processor time per sample");
    println!("{:<20}{:>12}{:>12}", "server", "period", "edge");
    for role in [
        "threads 1",
        "threads 100",
        "threads 1100",
        "processes 20",
        "processes 99",
        "processes 1100",
    ] {
        let mut server = start(role)?;
        thread::sleep(SETTLING);
        let place = ServerPlace {
            pid: server.id(),
            data_dir: env::current_exe()?.parent().map(Into::into),
            cgroup: None,
            counters: None,
        };
        let mut prober = Prober::new(Root::live(), Some(place), &Collect::default());
        let edge = cost(&mut prober, Moment::End, EDGE_SAMPLES);
        let period = cost(&mut prober, Moment::Period, PERIOD_SAMPLES);
        println!("{role:<20}{period:>12}{edge:>12}");
        drop(server.stdin.take());
        server.wait()?;
    }
    Ok(())
}

/// Microseconds of processor time per sample.
fn cost(prober: &mut Prober, moment: Moment, samples: u64) -> u64 {
    let used = Counter::new(Source::Lab, "sampler_ns");
    let first = prober.sample(moment);
    for _ in 1..samples {
        prober.sample(moment);
    }
    let last = prober.sample(moment);
    last.since(&first, &used).unwrap_or(0) / samples / 1_000
}

fn start(role: &str) -> io::Result<Child> {
    Command::new(env::current_exe()?)
        .env(ROLE, role)
        .stdin(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Makes threads or processes; all end with the standard input.
fn play(role: &str) -> io::Result<()> {
    let (what, count) = role.split_once(' ').unwrap_or(("threads", "1"));
    let count: usize = count.parse().map_err(io::Error::other)?;
    let mut children = Vec::new();
    for _ in 1..count {
        if what == "threads" {
            thread::spawn(thread::park);
        } else {
            let mut copy = Command::new(env::current_exe()?);
            children.push(copy.env(ROLE, "threads 1").spawn()?);
        }
    }
    io::stdin().read_to_end(&mut Vec::new())?;
    for mut child in children {
        child.wait()?;
    }
    Ok(())
}
