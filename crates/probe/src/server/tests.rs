//! Recorded servers that restart, end and lose processes: no rate may come out wrong.

use prony_model::{Collect, Counter, IDENTITY, Moment, NoDifference, Sample, Source, StepSamples};

use super::io_denied;
use crate::prober::{Prober, ServerPlace};
use crate::root::{ProbeError, tick_ns};
use crate::testing::{Machine, Process, gaps, value};

const USER: Counter = Counter::new(Source::Process, "user_ns");
const READ: Counter = Counter::new(Source::Process, "read_bytes");
const RUN: Counter = Counter::new(Source::Threads, "run_ns");
const RESIDENT: Counter = Counter::new(Source::Memory, "resident_bytes");
const PROPORTIONAL: Counter = Counter::new(Source::Memory, "proportional_bytes");

fn prober(machine: &Machine, pid: u32) -> Prober {
    let place = ServerPlace {
        pid,
        data_dir: None,
        cgroup: None,
        counters: None,
    };
    Prober::new(machine.root(), Some(place), &Collect::default())
}

/// A machine with one server, and a sample at the start.
fn started(server: &Process) -> (Machine, Prober, Sample) {
    let machine = Machine::new();
    machine.run(server);
    let mut prober = prober(&machine, server.pid);
    let start = prober.sample(Moment::Start);
    (machine, prober, start)
}

#[test]
fn a_server_of_one_process_is_read_whole() {
    let mut server = Process::new(42);
    server.threads = vec![42, 43];
    let (machine, mut prober, start) = started(&server);
    server.user = 30;
    server.reaped = 5;
    server.io = 4096;
    machine.run(&server);
    let end = prober.sample(Moment::End);
    assert_eq!(end.since(&start, &USER), Ok(35 * tick_ns()));
    assert_eq!(end.since(&start, &READ), Ok(4096));
    assert_eq!(end.since(&start, &RUN), Ok(0));
    assert_eq!(end.value(&IDENTITY), Some(500));
    assert_eq!(value(&end, Source::Process, "minor_faults"), Some(13));
    assert_eq!(value(&end, Source::Process, "major_faults"), Some(9));
    assert_eq!(value(&end, Source::Threads, "run_ns"), Some(85));
    assert_eq!(value(&end, Source::Threads, "voluntary_switches"), Some(16));
    assert_eq!(value(&end, Source::Threads, "living_threads"), Some(2));
    assert_eq!(value(&end, Source::Memory, "threads"), Some(2));
    assert_eq!(end.value(&PROPORTIONAL), Some(80 * 1024));
    assert_eq!(
        end.value(&RESIDENT),
        value(&start, Source::Memory, "resident_bytes")
    );
    assert_ne!(end.value(&RESIDENT), end.value(&PROPORTIONAL));
    // A recorded machine has no clocks.
    assert_eq!(value(&end, Source::Process, "cpu_ns"), None);
    assert_eq!(end.gaps, []);
}

#[test]
fn costly_parts_are_read_at_the_edges_only() {
    let (_machine, mut prober, start) = started(&Process::new(42));
    let period = prober.sample(Moment::Period);
    for counter in [&RUN, &PROPORTIONAL] {
        assert!(start.value(counter).is_some());
        assert_eq!(period.value(counter), None);
    }
    assert_eq!(period.since(&start, &USER), Ok(0));
    assert_eq!(period.gaps, []);
}

#[test]
fn a_restarted_server_is_another_one() {
    let mut server = Process::new(42);
    server.user = 100;
    let (machine, mut prober, start) = started(&server);
    server.user = 130;
    server.started = 900;
    machine.run(&server);
    let period = prober.sample(Moment::Period);
    let end = prober.sample(Moment::End);
    for counter in [&USER, &READ, &RUN] {
        assert_eq!(end.since(&start, counter), Err(NoDifference::Restarted));
    }
    let samples = StepSamples(vec![start, period, end]);
    let growths: Vec<_> = samples.series(&USER).iter().map(|p| p.growth).collect();
    assert_eq!(growths, [Err(NoDifference::Restarted), Ok(0)]);
}

