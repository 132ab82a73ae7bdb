//! The number of blocks: written, or as many as a precision needs.

use prony_model::{Campaign, Target};

use super::sequence::read_time;
use crate::fields::{Fields, Located};
use crate::invalid::{Document, Problem, Read};
use crate::percent;

/// Most blocks of an experiment.
pub(super) const BLOCKS_MAX: i64 = 1000;

/// Blocks after which a campaign looks at its ratios, each about 1.6 times those before: a look
/// that comes sooner finds hardly narrower intervals, and every look widens those of all others.
/// Fewer than five blocks support no verdict, and an interval of fifty is narrower than one of
/// twenty by a third only.
const LOOKS: [u32; 6] = [5, 8, 12, 20, 30, 50];

/// The blocks of an experiment.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Blocks that are planned at once.
    pub(super) planned: u32,
    /// The rule by which more are added, with the place of the precision.
    campaign: Option<Located<Campaign>>,
}

/// Reads `blocks`, or `precision` and `budget`.
pub(super) fn read(fields: &mut Fields<'_>) -> Read<Blocks> {
    let document = fields.document();
    let blocks = fields.optional("blocks", |value| value.count::<u32>(1..=BLOCKS_MAX));
    let precision = fields.optional("precision", percent::read_difference);
    let budget = fields.optional("budget", |value| {
        let span = value.span();
        let value = read_time(&value, 1)?;
        Ok(Located { value, span })
    });
    let problem = match (blocks?, precision?, budget?) {
        (Some(blocks), None, None) => {
            return Ok(Blocks {
                planned: blocks.value,
                campaign: None,
            });
        }
        (None, Some(precision), Some(budget)) => {
            let campaign = precision.map(|precision_percent| Campaign {
                precision_percent,
                budget_ms: budget.value,
                looks: LOOKS.to_vec(),
            });
            return Ok(Blocks {
                planned: LOOKS[0],
                campaign: Some(campaign),
            });
        }
        (Some(blocks), Some(precision), _) => {
            Problem::new("`blocks` and `precision` exclude each other")
                .at(&blocks.span, "this number of blocks")
                .at(&precision.span, "as many blocks as this needs")
                .help("remove `blocks`, or remove `precision` and `budget`")
        }
        (None, Some(precision), None) => Problem::new("`precision` needs a `budget`")
            .at(&precision.span, "may need any number of blocks")
            .help("write the time after which no block is begun, such as `budget = \"2h\"`"),
        (_, None, Some(budget)) => Problem::new("`budget` needs a `precision`")
            .at(&budget.span, "ends nothing")
            .help(
                "write the half-width of ratios that is wanted in place of `blocks`, such as \
                 `precision = \"2 %\"`, or remove `budget`",
            ),
        (None, None, None) => return Err(fields.missing("blocks")),
    };
    problem.fail(document)
}

impl Blocks {
    /// The rule by which blocks are added. Checks that there are ratios to be precise about.
    pub(super) fn campaign(
        self,
        document: &Document<'_>,
        targets: &[Target],
    ) -> Read<Option<Campaign>> {
        match self.campaign {
            Some(campaign) if targets.len() == 1 => Problem::new(
                "`precision` is that of ratios, and an experiment with one target has none",
            )
            .at(&campaign.span, "asked for here")
            .help("add a [[target]], or write the number of `blocks` instead")
            .fail(document),
            campaign => Ok(campaign.map(|campaign| campaign.value)),
        }
    }
}
