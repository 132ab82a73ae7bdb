//! The statements of a client, operation after operation.

use prony_model::Expect;

use crate::choices::Choices;
use crate::program::{Encoding, Program, append_sql};
use crate::protocol::{PreparedId, Request, Tally};
use crate::values::Values;

const NO_EXPECTATION: Expect = Expect {
    rows: None,
    affected: None,
};

/// The statements prepared on one connection: by statement, then by table. A statement that the
/// client sends to one table only has one entry.
pub(crate) type PreparedIds = Vec<Vec<PreparedId>>;

/// How an operation goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// With the request that was made.
    Ask,
    /// Not at all: all its statements are answered.
    Complete,
}

/// The things that clients of a group share on one thread to make their requests.
pub(crate) struct Resources<'a, P, R: ?Sized> {
    /// What was decided before the start, only to be read.
    pub(crate) program: &'a P,
    /// Room for values.
    pub(crate) room: &'a mut R,
}

/// The [`Resources`] of these operations.
pub(crate) type ResourcesOf<'a, O> =
    Resources<'a, <O as Operations>::Program, <O as Operations>::Room>;

/// The source of a client's statements. It decides the next request when an answer has come, and
/// knows neither time nor sockets.
pub(crate) trait Operations {
    /// What was decided before the start. Clients share it and only read it.
    type Program;
    /// Room for values, which the clients of a thread share.
    type Room: ?Sized;

    /// Makes the first request of a new operation.
    fn begin(&mut self, request: &mut Request, resources: &mut ResourcesOf<'_, Self>);

    /// Makes the first request of the same operation again, with the same values.
    fn repeat(&mut self, request: &mut Request, resources: &mut ResourcesOf<'_, Self>);

    /// Makes the next request after an answer without error.
    fn next(
        &mut self,
        answer: Tally,
        request: &mut Request,
        resources: &mut ResourcesOf<'_, Self>,
    ) -> Step;

    /// Makes the request that leaves an operation which an error has ended, where one is needed.
    fn leave(&self, request: &mut Request, program: &Self::Program) -> Step;

    /// The kind that the answer just read is recorded as, and its expected counts.
    fn answered<'a>(&self, program: &'a Self::Program) -> (usize, &'a Expect);

    /// The kind that connecting is recorded as.
    fn connect_kind(program: &Self::Program) -> usize;

    /// The name of the statement under way.
    fn statement_name<'a>(&self, program: &'a Self::Program) -> &'a str;

    /// Goes on over a new connection, with the statements prepared there.
    fn reconnect(&mut self, prepared: PreparedIds);
}

/// The operations of a compiled workload.
#[derive(Debug)]
pub(crate) struct Statements {
    choices: Choices,
    prepared: PreparedIds,
    position: Position,
}

/// The statement under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Begin,
    /// A statement of the workload, in one of its turns.
    Statement {
        index: usize,
        turn: u32,
    },
    Commit,
}

impl Statements {
    /// Operations from a client's first on, over a connection on which its statements are prepared.
    pub(crate) const fn new(choices: Choices, prepared: PreparedIds) -> Self {
        Self {
            choices,
            prepared,
            position: Position::Begin,
        }
    }

    #[inline]
    fn ask_first(&mut self, request: &mut Request, resources: &mut StatementResources<'_>) {
        if resources.program.transaction {
            self.position = Position::Begin;
            ask_control(b"BEGIN", request);
        } else {
            self.ask_first_statement(request, resources);
        }
    }

    #[inline]
    fn ask_first_statement(
        &mut self,
        request: &mut Request,
        resources: &mut StatementResources<'_>,
    ) {
        let first = self.choices.first(resources.program);
        self.ask_statement(first, 0, request, resources);
    }

    #[inline]
    fn ask_statement(
        &mut self,
        index: usize,
        turn: u32,
        request: &mut Request,
        resources: &mut StatementResources<'_>,
    ) {
        let program = resources.program;
        let statement = &program.statements[index];
        let values = &mut resources.room[index];
        self.choices.choose(program, statement, turn, values);
        let table = self.choices.table();
        match &statement.encoding {
            Encoding::Text(pieces) => {
                let table = &program.tables[table];
                request.query(|out| append_sql(pieces, out, table, values));
            }
            Encoding::Prepared(prepared) => {
                let ids = &mut self.prepared[index];
                let last = ids.len() - 1;
                let id = &mut ids[table.min(last)];
                request.execute(index, &prepared.execution, id, values);
            }
        }
        self.position = Position::Statement { index, turn };
    }
}

fn ask_control(sql: &[u8], request: &mut Request) {
    request.query(|out| out.extend_from_slice(sql));
}

type StatementResources<'a> = ResourcesOf<'a, Statements>;

impl Operations for Statements {
    type Program = Program;
    type Room = [Values];

    #[expect(
        clippy::inline_always,
        reason = "as a call it costs 20 to 40 of the 1000 instructions of a query: `cargo xtask bench-instructions`"
    )]
    #[inline(always)]
    fn begin(&mut self, request: &mut Request, resources: &mut StatementResources<'_>) {
        self.choices.begin_operation();
        self.ask_first(request, resources);
    }

    fn repeat(&mut self, request: &mut Request, resources: &mut StatementResources<'_>) {
        self.choices.repeat_operation();
        self.ask_first(request, resources);
    }

    #[inline]
    fn next(
        &mut self,
        answer: Tally,
        request: &mut Request,
        resources: &mut StatementResources<'_>,
    ) -> Step {
        let program = resources.program;
        match self.position {
            Position::Begin => self.ask_first_statement(request, resources),
            Position::Statement { index, turn } => {
                program.note_change(index, self.choices.table(), answer.affected);
                if turn + 1 < program.statements[index].repeat {
                    self.ask_statement(index, turn + 1, request, resources);
                } else if program.goes_on_after(index) {
                    self.ask_statement(index + 1, 0, request, resources);
                } else if program.transaction {
                    self.position = Position::Commit;
                    ask_control(b"COMMIT", request);
                } else {
                    return Step::Complete;
                }
            }
            Position::Commit => return Step::Complete,
        }
        Step::Ask
    }

    fn leave(&self, request: &mut Request, program: &Program) -> Step {
        if !program.transaction {
            return Step::Complete;
        }
        ask_control(b"ROLLBACK", request);
        Step::Ask
    }

    #[inline]
    fn answered<'a>(&self, program: &'a Program) -> (usize, &'a Expect) {
        match self.position {
            Position::Begin => (program.begin_kind(), &NO_EXPECTATION),
            Position::Commit => (program.commit_kind(), &NO_EXPECTATION),
            Position::Statement { index, .. } => (index, &program.statements[index].expect),
        }
    }

    fn connect_kind(program: &Program) -> usize {
        program.connect_kind()
    }

    fn statement_name<'a>(&self, program: &'a Program) -> &'a str {
        match self.position {
            Position::Begin => "begin",
            Position::Statement { index, .. } => &program.statements[index].name,
            Position::Commit => "commit",
        }
    }

    fn reconnect(&mut self, prepared: PreparedIds) {
        self.prepared = prepared;
    }
}
