//! One client: when it asks, and the meaning of answers for its operations. No I/O and no clock, so
//! that the same client runs in any kind of event loop.

use prony_model::{ErrorClass, classify};

use crate::LoadError;
use crate::operations::{Operations, PreparedIds, ResourcesOf, Statements, Step};
use crate::protocol::{Answer, Progress, Request, Wire};
use crate::recorder::Recorder;

/// Answer that the client waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing: its operations are done.
    Idle,
    /// The answer to a statement of its operation.
    Operation,
    /// The end of an operation that an error has ended.
    Leaving(After),
    /// A new connection, with its statements prepared.
    Connect,
}

/// What follows an operation that an error has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    Retry,
    NextOperation,
}

/// Request of a client after an answer.
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

/// Limit of a client in a phase.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// No operation starts at or after this time.
    pub(crate) end_ns: u64,
    /// Nor are more operations started than this.
    pub(crate) operations: u64,
}

/// Surroundings of a client.
pub(crate) struct Context<'a, O: Operations = Statements> {
    pub(crate) resources: ResourcesOf<'a, O>,
    pub(crate) recorder: &'a mut Recorder,
    /// Longest time of retrying an operation.
    pub(crate) stall_ns: u64,
    /// `true` if operations have an intended start.
    pub(crate) scheduled: bool,
    /// `true` if no more operations are to be begun.
    pub(crate) closing: bool,
}

/// A client and its connection's state.
#[derive(Debug)]
pub(crate) struct Client<O = Statements> {
    operations: O,
    wire: Wire,
    /// Index of its group.
    group: usize,
    /// Its number within the group, from 0.
    number: u32,
    reconnect_every: Option<u64>,
    /// Operations before it connects anew.
    connection_left: u64,
    /// The time when the operation was to begin, where that is known.
    planned_ns: u64,
    /// `true` if the client was idle at that time.
    on_time: bool,
    answer: Answer,
    stage: Stage,
    request: Request,
    limit: Limit,
    /// The time when the first statement of the operation was sent; 0 until it was.
    operation_ns: u64,
    /// The time when the request was sent.
    sent_ns: u64,
    /// The time when the server was last heard, or spoken to.
    pub(crate) heard_ns: u64,
    /// The time when the first operation of the phase was begun; 0 until it was.
    first_ns: u64,
    /// The time when the last one ended.
    last_ns: u64,
}

