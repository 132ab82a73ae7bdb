//! What a shell and its user expect of the command: completion, manual pages, no colours on demand,
//! and quiet on demand.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use support::{EXAMPLE, PRONY, finish, prony, write};

/// The completion script for a shell.
fn script(shell: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["completions", shell]))
        .exits(0)
        .stdout
}

/// The names of the visible commands below a command, as its help lists them.
fn commands(folder: &Path, above: &[&str]) -> Vec<String> {
    let arguments = [above, &["--help"]].concat();
    let help = finish(prony(folder, &arguments)).exits(0).stdout;
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = list.take_while(|line| !line.is_empty());
    let entries = list.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = entries.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// Completes the last word of a command line in bash, as Tab does.
fn completed(words: &[&str]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let script = write(folder.path(), "prony.bash", &script("bash"));
    let words_of_bash = words.join(" ");
    let last = words.len() - 1;
    let program = format!(
        "source {script} && COMP_WORDS=({words_of_bash} '') COMP_CWORD={next} && \
         _prony prony '' {last} && printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script = script.display(),
        next = words.len(),
        last = words[last],
    );
    let mut bash = Command::new("bash");
    bash.args(["--norc", "-c", &program]).current_dir(&folder);
    let offered = finish(bash).exits(0).stdout;
    offered.lines().map(str::to_owned).collect()
}

/// Shells read their scripts; one that is not installed has nothing to say.
#[test]
fn every_shell_accepts_its_script() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let text = script(shell);
        assert!(text.contains("append"), "{shell}");
        let path = write(folder.path(), shell, &text);
        match Command::new(shell).arg(check).arg(&path).status() {
            Ok(status) => assert!(status.success(), "{shell}"),
            Err(error) => assert!(shell != "bash", "bash: {error}"),
        }
    }
}

#[test]
fn bash_completes_commands_and_options_but_not_hidden_ones() {
    let commands = completed(&["prony"]);
    for command in ["run", "report", "servers", "completions"] {
        assert!(commands.iter().any(|offered| offered == command));
    }
    for hidden in ["guard", "generator", "null"] {
        assert!(commands.iter().all(|offered| offered != hidden), "{hidden}");
    }
    assert!(completed(&["prony", "servers"]).contains(&"fetch".to_owned()));
    let options = completed(&["prony", "run"]);
    for option in ["--append", "--quiet"] {
        assert!(options.iter().any(|offered| offered == option), "{option}");
    }
}

#[test]
fn every_visible_command_has_a_manual_page_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    finish(prony(folder.path(), &["man", "--out", "a/man1"])).exits(0);
    let mut expected = BTreeSet::from(["prony.1".to_owned()]);
    for command in commands(folder.path(), &[]) {
        expected.insert(format!("prony-{command}.1"));
        for below in commands(folder.path(), &[&command]) {
            expected.insert(format!("prony-{command}-{below}.1"));
        }
    }
    assert!(expected.contains("prony-servers-list.1"));
    let pages = fs::read_dir(folder.path().join("a/man1")).unwrap();
    let pages: Vec<_> = pages.map(|entry| entry.unwrap().path()).collect();
    let names = pages.iter().map(|page| page.file_name().unwrap());
    let names: BTreeSet<_> = names
        .map(|name| name.to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, expected);
    for page in pages {
        // Where `man` is installed, it has nothing to complain about.
        let mut man = Command::new("man");
        man.args(["--warnings=w", "-E", "UTF-8", "-l"])
            .arg(&page)
            .env("MANWIDTH", "100")
            .env("LC_ALL", "C.UTF-8");
        let Ok(output) = man.output() else { return };
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(complaints, "", "{}", page.display());
        assert!(String::from_utf8_lossy(&output.stdout).contains("NAME"));
    }
}

#[test]
fn one_page_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let page = finish(prony(folder.path(), &["man", "servers", "list"])).exits(0);
    assert!(page.stdout.contains("prony\\-servers\\-list"));
    finish(prony(folder.path(), &["man", "servers", "lisst"]))
        .exits(2)
        .says(&["no command is named `prony servers lisst`", "prony --help"]);
}

/// The second call shows that the first one could fail.
#[test]
fn no_color_turns_colours_off() {
    let folder = tempfile::tempdir().unwrap();
    let is_coloured = |no_color: Option<&str>| {
        let mut command = Command::new(PRONY);
        command
            .args(["report", "--nothing"])
            .current_dir(&folder)
            .env("CLICOLOR_FORCE", "1")
            .env_remove("NO_COLOR");
        command.envs(no_color.map(|value| ("NO_COLOR", value)));
        finish(command).exits(2).stderr.contains('\u{1b}')
    };
    assert!(!is_coloured(Some("1")));
    assert!(is_coloured(None));
}

#[test]
fn quiet_leaves_warnings_and_errors_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "example.toml", EXAMPLE);
    let path = path.to_str().unwrap();
    let said = |arguments: &[&str]| {
        let mut command = prony(folder.path(), arguments);
        command.env("PRONY_CACHE", folder.path().join("cache"));
        finish(command)
    };
    let short = ["calibrate", "--time", "10ms", "--clients", "1"];
    let progress = "calibrating the load generator";
    let loud = said(&short).exits(0).says(&[progress]);
    let quiet = said(&[&["-q"], &short[..]].concat()).exits(0);
    assert!(!quiet.stdout.is_empty());
    assert!(!quiet.stderr.contains(progress));
    // A warning stays.
    let warning = ["the result will not be stored"];
    assert!(quiet.stderr.lines().count() < loud.stderr.lines().count());
    quiet.says(&warning);
    for quiet in ["-q", "--quiet"] {
        let plan = said(&["plan", path, quiet]).exits(0);
        assert_eq!(plan.stderr, "");
        assert!(plan.stdout.contains("Predicted time"));
    }
    let missing = said(&["--quiet", "report", "nothing"]).exits(2);
    missing.says(&["error: nothing is not a run"]);
}
