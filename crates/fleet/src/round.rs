//! Rounds: what was handed to an engine at once.

use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{At as _, FleetError};
use crate::folder::{RunFolder, files, write_whole};

/// Attempts that an engine may make in one round: those of the next round have higher numbers.
const ATTEMPTS: u32 = 1000;

/// What was handed to an engine at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Its number, from 0.
    pub number: u32,
    /// The engine, as `--to` names it.
    pub engine: String,
    /// The engine's name for its jobs; `None` before the engine has taken it.
    pub job: Option<String>,
    /// The blocks of each task, counted from 0.
    pub groups: Vec<Vec<u32>>,
    /// The choices of the user for it, which a further round takes over.
    pub options: Vec<String>,
    /// Maximum number of blocks in a task.
    pub blocks_per_job: u32,
    /// Maximum number of tasks at a time.
    pub max_jobs: Option<u32>,
}

impl Round {
    /// The next round of a run.
    ///
    /// # Errors
    /// When earlier ones can't be read.
    pub fn next_number(folder: &RunFolder) -> Result<u32, FleetError> {
        let last = Self::all(folder)?.pop();
        Ok(last.map_or(0, |round| round.number + 1))
    }

    /// All rounds of a run, oldest first.
    ///
    /// # Errors
    /// When one can't be read.
    pub fn all(folder: &RunFolder) -> Result<Vec<Self>, FleetError> {
        let mut rounds = Vec::new();
        for path in files(&folder.jobs(), "json")? {
            let text = fs::read_to_string(&path).at("read", &path)?;
            let round: Self = serde_json::from_str(&text).map_err(|error| FleetError::Invalid {
                path,
                problem: error.to_string(),
            })?;
            rounds.push(round);
        }
        rounds.sort_by_key(|round| round.number);
        Ok(rounds)
    }

    /// The round with this number.
    ///
    /// # Errors
    /// When there is none.
    pub fn read(folder: &RunFolder, number: u32) -> Result<Self, FleetError> {
        let mut rounds = Self::all(folder)?;
        rounds.retain(|round| round.number == number);
        rounds.pop().ok_or_else(|| FleetError::Invalid {
            path: Self::path(folder, number),
            problem: "there is no such round".to_owned(),
        })
    }

    /// Keeps it in the folder of the run.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn keep(&self, folder: &RunFolder) -> Result<(), FleetError> {
        let path = Self::path(folder, self.number);
        let text = serde_json::to_vec(self).unwrap_or_default();
        write_whole(&path, &text)
    }

    /// The number of the attempt that the engine makes for the `restarts`-th time again.
    pub const fn attempt(&self, restarts: u32) -> u32 {
        self.number * ATTEMPTS + restarts
    }

    fn path(folder: &RunFolder, number: u32) -> PathBuf {
        folder.jobs().join(format!("{number:04}.json"))
    }
}

/// Blocks in groups of at most this many.
pub fn groups(blocks: &[u32], per_group: u32) -> Vec<Vec<u32>> {
    let per_group = usize::try_from(per_group.max(1)).unwrap_or(usize::MAX);
    blocks.chunks(per_group).map(<[u32]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_kept_in_their_order_and_their_attempts_grow() {
        let folder = tempfile::tempdir().unwrap();
        let folder = RunFolder::create(folder.path()).unwrap();
        for number in [0, 1] {
            assert_eq!(Round::next_number(&folder).unwrap(), number);
            let round = Round {
                number,
                engine: "slurm".into(),
                job: None,
                groups: groups(&[0, 1, 4], 2),
                options: Vec::new(),
                blocks_per_job: 2,
                max_jobs: None,
            };
            round.keep(&folder).unwrap();
            assert_eq!(Round::read(&folder, number).unwrap(), round);
            assert_eq!(round.groups, [vec![0, 1], vec![4]]);
            assert_eq!(round.attempt(2), number * 1000 + 2);
        }
        assert!(Round::read(&folder, 7).is_err());
    }
}
