//! Filling a dataset: tables, rows, secondary indexes, check.

mod copy;
mod insert;
mod method;
mod ranges;
mod schema;
mod settings;
mod source;
mod text;
mod threads;

use std::sync::atomic::{AtomicUsize, Ordering};

use prony_client::{Answer, Connection};
use prony_model::{Dataset, Engine, LoadMethod, LoadOutcome};

use crate::clock::now_ns;
use crate::connection::flush_statistics;
use crate::dataset::ask;
use crate::dataset::checksum::{Chunk, chunks, verify_chunk};
use crate::dataset::fill::insert::Filler;
use crate::dataset::fill::method::{Index, Method, Statement};
use crate::dataset::fill::settings::{Changes, set_session};
use crate::dataset::fill::threads::work_on_all;
use crate::message::Speaker;
use crate::{FillTask, Job, LoadError, Message};

/// More than a row of the dataset takes in a MEMORY table, in any character set, indexes included.
fn memory_row_size(dataset: &Dataset) -> u64 {
    let texts = dataset.schema.texts();
    let characters: u64 = texts
        .map(|column| u64::from(column.kind.characters().unwrap_or(8)))
        .sum();
    (512 + 8 * characters).max(2048)
}

/// A fill under way.
struct Fill<'a, 's> {
    job: &'a Job,
    task: &'a FillTask,
    /// The part of the task's dataset that is filled now.
    dataset: Dataset,
    /// Rows of the parts before it.
    rows_before: u64,
    engine: Engine,
    connections: Vec<Connection>,
    speaker: &'a mut Speaker<'s>,
}

/// Fills the dataset of a task.
pub(crate) fn fill(job: &Job, task: &FillTask, speaker: &mut Speaker<'_>) -> Result<(), LoadError> {
    task.check()?;
    let mut fill = Fill {
        job,
        task,
        dataset: task.dataset,
        rows_before: 0,
        engine: task.engine,
        connections: Vec::new(),
        speaker,
    };
    let outcome = fill.run()?;
    speaker.say(&Message::Filled { outcome })
}

fn open(job: &Job, task: &FillTask, index: u32) -> Result<Connection, LoadError> {
    let mut connection = job.connect(index, task.connections)?;
    if task.engine == Engine::Memory {
        // The limit of the session that creates or alters a table becomes the table's own.
        let size = task
            .dataset
            .rows
            .saturating_mul(memory_row_size(&task.dataset));
        let sql = format!("SET SESSION max_heap_table_size = {size}");
        ask(&mut connection, &sql, || {
            "make room for MEMORY tables".to_owned()
        })?;
    }
    set_session(&mut connection, task)?;
    Ok(connection)
}

impl Fill<'_, '_> {
    fn run(&mut self) -> Result<LoadOutcome, LoadError> {
        self.connect(self.task.loaders())?;
        if self.task.hold {
            self.speaker.hold()?;
        }
        let outcome = self.load_parts()?;
        if self.task.hold {
            let at_ns = now_ns();
            self.speaker.say(&Message::MeasureEnd { at_ns })?;
            self.speaker.wait()?;
            if self.task.flush_statistics {
                let sessions = flush_statistics(&mut self.connections, |connection| {
                    ask(connection, "", || {
                        "make a session publish its counters".to_owned()
                    })
                    .map(|_| true)
                })?;
                self.speaker.say(&Message::StatisticsFlushed { sessions })?;
                self.speaker.wait()?;
            }
        }
        // Those that only check would be sessions of the server while it is measured.
        self.connect(self.task.connections)?;
        for part in self.task.dataset.parts() {
            if part.load != LoadMethod::None {
                self.dataset = part;
                self.check()?;
            }
        }
        Ok(outcome)
    }

    /// Makes the tables of all parts, then what refers to several of them.
    fn load_parts(&mut self) -> Result<LoadOutcome, LoadError> {
        let whole = self.task.dataset;
        if whole.schema.has_foreign_keys() {
            self.drop_tables()?;
        }
        let parts = whole.parts().into_iter();
        let mut outcomes = Vec::new();
        for part in parts {
            self.dataset = part;
            let outcome = self.load()?;
            self.rows_before += outcome.rows;
            outcomes.push(outcome);
        }
        let mut index_ns = outcomes.iter().map(|outcome| outcome.index_ns).sum();
        let mut statements = schema::foreign_keys(&whole, self.engine);
        statements.extend(schema::procedures(&whole, self.job.family));
        if !statements.is_empty() {
            let start_ns = now_ns();
            for (made, sql) in statements {
                ask(&mut self.connections[0], &sql, || format!("make {made}"))?;
            }
            index_ns += now_ns() - start_ns;
        }
        Ok(LoadOutcome {
            rows: outcomes.iter().map(|outcome| outcome.rows).sum(),
            rows_ns: outcomes.iter().map(|outcome| outcome.rows_ns).sum(),
            index_ns,
            // The main tables come first.
            method: outcomes.swap_remove(0).method,
        })
    }

