//! Entries of a sequence to the steps of a plan, each at its numbers of clients.

use std::collections::BTreeMap;

use prony_model::{
    ClientGroup, Effect, Expr, Group, Groups, Length, Pace, Settle, Step, Target, Timing, Workload,
};

use super::beside::Beside;
use super::clients::{self, Clients};
use super::entry::{Entry, Run, What};
use super::time::{Limit, OPERATIONS_MAX, Scale};
use super::work::Work;
use crate::experiment::{DatasetRead, fit, placement};
use crate::fields::{Located, twice};
use crate::invalid::{Document, Problem, Read, Reported, Span};

/// Warm-up of a step where nothing else is written.
const DEFAULT_WARMUP_MS: u64 = 1000;

/// Facts for expanding entries.
pub(super) struct Expansion<'a> {
    pub(super) document: &'a Document<'a>,
    /// The dataset, where it could be read.
    pub(super) dataset: Option<&'a DatasetRead>,
    /// A target whose server the placements of steps can't bind, if there is one.
    pub(super) unbound: Option<&'a str>,
    /// The targets; none where they could not be read.
    pub(super) targets: &'a [Target],
    /// Numbers of clients of the steps that set none.
    pub(super) clients: Vec<Clients>,
    /// Warm-up of the steps that set none.
    pub(super) warmup_ms: Option<u64>,
    /// The same of the ramp.
    pub(super) ramp_ms: Option<u64>,
    /// Limit of the steps that set none, with its place.
    pub(super) limit: Option<Located<Limit<Expr>>>,
    pub(super) timing: Timing,
    /// Limit of the steps that only write.
    pub(super) write_operations: Option<Located<u64>>,
    pub(super) origin: Origin,
}

/// Origin of the entries.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// From the experiment's own `[[step]]` tables, whose words are the last ones.
    Own,
    /// From a preset, whose lengths are scaled. Messages point at where it is named.
    Preset { place: Span, scale: Scale },
}

