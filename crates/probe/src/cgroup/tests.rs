//! Groups on recorded machines of either version, and live ones where this machine allows it.

use std::process::{Command, Stdio};

use prony_model::{Collect, Counter, Moment, NoDifference, Sample};

use super::*;
use crate::prober::{Prober, ServerPlace};
use crate::testing::{Machine, Process, gaps, value};

const UNIFIED: &str = "40 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
const LEGACY: &str = "\
41 1 0:31 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct
42 1 0:32 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio
";

/// A machine with mounts, the groups of this program, and the folders of these.
fn machine(mounts: &str, groups: &str, folders: &[&str]) -> Machine {
    let machine = Machine::new();
    let mut own = Process::new(std::process::id());
    own.started = 77;
    machine.run(&own);
    machine.write("proc/self/mountinfo", mounts);
    machine.write("proc/self/cgroup", groups);
    for folder in folders {
        machine.write(&format!("{folder}/cgroup.subtree_control"), "memory\n");
    }
    machine
}

fn unified() -> Machine {
    machine(UNIFIED, "0::/user/1\n", &["sys/fs/cgroup/user/1"])
}

fn legacy() -> Machine {
    let folders = ["sys/fs/cgroup/cpuacct/job", "sys/fs/cgroup/blkio/job"];
    let machine = machine(LEGACY, "3:blkio:/job\n2:cpuacct:/job\n", &folders);
    for (device, below) in [("8:0", None), ("253:0", Some("8:0"))] {
        let slaves = format!("sys/dev/block/{device}/slaves");
        std::fs::create_dir_all(machine.folder().join(&slaves)).unwrap();
        if let Some(below) = below {
            machine.write(&format!("{slaves}/{below}"), "");
        }
    }
    machine
}

/// The group's folder as recorded machines know it.
fn path(group: &Cgroup, index: usize, file: &str) -> String {
    let folder = group.folders[index].to_str().unwrap();
    format!("{}/{file}", folder.trim_start_matches('/'))
}

fn sample(group: &mut Cgroup) -> Sample {
    let mut draft = Draft::default();
    group.sample(&mut draft);
    Sample {
        moment: Moment::Period,
        at_ns: 0,
        took_ns: 0,
        values: draft.values,
        gaps: draft.gaps,
    }
}

#[test]
fn version_2_is_read_with_its_devices() {
    let machine = unified();
    std::fs::create_dir_all(machine.folder().join("sys/dev/block/8:0/slaves")).unwrap();
    machine.write("sys/dev/block/253:0/slaves/sda", "");
    let mut group = Cgroup::create(&machine.root(), "mysql-8.0/1").unwrap();
    let name = group.folders[0].file_name().unwrap().to_str().unwrap();
    assert_eq!(owner(name), Some((std::process::id(), 77)));
    assert!(name.ends_with(".mysql-8-0-1"), "{name}");
    machine.write(
        &path(&group, 0, "cpu.stat"),
        "usage_usec 30\nuser_usec 20\nsystem_usec 10\nnr_periods 0\n",
    );
    machine.write(
        &path(&group, 0, "io.stat"),
        "8:0 rbytes=4096 wbytes=512 rios=2 wios=1 dbytes=9 dios=9\n\
         253:0 rbytes=4096 wbytes=512 rios=2 wios=1 dbytes=9 dios=9\n7:0 \n",
    );
    let sample = sample(&mut group);
    let of = |name| value(&sample, Source::Cgroup, name);
    assert_eq!(of("cpu_ns"), Some(30_000));
    assert_eq!(
        (of("user_ns"), of("system_ns")),
        (Some(20_000), Some(10_000))
    );
    assert_eq!(
        (of("read_bytes"), of("written_bytes")),
        (Some(4096), Some(512))
    );
    assert_eq!((of("reads"), of("writes")), (Some(2), Some(1)));
}

#[test]
fn version_1_is_used_where_there_is_no_other() {
    let machine = legacy();
    let mut group = Cgroup::create(&machine.root(), "x").unwrap();
    assert_eq!((group.layout, group.folders.len()), (Layout::Legacy, 2));
    for (file, text) in [
        ("cpuacct.usage", "30\n"),
        ("cpuacct.usage_user", "20\n"),
        ("cpuacct.usage_sys", "10\n"),
    ] {
        machine.write(&path(&group, 0, file), text);
    }
    let figures = "8:0 Read 4096\n8:0 Write 512\n8:0 Total 4608\n253:0 Read 7\nTotal 4608\n";
    machine.write(&path(&group, 1, "blkio.throttle.io_service_bytes"), figures);
    machine.write(&path(&group, 1, "blkio.throttle.io_serviced"), "Total 0\n");
    let sample = sample(&mut group);
    let of = |name| value(&sample, Source::Cgroup, name);
    assert_eq!((of("cpu_ns"), of("user_ns")), (Some(30), Some(20)));
    assert_eq!(
        (of("read_bytes"), of("written_bytes")),
        (Some(4096), Some(512))
    );
    assert_eq!((of("reads"), of("writes")), (Some(0), Some(0)));
}

#[test]
fn a_group_that_goes_away_or_turns_odd_leaves_a_gap() {
    for text in ["", "usage_usec x\n", "usage_usec 18446744073709551615\n"] {
        let machine = unified();
        let group = Cgroup::create(&machine.root(), "x").unwrap();
        let file = path(&group, 0, "cpu.stat");
        machine.write(&file, "usage_usec 30\n");
        let place = ServerPlace {
            pid: 42,
            data_dir: None,
            cgroup: Some(group),
            counters: None,
        };
        machine.run(&Process::new(42));
        let mut prober = Prober::new(machine.root(), Some(place), &Collect::default());
        let start = prober.sample(Moment::Start);
        machine.write(&file, text);
        let end = prober.sample(Moment::End);
        let cpu = Counter::new(Source::Cgroup, "cpu_ns");
        assert_eq!(end.since(&start, &cpu), Err(NoDifference::Lost));
        assert_eq!(gaps(&end, Source::Cgroup).len(), 1);
    }
}