    /// Drops all tables at once, which can refer to each other.
    fn drop_tables(&mut self) -> Result<(), LoadError> {
        let parts = self.task.dataset.parts();
        let names: Vec<String> = parts.iter().flat_map(Dataset::table_names).collect();
        let connection = &mut self.connections[0];
        let drop_all = format!("DROP TABLE IF EXISTS {}", names.join(", "));
        if connection.is_postgresql() {
            let drop_all = format!("{drop_all} CASCADE");
            return ask(connection, drop_all, || "drop tables".to_owned()).map(drop);
        }
        for sql in [
            "SET FOREIGN_KEY_CHECKS = 0",
            &drop_all,
            "SET FOREIGN_KEY_CHECKS = 1",
        ] {
            ask(connection, sql, || "drop tables".to_owned())?;
        }
        Ok(())
    }

    /// Opens connections until there are this many.
    fn connect(&mut self, connections: u32) -> Result<(), LoadError> {
        let open_so_far = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        for index in open_so_far..connections {
            self.connections.push(open(self.job, self.task, index)?);
        }
        Ok(())
    }

    /// Makes tables, rows and indexes.
    fn load(&mut self) -> Result<LoadOutcome, LoadError> {
        let start_ns = now_ns();
        let task = self.task;
        let first = &mut self.connections[0];
        let changes = match task.dataset.load {
            LoadMethod::Bulk if task.own_server && !first.is_postgresql() => Changes::make(first)?,
            _ => Changes::default(),
        };
        let method = Method::choose(first, &self.dataset, self.engine, task.connections)?;
        let without_redo = self.engine == Engine::Innodb && changes.redo_log_is_off;
        self.create(method.index)?;
        if task.dataset.load == LoadMethod::None {
            if method.index != Index::WithRows {
                self.index(method.index)?;
            }
            return Ok(LoadOutcome {
                rows: 0,
                rows_ns: now_ns() - start_ns,
                index_ns: 0,
                method: "empty tables".to_owned(),
            });
        }
        let used = self.insert(method)?;
        let mut index_ns = 0;
        if method.index != Index::WithRows {
            let begin_ns = now_ns();
            self.index(method.index)?;
            index_ns = now_ns() - begin_ns;
        }
        self.count_on()?;
        changes.undo(&mut self.connections[0])?;
        let rows_ns = now_ns() - start_ns - index_ns;
        Ok(LoadOutcome {
            rows: self.dataset.rows_of_part(),
            rows_ns,
            index_ns,
            method: describe(method, used, without_redo),
        })
    }

    fn rows_total(&self) -> u64 {
        self.task.dataset.rows_total()
    }

    fn create(&mut self, index: Index) -> Result<(), LoadError> {
        self.say(self.rows_before, "tables")?;
        (0..self.dataset.tables).try_for_each(|table| self.create_table(table, index))
    }

    fn create_table(&mut self, table: u32, index: Index) -> Result<(), LoadError> {
        let name = self.dataset.table_name(table);
        let action = || format!("create {name}");
        let connection = &mut self.connections[0];
        ask(connection, format!("DROP TABLE IF EXISTS {name}"), action)?;
        let create = schema::create_table(&self.dataset, self.engine, table, index);
        ask(connection, &create, action)?;
        if self.engine == Engine::Heap {
            return Ok(());
        }
        // Old versions take another engine and say so in a warning only.
        let show = format!("SHOW TABLE STATUS LIKE '{name}'");
        let status = ask(connection, show, action)?;
        let found = engine_of(&status);
        // MEMORY was called HEAP in 4.1.
        let is_heap = self.engine == Engine::Memory && found.eq_ignore_ascii_case("HEAP");
        let wanted = self.engine.sql_name();
        if is_heap || found.eq_ignore_ascii_case(wanted) {
            return Ok(());
        }
        Err(LoadError::OtherEngine {
            table: name,
            wanted,
            found,
        })
    }

    /// Inserts all rows; returns how many connections did.
    fn insert(&mut self, method: Method) -> Result<usize, LoadError> {
        let dataset = self.dataset;
        let count = self.connections.len();
        let filler = Filler::new(&dataset, method, u32::try_from(count).unwrap_or(u32::MAX));
        let used = count.min(usize::try_from(filler.ranges.connections_max()).unwrap_or(count));
        let (rows_before, rows_total) = (self.rows_before, self.rows_total());
        let speaker = &mut *self.speaker;
        work_on_all(
            &mut self.connections[..used],
            |connection, halt| filler.fill(connection, halt),
            &mut || {
                speaker.check_input()?;
                say(
                    speaker,
                    rows_before + filler.rows_done(),
                    rows_total,
                    "rows",
                )
            },
        )?;
        Ok(used)
    }