impl Expansion<'_> {
    /// The steps in their order.
    pub(super) fn expand(&self, entries: &[Entry]) -> Read<Vec<Step>> {
        let mut steps = Vec::new();
        let mut outcome = Ok(());
        let mut settle = None;
        let mut seen = BTreeMap::new();
        let mut index = 0;
        let mut shrunk = false;
        for entry in entries {
            let place = self.place(entry);
            let run = match &entry.what {
                What::Settle(written) => {
                    settle = self
                        .dataset
                        .map(|read| written.with(&read.dataset, self.origin.scale()));
                    continue;
                }
                What::Run(run) => run,
            };
            let expanded = self
                .steps_of(run, index, settle.take(), place)
                .and_then(|mut of| {
                    self.check_unique(&of, place, &mut seen)?;
                    // Who shrinks does so while others beside it ask.
                    if shrunk || (shrinks(run) && !run.beside.is_empty()) {
                        of.iter_mut().for_each(expect_missing_rows);
                    }
                    Ok(of)
                });
            shrunk |= shrinks(run);
            match (expanded, &self.origin) {
                (Ok(of), _) => steps.extend(of),
                // The same line would be said to be wrong once for each step of the preset.
                (Err(reported), Origin::Preset { .. }) => return Err(reported),
                (Err(reported), Origin::Own) => outcome = Err(reported),
            }
            index += 1;
        }
        outcome.map(|()| steps)
    }

    fn place<'e>(&'e self, entry: &'e Entry) -> &'e Span {
        match &self.origin {
            Origin::Own => &entry.place,
            Origin::Preset { place, .. } => place,
        }
    }

    fn steps_of(
        &self,
        run: &Run,
        entry: usize,
        settle: Option<Settle>,
        place: &Span,
    ) -> Read<Vec<Step>> {
        let timing = run.timing.unwrap_or(self.timing);
        let tables = self.dataset.map_or(1, |read| read.dataset.tables);
        let counts = clients::resolve(run.clients.as_ref().unwrap_or(&self.clients), tables);
        let limit = self.limit_of(run, place);
        let enough = limit
            .as_ref()
            .map_or(Ok(()), |limit| self.check_share(run, limit, &counts, place));
        let groups = self.groups_of(run, tables, place);
        let limit = limit?.value;
        self.check_whole_run(run, timing, place)?;
        self.check_placement(run, place)?;
        let (warmup_ms, ramp_ms) = self.before_of(run, timing, limit);
        let groups = groups?;
        enough?;
        let with_clients = |clients| {
            let mut groups = groups.clone();
            let own = groups.own_mut();
            own.clients = clients;
            own.pace = run.work.pace.of(clients);
            groups
        };
        let step = |(place, clients): (usize, u32)| Step {
            name: run.work.name.value.clone(),
            entry,
            groups: with_clients(clients),
            warmup_ms,
            length: limit.at(clients),
            phase: run.phase,
            warm_only: run.warm_only,
            // Who comes first finds the engine settled.
            settle: settle.filter(|_| place == 0),
            timing,
            ramp_ms,
            margin_percent: run.margin,
            placement: run.placement.as_ref().map(|wanted| wanted.value.clone()),
        };
        Ok(counts.into_iter().enumerate().map(step).collect())
    }

    /// Warm-up and ramp of a step. There is none where connecting is part of what is timed; nor,
    /// unless the step asks for it, where changes are counted, since every server would make
    /// another number of them on top.
    fn before_of(&self, run: &Run, timing: Timing, limit: Limit) -> (u64, u64) {
        if timing == Timing::WholeRun {
            return (0, 0);
        }
        let counted = run.work.workload.effect != Effect::None && !matches!(limit, Limit::Time(_));
        let common = |ms| if counted { Some(0) } else { ms };
        let scale = self.origin.scale();
        let warmup = run.warmup_ms.map(|ms| scale.of_warmup(ms));
        let ramp = run.ramp_ms.map(|ms| scale.of(ms));
        (
            warmup
                .or(common(self.warmup_ms))
                .unwrap_or(DEFAULT_WARMUP_MS),
            ramp.or(common(self.ramp_ms)).unwrap_or(0),
        )
    }

    /// Checks that a step whose whole run is timed asks for nothing that has no place in it. The
    /// warm-ups and ramps of a preset are left out there instead.
    fn check_whole_run(&self, run: &Run, timing: Timing, place: &Span) -> Read<()> {
        if timing != Timing::WholeRun {
            return Ok(());
        }
        let own = matches!(self.origin, Origin::Own);
        let wrong = if own && run.warmup_ms.is_some_and(|ms| ms > 0) {
            ("warm-up", "warmup")
        } else if own && run.ramp_ms.is_some_and(|ms| ms > 0) {
            ("ramp", "ramp")
        } else if matches!(run.work.pace.of(1), Pace::Open { .. }) {
            ("rate", "rate")
        } else if !run.beside.is_empty() {
            ("groups beside it", "[[step.beside]]")
        } else {
            return Ok(());
        };
        let (what, key) = wrong;
        let label = match self.origin {
            Origin::Own => "has one".to_owned(),
            Origin::Preset { .. } => self.label(run, "has one"),
        };
        Problem::new(format!("a step whose whole run is timed has no {what}"))
            .at(place, label)
            .help(format!(
                "remove `{key}`, or write `timing = \"operations\"`"
            ))
            .fail(self.document)
    }

    /// Checks that the placement of a step fits all targets that it applies to.
    fn check_placement(&self, run: &Run, place: &Span) -> Read<()> {
        let (Some(name), Some(wanted)) = (self.unbound, &run.placement) else {
            return Ok(());
        };
        let wanted = Located {
            value: &wanted.value,
            span: match self.origin {
                Origin::Own => wanted.span.clone(),
                Origin::Preset { .. } => place.clone(),
            },
        };
        placement::check_without_server(self.document, name, &wanted)
    }

    /// The groups of a step; its own clients are still to be counted.
    fn groups_of(&self, run: &Run, tables: u32, place: &Span) -> Read<Groups<ClientGroup>> {
        let own = self.fit(&run.work, "step", place);
        let beside = |beside: &Beside| {
            let place = match &self.origin {
                Origin::Own => &beside.work.name.span,
                Origin::Preset { .. } => place,
            };
            let clients = beside.clients.with(tables);
            Ok(ClientGroup {
                name: Some(beside.work.name.value.clone()),
                clients,
                pace: beside.work.pace.of(clients),
                ..self.fit(&beside.work, "group", place)?
            })
        };
        let beside: Vec<Read<_>> = run.beside.iter().map(beside).collect();
        let mut groups = Groups::new(own?);
        for group in beside {
            groups.push(group?);
        }
        Ok(groups)
    }

    /// Limit of a step, with its place.
    fn limit_of(&self, run: &Run, place: &Span) -> Read<Located<Limit>> {
        let own = run.limit.clone().map(|limit| Located {
            value: limit.scaled(self.origin.scale()),
            span: place.clone(),
        });
        // Transactions that also read are left out: their reads decide how long they take.
        let writes = run.work.workload.group == Group::Write;
        let counted = self.write_operations.clone().filter(|_| writes);
        let counted = counted.map(|operations| operations.map(|n| Limit::Operations(n.into())));
        let limit = match self.origin {
            Origin::Own => own.or(counted),
            Origin::Preset { .. } => counted.or(own),
        };
        let limit = limit.or_else(|| self.limit.clone());
        let limit = limit.ok_or_else(|| self.endless(place))?;
        let value = limit
            .value
            .try_map(|expr| self.operations(run, expr, place))?;
        Ok(limit.map(|_| value))
    }

    /// The operations of a step that an expression stands for.
    fn operations(&self, run: &Run, expr: &Expr, place: &Span) -> Read<u64> {
        let parameters = run.work.all_parameters();
        let counted = |name: &str| match (name, self.dataset) {
            ("rows", Some(read)) => i64::try_from(read.dataset.rows).ok(),
            ("tables", Some(read)) => Some(read.dataset.tables.into()),
            // What is wrong with the dataset has been reported.
            ("rows" | "tables", None) => Some(1_000_000),
            _ => parameters.get(name).copied(),
        };
        let problem = match expr.eval(&counted) {
            Ok(count) => match u64::try_from(count) {
                Ok(count @ 1..=OPERATIONS_MAX) => return Ok(count),
                _ => format!("`{expr}` operations are {count}: 1 to {OPERATIONS_MAX} are possible"),
            },
            Err(error) => format!("the number of operations can't be computed: {error}"),
        };
        Problem::new(problem)
            .at(place, self.label(run, "has no number of operations"))
            .help(
                "write a whole number, or an expression of `rows` and `tables` of the dataset and of \
                 the workload's parameters, such as \"rows / 50\"",
            )
            .fail(self.document)
    }

    /// Checks that every client of a step has something to do.
    fn check_share(
        &self,
        run: &Run,
        limit: &Located<Limit>,
        clients: &[u32],
        place: &Span,
    ) -> Read<()> {
        let idle = clients.iter().find_map(|&clients| {
            let Length::Count { operations } = limit.value.at(clients) else {
                return None;
            };
            (operations < u64::from(clients)).then_some((operations, clients))
        });
        let Some((operations, clients)) = idle else {
            return Ok(());
        };
        let mut problem = Problem::new(format!(
            "`{}` has fewer operations than clients: {operations} for {clients}",
            run.work.name.value
        ))
        .at(&limit.span, "some clients would do nothing");
        if limit.span != *place {
            problem = problem.at(place, self.label(run, "has more clients"));
        }
        problem
            .help(format!(
                "write at least {clients}, or `operations_per_client`, or fewer `clients`"
            ))
            .fail(self.document)
    }

    /// A label at the place of a step, which for all steps of a preset is that of its name.
    fn label(&self, run: &Run, what: &str) -> String {
        match self.origin {
            Origin::Own => format!("this step {what}"),
            Origin::Preset { .. } => format!("its step `{}` {what}", run.work.name.value),
        }
    }

    fn endless(&self, place: &Span) -> Reported {
        self.document.report(
            Problem::new("a step needs `time`, `operations` or `operations_per_client`")
                .at(place, "no end")
                .help("write one of them in the step, or in [sequence] for all steps"),
        )
    }

    /// One client without a name that does the work, as the dataset lets it if it can.
    fn fit(&self, work: &Work, noun: &str, place: &Span) -> Read<ClientGroup> {
        let parameters = work.all_parameters();
        let fitted = self.dataset.map_or_else(
            || Ok(work.workload.clone()),
            |read| self.resolve(work, read, &parameters, (noun, place)),
        );
        Ok(ClientGroup {
            name: None,
            workload: fitted?,
            parameters,
            clients: 1,
            pace: work.pace.of(1),
            reconnect_every: work.pace.reconnect_every,
            sla_percent: work.pace.sla_percent,
        })
    }

    /// The workload with the answers that the dataset gives.
    fn resolve(
        &self,
        work: &Work,
        read: &DatasetRead,
        parameters: &BTreeMap<String, i64>,
        (noun, place): (&str, &Span),
    ) -> Read<Workload> {
        let mut targets = self.targets.iter();
        let known = targets.try_for_each(|target| {
            fit::check_family(&work.workload, &target.name, target.build.family)
        });
        let resolved = known.and_then(|()| fit::resolve(&work.workload, &read.dataset, parameters));
        resolved.map_err(|misfit| {
            let label = match self.origin {
                Origin::Own => format!("this {noun} can't run"),
                Origin::Preset { .. } => format!("its {noun} `{}` can't run", work.name.value),
            };
            let mut problem = Problem::new(misfit.to_string()).at(place, label);
            if let Some(label) = misfit.about(&read.dataset) {
                problem = problem.at(&read.rows, label);
            }
            self.document.report(problem.help(misfit.help()))
        })
    }

    /// Checks that a name and a number of clients mean one step.
    fn check_unique(
        &self,
        steps: &[Step],
        place: &Span,
        seen: &mut BTreeMap<(String, u32), Span>,
    ) -> Read<()> {
        for step in steps {
            let key = (step.name.clone(), step.own().clients);
            if let Some(first) = seen.insert(key, place.clone()) {
                return twice(
                    format!("two steps are named `{}`", step.name),
                    place,
                    &first,
                )
                .help("set `name` in one of them")
                .fail(self.document);
            }
        }
        Ok(())
    }
}

/// True where a step, or a group beside it, leaves fewer rows.
fn shrinks(run: &Run) -> bool {
    run.works()
        .any(|work| work.workload.effect == Effect::Shrink)
}

/// Lets the answers of all groups of a step lack rows.
fn expect_missing_rows(step: &mut Step) {
    for group in step.groups.iter_mut() {
        group.workload.expect_missing_rows();
    }
}

impl Origin {
    fn scale(&self) -> Scale {
        match self {
            Self::Own => Scale::ONE,
            Self::Preset { scale, .. } => *scale,
        }
    }
}
