//! A check that every target answers every cell rightly: each step once, with few operations,
//! nothing timed and nothing stored.
//!
//! One client asks first, and its answers are decoded whole: what they must be is known from the
//! workload, and they must be the same from every target, as must the tables afterwards. Then every
//! cell runs as it does in a trial, with its clients and its protocol, and the tables must have changed
//! by what was done.

mod agreement;

use std::collections::BTreeMap;

use prony_equality::VariableTable;
use prony_load::{
    CheckOutcome, CheckTask, CheckedStatement, Message, TableSums, Task, table_sums, tables_to_sum,
    violations,
};
use prony_model::{
    ClientGroup, Effect, ErrorClass, ErrorCount, GroupOutcome, Groups, Length, Pace, Plan, Step,
    StepOutcome, Target, Timing, TrialKind,
};

use self::agreement::{Findings, disagreements};
use crate::drive::{GeneratorSetup, drive, drive_task, generator_host, sees_gaps, step_seed};
use crate::error::LabError;
use crate::event::{Event, Events};
use crate::fault::{Failure, Fault, Stop, contain, unless_interrupted};
use crate::lab::Lab;
use crate::prepare::{Preparation, Start, supply_all};
use crate::server::Server;

/// Operations whose answers are decoded, for each entry of the sequence.
const CHECKED: u64 = 12;
/// Operations of each client when a cell runs as in a trial.
const DRIVEN_PER_CLIENT: u64 = 3;

/// The result of checking an experiment's answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The targets, in the order of the plan.
    pub targets: Vec<VerifiedTarget>,
    /// The disagreements between targets, in words.
    pub disagreements: Vec<String>,
}

/// The result for one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedTarget {
    /// Its name.
    pub name: String,
    /// Its cells, in the order of the plan's steps, as far as it got.
    pub cells: Vec<VerifiedCell>,
    /// The reason why it did not get to the end, if it did not.
    pub failure: Option<String>,
}

/// The result for one cell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifiedCell {
    /// Answers looked at.
    pub answers: u64,
    /// The mistakes, in words; empty where all is right.
    pub wrong: Vec<String>,
}

impl Verification {
    /// Tells whether every target got to the end, nothing was wrong, and all agree.
    pub fn is_sound(&self) -> bool {
        let sound = |target: &VerifiedTarget| {
            target.failure.is_none() && target.cells.iter().all(|cell| cell.wrong.is_empty())
        };
        self.disagreements.is_empty() && self.targets.iter().all(sound)
    }
}

/// Checks the answers of every cell of a plan. `None` when the user stopped it.
///
/// # Errors
/// As [`crate::run()`], before anything is asked. A target that fails is a result.
pub fn verify(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Option<Verification>, LabError> {
    unless_interrupted(verify_targets(lab, plan, events))
}

fn verify_targets(
    lab: &Lab<'_>,
    plan: &Plan,
    events: &mut Events<'_>,
) -> Result<Verification, Stop> {
    let hello = generator_host(lab)?;
    let supplies = supply_all(lab, plan, events)?;
    let preparation = Preparation {
        lab,
        plan,
        supplies: &supplies,
        table: &VariableTable::embedded().map_err(LabError::from)?,
        wanted: &(0..plan.targets.len()).collect(),
    };
    // Warnings belong beside figures, and there are none.
    let ready = preparation.make_ready(&mut Vec::new(), &mut |_, _, _| Ok(()), events)?;
    let encrypted = plan.targets.iter().any(Target::is_encrypted);
    let backend = hello
        .choose_backend(plan.backend, encrypted)
        .map_err(LabError::from)?;
    let setup = GeneratorSetup::new(&hello, backend);
    let mut targets = Vec::new();
    let mut findings = Vec::new();
    for (index, target) in plan.targets.iter().enumerate() {
        events(Event::TrialStarted {
            number: index + 1,
            total: plan.targets.len(),
            block: 1,
            blocks: 1,
            target: &target.name,
            kind: TrialKind::Timed,
        });
        let mut checked = Checked::default();
        let end = match &ready[index] {
            Ok(ready) => {
                let start = Start {
                    lab,
                    dataset: &plan.dataset,
                    target,
                    supply: &supplies[index],
                    image: ready.image.as_ref(),
                };
                TargetCheck { start, plan, setup }.run(&mut checked, events)
            }
            Err(failure) => Err(Fault::Failed(failure.clone())),
        };
        let failure = contain(lab.stop, end)?.err();
        targets.push(VerifiedTarget {
            name: target.name.clone(),
            cells: checked.cells,
            failure: failure.map(Failure::with_log),
        });
        findings.push(checked.findings);
    }
    let disagreements = disagreements(plan, &findings);
    Ok(Verification {
        targets,
        disagreements,
    })
}

/// The findings of one target so far.
#[derive(Default)]
struct Checked {
    cells: Vec<VerifiedCell>,
    findings: Findings,
}

/// The check of one target.
struct TargetCheck<'a> {
    start: Start<'a>,
    plan: &'a Plan,
    setup: GeneratorSetup,
}

