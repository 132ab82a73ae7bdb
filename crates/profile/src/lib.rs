//! Costs of a server by function: what callgrind has counted or what was found in samples of stacks, names
//! that can be compared between builds, components, and what two versions differ by.
//!
//! Bytes in, tables out: it starts nothing and reads no file. A [`Profile`] is what was counted in one step
//! of one trial, and is stored as it is. [`Profile::costs`] makes figures for each operation of it, by the
//! rules of [`Components`], and [`Comparison`] compares the figures of two targets.

mod callgrind;
mod component;
mod costs;
mod difference;
mod folded;
mod name;
mod pprof;
mod profile;
mod sampled;
mod symbols;

pub use callgrind::CallgrindError;
pub use component::{Components, ComponentsError};
pub use costs::{Costs, FunctionCost, FunctionName, KERNEL, MappedBy, NOT_MAPPED, Sampling};
pub use difference::{Comparison, ComponentRow, FunctionRow, Pair, PathRow, Presence};
pub use folded::{common_stacks, folded, folded_difference, stacks};
pub use pprof::pprof;
pub use profile::{Profile, ProfileError};
pub use sampled::{NamedStack, Sampled, Taking, Wait};
pub use symbols::{Extents, Symbols};
