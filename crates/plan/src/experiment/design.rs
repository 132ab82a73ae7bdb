//! What is run how often: the targets with the base's twin, and their trials.

use prony_model::{Bases, Campaign, CountedBy, Counting, PlannedTrial, Target, TrialKind};

use super::base::Decided;
use super::blocks::{self, Blocks};
use super::{DEFAULT_SEED, Knowledge, counting, order, profiling, read_seed, turn, twin};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Read};

/// What an experiment says of it, besides its targets.
pub(super) struct Written {
    blocks: Blocks,
    aa: Option<Located<bool>>,
    turn: Option<Located<u64>>,
    seed: u64,
    counting: counting::Written,
    profiling: Option<profiling::Written>,
}

/// What is decided of it.
pub(super) struct Design {
    pub(super) seed: u64,
    /// The twin is the last one.
    pub(super) targets: Vec<Target>,
    pub(super) twin: Option<usize>,
    /// Index of the first base, whose twin it is.
    pub(super) base: usize,
    /// With the twin's; `None` for one base.
    pub(super) bases: Option<Bases>,
    pub(super) turn_ms: Option<u64>,
    pub(super) campaign: Option<Campaign>,
    pub(super) counting: counting::Decided,
    pub(super) profiling: profiling::Decided,
    pub(super) trials: Vec<PlannedTrial>,
}

/// Reads it among the keys at the top.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<Written> {
    let blocks = blocks::read(fields);
    let aa = fields.optional("aa", Value::located_flag);
    let turn = fields.optional("turn", |value| turn::read(&value));
    let seed = fields.optional("seed", read_seed);
    let counting = fields.optional("counting", counting::read);
    let profiling = fields.optional("profiling", |value| {
        profiling::read(value.table("the profiling")?)
    });
    Ok(Written {
        blocks: blocks?,
        aa: aa?,
        turn: turn?,
        seed: seed?.unwrap_or(DEFAULT_SEED),
        counting: counting?.unwrap_or_default(),
        profiling: profiling?,
    })
}

/// Decides the trials of an experiment with these targets, of which these are the bases, on this host.
pub(super) fn decide(
    document: &Document<'_>,
    written: Written,
    base: Decided,
    mut targets: Vec<Target>,
    knowledge: &Knowledge<'_>,
) -> Read<Design> {
    let Written {
        blocks,
        aa,
        turn,
        seed,
        counting,
        profiling,
    } = written;
    let planned = blocks.planned;
    let campaign = blocks.campaign(document, &targets)?;
    let counting = counting::decide(document, &counting, planned, &targets, knowledge)?;
    let profiling = profiling::decide(document, profiling, planned, &targets, knowledge)?;
    let again = twin::decide(document, aa.as_ref(), planned, base.first, &targets)?;
    let twin = again.is_some().then_some(targets.len());
    targets.extend(again);
    let bases = base.bases.map(|mut bases| {
        bases.of_target.extend(twin.map(|_| Some(base.first)));
        bases
    });
    let turn_ms = turn::decide(document, turn, &targets)?;
    let countable = countable(&targets, twin, counting.counting);
    let counted = order::Besides {
        kind: TrialKind::Counting,
        blocks: counting.counting.map_or(0, |counting| counting.blocks),
        targets: &countable,
    };
    let own: Vec<usize> = (0..targets.len())
        .filter(|index| targets[*index].external.is_none())
        .collect();
    let profiled = order::Besides {
        kind: TrialKind::Profiling,
        blocks: profiling.profiling.map_or(0, |profiling| profiling.blocks),
        targets: &own,
    };
    Ok(Design {
        seed,
        trials: order::trials(seed, planned, targets.len(), &[counted, profiled]),
        targets,
        twin,
        base: base.first,
        bases,
        turn_ms,
        campaign,
        counting,
        profiling,
    })
}

/// The targets that can be counted: those that Prony starts, and in valgrind those that work there.
/// The twin is counted by the processor only: under valgrind, one trial takes as long as many timed
/// ones.
fn countable(targets: &[Target], twin: Option<usize>, counting: Option<Counting>) -> Vec<usize> {
    let is_dear = counting.is_some_and(|counting| counting.by == CountedBy::Valgrind);
    let ours = |index: &usize| targets[*index].external.is_none();
    let works = |index: usize| targets[index].build.no_valgrind.is_none();
    let is_wanted = |index: &usize| !is_dear || (Some(*index) != twin && works(*index));
    let all = 0..targets.len();
    all.filter(ours).filter(is_wanted).collect()
}
