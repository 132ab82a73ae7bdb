//! Whether a part belongs to the run, and what is in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _};

use crate::header;
use crate::parts::{PartRow, read_part};
use crate::schema::CURRENT;

/// A part that belongs to the run.
pub(super) struct Accepted {
    pub(super) path: PathBuf,
    /// Name of its file.
    pub(super) name: String,
    pub(super) row: PartRow,
    /// Number of planned trials that ended as done or failed, of every block with any trial.
    pub(super) ended: BTreeMap<u32, usize>,
    /// When its first trial began, by its own clock.
    pub(super) began_at: Option<String>,
    /// When it ended in good order.
    pub(super) ended_at: Option<String>,
}

/// What all parts must have in common, as the first one has it.
#[derive(Default)]
pub(super) struct Common {
    /// The value by what it is.
    known: BTreeMap<String, (String, String)>,
}

/// What the parts of a run must have in common, and the query that tells it.
const COMMON: [(&str, &str); 2] = [
    (
        "backend",
        "SELECT 'backend', backend FROM part.run WHERE backend IS NOT NULL",
    ),
    (
        "placement",
        "SELECT 'placement', json_extract(default_placement, '$.rule') FROM part.run
         WHERE default_placement IS NOT NULL",
    ),
];

/// The builds of the targets, which all parts must have in common too.
const BUILDS: &str = "SELECT 'build of ' || name, build_hash FROM part.target
     WHERE build_hash IS NOT NULL ORDER BY id";

/// Reads what decides whether a part is merged, or the reason against it.
pub(super) fn examine(
    connection: &Connection,
    (path, name): (&Path, &str),
    common: &mut Common,
) -> Result<Accepted, String> {
    header::check_length(path).map_err(|error| format!("it is damaged: {error}"))?;
    let damaged = |error: rusqlite::Error| format!("it is damaged: {error}");
    attach(connection, path).map_err(damaged)?;
    let examined = examine_attached(connection, (path, name), common);
    let detached = connection.execute_batch("DETACH part").map_err(damaged);
    let accepted = examined?;
    detached?;
    Ok(accepted)
}

/// Attaches a part as `part`. Nobody writes to it any more, so that nothing is locked: it may be on a
/// file system whose locks can't be trusted.
pub(super) fn attach(connection: &Connection, path: &Path) -> rusqlite::Result<()> {
    let path = path.to_string_lossy();
    let path = path
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    let uri = format!("file:{path}?mode=ro&immutable=1");
    connection.execute("ATTACH ?1 AS part", [uri]).map(drop)
}

fn examine_attached(
    connection: &Connection,
    (path, name): (&Path, &str),
    common: &mut Common,
) -> Result<Accepted, String> {
    let damaged = |error: rusqlite::Error| format!("it is damaged: {error}");
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    if number("PRAGMA part.application_id").map_err(damaged)? != header::APPLICATION_ID {
        return Err("it is not a result file of Prony".to_owned());
    }
    let version = number("PRAGMA part.user_version").map_err(damaged)?;
    if version != CURRENT {
        return Err(format!(
            "another version of Prony made it: its schema has version {version}, this Prony writes \
             version {CURRENT}"
        ));
    }
    let check = "PRAGMA part.quick_check(1)";
    let check: String = connection
        .query_row(check, [], |row| row.get(0))
        .map_err(damaged)?;
    if check != "ok" {
        return Err(format!("it is damaged: {check}"));
    }
    let same = "SELECT mine.run_uuid IS its.run_uuid AND mine.plan = its.plan
         FROM main.run AS mine, part.run AS its";
    if number(same).map_err(damaged)? == 0 {
        return Err("it is of another run".to_owned());
    }
    let row = "SELECT name, host_name, attempt, job, prony_build, blocks, used FROM part.part";
    let row = connection.query_row(row, [], read_part).optional();
    let row = row.map_err(damaged)?;
    let row = row.ok_or_else(|| "it is no part of a run".to_owned())?;
    let build = "SELECT prony_build FROM main.run";
    let build: String = connection
        .query_row(build, [], |row| row.get(0))
        .map_err(damaged)?;
    if row.prony_build != build {
        return Err(format!(
            "another build of Prony measured it: {}, and the run was submitted with {build}",
            row.prony_build
        ));
    }
    common.compare(connection, name)?;
    let ended = ended(connection).map_err(damaged)?;
    let text = |sql| connection.query_row(sql, [], |row| row.get::<_, Option<String>>(0));
    Ok(Accepted {
        path: path.to_owned(),
        name: name.to_owned(),
        row,
        ended,
        began_at: text("SELECT min(began_at) FROM part.trial").map_err(damaged)?,
        ended_at: text("SELECT ended_at FROM part.run").map_err(damaged)?,
    })
}

impl Common {
    /// Takes what the part tells first, or names what it has differently.
    fn compare(&mut self, connection: &Connection, name: &str) -> Result<(), String> {
        let read = |sql: &str| -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = connection.prepare(sql)?;
            statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        let mut found = Vec::new();
        for sql in COMMON.iter().map(|(_, sql)| *sql).chain([BUILDS]) {
            found.extend(read(sql).map_err(|error| format!("it is damaged: {error}"))?);
        }
        for (what, value) in &found {
            if let Some((known, of)) = self.known.get(what)
                && known != value
            {
                return Err(format!(
                    "its {what} is {value}, and that of {of} is {known}"
                ));
            }
        }
        for (what, value) in found {
            self.known.entry(what).or_insert((value, name.to_owned()));
        }
        Ok(())
    }
}

/// Number of ended trials of every block with any trial.
fn ended(connection: &Connection) -> rusqlite::Result<BTreeMap<u32, usize>> {
    let mut statement = connection.prepare(
        "SELECT block, count(DISTINCT CASE WHEN state IN ('done', 'failed')
             THEN target_id || ' ' || kind END) FROM part.trial GROUP BY block",
    )?;
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}
