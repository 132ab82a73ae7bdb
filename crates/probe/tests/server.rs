//! A real server that makes threads and processes, from its birth on: everything that it uses is
//! counted, by each source that this machine has, and they agree.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests fail the test, and a server answers"
)]

use std::env;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::thread::sleep;
use std::time::{Duration, Instant};

use prony_model::{Collect, Counter, CounterSet, IDENTITY, Moment, Sample, Source};
use prony_probe::{Counters, Period, Prober, Root, Sampler, ServerPlace, hardware_counters};

/// Makes a copy of this program the server.
const ROLE: &str = "PRONY_TEST_SERVER";

/// Work of each thread and process of the server, in milliseconds of processor time.
const WORK_MS: u64 = 150;
const THREADS: u64 = 2;
const PROCESSES: u64 = 2;

const PERIOD_MS: u64 = 20;

/// Not a test: what copies of this program do. The server works in threads and processes that it
/// makes, whenever it is told to, and answers when these have ended.
#[test]
fn play() -> io::Result<()> {
    match env::var(ROLE).as_deref() {
        Ok("server") => serve(),
        Ok("worker") => {
            work();
            Ok(())
        }
        _ => Ok(()),
    }
}

fn serve() -> io::Result<()> {
    println!("\nready");
    for line in io::stdin().lines() {
        line?;
        let threads: Vec<_> = (0..THREADS).map(|_| thread::spawn(work)).collect();
        let workers: Vec<_> = (0..PROCESSES).map(|_| copy("worker").spawn()).collect();
        for thread in threads {
            thread.join().unwrap();
        }
        for worker in workers {
            worker?.wait()?;
        }
        println!("\ndone");
    }
    Ok(())
}

/// Uses processor time.
fn work() {
    let used = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let work = rustix::time::Timespec {
        tv_sec: 0,
        tv_nsec: i64::try_from(WORK_MS).unwrap() * 1_000_000,
    };
    let start = used();
    let mut value = 0_u64;
    while used() - start < work {
        for round in 0..10_000 {
            value = std::hint::black_box(value.wrapping_mul(31) ^ round);
        }
    }
}

fn copy(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "play", "--nocapture", "--test-threads=1"]);
    command.env(ROLE, role).stdout(Stdio::null());
    command
}

