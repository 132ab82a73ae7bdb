//! Whatever a file holds, reading it neither panics nor makes up a number.

use prony_model::{Collect, Counter, Moment, Sample, Source};
use proptest::prelude::*;

use crate::host::HostFacts;
use crate::prober::{Prober, ServerPlace};
use crate::process::{ProcessSample, resident_peak_bytes, thread_cpu_ns};
use crate::testing::{Machine, Process};
use crate::{Cgroup, ThreadsSample};

/// Every file that is read for a sample, as it is when the machine has been busy for `work` units.
fn files(work: u64) -> Vec<(&'static str, String)> {
    let mut server = Process::new(42);
    (server.user, server.system, server.reaped) = (100 + work, 200 + work, work);
    let numbers: Vec<String> = (10..27)
        .map(|number| (number * 37 + work).to_string())
        .collect();
    let total = 1000 + work;
    let both = format!("some avg10=0.00 total={total}\nfull avg10=0.00 total={total}\n");
    let io = [
        "rchar",
        "wchar",
        "syscr",
        "syscw",
        "read_bytes",
        "write_bytes",
    ];
    vec![
        ("proc/42/stat", server.stat()),
        (
            "proc/42/io",
            io.map(|name| format!("{name}: {total}\n")).concat(),
        ),
        (
            "proc/42/smaps_rollup",
            "Pss: 80 kB\nAnonHugePages: 40 kB\n".into(),
        ),
        ("proc/42/task/42/stat", server.stat()),
        (
            "proc/42/task/42/status",
            format!("voluntary_ctxt_switches: {total}\nnonvoluntary_ctxt_switches: {total}\n"),
        ),
        (
            "proc/42/task/42/schedstat",
            format!("{total} {total} {total}\n"),
        ),
        (
            "proc/stat",
            format!("cpu  {total} 1 20 500 3 2 1 {total} 0 0\ncpu0 1\n"),
        ),
        ("proc/pressure/cpu", both.clone()),
        ("proc/pressure/io", both.clone()),
        ("proc/pressure/memory", both),
        ("sys/dev/block/8:1/stat", format!("{}\n", numbers.join(" "))),
        (
            "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
            format!("{total}\n"),
        ),
        (
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
            format!("{total}\n"),
        ),
        (
            "proc/self/mountinfo",
            "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n40 1 0:30 / /cg rw - cgroup2 c rw\n".into(),
        ),
        ("proc/self/cgroup", "0::/\n".into()),
        ("cg/cgroup.subtree_control", "\n".into()),
        ("proc/cpuinfo", "model name: x\nflags: hypervisor\n".into()),
        ("proc/meminfo", "MemTotal: 12 kB\n".into()),
        ("proc/42/status", "VmHWM: 12 kB\n".into()),
        ("proc/42/schedstat", "1 2 3\n".into()),
    ]
}

/// Number of the files, from the first on, that are read at every sample.
const SAMPLED: usize = 13;

const GROUP_FILES: [&str; 2] = ["cpu.stat", "io.stat"];

fn group_file(file: &str, work: u64) -> String {
    match file {
        "cpu.stat" => format!("usage_usec {work}7\nuser_usec {work}5\nsystem_usec {work}2\n"),
        _ => format!("8:0 rbytes={work}4 wbytes={work}5 rios={work}6 wios={work}7\n"),
    }
}

/// A machine with a server, and the folder of a control group on it.
fn machine() -> (Machine, Prober, String) {
    let machine = Machine::new();
    machine.run(&Process::new(std::process::id()));
    for (path, text) in files(0) {
        machine.write(path, text);
    }
    std::fs::create_dir_all(machine.folder().join("sys/dev/block/8:0/slaves")).unwrap();
    let cgroup = Cgroup::create(&machine.root(), "x").unwrap();
    let folder = cgroup
        .folder()
        .strip_prefix("/")
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    for file in GROUP_FILES {
        machine.write(&format!("{folder}/{file}"), group_file(file, 1));
    }
    let place = ServerPlace {
        pid: 42,
        data_dir: Some("/data".into()),
        cgroup: Some(cgroup),
        counters: None,
    };
    let prober = Prober::new(machine.root(), Some(place), &Collect::default());
    (machine, prober, folder)
}

fn counters(samples: [&Sample; 2]) -> Vec<Counter> {
    let all = samples.into_iter().flat_map(|sample| sample.values.keys());
    let own = |counter: &&Counter| counter.source != Source::Lab;
    all.filter(own).cloned().collect()
}