#[test]
fn a_server_that_ended_leaves_a_gap() {
    let server = Process::new(42);
    let (machine, mut prober, start) = started(&server);
    machine.end(&server);
    let period = prober.sample(Moment::Period);
    assert!(gaps(&period, Source::Process)[0].starts_with("the server has ended"));
    machine.run(&server);
    let end = prober.sample(Moment::End);
    let samples = StepSamples(vec![start, period, end]);
    let growths: Vec<_> = samples.series(&USER).iter().map(|p| p.growth).collect();
    assert_eq!(growths, [Err(NoDifference::Lost); 2]);
    // It was there at both edges, and the same.
    assert_eq!(samples.difference(&USER), Ok(0));
}

#[test]
fn a_file_that_goes_away_or_turns_odd_leaves_a_gap() {
    let server = Process::new(42);
    let whole = server.stat();
    for (path, text, counter) in [
        ("proc/42/stat", None, &USER),
        ("proc/42/stat", Some(&whole[..whole.len() / 2]), &USER),
        ("proc/42/stat", Some(""), &USER),
        ("proc/42/io", None, &READ),
        ("proc/42/io", Some("rchar: 1\nwchar: x\n"), &READ),
        ("proc/42/task/42/schedstat", Some("12 x 3\n"), &RUN),
        ("proc/42/task/42/status", Some("Name:\tx\n"), &RUN),
        ("proc/42/task/42/stat", Some("42 (x) S 1 42\n"), &RUN),
        ("proc/42/task", None, &RUN),
        ("proc/42/smaps_rollup", None, &PROPORTIONAL),
        ("proc/42/smaps_rollup", Some("Pss: 12 MB\n"), &PROPORTIONAL),
    ] {
        let (machine, mut prober, start) = started(&server);
        match text {
            None => machine.remove(path),
            Some(text) => machine.write(path, text),
        }
        let end = prober.sample(Moment::End);
        let growth = end.since(&start, counter);
        assert_eq!(growth, Err(NoDifference::Lost), "{path} {text:?}");
        assert_ne!(gaps(&end, counter.source), [""; 0], "{path} {text:?}");
    }
}

#[test]
fn counters_that_run_backwards_have_no_difference() {
    let mut server = Process::new(42);
    (server.user, server.io) = (100, 100);
    let (machine, mut prober, start) = started(&server);
    (server.user, server.io) = (99, 0);
    machine.run(&server);
    let end = prober.sample(Moment::End);
    for counter in [&USER, &READ] {
        assert_eq!(end.since(&start, counter), Err(NoDifference::Backwards));
    }
}

/// A server as MySQL 4.1 is: its first process, the one that makes threads, two threads, and beside
/// them a process of somebody else.
fn linux_threads() -> [Process; 4] {
    let first = Process::new(20);
    let mut manager = first.child(21);
    manager.exit_signal = 0;
    let mut threads = [manager.child(22), manager.child(23)];
    for (thread, user) in threads.iter_mut().zip([40, 50]) {
        thread.exit_signal = 33;
        thread.user = user;
        thread.io = 1000;
    }
    let [one, other] = threads;
    [first, manager, one, other]
}

fn started_linux_threads() -> (Machine, [Process; 4], Prober, Sample) {
    let machine = Machine::new();
    let processes = linux_threads();
    for process in processes.iter().chain([&Process::new(30)]) {
        machine.run(process);
    }
    let mut prober = prober(&machine, 20);
    let start = prober.sample(Moment::Start);
    (machine, processes, prober, start)
}

#[test]
fn processes_that_are_threads_are_summed_and_share_their_memory() {
    let (_machine, _, _, start) = started_linux_threads();
    assert_eq!(start.value(&USER), Some(90 * tick_ns()));
    assert_eq!(start.value(&READ), Some(2000));
    assert_eq!(value(&start, Source::Threads, "living_threads"), Some(4));
    assert_eq!(value(&start, Source::Memory, "threads"), Some(4));
    assert_eq!(start.value(&PROPORTIONAL), Some(80 * 1024));
}