    /// Counts keys on from those of the rows, where the server has to be told to.
    fn count_on(&mut self) -> Result<(), LoadError> {
        if self.engine != Engine::Heap || self.dataset.load != LoadMethod::Bulk {
            return Ok(());
        }
        let tables = 0..self.dataset.tables;
        for sql in tables.filter_map(|table| schema::postgres::count_on(&self.dataset, table)) {
            ask(&mut self.connections[0], &sql, || "count keys".to_owned())?;
        }
        Ok(())
    }

    /// Builds the indexes that were left for when all rows are in, several at the same time.
    fn index(&mut self, index: Index) -> Result<(), LoadError> {
        let (dataset, engine) = (self.dataset, self.engine);
        let tables = || 0..dataset.tables;
        let action = |table: u32| move || format!("index {}", dataset.table_name(table));
        let indexes: Vec<(u32, String)> = tables()
            .flat_map(|table| {
                let indexes = schema::create_indexes(&dataset, engine, table, index);
                indexes.into_iter().map(move |sql| (table, sql))
            })
            .collect();
        self.share("indexes", &indexes, &|connection, (table, sql)| {
            ask(connection, sql, action(*table)).map(drop)
        })?;
        if index == Index::AllAfterwards {
            for table in tables() {
                if let Some(sql) = schema::postgres::primary_key(&dataset, table) {
                    ask(&mut self.connections[0], &sql, action(table))?;
                }
            }
        }
        Ok(())
    }

    /// Compares every table with its definition.
    fn check(&mut self) -> Result<(), LoadError> {
        let dataset = self.dataset;
        let chunks: Vec<(u32, Chunk)> = (0..dataset.tables)
            .flat_map(|table| chunks(&dataset).map(move |chunk| (table, chunk)))
            .collect();
        self.share("check", &chunks, &|connection, (table, chunk)| {
            verify_chunk(connection, &dataset, *table, *chunk)
        })
    }

    /// Lets the connections work on a list of things, each on the next that is free.
    fn share<T: Sync>(
        &mut self,
        phase: &'static str,
        things: &[T],
        work: &(dyn Fn(&mut Connection, &T) -> Result<(), LoadError> + Sync),
    ) -> Result<(), LoadError> {
        let total = self.rows_total();
        self.say(total, phase)?;
        let speaker = &*self.speaker;
        let next = AtomicUsize::new(0);
        let take = || things.get(next.fetch_add(1, Ordering::Relaxed));
        work_on_all(
            &mut self.connections,
            |connection, halt| {
                while !halt.requested()
                    && let Some(thing) = take()
                {
                    work(connection, thing)?;
                }
                Ok(())
            },
            &mut || speaker.check_input(),
        )
    }

    fn say(&mut self, rows_done: u64, phase: &str) -> Result<(), LoadError> {
        let rows_total = self.rows_total();
        say(self.speaker, rows_done, rows_total, phase)
    }
}

fn say(
    speaker: &mut Speaker<'_>,
    rows_done: u64,
    rows_total: u64,
    phase: &str,
) -> Result<(), LoadError> {
    speaker.say(&Message::Filling {
        rows_done,
        rows_total,
        phase: phase.to_owned(),
    })
}

/// A method in a few words.
fn describe(method: Method, connections: usize, without_redo: bool) -> String {
    let statement = match (method.statement, method.bulk) {
        (Statement::Insert, _) => "INSERT",
        (Statement::TextInsert, _) => "INSERT of 512 KiB",
        (Statement::LoadData, None) => "LOAD DATA",
        (Statement::LoadData, Some(_)) => "LOAD DATA in bulk",
        (Statement::Copy { binary: true }, _) => "COPY in binary",
        (Statement::Copy { binary: false }, _) => "COPY as text",
    };
    let redo = if without_redo { ", no redo log" } else { "" };
    let plural = if connections == 1 { "" } else { "s" };
    format!("{statement}, {connections} connection{plural}{redo}")
}

/// The engine in the answer to `SHOW TABLE STATUS`; empty when there is none.
fn engine_of(status: &Answer) -> String {
    let mut columns = status.columns.iter();
    columns
        .position(|name| name.eq_ignore_ascii_case("engine"))
        .and_then(|column| status.rows.first()?.get(column)?.clone())
        .unwrap_or_default()
}
