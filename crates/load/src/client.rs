//! One client: what it asks next, and what its answers mean. No I/O and no clock, so that the
//! same client runs behind any kind of event loop.

use prony_model::{ErrorClass, Expect, classify};
use prony_wire::{Progress, Skimmer, Types, begin_query, finish_packet};

use crate::LoadError;
use crate::choices::Choices;
use crate::program::{Encoding, Program, Values};
use crate::recorder::Recorder;

/// The sequence number with which answers to requests of one frame begin.
const ANSWER_SEQUENCE: u8 = 1;

const NO_EXPECTATION: Expect = Expect {
    rows: None,
    affected: None,
};

/// A statement prepared on the client's connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PreparedId {
    id: u32,
    types: Types,
}

/// The statements prepared on one connection: by statement, then by table. A statement that the
/// client sends to one table only has one entry.
pub(crate) type PreparedIds = Vec<Vec<PreparedId>>;

/// What the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing: its operations are done.
    Idle,
    Begin,
    /// The answer to a statement, in one of its repetitions.
    Statement {
        index: usize,
        repetition: u32,
    },
    Commit,
    Rollback(After),
    /// A new connection, with its statements prepared.
    Connect,
}

/// What follows a rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Retry,
    NextOperation,
}

/// What a client wants after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Its next request sent.
    Send,
    /// A new connection.
    Connect,
    /// To be called when its next operation is due.
    Wait,
    /// Nothing more in this phase.
    Rest,
}

/// How far a client may go in a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// No operation starts at or after this time.
    pub(crate) end_ns: u64,
    /// Nor are more operations started than this.
    pub(crate) operations: u64,
}

/// What a client needs besides itself.
pub(crate) struct Context<'a> {
    pub(crate) program: &'a Program,
    /// Room for the values of each statement.
    pub(crate) values: &'a mut [Values],
    pub(crate) recorder: &'a mut Recorder,
    /// How long an operation may be retried.
    pub(crate) stall_ns: u64,
    /// Whether operations have an intended start.
    pub(crate) scheduled: bool,
    /// Whether no more operations are to be begun.
    pub(crate) closing: bool,
}

/// A client and its connection's state.
#[derive(Debug)]
pub(crate) struct Client {
    choices: Choices,
    /// Index of its group.
    group: usize,
    /// Its number within the group, from 0.
    number: u32,
    reconnect_every: Option<u64>,
    /// Operations before it connects anew.
    connection_left: u64,
    /// When the operation was to begin, where that is known.
    planned_ns: u64,
    /// Whether the client was idle at that time.
    on_time: bool,
    prepared: PreparedIds,
    skimmer: Skimmer,
    stage: Stage,
    request: Vec<u8>,
    /// The prepared statement that `request` executes without its types, so that only values need
    /// to change where it is executed again. Each table has its own number, which changes too, and
    /// its own first execution, with types.
    laid_out: Option<usize>,
    limit: Limit,
    /// When the first statement of the operation was sent; 0 until it was.
    operation_ns: u64,
    /// When the request was sent.
    sent_ns: u64,
    /// When the server was last heard, or spoken to.
    pub(crate) heard_ns: u64,
    /// When the first operation of the phase was begun; 0 until it was.
    first_ns: u64,
    /// When the last one ended.
    last_ns: u64,
}

impl PreparedId {
    pub(crate) const fn new(id: u32) -> Self {
        Self {
            id,
            types: Types::Sent,
        }
    }
}

impl Client {
    /// Client `number` of a group, on a connection on which its statements are prepared.
    pub(crate) fn new(
        group: usize,
        number: u32,
        reconnect_every: Option<u64>,
        choices: Choices,
        prepared: PreparedIds,
    ) -> Self {
        Self {
            choices,
            group,
            number,
            reconnect_every,
            connection_left: reconnect_every.unwrap_or(u64::MAX),
            planned_ns: 0,
            on_time: false,
            prepared,
            skimmer: Skimmer::default(),
            stage: Stage::Idle,
            request: Vec::new(),
            laid_out: None,
            limit: Limit {
                end_ns: 0,
                operations: 0,
            },
            operation_ns: 0,
            sent_ns: 0,
            heard_ns: 0,
            first_ns: 0,
            last_ns: 0,
        }
    }