#[test]
fn what_an_ended_process_used_is_taken_over_by_its_parent() {
    let (machine, [_, mut manager, mut one, other], mut prober, start) = started_linux_threads();
    // It ran on for 10 ticks, and another one was made, used 3 and ended as well.
    machine.end(&other);
    (manager.reaped, manager.io) = (50 + 10 + 3, 1000);
    one.user = 45;
    machine.run(&manager);
    machine.run(&one);
    let period = prober.sample(Moment::Period);
    assert_eq!(period.since(&start, &USER), Ok(18 * tick_ns()));
    assert_eq!(period.since(&start, &READ), Ok(0));
    let end = prober.sample(Moment::End);
    assert_eq!(end.since(&start, &USER), Ok(18 * tick_ns()));
    assert_eq!(end.since(&start, &RUN), Err(NoDifference::ThreadsEnded));
}

#[test]
fn processes_that_come_within_the_measured_time_are_followed() {
    let (machine, [_, manager, ..], mut prober, start) = started_linux_threads();
    let (mut listed, mut unlisted) = (manager.child(24), manager.child(25));
    for (process, user) in [(&mut listed, 7), (&mut unlisted, 2)] {
        process.exit_signal = 33;
        process.user = user;
        machine.run(process);
    }
    // 26 has ended since it was listed, and what was 27 is now a process of somebody else.
    machine.run(&Process::new(27));
    machine.write("proc/21/task/21/children", "22 23 24 26 27 ");
    let period = prober.sample(Moment::Period);
    assert_eq!(period.since(&start, &USER), Ok(7 * tick_ns()));
    // At the end, all are found.
    let end = prober.sample(Moment::End);
    assert_eq!(end.since(&start, &USER), Ok(9 * tick_ns()));
    assert_eq!(value(&end, Source::Memory, "threads"), Some(6));
}

#[test]
fn what_nobody_takes_over_is_a_gap_until_the_next_step() {
    let (machine, [_, mut manager, mut one, other], mut prober, start) = started_linux_threads();
    machine.end(&other);
    manager.reaped = 49;
    one.user = 140;
    machine.run(&manager);
    machine.run(&one);
    let period = prober.sample(Moment::Period);
    let end = prober.sample(Moment::End);
    for sample in [&period, &end] {
        assert_eq!(sample.since(&start, &USER), Err(NoDifference::Lost));
        assert!(gaps(sample, Source::Process)[0].contains("took over"));
    }
    let next = prober.sample(Moment::Start);
    assert_eq!(next.value(&USER), Some(189 * tick_ns()));
    assert_eq!(next.gaps, []);
}

#[test]
fn a_process_whose_parent_ended_before_is_lost_when_it_ends() {
    let (machine, [mut first, manager, mut one, other], mut prober, start) =
        started_linux_threads();
    // The parent ends; its children go to process 1 and are still known by their group.
    machine.end(&manager);
    (first.reaped, one.parent) = (1, 1);
    let mut other = other;
    other.parent = 1;
    machine.run(&first);
    machine.run(&one);
    machine.run(&other);
    let period = prober.sample(Moment::Period);
    assert_eq!(period.since(&start, &USER), Ok(tick_ns()));
    machine.end(&one);
    let end = prober.sample(Moment::End);
    assert_eq!(end.since(&start, &USER), Err(NoDifference::Lost));
}

#[test]
fn children_that_lead_groups_of_their_own_belong_to_the_server() {
    let machine = Machine::new();
    let first = Process::new(20);
    let mut child = first.child(7);
    child.group = 7;
    child.user = 3;
    let mut grandchild = child.child(8);
    grandchild.user = 4;
    for process in [&first, &child, &grandchild] {
        machine.run(process);
    }
    let sample = prober(&machine, 20).sample(Moment::Start);
    assert_eq!(sample.value(&USER), Some(7 * tick_ns()));
    // Forked processes have memory of their own, of which they share some.
    assert_eq!(sample.value(&PROPORTIONAL), Some(3 * 80 * 1024));
    assert_eq!(sample.value(&RESIDENT), Some(3 * 80 * 1024));
}

