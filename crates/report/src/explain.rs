//! Why an operation costs what it costs: instructions or time by component, function and path, and what targets
//! differ by.
//!
//! Floors as in reports: `cells` and `samples` read profiles, the crate `profile` makes figures of them, `page`
//! and `data` write them.

mod answer;
pub(crate) mod by_component;
mod cells;
mod data;
mod flame;
mod page;
mod question;
pub(crate) mod reasons;
mod samples;
mod times;
mod trial;

use prony_profile::{Components, folded, folded_difference, pprof};
use prony_store::Store;

use self::answer::{Compared, Explanation, answer};
use self::cells::Cells;
pub use self::question::{ExplainBy, ExplainFormat, ExplainQuestion, ExplainUnit};
use self::times::Times;
use crate::error::ReportError;
use crate::format::{Screen, markdown, text};

/// The profiles of a run that a question is about.
pub struct Explained<'q> {
    cells: Cells,
    question: ExplainQuestion<'q>,
    /// Of the step that is named.
    times: Option<Times>,
}

impl<'q> Explained<'q> {
    /// Reads the profiles of a run, whose functions belong to these components.
    ///
    /// # Errors
    /// When the run has no profiles, or not what was asked for, and when the result file can't be read or
    /// is damaged.
    pub fn read(
        store: &Store,
        question: &ExplainQuestion<'q>,
        components: &Components,
    ) -> Result<Self, ReportError> {
        let cells = Cells::read(store, None, question, components)?;
        let step = question.step.and(cells.all().next());
        Ok(Self {
            times: step
                .map(|cell| Times::read(store, cell.step_index, components))
                .transpose()?,
            cells,
            question: *question,
        })
    }

    /// The explanation; ends with a line feed.
    ///
    /// # Errors
    /// When it can't be written as JSON.
    pub fn write(&self, format: ExplainFormat, screen: Screen) -> Result<String, ReportError> {
        let explanation = self.answer();
        let document = || {
            page::document(
                &explanation,
                self.cells.unit,
                self.times.as_ref(),
                self.question.by,
            )
        };
        match format {
            ExplainFormat::Text => Ok(text::write_for(&document(), screen)),
            ExplainFormat::Markdown => Ok(markdown::write(&document())),
            ExplainFormat::Json => data::json(&explanation, self.cells.unit, self.times.as_ref()),
        }
    }

    /// The stacks of a step as programs for flame graphs read them: of one target, or of a target beside
    /// its base where these are two.
    ///
    /// # Errors
    /// If no step and target are named.
    pub fn folded(&self) -> Result<String, ReportError> {
        let two = self.two()?;
        Ok(if two.is_alone() {
            folded(&two.target.trials)
        } else {
            folded_difference(&two.base.trials, &two.target.trials)
        })
    }

    /// The same stacks as a picture, in SVG.
    ///
    /// # Errors
    /// If no step and target are named.
    pub fn flame_graph(&self) -> Result<String, ReportError> {
        Ok(flame::svg(&self.two()?, self.cells.unit))
    }

    /// The stacks of a step of one target, in the format of pprof.
    ///
    /// # Errors
    /// If no step and target are named.
    pub fn pprof(&self) -> Result<Vec<u8>, ReportError> {
        pprof(&self.two()?.target.trials, self.cells.unit.of_operation())
            .map_err(|source| ReportError::Pprof { source })
    }

    fn two(&self) -> Result<Compared<'_>, ReportError> {
        match self.answer() {
            Explanation::Two(two) => Ok(*two),
            Explanation::All(_) | Explanation::Grown(_) => Err(ReportError::NoCellNamed),
        }
    }

    fn answer(&self) -> Explanation<'_> {
        answer(&self.cells, &self.question)
    }
}