impl TargetCheck<'_> {
    fn run(&self, checked: &mut Checked, events: &mut Events<'_>) -> Result<(), Fault> {
        let plan = self.plan;
        let found = self.answers(&mut checked.findings)?;
        // These statements have changed the tables: the rest begins with the image again.
        let mut server = self.begin()?;
        let mut sums = None;
        for (index, step) in plan.steps.iter().enumerate() {
            events(Event::StepStarted {
                number: index + 1,
                total: plan.steps.len(),
                step: &step.name,
                clients: step.own().clients,
            });
            let mut cell = VerifiedCell::default();
            for (place, group) in step.groups.iter().enumerate() {
                let seed = step_seed(plan.seed, 1, index + place * plan.steps.len());
                let alone = alone(step, group, plan.dataset.tables);
                let found = self
                    .cell(&alone, seed, &mut server, &mut sums)
                    .map_err(|fault| fault.during(&step.name, step.own().clients))?;
                cell.add(found, group);
            }
            // The findings of one client hold for the entry at all its numbers of clients.
            if let Some(found) = found.get(&step.entry) {
                cell.answers += found.answers;
                cell.wrong.splice(0..0, found.wrong.iter().cloned());
            }
            checked.cells.push(cell);
        }
        server.stop().map(drop)
    }

    /// Has one client ask the statements of every entry.
    fn answers(&self, findings: &mut Findings) -> Result<BTreeMap<usize, VerifiedCell>, Fault> {
        let plan = self.plan;
        let mut server = self.begin()?;
        let mut cells = BTreeMap::new();
        for (index, step) in plan.steps.iter().enumerate() {
            if cells.contains_key(&step.entry) {
                continue;
            }
            let mut cell = VerifiedCell::default();
            for (place, group) in step.groups.iter().enumerate() {
                let seed = step_seed(plan.seed, 0, index + place * plan.steps.len());
                let outcome = self
                    .check(group, seed, &mut server)
                    .map_err(|fault| fault.during(&step.name, 1))?;
                findings.entry(step.entry).or_default().add(&outcome, group);
                let found = VerifiedCell {
                    answers: outcome.statements.iter().map(|s| s.count).sum(),
                    wrong: outcome.wrong(&group.workload),
                };
                cell.add(found, group);
            }
            cells.insert(step.entry, cell);
        }
        server.stop()?;
        Ok(cells)
    }

    /// Starts the server, with its rows in place.
    fn begin(&self) -> Result<Server, Fault> {
        let mut server = self.start.server()?;
        self.start.fill(&mut server, None, &mut |_| ())?;
        Ok(server)
    }

    /// Has one client ask what a group asks.
    fn check(
        &self,
        group: &ClientGroup,
        seed: u64,
        server: &mut Server,
    ) -> Result<CheckOutcome, Fault> {
        let mut workload = group.workload.clone();
        let mut operations = CHECKED;
        if workload.goes_through_tables() {
            operations = self.plan.dataset.tables.into();
        }
        if workload.is_mix() {
            // Rare statements are checked as well as the rest.
            operations *= workload.statements.len() as u64;
            for statement in &mut workload.statements {
                statement.weight = Some(1);
            }
        }
        let task = Task::Check(Box::new(CheckTask {
            workload,
            parameters: group.parameters.clone(),
            dataset: self.plan.dataset,
            transactional: self.start.target.engine.transactional(),
            operations,
            seed,
        }));
        drive(self.start.lab, server, task, &mut |message| match message {
            Message::Checked { outcome } => Some(*outcome),
            _ => None,
        })
    }

    /// Runs a step of one group. `known` are the tables' sums, where they are known; they are known
    /// again afterwards, where possible.
    fn cell(
        &self,
        step: &Step,
        seed: u64,
        server: &mut Server,
        known: &mut Option<Vec<TableSums>>,
    ) -> Result<VerifiedCell, Fault> {
        let start = &self.start;
        let workload = &step.own().workload;
        let writes = workload.effect != Effect::None;
        let before = match known.take() {
            None if writes => Some(sums(start, server)?),
            known => known,
        };
        let outcome = self.outcome(step, seed, server)?;
        let outcome = outcome.groups.own();
        let (before, after) = match before {
            Some(before) if writes => (before, sums(start, server)?),
            // Sums are not read after reads; the check of one client did that.
            before => {
                known.clone_from(&before);
                (Vec::new(), Vec::new())
            }
        };
        let mut wrong = unexpected(outcome, sees_gaps(step, start.target.engine));
        if writes {
            *known = Some(after.clone());
            wrong.extend(broken_conditions(start, server)?);
        }
        let mut check = as_check(outcome, before, after);
        if workload.transaction && !outcome.errors.is_empty() {
            // The counts have what was rolled back, and say nothing of the tables.
            check.forget_tables();
        }
        wrong.extend(check.wrong(workload));
        Ok(VerifiedCell {
            answers: outcome.queries,
            wrong,
        })
    }

    fn outcome(
        &self,
        step: &Step,
        seed: u64,
        server: &mut Server,
    ) -> Result<Box<StepOutcome>, Fault> {
        let start = &self.start;
        let task = drive_task(self.plan, start.target, step, seed, self.setup);
        drive(
            start.lab,
            server,
            Task::Drive(Box::new(task)),
            &mut |message| match message {
                Message::Done { outcome } => Some(outcome),
                _ => None,
            },
        )
    }
}

