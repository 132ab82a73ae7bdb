//! Running a workload a few times and looking at every answer, and at the tables before and after.
//! Nothing is measured.

mod outcome;

use prony_client::{Answer, Connection};
use prony_model::{Dataset, Expect};

pub use outcome::{CheckOutcome, CheckedStatement};

use crate::choices::Choices;
use crate::dataset::conditions::violations;
use crate::dataset::sums::{TableSums, table_sums, tables_to_sum};
use crate::dataset::{ask, marks};
use crate::job::CheckTask;
use crate::message::Speaker;
use crate::program::{Encoding, Program, Scope, append_sql};
use crate::values::Values;
use crate::values::random::scatter;
use crate::{Job, JobError, LoadError, Message};

/// The only client.
const CLIENT: u32 = 0;

/// Characters of a statement that are shown where its answer is not as expected.
const SHOWN: usize = 300;

/// Runs the task to its end, telling `speaker` what came out.
pub(crate) fn check(
    job: &Job,
    task: &CheckTask,
    speaker: &mut Speaker<'_>,
) -> Result<(), LoadError> {
    task.check()?;
    let workload = &task.workload;
    let mut connection = job.connect(0, 1)?;
    let mut scope = Scope::of_text(
        job.family,
        workload,
        &task.parameters,
        &task.dataset,
        task.seed,
    );
    if workload.uses_marks() {
        scope = scope.with_marks(marks::read(&mut connection, &task.dataset)?);
    }
    let program = scope
        .compile(task.transactional)
        .map_err(JobError::compiling(workload))?;
    let before = all_sums(&mut connection, &task.dataset)?;
    let mut checker = Checker::new(connection, &program);
    for _ in 0..task.operations {
        speaker.check_input()?;
        checker.operation()?;
    }
    let after = all_sums(&mut checker.connection, &task.dataset)?;
    let violations = violations(&mut checker.connection, &task.dataset)?;
    speaker.say(&Message::Checked {
        outcome: Box::new(CheckOutcome {
            statements: checker.statements,
            before,
            after,
            violations,
        }),
    })
}

fn all_sums(connection: &mut Connection, dataset: &Dataset) -> Result<Vec<TableSums>, LoadError> {
    tables_to_sum(dataset)
        .map(|table| table_sums(connection, &table))
        .collect()
}

/// The only client and what it saw.
struct Checker<'a> {
    connection: Connection,
    program: &'a Program,
    choices: Choices,
    values: Vec<Values>,
    statements: Vec<CheckedStatement>,
}

impl<'a> Checker<'a> {
    fn new(connection: Connection, program: &'a Program) -> Self {
        let statements = program.statements.iter();
        Self {
            connection,
            program,
            choices: Choices::new(program, CLIENT),
            values: program.new_values(),
            statements: statements.map(|s| CheckedStatement::new(&s.name)).collect(),
        }
    }

    fn operation(&mut self) -> Result<(), LoadError> {
        if self.program.transaction {
            self.ask("begin", b"BEGIN")?;
        }
        let mut index = self.choices.first(self.program);
        self.statement(index)?;
        while self.program.goes_on_after(index) {
            index += 1;
            self.statement(index)?;
        }
        if self.program.transaction {
            self.ask("commit", b"COMMIT")?;
        }
        Ok(())
    }

    /// Runs a statement as often as an operation does.
    fn statement(&mut self, index: usize) -> Result<(), LoadError> {
        let program = self.program;
        let statement = &program.statements[index];
        for repetition in 0..statement.repeat {
            let sql = self.text(index, repetition);
            let answer = self.ask(&statement.name, &sql)?;
            program.note_change(index, self.choices.table(), answer.affected);
            self.statements[index].take(&sql, &answer, statement.expect);
        }
        Ok(())
    }

    fn text(&mut self, index: usize, repetition: u32) -> Vec<u8> {
        let (statement, values) = (&self.program.statements[index], &mut self.values[index]);
        self.choices
            .choose(self.program, statement, repetition, values);
        let table = &self.program.tables[self.choices.table()];
        let mut sql = Vec::new();
        // Everything was compiled as text.
        if let Encoding::Text(pieces) = &statement.encoding {
            append_sql(pieces, &mut sql, table, values);
        }
        sql
    }

