//! The conversation with the server that is being settled.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use prony_client::{Answer, ClientError, Connection};
use prony_model::{Debt, Engine, StopFlag};

use super::debt::debt;
use super::error::SettleError;
use crate::admin::statement::{StatementError, pairs, run};

/// The time between two readings of the state, and of the user's wish to stop.
pub(super) const POLL: Duration = Duration::from_millis(100);
/// Statements that run side by side at most.
const CONNECTIONS: usize = 8;

/// A control connection with a time at which settling is given up.
pub(super) struct ControlConnection<'a> {
    control: &'a dyn Fn() -> Result<Connection, ClientError>,
    pub(super) connection: Connection,
    /// The time at which settling is given up.
    pub(super) end: Instant,
    stop: &'a StopFlag,
}

impl<'a> ControlConnection<'a> {
    pub(super) fn open(
        control: &'a dyn Fn() -> Result<Connection, ClientError>,
        end: Instant,
        stop: &'a StopFlag,
    ) -> Result<Self, SettleError> {
        let connection = control().map_err(SettleError::Connect)?;
        Ok(Self {
            control,
            connection,
            end,
            stop,
        })
    }

    /// The same on another connection.
    pub(super) fn again(&self) -> Result<Self, SettleError> {
        Self::open(self.control, self.end, self.stop)
    }

    /// Runs one statement.
    pub(super) fn ask(&mut self, sql: &str) -> Result<Answer, SettleError> {
        Ok(run(&mut self.connection, sql)?)
    }

    /// The global value of a variable; `None` where the server does not have it.
    pub(super) fn variable(&mut self, name: &str) -> Result<Option<String>, SettleError> {
        let sql = if self.connection.is_postgresql() {
            format!("SELECT name, setting FROM pg_settings WHERE name = '{name}'")
        } else {
            format!("SHOW GLOBAL VARIABLES LIKE '{name}'")
        };
        let answer = self.ask(&sql)?;
        Ok(pairs(answer).next().map(|(_, value)| value))
    }

    /// The work that the engine has put off.
    pub(super) fn debt(&mut self, engine: Engine) -> Result<Vec<Debt>, SettleError> {
        debt(&mut self.connection, engine).map_err(|source| {
            let statement = "reading of the engine's state".to_owned();
            StatementError { statement, source }.into()
        })
    }

    /// Runs the statements of some work side by side, each on a connection of its own where there
    /// are few. Those that have not ended when settling is given up are ended, so that nothing of
    /// it goes on beside what is measured next. Returns what was left of the work, in words.
    pub(super) fn run(
        &mut self,
        work: &str,
        statements: Vec<String>,
    ) -> Result<Vec<String>, SettleError> {
        let count = statements.len();
        let mut left = count;
        let queue = Arc::new(Mutex::new(statements));
        let (sender, answers) = mpsc::channel();
        let mut ids = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..left.min(CONNECTIONS) {
            let connection = (self.control)().map_err(SettleError::Connect)?;
            ids.push(connection.connection_id());
            let (queue, sender) = (Arc::clone(&queue), sender.clone());
            threads.push(thread::spawn(move || {
                run_queue(connection, &queue, &sender);
            }));
        }
        drop(sender);
        while left > 0 && !self.is_over() {
            match answers.recv_timeout(POLL) {
                Ok(result) => {
                    result?;
                    left -= 1;
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => self.check_stop()?,
            }
        }
        if left == 0 {
            return Ok(Vec::new());
        }
        queue.lock().unwrap_or_else(PoisonError::into_inner).clear();
        for id in ids {
            // One that has just ended by itself is no error.
            let _ = self.connection.query(if self.connection.is_postgresql() {
                format!("SELECT pg_terminate_backend({id})")
            } else {
                format!("KILL {id}")
            });
        }
        for thread in threads {
            let _ = thread.join();
        }
        Ok(vec![format!(
            "{work}: {left} of {count} statements did not finish in time"
        )])
    }

    /// True when the time for settling is over.
    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.end
    }

    /// Waits, unless the user wishes to stop.
    pub(super) fn sleep(&self, time: Duration) -> Result<(), SettleError> {
        let end = Instant::now() + time;
        loop {
            self.check_stop()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            thread::sleep(left.min(POLL));
        }
    }

    fn check_stop(&self) -> Result<(), SettleError> {
        if self.stop.requested() {
            return Err(SettleError::Stopped);
        }
        Ok(())
    }
}

/// Runs statements until there are no more.
fn run_queue(
    mut connection: Connection,
    queue: &Mutex<Vec<String>>,
    sender: &mpsc::Sender<Result<(), SettleError>>,
) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let Some(sql) = next else { return };
        let answer = run(&mut connection, &sql).map_err(SettleError::from);
        let result = answer.and_then(|answer| check(&sql, &answer));
        if sender.send(result).is_err() {
            return;
        }
    }
}

/// Statements such as `ANALYZE TABLE` tell what went wrong in rows of table, operation, kind of
/// message, and message.
fn check(sql: &str, answer: &Answer) -> Result<(), SettleError> {
    let wrong = answer.rows.iter().find_map(|row| match row.as_slice() {
        [_, _, Some(kind), Some(message)] if kind.eq_ignore_ascii_case("error") => Some(message),
        _ => None,
    });
    match wrong {
        None => Ok(()),
        Some(message) => Err(SettleError::Refused {
            statement: sql.to_owned(),
            message: message.clone(),
        }),
    }
}
