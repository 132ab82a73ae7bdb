//! What a user is told where a result file can't be written or read: a full disk, a folder that
//! can't be written to, a file that is in use, cut short or damaged. No server is needed: the run
//! that is used ends because its build can't be fetched.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use support::{EXAMPLE, Finished, PRONY, finish, prony, workspace, write};
use tempfile::TempDir;

/// A run that has begun and is without any trial.
struct Begun {
    folder: TempDir,
    run: PathBuf,
}

/// A command that finds no client to fetch builds with, and builds nowhere else.
fn poor(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = prony(folder, arguments);
    command
        .env("PATH", folder.join("nothing"))
        .env("PRONY_CACHE", folder.join("cache"));
    command
}

impl Begun {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "example.toml", EXAMPLE);
        finish(poor(folder.path(), &["run", "example.toml"])).exits(4);
        let mut runs = fs::read_dir(folder.path().join("runs")).unwrap();
        let run = runs.next().unwrap().unwrap().path();
        Self { folder, run }
    }

    fn file(&self) -> PathBuf {
        self.run.join("run.sqlite")
    }

    /// `prony COMMAND` on the run.
    fn prony(&self, command: &str) -> Finished {
        let arguments = [command, self.run.to_str().unwrap()];
        finish(poor(self.folder.path(), &arguments))
    }
}

#[test]
fn a_run_keeps_the_files_that_the_user_wrote_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("mine")).unwrap();
    let experiment = format!("# Ours.\r\n{EXAMPLE}\n[profile.small]\ndataset.rows = 10\n\n");
    write(path, "mine/example.toml", &experiment);
    let own = "[[workload]]\nname = \"own\"\ngroup = \"point\"\neffect = \"none\"\n\
               description = \"One row\"\n\n\
               [[workload.statement]]\nname = \"one\"\n\
               sql = \"SELECT c FROM {table} WHERE id = 1\"\n";
    write(path, "own.toml", own);
    let arguments = "run mine/example.toml --workloads own.toml --profile small";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    finish(poor(path, &arguments)).exits(4);
    let mut runs = fs::read_dir(path.join("runs")).unwrap();
    let run = runs.next().unwrap().unwrap().path();
    let report = |option| finish(poor(path, &["report", run.to_str().unwrap(), option]));
    fs::remove_dir_all(path.join("mine")).unwrap();
    assert_eq!(report("--experiment").exits(0).stdout, experiment);
    assert_eq!(report("--experiment=own.toml").exits(0).stdout, own);
    report("--experiment=other.toml")
        .exits(2)
        .says(&["other.toml", "its files are example.toml, own.toml"]);
    let page = report("--format=html").exits(0).stdout;
    let command = "prony run example.toml --profile small --workloads own.toml";
    assert!(page.contains(command));
}

#[test]
fn the_schema_of_reports_needs_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let schema = finish(poor(folder.path(), &["report", "--schema"])).exits(0);
    let published = workspace().join("docs/formats/report.schema.json");
    assert_eq!(schema.stdout, fs::read_to_string(published).unwrap());
    finish(poor(folder.path(), &["report"]))
        .exits(2)
        .says(&["<RUN>"]);
    finish(poor(folder.path(), &["report", "x", "--schema"])).exits(2);
}

/// Runs `script` where a small file system can be mounted: in a mount namespace of its own, which ends
/// with it. `None`, with the reason on standard error, where the host does not let us.
fn in_own_mounts(folder: &Path, script: &str) -> Option<Finished> {
    let spaces: &[&str] = if rustix::process::geteuid().is_root() {
        &["--mount"]
    } else {
        &["--user", "--map-root-user", "--mount"]
    };
    let allowed = Command::new("unshare")
        .args(spaces)
        .args(["sh", "-c", "mount -t tmpfs tmpfs /mnt"])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if !allowed {
        eprintln!("left out: this host does not let us mount a file system in a namespace");
        return None;
    }
    let mut command = Command::new("unshare");
    command
        .args(spaces)
        .args(["sh", "-ec", script])
        .current_dir(folder)
        .env("PRONY", PRONY)
        .env("NO_COLOR", "1")
        .env("PRONY_CACHE", folder.join("cache"))
        .stdin(Stdio::null());
    Some(finish(command))
}