#[test]
fn a_device_that_goes_away_takes_its_share_along() {
    let machine = unified();
    for device in ["8:0", "8:16"] {
        let slaves = format!("sys/dev/block/{device}/slaves");
        std::fs::create_dir_all(machine.folder().join(slaves)).unwrap();
    }
    let mut group = Cgroup::create(&machine.root(), "x").unwrap();
    machine.write(&path(&group, 0, "cpu.stat"), "usage_usec 30\n");
    let file = path(&group, 0, "io.stat");
    machine.write(&file, "8:0 rbytes=100\n8:16 rbytes=100\n");
    let start = sample(&mut group);
    machine.write(&file, "8:16 rbytes=350\n");
    let end = sample(&mut group);
    let read = Counter::new(Source::Cgroup, "read_bytes");
    assert_eq!(end.since(&start, &read), Err(NoDifference::Lost));
    assert_eq!(gaps(&end, Source::Cgroup).len(), 1);
}

#[test]
fn no_group_is_made_that_would_divide_the_processors() {
    let two = unified();
    two.write(
        "sys/fs/cgroup/user/1/cgroup.subtree_control",
        "cpu io memory\n",
    );
    let error = Cgroup::create(&two.root(), "x").unwrap_err();
    assert!(
        error.to_string().contains("divide the processors"),
        "{error}"
    );
    let mounts = "41 1 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n";
    let one = machine(mounts, "2:cpu,cpuacct:/\n", &["sys/fs/cgroup/cpu"]);
    let error = Cgroup::create(&one.root(), "x").unwrap_err();
    assert!(
        error.to_string().contains("divide the processors"),
        "{error}"
    );
}

#[test]
fn errors_say_what_to_do() {
    let none = machine("", "", &[]);
    let error = Cgroup::create(&none.root(), "x").unwrap_err();
    assert!(
        error.to_string().contains("neither version 2 nor"),
        "{error}"
    );
    let outside = machine(UNIFIED, "0::/../elsewhere\n", &[]);
    let error = Cgroup::create(&outside.root(), "x").unwrap_err();
    assert!(error.to_string().contains("cgroup namespace"), "{error}");
    // What is a file can have no groups, as a group of others can't.
    let denied = unified();
    denied.write("sys/fs/cgroup/user/2", "");
    denied.write("proc/self/cgroup", "0::/user/2\n");
    assert!(Cgroup::create(&denied.root(), "x").is_err());
    let refused = unified();
    let group = Cgroup::create(&refused.root(), "x").unwrap();
    let error = group.add(42).unwrap_err();
    assert!(error.to_string().contains("Delegate=yes"), "{error}");
}

#[test]
fn groups_of_the_dead_are_swept_away() {
    let machine = unified();
    let mut living = Process::new(900);
    living.started = 5;
    machine.run(&living);
    let parent = machine.folder().join("sys/fs/cgroup/user/1");
    let names = [
        "prony.899.5.0.gone",
        "prony.900.4.0.number-used-again",
        "prony.900.5.0.living",
        "prony.odd",
        "other",
    ];
    for name in names {
        std::fs::create_dir(parent.join(name)).unwrap();
    }
    let group = Cgroup::create(&machine.root(), "x").unwrap();
    let left: Vec<_> = names
        .into_iter()
        .filter(|name| parent.join(name).exists())
        .collect();
    assert_eq!(left, ["prony.900.5.0.living", "prony.odd", "other"]);
    let own = machine.root().path(&group.folders[0]);
    assert!(own.exists());
    drop(group);
    assert!(!own.exists());
}

/// On machines that allow groups: the usage of a process and its child is counted, and the group is
/// gone afterwards. Both versions are tried, whichever comes first for servers.
#[test]
fn counts_what_a_process_and_its_children_use() {
    let root = Root::live();
    let place = Place::find(&root).unwrap();
    let name = folder_name(&root, "test").unwrap();
    let make = |layout, parents: &[PathBuf]| Cgroup::make(&root, layout, parents, &name);
    let unified = place
        .unified(&root)
        .and_then(|parent| make(Layout::Unified, &[parent]));
    let legacy = place
        .legacy(&root)
        .and_then(|parents| make(Layout::Legacy, &parents));
    for group in [unified, legacy] {
        match group {
            Ok(group) => count_in(group),
            Err(error) => println!("skipped: {error}"),
        }
    }
}

fn count_in(mut group: Cgroup) {
    let folders: Vec<_> = group.folders.clone();
    let work = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done";
    let mut child = Command::new("sh")
        .args(["-c", &format!("read go; ({work}) & wait")])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    if let Err(error) = group.add(child.id()) {
        child.kill().unwrap();
        child.wait().unwrap();
        return println!("skipped: {error}");
    }
    let before = sample(&mut group);
    io::Write::write_all(&mut child.stdin.take().unwrap(), b"go\n").unwrap();
    child.wait().unwrap();
    let after = sample(&mut group);
    let used = |name| {
        let counter = Counter::new(Source::Cgroup, name);
        after.since(&before, &counter).unwrap()
    };
    assert!(used("cpu_ns") > 1_000_000);
    assert!(used("user_ns") + used("system_ns") > 1_000_000);
    println!(
        "{:?}: {} ns, {:?}",
        group.layout,
        used("cpu_ns"),
        after.values
    );
    drop(group);
    for folder in folders {
        assert!(!folder.exists());
    }
}
