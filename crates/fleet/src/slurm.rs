//! Slurm, by its commands.

use std::process::Command;

use crate::engine::{Engine, Request, TaskState};
use crate::error::FleetError;

/// Seconds before the time limit at which a part is asked to stop and to deliver what it has.
const SIGNAL_S: u32 = 120;

/// The variables that tasks get. All others are those of the submitting shell and none of theirs.
const EXPORTED: &str = "HOME,PATH,PRONY_CACHE,SLURM_CONF,XDG_CACHE_HOME,XDG_CONFIG_HOME";

/// Slurm, by its commands `sbatch` and `squeue` on the path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slurm;

impl Engine for Slurm {
    fn submit(&self, request: &Request<'_>) -> Result<String, FleetError> {
        let answer = run("submit the parts", &mut array(request))?;
        // With several clusters, `sbatch --parsable` answers `ID;CLUSTER`.
        let job = answer
            .split(';')
            .next()
            .unwrap_or_default()
            .trim()
            .to_owned();
        run("submit the collection", &mut collection(request, &job))?;
        Ok(job)
    }

    fn states(&self, job: &str) -> Result<Vec<TaskState>, FleetError> {
        let mut squeue = Command::new("squeue");
        squeue.args(["-h", "-r", "-j", job, "-o", "%K|%T|%N|%r"]);
        match run("ask for the jobs", &mut squeue) {
            Ok(text) => Ok(text.lines().filter_map(state).collect()),
            // A job that ended some minutes ago is forgotten.
            Err(FleetError::Engine { answer, .. }) if answer.contains("Invalid job id") => {
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }
}

/// The array of parts: each alone on its host, again where a host dies.
fn array(request: &Request<'_>) -> Command {
    let last = request.round.groups.len().saturating_sub(1);
    let max_jobs = request.round.max_jobs;
    let max_jobs = max_jobs.map_or_else(String::new, |tasks| format!("%{tasks}"));
    let jobs = request.folder.jobs();
    let number = request.round.number;
    let mut sbatch = Command::new("sbatch");
    sbatch
        .args(["--parsable", "-N1", "--exclusive", "--mem=0", "--requeue"])
        .arg("--open-mode=append")
        .arg(format!("--array=0-{last}{max_jobs}"))
        .arg(format!("--time={}", request.limit_minutes))
        .arg(format!("--signal=B:TERM@{SIGNAL_S}"))
        .arg(format!("--export={EXPORTED}"))
        .arg(format!("--output={}/{number}-%a.out", jobs.display()))
        .arg(format!("--job-name=prony-{}", request.name))
        // Later options win, so that the user has the last word.
        .args(&request.round.options)
        .arg(request.script);
    sbatch
}

/// The last job: after all parts, however they ended.
fn collection(request: &Request<'_>, job: &str) -> Command {
    let (folder, jobs) = (request.folder, request.folder.jobs());
    let mut sbatch = Command::new("sbatch");
    let options = request.round.options.iter();
    let partition = options.filter(|option| option.starts_with("--partition"));
    sbatch
        .args(["--parsable", "-n1", "--kill-on-invalid-dep=yes"])
        .arg(format!("--dependency=afterany:{job}"))
        .arg(format!("--export={EXPORTED}"))
        .arg(format!("--output={}/collect.out", jobs.display()))
        .arg("--open-mode=append")
        .arg(format!("--job-name=prony-{}-collect", request.name))
        .args(partition)
        .arg("--wrap")
        .arg(format!(
            "exec {} collect {}",
            quoted(&folder.program().display().to_string()),
            quoted(&folder.path().display().to_string())
        ));
    sbatch
}

/// A word of a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn state(line: &str) -> Option<TaskState> {
    let mut fields = line.split('|');
    let task = fields.next()?.trim().parse().ok()?;
    let mut field = || fields.next().unwrap_or_default().trim().to_owned();
    Some(TaskState {
        task,
        state: field(),
        host_name: field(),
        reason: field(),
    })
}

fn run(action: &'static str, command: &mut Command) -> Result<String, FleetError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let failed = |answer: String| FleetError::Engine {
        action,
        command: name.clone(),
        answer,
    };
    let output = command
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(failed(text(&output.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::RunFolder;
    use crate::round::{Round, groups};

    #[test]
    fn the_answers_of_squeue() {
        let text = "0|RUNNING|n1|None\n1|PENDING||Resources\n2|COMPLETING|n2|None\n\nN/A|x|y|z\n";
        let states: Vec<_> = text.lines().filter_map(state).collect();
        let words: Vec<_> = states
            .iter()
            .map(|it| {
                (
                    it.task,
                    it.state.as_str(),
                    it.host_name.as_str(),
                    it.reason.as_str(),
                )
            })
            .collect();
        let expected = [
            (0, "RUNNING", "n1", "None"),
            (1, "PENDING", "", "Resources"),
            (2, "COMPLETING", "n2", "None"),
        ];
        assert_eq!(words, expected);
    }

    #[test]
    fn the_users_options_come_last_and_nothing_else_travels() {
        let folder = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(folder.path()).unwrap();
        let round = Round {
            number: 1,
            engine: "slurm".into(),
            job: None,
            groups: groups(&[0, 1, 2], 1),
            options: vec!["--partition=bench".into(), "--time=5".into()],
            blocks_per_job: 1,
            max_jobs: Some(2),
        };
        let script = folder.path().join("job.sh");
        let request = Request {
            folder: &folder,
            name: "x",
            round: &round,
            limit_minutes: 17,
            script: &script,
        };
        let words = |command: &Command| -> Vec<String> {
            let arguments = command.get_args();
            arguments
                .map(|word| word.to_string_lossy().into_owned())
                .collect()
        };
        let parts = words(&array(&request));
        let at = |word: &str| parts.iter().position(|found| found == word);
        assert!(at("--array=0-2%2").is_some() && at("--exclusive").is_some());
        assert!(at("--time=17") < at("--time=5"));
        assert_eq!(parts.last().map(String::as_str), script.to_str());
        let last = words(&collection(&request, "12"));
        assert!(last.contains(&"--dependency=afterany:12".to_owned()));
        assert!(last.contains(&"--partition=bench".to_owned()));
        assert!(!last.contains(&"--time=5".to_owned()));
    }

    #[test]
    fn a_word_of_a_shell() {
        assert_eq!(quoted("a b's"), r"'a b'\''s'");
    }
}
