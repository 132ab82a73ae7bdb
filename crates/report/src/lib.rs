//! Turns a stored run into text, Markdown, CSV, JSON and HTML.
//!
//! A report is a pure function of the result file: the same file gives the same bytes. Nothing
//! here prints. Three floors, each of which knows the ones before it only: `analysis` derives all
//! figures from the result file, `page` decides which of them people see and in which words, and
//! `format` writes them. The formats are described in `docs/formats/report.md`.

pub mod adhoc;
mod analysis;
mod calibration;
mod chart;
mod compare;
mod document;
mod error;
mod explain;
mod extent;
mod figures;
mod format;
mod judgement;
mod page;
mod parallel;
pub mod tidy;
mod views;
pub mod words;

/// The schema of reports as JSON, in the words of JSON Schema.
pub const JSON_SCHEMA: &str = include_str!("../../../docs/formats/report.schema.json");

pub use analysis::settings::EffectiveTarget;
pub use calibration::{calibration_json, calibration_text};
pub use compare::{Question, SyntaxError, compare};
pub use error::{HistogramError, ReportError, ViewError};
pub use explain::{ExplainBy, ExplainFormat, ExplainQuestion, ExplainUnit, Explained};
pub use extent::{Extent, StepChoice};
pub use format::{
    Format, Screen, effective_settings, lineage, render, render_extent, render_relative, view,
};
pub use judgement::{IdenticalServers, Judgement, identical_servers, judgements};
pub use page::heading::client_host_lines;
pub use prony_profile::{Components, ComponentsError};
pub use views::{View, ViewOptions};