impl<O: Operations> Client<O> {
    /// Client `number` of a group, on a connection on which its statements are prepared.
    pub(crate) fn new(
        group: usize,
        number: u32,
        reconnect_every: Option<u64>,
        operations: O,
        wire: Wire,
    ) -> Self {
        Self {
            operations,
            wire,
            group,
            number,
            reconnect_every,
            connection_left: reconnect_every.unwrap_or(u64::MAX),
            planned_ns: 0,
            on_time: false,
            answer: Answer::new(wire),
            stage: Stage::Idle,
            request: Request::new(wire),
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

    /// Returns `true` if it may begin no operation in this phase.
    pub(crate) const fn has_nothing_to_do(&self) -> bool {
        self.limit.operations == 0
    }

    /// Returns `true` if its connection has done its share: it connects anew before anything else.
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
    pub(crate) const fn request_mut(&mut self) -> &mut Vec<u8> {
        self.request.bytes_mut()
    }

    /// The request to send.
    pub(crate) fn request(&self) -> &[u8] {
        self.request.bytes()
    }

    /// The protocol of its connection.
    pub(crate) const fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns `true` if the client waits for an answer.
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
    pub(crate) fn statement_name<'a>(&self, program: &'a O::Program) -> &'a str {
        match self.stage {
            Stage::Idle => "nothing",
            Stage::Operation => self.operations.statement_name(program),
            Stage::Leaving(_) => "rollback",
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
    pub(crate) fn feed(&mut self, bytes: &[u8], program: &O::Program) -> Result<bool, LoadError> {
        let progress = self
            .answer
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
        context: &mut Context<'_, O>,
    ) -> Result<Next, LoadError> {
        if self.answer.is_refusal() {
            return self.refused(now_ns, context);
        }
        let tally = self.answer.tally();
        match self.stage {
            Stage::Idle | Stage::Connect => Ok(Next::Rest),
            Stage::Operation => {
                let latency_ns = now_ns.saturating_sub(self.sent_ns);
                let (kind, expect) = self.operations.answered(context.resources.program);
                context.recorder.answer(kind, latency_ns, tally, expect);
                let (request, resources) = (&mut self.request, &mut context.resources);
                match self.operations.next(tally, request, resources) {
                    Step::Ask => Ok(self.ask()),
                    Step::Complete => Ok(self.complete_operation(now_ns, context)),
                }
            }
            Stage::Leaving(after) => Ok(self.go_on_after(after, now_ns, context)),
        }
    }

    /// The request that its operations have made is to be sent.
    #[inline]
    fn ask(&mut self) -> Next {
        self.answer.start();
        Next::Send
    }

    /// Goes on when the operation that an error has ended is left.
    #[cold]
    fn go_on_after(&mut self, after: After, now_ns: u64, context: &mut Context<'_, O>) -> Next {
        match after {
            After::Retry => {
                self.stage = Stage::Operation;
                let resources = &mut context.resources;
                self.operations.repeat(&mut self.request, resources);
                self.ask()
            }
            After::NextOperation => {
                self.last_ns = now_ns;
                self.go_on(now_ns, context)
            }
        }
    }

    /// Goes on after an error.
    #[cold]
    fn refused(&mut self, now_ns: u64, context: &mut Context<'_, O>) -> Result<Next, LoadError> {
        let Some(error) = self.answer.refusal() else {
            return Err(LoadError::Server {
                statement: self.statement_name(context.resources.program).to_owned(),
                code: 0.into(),
                sqlstate: String::new(),
                message: "an error of a form that Prony does not know".to_owned(),
            });
        };
        let class = match self.stage {
            // A transaction that can't be left is no place to go on from.
            Stage::Leaving(_) => ErrorClass::Fatal,
            _ => classify(error.code),
        };
        context.recorder.error(&error, class);
        let statement = || self.statement_name(context.resources.program).to_owned();
        let spent_ns = now_ns.saturating_sub(self.operation_ns);
        let after = match class {
            ErrorClass::Fatal => {
                return Err(LoadError::Server {
                    statement: statement(),
                    code: error.code,
                    sqlstate: error.sqlstate_text(),
                    message: error.message_text(),
                });
            }
            ErrorClass::Retryable if spent_ns > context.stall_ns => {
                return Err(LoadError::Retries {
                    statement: statement(),
                    seconds: spent_ns as f64 / 1e9,
                    code: error.code,
                    message: error.message_text(),
                });
            }
            ErrorClass::Retryable => After::Retry,
            ErrorClass::Counted => After::NextOperation,
        };
        self.stage = Stage::Leaving(after);
        match self
            .operations
            .leave(&mut self.request, context.resources.program)
        {
            Step::Ask => Ok(self.ask()),
            Step::Complete => Ok(self.go_on_after(after, now_ns, context)),
        }
    }

    #[inline]
    fn complete_operation(&mut self, now_ns: u64, context: &mut Context<'_, O>) -> Next {
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

    /// Decides the next action of an idle client.
    #[expect(
        clippy::inline_always,
        reason = "as a call it costs 20 to 40 of the 1000 instructions of a query: `cargo xtask bench-instructions`"
    )]
    #[inline(always)]
    pub(crate) fn go_on(&mut self, now_ns: u64, context: &mut Context<'_, O>) -> Next {
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
    #[expect(
        clippy::inline_always,
        reason = "as a call it costs 20 to 40 of the 1000 instructions of a query: `cargo xtask bench-instructions`"
    )]
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        planned_ns: u64,
        on_time: bool,
        context: &mut Context<'_, O>,
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
        self.stage = Stage::Operation;
        let resources = &mut context.resources;
        self.operations.begin(&mut self.request, resources);
        self.ask()
    }

    /// Nothing remains to be done, whatever the client waited for.
    pub(crate) const fn rest(&mut self) {
        self.stage = Stage::Idle;
    }

    /// The new connection is open, and these are its statements.
    pub(crate) fn connected(
        &mut self,
        now_ns: u64,
        prepared: PreparedIds,
        context: &mut Context<'_, O>,
    ) -> Next {
        let latency_ns = now_ns.saturating_sub(self.sent_ns);
        let kind = O::connect_kind(context.resources.program);
        context.recorder.connected(kind, latency_ns);
        self.operations.reconnect(prepared);
        self.connection_left = self.reconnect_every.unwrap_or(u64::MAX);
        self.last_ns = now_ns;
        self.go_on(now_ns, context)
    }
}
