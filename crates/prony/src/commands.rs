//! One module for each command.

pub(crate) mod append;
pub(crate) mod calibrate;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod confirm;
pub(crate) mod export;
pub(crate) mod generator;
pub(crate) mod guard;
pub(crate) mod images;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod null;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod resume;
pub(crate) mod run;
pub(crate) mod sequences;
pub(crate) mod servers;
pub(crate) mod verify;
pub(crate) mod workloads;