/// A step with one of its groups alone, at no pace, on connections that last. Answers do not depend
/// on when they are asked for, and the changes of a group can then be told from those of others.
fn alone(step: &Step, group: &ClientGroup, tables: u32) -> Step {
    let operations = if group.workload.goes_through_tables() {
        tables.into()
    } else {
        u64::from(group.clients) * DRIVEN_PER_CLIENT
    };
    Step {
        groups: Groups::new(ClientGroup {
            pace: Pace::default(),
            reconnect_every: None,
            sla_percent: None,
            ..group.clone()
        }),
        length: Length::Count { operations },
        warmup_ms: 0,
        timing: Timing::Operations,
        ramp_ms: 0,
        ..step.clone()
    }
}

/// The lead of words about a group: its name, where it is not the step's own.
fn prefix(group: &ClientGroup) -> String {
    let name = group.name.as_ref();
    name.map_or_else(String::new, |name| format!("{name}: "))
}

impl VerifiedCell {
    /// Adds what was found of a group of the step.
    fn add(&mut self, found: Self, group: &ClientGroup) {
        self.answers += found.answers;
        let prefix = prefix(group);
        let wrong = found.wrong.into_iter();
        self.wrong
            .extend(wrong.map(|wrong| format!("{prefix}{wrong}")));
    }
}

fn sums(start: &Start<'_>, server: &Server) -> Result<Vec<TableSums>, Fault> {
    let failed =
        |reason: String| Fault::failed_with_log(format!("failed to {reason}"), server.log_tail());
    let mut connection = server
        .connect()
        .map_err(|error| failed(error.to_string()))?;
    let mut all = Vec::new();
    for table in tables_to_sum(start.dataset) {
        if start.lab.stop.requested() {
            return Err(Stop::Interrupted.into());
        }
        let sums =
            table_sums(&mut connection, &table).map_err(|error| failed(error.to_string()))?;
        all.push(sums);
    }
    Ok(all)
}

/// The conditions of the schema that are violated, in words.
fn broken_conditions(start: &Start<'_>, server: &Server) -> Result<Vec<String>, Fault> {
    let failed =
        |reason: String| Fault::failed_with_log(format!("failed to {reason}"), server.log_tail());
    let mut connection = server
        .connect()
        .map_err(|error| failed(error.to_string()))?;
    violations(&mut connection, start.dataset).map_err(|error| failed(error.to_string()))
}

/// Errors, in words, but for those that an operation is tried again for. Where clients see gaps,
/// they can also insert the same row twice.
fn unexpected(outcome: &GroupOutcome, gaps: bool) -> Vec<String> {
    let harmless = |error: &&ErrorCount| {
        error.class == ErrorClass::Retryable || (gaps && error.code.is_duplicate_key())
    };
    let errors = outcome.errors.iter();
    errors
        .filter(|error| !harmless(error))
        .map(|error| {
            format!(
                "error {}, {} times: {}",
                error.code, error.count, error.message
            )
        })
        .collect()
}

/// Counts of a driven cell in the form of a check.
fn as_check(outcome: &GroupOutcome, before: Vec<TableSums>, after: Vec<TableSums>) -> CheckOutcome {
    let statements = outcome.statements.iter().map(|statement| CheckedStatement {
        name: statement.name.clone(),
        count: statement.count,
        rows: statement.rows,
        affected: statement.affected,
        unexpected: statement.unexpected,
        digest: 0,
        first_unexpected: (statement.unexpected > 0)
            .then(|| "its counts differ from the expected ones".to_owned()),
    });
    CheckOutcome {
        statements: statements.collect(),
        before,
        after,
        violations: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verification_is_sound_when_everything_is() {
        let cell = |wrong: &[&str]| VerifiedCell {
            answers: 3,
            wrong: wrong.iter().map(ToString::to_string).collect(),
        };
        let of = |cell, failure: Option<&str>, disagreements: &[&str]| Verification {
            targets: vec![VerifiedTarget {
                name: "a".into(),
                cells: vec![cell],
                failure: failure.map(ToOwned::to_owned),
            }],
            disagreements: disagreements.iter().map(ToString::to_string).collect(),
        };
        assert!(of(cell(&[]), None, &[]).is_sound());
        assert!(!of(cell(&["2 rows"]), None, &[]).is_sound());
        assert!(!of(cell(&[]), Some("died"), &[]).is_sound());
        assert!(!of(cell(&[]), None, &["a and b"]).is_sound());
    }
}
