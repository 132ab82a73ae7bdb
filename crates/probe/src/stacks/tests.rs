use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use super::*;
use crate::clock::process_cpu_ns;
use crate::root::Root;

/// Works until it is told to stop.
#[inline(never)]
fn work(stop: &AtomicBool, sum: &AtomicU64) {
    while !stop.load(Ordering::Relaxed) {
        sum.fetch_add(1, Ordering::Relaxed);
    }
}

/// This needs the right to sample all processors, or that to sample own threads, which every system that
/// runs the tests gives.
#[test]
fn a_busy_thread_and_a_waiting_one_are_found() {
    let root = Root::live();
    let stop = AtomicBool::new(false);
    let sum = AtomicU64::new(0);
    let pid = std::process::id();
    let events = StackEvents::open(&root, pid, 997).unwrap();
    let reach = events.reach();
    let (samples, used_ns) = std::thread::scope(|scope| {
        let (waker, waits) = std::sync::mpsc::channel::<()>();
        scope.spawn(|| work(&stop, &sum));
        scope.spawn(move || waits.recv());
        let running = StackSampler::begin(StackReading::new(&root, pid), events).unwrap();
        let (begun, used) = (Instant::now(), process_cpu_ns(&root, pid).unwrap());
        std::thread::sleep(Duration::from_millis(500));
        let (_, samples) = running.end().unwrap();
        let used = process_cpu_ns(&root, pid).unwrap() - used;
        assert!(begun.elapsed() >= Duration::from_millis(500));
        stop.store(true, Ordering::Relaxed);
        drop(waker);
        (samples, used)
    });
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let index = samples.objects.iter().position(|path| path == program);
    let index = u32::try_from(index.unwrap()).unwrap();
    let of_program = |stack: &&Stack| {
        let mut objects = stack.frames.iter().map(|frame| frame.object);
        objects.next() == Some(Some(index)) && stack.is_whole
    };
    let found: u64 = samples
        .stacks
        .iter()
        .filter(|(stack, _)| of_program(stack))
        .map(|(_, count)| count)
        .sum();
    assert!(found > 20, "{reach:?}: {found} of {:?}", samples.stacks);
    assert!(samples.whole * 100 >= (samples.whole + samples.cut) * 98);
    // Other tests run in this process too, beginning and ending threads.
    let ratio = samples.period_ns as f64 / used_ns as f64;
    assert!((0.5..1.5).contains(&ratio), "{ratio}");
    let waiting = samples
        .waits
        .keys()
        .any(|(_, place)| place.contains("futex"));
    assert!(waiting, "{:?}", samples.waits);
}
