//! Choices of a client for each statement: its table and its values.

use prony_model::TableChoice;

use crate::program::{Program, Statement};
use crate::values::Values;
use crate::values::draws::Draws;

/// One client's choices, a function of seed and client number alone.
#[derive(Debug)]
pub(crate) struct Choices {
    draws: Draws,
    /// `draws` as it was when the operation began, so that a retry chooses the same.
    operation: Draws,
    /// `draws` as it was when the values of the statement were drawn, for one that begins with
    /// the same values.
    statement: Draws,
    table: usize,
}

impl Choices {
    /// The choices of a client, from its first operation on.
    pub(crate) fn new(program: &Program, client: u32) -> Self {
        let draws = Draws::new(program.seed, client, program.ordered);
        Self {
            operation: draws.clone(),
            statement: draws.clone(),
            draws,
            table: 0,
        }
    }

    /// The table of the statement chosen for last.
    pub(crate) const fn table(&self) -> usize {
        self.table
    }

    /// A new operation begins.
    pub(crate) fn begin_operation(&mut self) {
        self.operation.go_to(&self.draws);
    }

    /// The operation begins again.
    pub(crate) fn repeat_operation(&mut self) {
        self.draws.go_to(&self.operation);
    }

    /// The statement that an operation begins with: of a mix, the only one.
    #[inline]
    pub(crate) fn first(&mut self, program: &Program) -> usize {
        let Some(total) = program.mix.last() else {
            return 0;
        };
        let drawn = self.draws.below(*total);
        program.mix.partition_point(|sum| *sum <= drawn)
    }

    /// Chooses table and values for a statement of the program in one of its turns.
    #[inline]
    pub(crate) fn choose(
        &mut self,
        program: &Program,
        statement: &Statement,
        turn: u32,
        values: &mut Values,
    ) {
        if turn == 0 {
            self.choose_table(program, statement.table);
        }
        if statement.repeats_values {
            self.draws.go_to(&self.statement);
        } else if program.repeats_values {
            self.statement.go_to(&self.draws);
        }
        if statement.uses_marks
            && let Some(marks) = &program.marks
        {
            values.integers[..2].copy_from_slice(&marks.of(self.table));
        }
        statement.draw(&mut self.draws, values);
    }

    #[inline]
    fn choose_table(&mut self, program: &Program, choice: Option<TableChoice>) {
        let tables = program.tables.len() as u64;
        let index = match choice {
            Some(TableChoice::Random) => self.draws.below(tables),
            Some(TableChoice::ByClient) => u64::from(self.draws.client()) % tables,
            Some(TableChoice::Each) => {
                let before = self.draws.advance(program.table_place);
                let turn = before.wrapping_mul(program.clients.into());
                turn.wrapping_add(self.draws.client().into()) % tables
            }
            Some(TableChoice::Previous) => return,
            None => 0,
        };
        self.table = usize::try_from(index).unwrap_or(0);
    }
}