/// Reads everything that can be read.
fn read_all(machine: &Machine, prober: &mut Prober) {
    let root = machine.root();
    prober.sample(Moment::Period);
    prober.sample(Moment::End);
    HostFacts::read(&root);
    let _ = ProcessSample::take(&root, 42);
    let _ = ThreadsSample::take(&root, 42);
    let _ = resident_peak_bytes(&root, 42);
    let _ = thread_cpu_ns(&root, 42);
    let _ = Cgroup::create(&root, "y");
    let place = ServerPlace {
        pid: 42,
        data_dir: Some("/data".into()),
        cgroup: None,
        counters: None,
    };
    Prober::new(root, Some(place), &Collect::default()).sample(Moment::Start);
}

/// Text that looks like what the kernel writes, and any other.
fn odd_text() -> impl Strategy<Value = Vec<u8>> {
    let looks_right = "([a-z_]{1,6}[:=( )]{0,2}-?[0-9]{0,22}[ \n]){0,40}";
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200),
        looks_right.prop_map(String::into_bytes),
    ]
}

#[test]
fn every_counter_is_documented() {
    let (_machine, mut prober, _) = machine();
    let readings = include_str!("../../../../docs/readings.md");
    let sample = prober.sample(Moment::End);
    assert!(sample.values.len() > 50, "{}", sample.values.len());
    for Counter { source, name } in sample.values.keys() {
        let (_, section) = readings.split_once(&format!("\n## {source}\n")).unwrap();
        let section = section.split("\n## ").next().unwrap_or_default();
        assert!(section.contains(&format!("`{name}`")), "{source}.{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Odd text in any file: nothing panics.
    #[test]
    fn nothing_panics(at in 0_usize..22, text in odd_text(), line_break in any::<bool>()) {
        let (machine, mut prober, folder) = machine();
        prober.sample(Moment::Start);
        let mut text = text;
        if line_break {
            text.push(b'\n');
        }
        let path = match files(0).get(at) {
            Some((path, _)) => (*path).to_owned(),
            None => format!("{folder}/{}", GROUP_FILES[at - files(0).len()]),
        };
        machine.write(&path, text);
        read_all(&machine, &mut prober);
    }

    /// Numbers of any size in a line of any file: nothing panics.
    #[test]
    fn no_number_is_too_large(at in 0_usize..20, number in prop_oneof![Just(u64::MAX), any::<u64>()]) {
        let (machine, mut prober, _) = machine();
        prober.sample(Moment::Start);
        let (path, text) = files(0).swap_remove(at);
        let numbers = |word: &str| match word.parse::<u64>() {
            Ok(_) => number.to_string(),
            Err(_) => word.to_owned(),
        };
        let lines = text.lines().map(|line| line.split(' ').map(numbers).collect::<Vec<_>>().join(" "));
        machine.write(path, lines.map(|line| line + "\n").collect::<String>());
        read_all(&machine, &mut prober);
    }

    /// A file cut off anywhere: each counter grew by what it did, or there is no difference.
    #[test]
    fn what_is_cut_off_is_no_number(at in 0_usize..15, work in 1_u64..10_000, cut_at in any::<prop::sample::Index>()) {
        let (whole, mut prober_of_whole, whole_folder) = machine();
        let (cut, mut prober_of_cut, cut_folder) = machine();
        let begun = [prober_of_whole.sample(Moment::Start), prober_of_cut.sample(Moment::Start)];
        let group = |folder: &str, file: &str| format!("{folder}/{file}");
        for (machine, folder) in [(&whole, &whole_folder), (&cut, &cut_folder)] {
            for (path, text) in files(work) {
                machine.write(path, text);
            }
            for file in GROUP_FILES {
                machine.write(&group(folder, file), group_file(file, work));
            }
        }
        let (path, text) = if at < SAMPLED {
            let (path, text) = files(work).swap_remove(at);
            (path.to_owned(), text)
        } else {
            let file = GROUP_FILES[at - SAMPLED];
            (group(&cut_folder, file), group_file(file, work))
        };
        let length = cut_at.index(text.len());
        cut.write(&path, &text[..length]);
        let ended = [prober_of_whole.sample(Moment::End), prober_of_cut.sample(Moment::End)];
        let user = Counter::new(Source::Process, "user_ns");
        prop_assert!(ended[0].since(&begun[0], &user).is_ok_and(|growth| growth > 0));
        for counter in counters([&ended[0], &ended[1]]) {
            if let Ok(growth) = ended[1].since(&begun[1], &counter) {
                prop_assert_eq!(ended[0].since(&begun[0], &counter), Ok(growth), "{}", counter);
            }
        }
    }
}
