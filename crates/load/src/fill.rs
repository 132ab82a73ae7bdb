//! Filling a dataset: tables, rows, secondary index, check.

mod insert;
mod schema;

use std::time::Duration;

use prony_client::{Answer, Connection};
use prony_model::{Engine, LoadOutcome};

use crate::clock::now_ns;
use crate::fill::insert::insert_rows;
use crate::message::Speaker;
use crate::{FillTask, Job, LoadError, Message, verify_table};

/// The longest silence while connecting. Statements may take as long as they take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// More than a row of the dataset takes in a MEMORY table, in any character set, indexes included.
const MEMORY_ROW_SIZE: u64 = 2048;

/// A fill under way.
struct Fill<'a, 's> {
    task: &'a FillTask,
    speaker: &'a mut Speaker<'s>,
    /// Time spent on secondary indexes and on checks.
    index_ns: u64,
    check_ns: u64,
}

/// Fills the dataset of a task.
pub(crate) fn fill(job: &Job, task: &FillTask, speaker: &mut Speaker<'_>) -> Result<(), LoadError> {
    task.check()?;
    let start_ns = now_ns();
    let dataset = &task.dataset;
    let mut connections = (0..task.connections)
        .map(|index| open(job, task, index))
        .collect::<Result<Vec<_>, _>>()?;
    let mut fill = Fill {
        task,
        speaker,
        index_ns: 0,
        check_ns: 0,
    };
    for table in 0..dataset.tables {
        fill.table(&mut connections, table)?;
    }
    let outcome = LoadOutcome {
        rows: u64::from(dataset.tables) * dataset.rows,
        rows_ns: now_ns() - start_ns - fill.index_ns - fill.check_ns,
        index_ns: fill.index_ns,
        method: format!("INSERT, {} connections", task.connections),
    };
    fill.speaker.say(&Message::Filled { outcome })
}

fn open(job: &Job, task: &FillTask, index: u32) -> Result<Connection, LoadError> {
    let connect_error = |source| LoadError::Connect {
        client: index + 1,
        clients: task.connections,
        source,
    };
    let mut connection =
        Connection::connect(&job.address, &job.login(), CONNECT_TIMEOUT).map_err(connect_error)?;
    connection.set_timeout(None).map_err(connect_error)?;
    if task.engine == Engine::Memory {
        // The limit of the session that creates or alters a table becomes the table's own.
        let size = task.dataset.rows.saturating_mul(MEMORY_ROW_SIZE);
        let sql = format!("SET SESSION max_heap_table_size = {size}");
        ask(&mut connection, &sql, || {
            "make room for MEMORY tables".to_owned()
        })?;
    }
    Ok(connection)
}

impl Fill<'_, '_> {
    fn table(&mut self, connections: &mut [Connection], table: u32) -> Result<(), LoadError> {
        let dataset = self.task.dataset;
        let name = dataset.table_name(table);
        let rows = dataset.rows;
        let rows_before = u64::from(table) * rows;
        self.say(rows_before, format!("rows of {name}"))?;
        self.create(&mut connections[0], table)?;
        let mut progress = |done| self.say(rows_before + done, format!("rows of {name}"));
        insert_rows(connections, &dataset, table, &mut progress)?;
        let rows_done = rows_before + rows;
        let index_ns = now_ns();
        self.say(rows_done, format!("index of {name}"))?;
        let connection = &mut connections[0];
        let index = schema::create_index(&dataset, self.task.engine, table);
        ask(connection, &index, || format!("index {name}"))?;
        let check_ns = now_ns();
        self.index_ns += check_ns - index_ns;
        self.say(rows_done, format!("check of {name}"))?;
        verify_table(connection, &dataset, table)?;
        self.check_ns += now_ns() - check_ns;
        Ok(())
    }

    fn create(&self, connection: &mut Connection, table: u32) -> Result<(), LoadError> {
        let dataset = &self.task.dataset;
        let name = dataset.table_name(table);
        let action = || format!("create {name}");
        ask(connection, &format!("DROP TABLE IF EXISTS {name}"), action)?;
        let engine = self.task.engine.sql_name();
        let create = schema::create_table(dataset, self.task.engine, table);
        ask(connection, &create, action)?;
        // Old versions take another engine and say so in a warning only.
        let status = ask(
            connection,
            &format!("SHOW TABLE STATUS LIKE '{name}'"),
            action,
        )?;
        let found = engine_of(&status);
        // MEMORY was called HEAP in 4.1.
        let is_heap = self.task.engine == Engine::Memory && found.eq_ignore_ascii_case("HEAP");
        if is_heap || found.eq_ignore_ascii_case(engine) {
            return Ok(());
        }
        Err(LoadError::OtherEngine {
            table: name,
            wanted: engine,
            found,
        })
    }

    fn say(&mut self, rows_done: u64, phase: String) -> Result<(), LoadError> {
        let dataset = &self.task.dataset;
        self.speaker.say(&Message::Filling {
            rows_done,
            rows_total: u64::from(dataset.tables) * dataset.rows,
            phase,
        })
    }
}

/// The engine in the answer to `SHOW TABLE STATUS`; empty when there is none.
fn engine_of(status: &Answer) -> String {
    let column = status
        .columns
        .iter()
        .position(|name| name.eq_ignore_ascii_case("engine"));
    column
        .and_then(|column| status.rows.first()?.get(column)?.clone())
        .unwrap_or_default()
}

fn ask(
    connection: &mut Connection,
    sql: &str,
    action: impl Fn() -> String,
) -> Result<Answer, LoadError> {
    connection.query(sql).map_err(|source| LoadError::Fill {
        action: action(),
        source,
    })
}
