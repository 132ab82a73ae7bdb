//! Entries of a sequence to the steps of a plan, each at its numbers of clients.

use std::collections::BTreeMap;

use prony_model::{Effect, Settle, Step, Timing, Workload};

use super::clients::{self, Clients};
use super::entry::{Entry, Run, What};
use super::time::{Limit, Scale};
use crate::experiment::{DatasetRead, fit};
use crate::invalid::{Document, Problem, Read, Reported, Span};

/// Warm-up of a step where nothing else is written.
const DEFAULT_WARMUP_MS: u64 = 1000;

/// What entries are expanded with.
pub(super) struct Expansion<'a> {
    pub(super) document: &'a Document<'a>,
    /// The dataset, where it could be read.
    pub(super) dataset: Option<&'a DatasetRead>,
    /// Numbers of clients of the steps that set none.
    pub(super) clients: Vec<Clients>,
    /// Warm-up of the steps that set none.
    pub(super) warmup_ms: Option<u64>,
    /// What ends the steps that set nothing.
    pub(super) limit: Option<Limit>,
    pub(super) timing: Timing,
    /// What ends the steps that write.
    pub(super) write_operations: Option<u64>,
    pub(super) origin: Origin,
}

/// Where the entries come from.
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
                    if shrunk {
                        for step in &mut of {
                            step.workload.expect_missing_rows();
                        }
                    }
                    Ok(of)
                });
            shrunk |= run.workload.effect == Effect::Shrink;
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
        let mut parameters = run.workload.parameters.clone();
        parameters.extend(run.parameters.clone());
        let timing = run.timing.unwrap_or(self.timing);
        let warmup_ms = self.warmup_of(run, timing, place);
        let limit = self.limit_of(run, place);
        let workload = self.fit(run, &parameters, place);
        let (warmup_ms, limit, workload) = (warmup_ms?, limit?, workload?);
        let tables = self.dataset.map_or(1, |read| read.dataset.tables);
        let counts = clients::resolve(run.clients.as_ref().unwrap_or(&self.clients), tables);
        let step = |(place, clients): (usize, u32)| Step {
            name: run.name.clone(),
            entry,
            workload: workload.clone(),
            parameters: parameters.clone(),
            clients,
            warmup_ms,
            length: limit.at(clients),
            phase: run.phase,
            warm_only: run.warm_only,
            // Who comes first finds the engine settled.
            settle: settle.filter(|_| place == 0),
            timing,
        };
        Ok(counts.into_iter().enumerate().map(step).collect())
    }

    /// The warm-up of a step. There is none where connecting is part of what is timed.
    fn warmup_of(&self, run: &Run, timing: Timing, place: &Span) -> Read<u64> {
        let own = run.warmup_ms.map(|ms| self.origin.scale().of_warmup(ms));
        match (timing, own, &self.origin) {
            (Timing::WholeRun, Some(1..), Origin::Own) => Err(self.document.report(
                Problem::new("a step whose whole run is timed has no warm-up")
                    .at(place, "has one")
                    .help("remove `warmup`, or write `timing = \"operations\"`"),
            )),
            (Timing::WholeRun, ..) => Ok(0),
            (Timing::Operations, own, _) => Ok(own.or(self.warmup_ms).unwrap_or(DEFAULT_WARMUP_MS)),
        }
    }

    fn limit_of(&self, run: &Run, place: &Span) -> Read<Limit> {
        let writes = run.workload.effect != Effect::None;
        let own = run.limit.map(|limit| limit.scaled(self.origin.scale()));
        let counted = self.write_operations.filter(|_| writes);
        let limit = match self.origin {
            Origin::Own => own.or(counted.map(Limit::Operations)),
            Origin::Preset { .. } => counted.map(Limit::Operations).or(own),
        };
        limit.or(self.limit).ok_or_else(|| self.endless(place))
    }

    fn endless(&self, place: &Span) -> Reported {
        self.document.report(
            Problem::new("a step needs `time`, `operations` or `operations_per_client`")
                .at(place, "no end")
                .help("write one of them in the step, or in [sequence] for all steps"),
        )
    }

    /// The workload as it runs on the dataset, if it can.
    fn fit(&self, run: &Run, parameters: &BTreeMap<String, i64>, place: &Span) -> Read<Workload> {
        let Some(read) = self.dataset else {
            return Ok(run.workload.clone());
        };
        fit::resolve(&run.workload, &read.dataset, parameters).map_err(|misfit| {
            let label = match self.origin {
                Origin::Own => "this step can't run".to_owned(),
                Origin::Preset { .. } => format!("its step `{}` can't run", run.name),
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
            let key = (step.name.clone(), step.clients);
            if let Some(first) = seen.insert(key, place.clone()) {
                return Err(self.document.report(
                    Problem::new(format!("two steps are named `{}`", step.name))
                        .at(place, "here again")
                        .at(&first, "first here")
                        .help("set `name` in one of them"),
                ));
            }
        }
        Ok(())
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