/// A process that waits for a line before it becomes the server, as a held guard does.
struct Held {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Held {
    fn start() -> Self {
        let server = copy("server");
        let mut child = Command::new("sh")
            .args(["-c", "read -r go; exec \"$0\" \"$@\""])
            .arg(server.get_program())
            .args(server.get_args())
            .env(ROLE, "server")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn place(&self, counters: Option<Counters>) -> ServerPlace {
        ServerPlace {
            pid: self.child.id(),
            data_dir: env::current_exe().unwrap().parent().map(Into::into),
            cgroup: None,
            counters,
        }
    }

    /// Sends a line and waits for the answer.
    fn order(&mut self, answer: &str) {
        self.input.write_all(b"go\n").unwrap();
        let mut line = String::new();
        while line.trim() != answer {
            line.clear();
            let bytes = self.output.read_line(&mut line).unwrap();
            assert_ne!(bytes, 0, "the server ended");
        }
    }

    fn end(self) {
        drop(self.input);
        let mut rest = String::new();
        let mut output = self.output;
        output.read_to_string(&mut rest).unwrap();
        let mut child = self.child;
        assert!(child.wait().unwrap().success(), "{rest}");
    }
}

fn growth(start: &Sample, end: &Sample, source: Source, name: &'static str) -> u64 {
    end.since(start, &Counter::new(source, name)).unwrap()
}

#[test]
fn everything_is_counted_from_the_first_instruction_on() {
    let mut held = Held::start();
    let counters = match Counters::open(held.child.id(), CounterSet::Software) {
        Ok(counters) => Some(counters),
        Err(error) => {
            println!("skipped: {error}");
            None
        }
    };
    let has_counters = counters.is_some();
    let lacking = counters.iter().flat_map(Counters::lacking);
    let lacking: Vec<_> = lacking.map(|gap| gap.reason.clone()).collect();
    let lacking = lacking.join("\n");
    println!("{lacking}");
    held.order("ready");
    let mut prober = Prober::new(
        Root::live(),
        Some(held.place(counters)),
        &Collect::default(),
    );
    let start = prober.sample(Moment::Start);
    held.order("done");
    let end = prober.sample(Moment::End);
    held.end();

    let cpu = ["user_ns", "system_ns"];
    let cpu = cpu.map(|name| growth(&start, &end, Source::Process, name) / 1_000_000);
    let cpu: u64 = cpu.iter().sum();
    // Accounts of several processes move in ticks.
    let ticks = 10 * (PROCESSES + 2);
    assert!(cpu + ticks >= (THREADS + PROCESSES) * WORK_MS, "{cpu}");
    if has_counters {
        let clock = growth(&start, &end, Source::Perf, "task_clock_ns") / 1_000_000;
        assert!(clock.abs_diff(cpu) <= ticks + cpu / 20, "{clock} {cpu}");
        let of = |name| growth(&start, &end, Source::Perf, name);
        assert_eq!(
            of("task_clock_ns_enabled_ns"),
            of("task_clock_ns_running_ns")
        );
        // What happens in the kernel is not every user's to count.
        for (name, counter) in [
            ("page_faults", Counter::new(Source::Perf, "page_faults")),
            (
                "context_switches",
                Counter::new(Source::Perf, "context_switches"),
            ),
        ] {
            match start.value(&counter) {
                // They began with the server, and not with the first sample.
                Some(before) => assert!(before > 0 && of(name) > 0, "{name}"),
                None => assert!(lacking.contains(&format!("counter {name}: ")), "{lacking}"),
            }
        }
    }
    // Threads that came and went took their counts along.
    let lost = Counter::new(Source::Threads, "lost_threads");
    assert_eq!(end.value(&lost), Some(1));
    assert_eq!(end.value(&IDENTITY), start.value(&IDENTITY));
    assert_eq!(end.gaps, []);
}

#[test]
fn hardware_is_counted_or_refused_with_a_remedy() {
    let held = Held::start();
    let counters = Counters::open(held.child.id(), CounterSet::Hardware);
    let lacking = |counters: &Counters| {
        let reasons = counters.lacking().iter().map(|gap| gap.reason.clone());
        reasons.collect::<Vec<_>>()
    };
    let instructions = "counter instructions_user: ";
    match (hardware_counters(), &counters) {
        (Ok(()), Ok(counters)) => {
            assert!(
                !lacking(counters)
                    .iter()
                    .any(|gap| gap.contains(instructions))
            );
        }
        (Err(error), Ok(counters)) => {
            let error = error.to_string();
            assert!(error.contains(instructions), "{error}");
            assert!(
                error.contains("valgrind") || error.contains("sysctl"),
                "{error}"
            );
            println!("{error}");
            if !error.starts_with("use") {
                assert!(lacking(counters).contains(&error));
            }
        }
        (_, Err(error)) => println!("skipped: {error}"),
    }
    let mut held = held;
    held.order("ready");
    held.end();
}

/// Samples at a period, all of which are kept.
const fn every(every: Duration) -> Period {
    Period { every, most: None }
}

#[test]
fn long_steps_have_no_more_samples_than_wanted() {
    let period = Period {
        every: Duration::from_millis(5),
        most: Some(4),
    };
    let prober = Prober::new(Root::live(), None, &Collect::NOTHING);
    let sampler = Sampler::start(prober, Some(period));
    for _ in 0..2 {
        let start = sampler.begin();
        sleep(Duration::from_millis(200));
        let (periods, end) = sampler.end();
        assert!((1..4).contains(&periods.len()), "{}", periods.len());
        // They are as far from each other as from the edges, and the next step begins anew.
        let before = std::iter::once(&start).chain(&periods);
        let after = periods.iter().chain([&end]);
        let gaps = before.zip(after).map(|(one, next)| next.at_ns - one.at_ns);
        assert!(gaps.max().unwrap() < 170_000_000);
    }
}

#[test]
fn a_sampler_serves_one_step_after_the_other() {
    let mut held = Held::start();
    held.order("ready");
    let prober = Prober::new(Root::live(), Some(held.place(None)), &Collect::default());
    let absences = prober.absences();
    let sampler = Sampler::start(prober, Some(every(Duration::from_millis(PERIOD_MS))));
    for _ in 0..2 {
        let begun = Instant::now();
        let start = sampler.begin();
        held.order("done");
        let (periods, end) = sampler.end();
        assert_eq!((start.moment, end.moment), (Moment::Start, Moment::End));
        assert!(!periods.is_empty());
        assert!(periods.len() as u128 <= begun.elapsed().as_millis() / u128::from(PERIOD_MS));
        let mut before = &start;
        for sample in periods.iter().chain([&end]) {
            assert!(sample.at_ns > before.at_ns);
            let user = Counter::new(Source::Process, "user_ns");
            assert!(sample.since(before, &user).is_ok());
            before = sample;
        }
        assert!(periods.iter().all(|sample| sample.moment == Moment::Period));
        let gaps: Vec<_> = periods.iter().flat_map(|sample| &sample.gaps).collect();
        assert!(gaps.is_empty(), "{gaps:?}");
        assert!(growth(&start, &end, Source::Lab, "sampler_ns") > 0);
    }
    for gap in absences {
        println!("{}: {}", gap.source, gap.reason);
    }
    held.end();
}

#[test]
fn a_pause_has_no_samples_and_does_not_bring_the_next_one_nearer() {
    let period = Duration::from_millis(50);
    let prober = Prober::new(Root::live(), None, &Collect::NOTHING);
    let sampler = Sampler::start(prober, Some(every(period)));
    sampler.begin();
    sleep(period * 3 / 2);
    let (before, pause) = sampler.pause();
    assert!(!before.is_empty());
    sleep(period * 2);
    let resumed = sampler.resume();
    // Less than half of a period is left.
    sleep(period * 3 / 4);
    let (after, _) = sampler.end();
    assert!(!after.is_empty());
    assert!(before.iter().all(|sample| sample.at_ns < pause.at_ns));
    assert!(after.iter().all(|sample| sample.at_ns > resumed.at_ns));
}

#[test]
fn without_a_period_there_are_the_edges_alone() {
    let sampler = Sampler::start(Prober::new(Root::live(), None, &Collect::NOTHING), None);
    let start = sampler.begin();
    let (periods, end) = sampler.end();
    assert_eq!(periods, []);
    let sources = |sample: &Sample| {
        let sources = sample.values.keys().map(|counter| counter.source);
        sources.collect::<Vec<_>>()
    };
    assert_eq!(sources(&start), [Source::Lab; 2]);
    assert_eq!(sources(&end), [Source::Lab; 2]);
}