#[test]
fn a_disk_too_small_for_a_new_run() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "example.toml", EXAMPLE);
    fs::create_dir(folder.path().join("small")).unwrap();
    let script =
        "mount -t tmpfs -o size=64k tmpfs small; exec $PRONY run example.toml --runs small";
    let Some(finished) = in_own_mounts(folder.path(), script) else {
        return;
    };
    finished
        .exits(5)
        .says(&["small/example-", "run.sqlite", "disk", "full", "free"]);
}

#[test]
fn a_disk_that_is_full_when_a_run_goes_on() {
    let begun = Begun::new();
    let folder = begun.folder.path();
    fs::create_dir(folder.join("small")).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m tmpfs small
         cp -r {run} small/run
         dd if=/dev/zero of=small/rest bs=1k 2>/dev/null || true
         exec $PRONY resume small/run",
        run = begun.run.display()
    );
    let Some(finished) = in_own_mounts(folder, &script) else {
        return;
    };
    finished.exits(2).says(&[
        "small/run/run.sqlite",
        "disk",
        "full",
        "free space",
        "prony resume",
    ]);
}

#[test]
fn a_folder_that_can_not_be_written_to() {
    let begun = Begun::new();
    let folder = begun.folder.path();
    fs::create_dir(folder.join("sealed")).unwrap();
    let script = "mount -t tmpfs -o ro tmpfs sealed; exec $PRONY run example.toml --runs sealed";
    let Some(finished) = in_own_mounts(folder, script) else {
        return;
    };
    finished
        .exits(5)
        .says(&["sealed", "Read-only file system", "--runs"]);
}

#[test]
fn a_report_of_a_folder_that_can_not_be_written_to() {
    let begun = Begun::new();
    let folder = begun.folder.path();
    fs::create_dir(folder.join("sealed")).unwrap();
    let script = format!(
        "mount -t tmpfs tmpfs sealed; cp -r {run} sealed/run; mount -o remount,ro sealed
         exec $PRONY report sealed/run",
        run = begun.run.display()
    );
    let Some(finished) = in_own_mounts(folder, &script) else {
        return;
    };
    finished
        .exits(2)
        .says(&["sealed/run/run.sqlite", "make", "writable", "or copy it"]);
}

#[test]
fn a_run_that_is_in_use() {
    let begun = Begun::new();
    let lock = fs::File::open(begun.run.join("run.sqlite.lock")).unwrap();
    lock.lock().unwrap();
    begun
        .prony("resume")
        .exits(2)
        .says(&["run.sqlite", "is in use", "wait"]);
}

#[test]
fn a_file_that_was_cut_short() {
    let begun = Begun::new();
    let whole = fs::read(begun.file()).unwrap();
    for length in [50, 99, 2_000, 4_096, whole.len() / 2, whole.len() - 1] {
        fs::write(begun.file(), &whole[..length]).unwrap();
        begun
            .prony("report")
            .exits(2)
            .says(&["run.sqlite", "cut short", "restore it from a copy"]);
    }
    fs::write(begun.file(), "").unwrap();
    begun
        .prony("report")
        .exits(2)
        .says(&["run.sqlite", "before it began", "delete its folder"]);
}

#[test]
fn a_damaged_file() {
    let begun = Begun::new();
    let mut bytes = fs::read(begun.file()).unwrap();
    let length = bytes.len();
    bytes[200..length].fill(0x5a);
    fs::write(begun.file(), &bytes).unwrap();
    begun
        .prony("report")
        .exits(2)
        .says(&["run.sqlite", "damaged", "restore it from a copy"]);
    fs::write(begun.file(), "this is a letter to a friend\n".repeat(100)).unwrap();
    begun
        .prony("report")
        .exits(2)
        .says(&["run.sqlite", "not a result file"]);
}
