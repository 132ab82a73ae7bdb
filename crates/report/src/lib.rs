//! Turns a stored run into text, Markdown, CSV and JSON.
//!
//! A report is a pure function of the result file: the same file gives the same bytes. Nothing
//! here prints. The four formats are described in `docs/formats/report.md`.

mod analysis;
mod calibration;
mod cell;
mod compose;
mod costs;
mod csv;
mod debt;
mod document;
mod doubts;
mod effective;
mod efficiency;
mod excerpt;
mod explain;
mod figures;
mod found;
mod generator;
mod heading;
mod json;
mod latency;
mod loads;
mod markdown;
mod notes;
mod paced;
mod pairs;
mod periods;
mod place;
mod remarks;
mod render;
mod response;
mod room;
mod sections;
mod seen;
mod tables;
mod text;
mod told;
mod trees;
mod warned;

pub use calibration::{calibration_json, calibration_text};
pub use effective::{EffectiveTarget, effective_settings};
pub use render::{Format, ReportError, render};