    /// Whether it may begin no operation in this phase.
    pub(crate) const fn has_nothing_to_do(&self) -> bool {
        self.limit.operations == 0
    }

    /// Whether its connection has done its share: it connects anew before anything else.
    pub(crate) const fn must_connect(&self) -> bool {
        self.connection_left == 0
    }

    /// Index of its group.
    pub(crate) const fn group(&self) -> usize {
        self.group
    }

    /// Its number within the group, from 0.
    pub(crate) const fn number(&self) -> u32 {
        self.number
    }

    /// Room for the next request.
    pub(crate) fn request_mut(&mut self) -> &mut Vec<u8> {
        self.laid_out = None;
        &mut self.request
    }

    /// The request to send.
    pub(crate) fn request(&self) -> &[u8] {
        &self.request
    }

    /// Whether the client waits for an answer.
    pub(crate) fn is_busy(&self) -> bool {
        self.stage != Stage::Idle
    }

    /// Time from the first operation of the phase to the end of the last.
    pub(crate) const fn busy_ns(&self) -> u64 {
        self.last_ns.saturating_sub(self.first_ns)
    }

    /// End of the last operation of the phase; 0 when there was none.
    pub(crate) const fn last_ns(&self) -> u64 {
        self.last_ns
    }

    /// The name of the statement under way.
    pub(crate) fn statement_name<'a>(&self, program: &'a Program) -> &'a str {
        match self.stage {
            Stage::Idle => "nothing",
            Stage::Begin => "begin",
            Stage::Statement { index, .. } => &program.statements[index].name,
            Stage::Commit => "commit",
            Stage::Rollback(_) => "rollback",
            Stage::Connect => "connect",
        }
    }

    /// Begins a phase: from here on the limit holds. The first operation is begun by
    /// [`go_on`](Self::go_on) or when the client is called.
    pub(crate) fn begin_phase(&mut self, limit: Limit) {
        self.limit = limit;
        self.first_ns = 0;
        self.last_ns = 0;
        self.stage = Stage::Idle;
    }

    /// Notes that the request is about to be sent.
    #[inline]
    pub(crate) fn mark_sent(&mut self, now_ns: u64) {
        self.sent_ns = now_ns;
        self.heard_ns = now_ns;
        if self.operation_ns == 0 {
            self.operation_ns = now_ns;
        }
        if self.first_ns == 0 {
            self.first_ns = now_ns;
        }
    }

    /// Takes bytes of the answer; tells whether it is complete.
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8], program: &Program) -> Result<bool, LoadError> {
        let progress = self
            .skimmer
            .feed(bytes)
            .map_err(|source| LoadError::Protocol {
                statement: self.statement_name(program).to_owned(),
                source,
            })?;
        match progress {
            Progress::More => Ok(false),
            Progress::Done { consumed } if consumed == bytes.len() => Ok(true),
            Progress::Done { consumed } => Err(LoadError::Surplus {
                statement: self.statement_name(program).to_owned(),
                bytes: bytes.len() - consumed,
            }),
        }
    }

    /// The answer is complete: records it and decides what comes next.
    #[inline]
    pub(crate) fn answered(
        &mut self,
        now_ns: u64,
        context: &mut Context<'_>,
    ) -> Result<Next, LoadError> {
        if self.skimmer.error().is_some() {
            return self.refused(now_ns, context);
        }
        let program = context.program;
        let latency_ns = now_ns.saturating_sub(self.sent_ns);
        let tally = self.skimmer.tally();
        let mut record = |index, expect| {
            context.recorder.answer(index, latency_ns, tally, expect);
        };
        match self.stage {
            Stage::Idle | Stage::Connect => return Ok(Next::Rest),
            Stage::Begin => record(program.begin_kind(), &NO_EXPECTATION),
            Stage::Commit => record(program.commit_kind(), &NO_EXPECTATION),
            Stage::Statement { index, .. } => {
                record(index, &program.statements[index].expect);
            }
            Stage::Rollback(_) => {}
        }
        Ok(self.advance(now_ns, context))
    }

    /// Goes on after an answer without error.
    #[inline]
    fn advance(&mut self, now_ns: u64, context: &mut Context<'_>) -> Next {
        match self.stage {
            Stage::Idle | Stage::Connect => Next::Rest,
            Stage::Begin => self.ask_first_statement(context),
            Stage::Statement { index, repetition } => {
                let statement = &context.program.statements[index];
                if repetition + 1 < statement.repeat {
                    self.ask_statement(index, repetition + 1, context)
                } else if context.program.goes_on_after(index) {
                    self.ask_statement(index + 1, 0, context)
                } else if context.program.transaction {
                    self.ask_control(Stage::Commit, b"COMMIT")
                } else {
                    self.complete_operation(now_ns, context)
                }
            }
            Stage::Commit => self.complete_operation(now_ns, context),
            Stage::Rollback(After::Retry) => self.retry(context),
            Stage::Rollback(After::NextOperation) => {
                self.last_ns = now_ns;
                self.go_on(now_ns, context)
            }
        }
    }

    /// Goes on after an error.
    fn refused(&mut self, now_ns: u64, context: &mut Context<'_>) -> Result<Next, LoadError> {
        let Some(error) = self.skimmer.error() else {
            return Ok(Next::Rest);
        };
        let class = match self.stage {
            // A transaction that can't be left is no place to go on from.
            Stage::Rollback(_) => ErrorClass::Fatal,
            _ => classify(error.code.into()),
        };
        context.recorder.error(&error, class);
        let statement = || self.statement_name(context.program).to_owned();
        let spent_ns = now_ns.saturating_sub(self.operation_ns);
        let after = match class {
            ErrorClass::Fatal => {
                return Err(LoadError::Server {
                    statement: statement(),
                    code: error.code.into(),
                    sqlstate: error.sqlstate_text(),
                    message: error.message_text(),
                });
            }
            ErrorClass::Retryable if spent_ns > context.stall_ns => {
                return Err(LoadError::Retries {
                    statement: statement(),
                    seconds: spent_ns as f64 / 1e9,
                    code: error.code.into(),
                    message: error.message_text(),
                });
            }
            ErrorClass::Retryable => After::Retry,
            ErrorClass::Counted => After::NextOperation,
        };
        self.stage = Stage::Rollback(after);
        if context.program.transaction {
            return Ok(self.ask_control(Stage::Rollback(after), b"ROLLBACK"));
        }
        Ok(self.advance(now_ns, context))
    }

    #[inline]
    fn complete_operation(&mut self, now_ns: u64, context: &mut Context<'_>) -> Next {
        context
            .recorder
            .operation(now_ns.saturating_sub(self.operation_ns));
        if context.scheduled {
            let error_ns = self.operation_ns.saturating_sub(self.planned_ns);
            context.recorder.scheduled_operation(
                now_ns.saturating_sub(self.planned_ns),
                self.on_time.then_some(error_ns),
            );
        }
        self.last_ns = now_ns;
        self.go_on(now_ns, context)
    }

    /// What an idle client does next.
    #[inline]
    pub(crate) fn go_on(&mut self, now_ns: u64, context: &mut Context<'_>) -> Next {
        self.stage = Stage::Idle;
        if self.limit.operations == 0 || now_ns >= self.limit.end_ns || context.closing {
            return Next::Rest;
        }
        if self.must_connect() {
            self.stage = Stage::Connect;
            self.sent_ns = now_ns;
            self.heard_ns = now_ns;
            if self.first_ns == 0 {
                self.first_ns = now_ns;
            }
            return Next::Connect;
        }
        if context.scheduled {
            return Next::Wait;
        }
        self.begin(0, false, context)
    }

    /// Begins an operation that was to begin at `planned_ns`, when the client was idle or not; or
    /// goes on to connect, if that is what it was called for.
    #[inline]
    pub(crate) fn begin(
        &mut self,
        planned_ns: u64,
        on_time: bool,
        context: &mut Context<'_>,
    ) -> Next {
        if self.stage == Stage::Connect {
            return Next::Connect;
        }
        self.planned_ns = planned_ns;
        self.on_time = on_time;
        self.limit.operations -= 1;
        if self.reconnect_every.is_some() {
            self.connection_left -= 1;
        }
        self.operation_ns = 0;
        self.choices.begin_operation();
        self.begin_operation(context)
    }

    /// Nothing is to be done any more, whatever the client waited for.
    pub(crate) const fn rest(&mut self) {
        self.stage = Stage::Idle;
    }

    /// The new connection is open, and these are its statements.
    pub(crate) fn connected(
        &mut self,
        now_ns: u64,
        prepared: PreparedIds,
        context: &mut Context<'_>,
    ) -> Next {
        let latency_ns = now_ns.saturating_sub(self.sent_ns);
        let kind = context.program.connect_kind();
        context.recorder.connected(kind, latency_ns);
        self.prepared = prepared;
        self.connection_left = self.reconnect_every.unwrap_or(u64::MAX);
        self.last_ns = now_ns;
        self.go_on(now_ns, context)
    }

    /// Begins the operation again, with the values that it had.
    fn retry(&mut self, context: &mut Context<'_>) -> Next {
        self.choices.repeat_operation();
        self.begin_operation(context)
    }

    #[inline]
    fn begin_operation(&mut self, context: &mut Context<'_>) -> Next {
        if context.program.transaction {
            self.ask_control(Stage::Begin, b"BEGIN")
        } else {
            self.ask_first_statement(context)
        }
    }

    #[inline]
    fn ask_first_statement(&mut self, context: &mut Context<'_>) -> Next {
        let first = self.choices.first(context.program);
        self.ask_statement(first, 0, context)
    }

    fn ask_control(&mut self, stage: Stage, sql: &[u8]) -> Next {
        self.stage = stage;
        self.laid_out = None;
        self.request.clear();
        let start = begin_query(&mut self.request);
        self.request.extend_from_slice(sql);
        finish_packet(&mut self.request, start, 0);
        self.skimmer.start(ANSWER_SEQUENCE);
        Next::Send
    }

    #[inline]
    fn ask_statement(&mut self, index: usize, repetition: u32, context: &mut Context<'_>) -> Next {
        let statement = &context.program.statements[index];
        let values = &mut context.values[index];
        self.choices
            .choose(context.program, index, repetition, values);
        let table = self.choices.table();
        match &statement.encoding {
            Encoding::Text(pieces) => {
                self.request.clear();
                self.laid_out = None;
                let table = &context.program.tables[table];
                crate::program::append_text(pieces, &mut self.request, table, values);
            }
            Encoding::Prepared(prepared) => {
                let ids = &mut self.prepared[index];
                let last = ids.len() - 1;
                let known = &mut ids[table.min(last)];
                if known.types == Types::Omitted && self.laid_out == Some(index) {
                    prepared.repeat(&mut self.request, known.id, values);
                } else {
                    self.request.clear();
                    prepared.append(&mut self.request, known.id, known.types, values);
                    self.laid_out = (known.types == Types::Omitted).then_some(index);
                    known.types = Types::Omitted;
                }
            }
        }
        self.stage = Stage::Statement { index, repetition };
        self.skimmer.start(ANSWER_SEQUENCE);
        Next::Send
    }
}