#[test]
fn a_process_that_ends_while_its_files_are_read_is_no_gap() {
    let machine = Machine::new();
    let first = Process::new(20);
    let (ended, mut other) = (first.child(21), first.child(22));
    other.io = 7;
    for process in [&first, &ended, &other] {
        machine.run(process);
    }
    let mut prober = prober(&machine, 20);
    // Its last files go between two readings.
    machine.remove("proc/21/smaps_rollup");
    machine.remove("proc/21/task");
    let start = prober.sample(Moment::Start);
    assert_eq!(start.gaps, []);
    assert_eq!(start.value(&RESIDENT), Some(2 * 80 * 1024));
    assert_eq!(value(&start, Source::Threads, "living_threads"), Some(2));
    let end = prober.sample(Moment::End);
    assert_eq!(value(&end, Source::Threads, "lost_threads"), Some(1));
    // Of one that is there and has no I/O all is unknown.
    machine.remove("proc/21/io");
    let end = prober.sample(Moment::End);
    assert!(gaps(&end, Source::Process)[0].contains("kept ending"));
}

#[test]
fn many_processes_are_read_at_the_edges_only() {
    let machine = Machine::new();
    let first = Process::new(1000);
    machine.run(&first);
    for pid in 1001..1101 {
        machine.run(&first.child(pid));
    }
    let mut prober = prober(&machine, 1000);
    let start = prober.sample(Moment::Start);
    let period = prober.sample(Moment::Period);
    let end = prober.sample(Moment::End);
    assert_eq!(period.value(&USER), None);
    // What else is read of the server keeps its differences.
    assert_eq!(period.value(&IDENTITY), Some(500));
    assert_eq!(end.since(&start, &USER), Ok(0));
}

#[test]
fn what_the_kernel_keeps_to_itself_is_said_with_a_remedy() {
    let error = ProbeError::Read {
        path: "/proc/42/io".into(),
        source: std::io::ErrorKind::PermissionDenied.into(),
    };
    assert!(error.is_denied());
    let reason = io_denied(&error).reason;
    assert!(
        reason.starts_with("read /proc/42/io: permission denied"),
        "{reason}"
    );
    assert!(reason.contains("run Prony as the user"), "{reason}");
}

#[test]
fn a_thread_number_that_is_used_again_is_another_thread() {
    let server = Process::new(42);
    let (machine, mut prober, start) = started(&server);
    let mut younger = server.clone();
    younger.started = 501;
    machine.write("proc/42/task/42/stat", younger.stat());
    machine.write("proc/42/task/42/schedstat", "1000000 20 3\n");
    let end = prober.sample(Moment::End);
    assert_eq!(end.since(&start, &RUN), Err(NoDifference::ThreadsEnded));
    assert_eq!(value(&start, Source::Threads, "lost_threads"), Some(0));
    assert_eq!(value(&end, Source::Threads, "lost_threads"), Some(1));
}

#[test]
fn what_is_absent_is_said_once() {
    let machine = Machine::new();
    machine.run(&Process::new(42));
    machine.remove("proc/42/smaps_rollup");
    machine.remove("proc/42/task/42/schedstat");
    let mut prober = prober(&machine, 42);
    let absences = prober.absences();
    let of = |source| {
        let mut found = absences.iter().filter(move |gap| gap.source == source);
        found
            .next()
            .map(|gap| gap.reason.as_str())
            .unwrap_or_default()
    };
    assert!(of(Source::Memory).contains("Linux 4.14 and later"));
    assert!(of(Source::Threads).contains("CONFIG_SCHED_INFO"));
    assert!(of(Source::Pressure).contains("psi=1"));
    let start = prober.sample(Moment::Start);
    let end = prober.sample(Moment::End);
    assert_eq!(end.gaps, []);
    assert_eq!(end.since(&start, &RUN), Err(NoDifference::NotRead));
    let switches = Counter::new(Source::Threads, "voluntary_switches");
    assert_eq!(end.since(&start, &switches), Ok(0));
}