    fn ask(&mut self, statement: &str, sql: &[u8]) -> Result<Answer, LoadError> {
        ask(&mut self.connection, sql, || format!("run `{statement}`"))
    }
}

impl CheckedStatement {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    fn take(&mut self, sql: &[u8], answer: &Answer, expect: Expect) {
        let rows = answer.rows.len() as u64;
        self.count += 1;
        self.rows += rows;
        self.affected += answer.affected;
        for row in &answer.rows {
            self.digest = self.digest.wrapping_add(hash(row));
        }
        let counts = [
            ("rows", rows, expect.rows),
            ("rows changed", answer.affected, expect.affected),
        ];
        let wrong = counts.into_iter().find_map(|(what, found, expected)| {
            let range = expected.filter(|range| !range.contains(found))?;
            Some(format!("{found} {what}, expected {range}"))
        });
        if let Some(wrong) = wrong {
            self.unexpected += 1;
            self.first_unexpected
                .get_or_insert_with(|| format!("{wrong}: {}", shorten(sql)));
        }
    }
}

/// A number that depends on every byte of a row, on where its values end, and on nothing else
/// (FNV-1a of 64 bits, scattered, so that sums of it are as good as random).
fn hash(row: &[Option<String>]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    // Neither byte is in UTF-8 text.
    const NULL: u8 = 0xff;
    const END: u8 = 0xfe;
    let bytes = row.iter().flat_map(|value| {
        match value {
            Some(text) => text.as_bytes(),
            None => &[NULL],
        }
        .iter()
        .chain(&[END])
    });
    scatter(bytes.fold(OFFSET, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(PRIME)
    }))
}

fn shorten(sql: &[u8]) -> String {
    let text = String::from_utf8_lossy(sql);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[Option<&str>]) -> Vec<Option<String>> {
        values
            .iter()
            .map(|value| value.map(str::to_owned))
            .collect()
    }

    fn answer(rows: &[&[Option<&str>]]) -> Answer {
        Answer {
            rows: rows.iter().map(|values| row(values)).collect(),
            ..Answer::default()
        }
    }

    #[test]
    fn hashes_tell_values_apart() {
        let rows: [&[Option<&str>]; 7] = [
            &[],
            &[None],
            &[Some("")],
            &[Some("ab"), Some("c")],
            &[Some("a"), Some("bc")],
            &[Some("c"), Some("ab")],
            &[None, Some("")],
        ];
        let mut hashes: Vec<u64> = rows.iter().map(|values| hash(&row(values))).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), rows.len());
    }

    /// Digests are compared over versions of Prony, too.
    #[test]
    fn hashes_never_change() {
        let hash = hash(&row(&[Some("1"), None]));
        assert_eq!(hash, 6_349_982_946_812_216_950);
    }

    #[test]
    fn the_digest_heeds_no_order_and_counts_repetitions() {
        let digest = |answers: &[Answer]| {
            let mut statement = CheckedStatement::new("s");
            for answer in answers {
                statement.take(b"SELECT", answer, Expect::default());
            }
            statement.digest
        };
        let (one, two): (&[_], &[_]) = (&[Some("1")], &[Some("2")]);
        assert_eq!(
            digest(&[answer(&[one, two])]),
            digest(&[answer(&[two]), answer(&[one])])
        );
        assert_ne!(digest(&[answer(&[one, one])]), digest(&[answer(&[one])]));
    }

    #[test]
    fn the_first_unexpected_answer_is_shown() {
        let mut statement = CheckedStatement::new("s");
        let expect = Expect {
            rows: Some("1".parse().unwrap()),
            affected: Some("0".parse().unwrap()),
        };
        statement.take(b"SELECT 1", &answer(&[&[Some("1")]]), expect);
        assert_eq!(
            (statement.unexpected, &statement.first_unexpected),
            (0, &None)
        );
        statement.take(b"SELECT 2", &answer(&[]), expect);
        statement.take("é".repeat(400).as_bytes(), &answer(&[]), expect);
        assert_eq!(
            (statement.count, statement.rows, statement.unexpected),
            (3, 1, 2)
        );
        assert_eq!(
            statement.first_unexpected.unwrap(),
            "0 rows, expected 1: SELECT 2"
        );
        assert_eq!(
            shorten("é".repeat(400).as_bytes()).chars().count(),
            SHOWN + 2
        );
    }
}
