//! Database servers on this machine, from the catalogue to a running process.
//!
//! - `build`: the catalogue, and how a build is fetched and unpacked.
//! - `config`: what an experiment may ask for, rendered for each version.
//! - `instance`: a data directory, and the process that runs on it.
//! - `image`: data directories after load, kept for trials.
//! - [`admin`]: what an administrator does on a server that runs.
//! - `add`: a catalogue entry for a server that the user has.
//!
//! Every difference between versions is data in the catalogue files; the code knows only the
//! three ways to bootstrap and the kinds of source. No registry host is named anywhere: the
//! package clients' own configuration decides where packages come from.

mod add;
pub mod admin;
mod build;
mod config;
mod digest;
mod image;
mod instance;
#[cfg(test)]
mod testing;

pub use add::{AddError, Added, Adder, NewServer};
pub use build::catalogue::{
    Bootstrap, Catalogue, CatalogueError, DebOrigin, Dependencies, Entry, Origin, Part, PipOrigin,
    Shutdown, Source, Support,
};
pub use build::depot::Depot;
pub use build::fetch::{FetchError, FetchEvent};
pub use build::unpack::UnpackError;
pub use build::{Artefact, ServerBuild};
pub use config::intents::Wanted;
pub use config::render::{Refusal, RenderError, Rendered};
pub use image::{
    Image, ImageError, ImageFacts, ImageKey, ImageRecord, Images, Made, Removal, RoomError,
    image_size_estimate, load_growth_estimate,
};
pub use instance::port::free as free_port;
pub use instance::preload::{PreloadError, check_libraries, library_digest};
pub use instance::threads::{Role, ServerThreads, ThreadsByRole, ThreadsError};
pub use instance::valgrind::{Callgrind, Valgrind, ValgrindError};
pub use instance::verify::{Verified, VerifyError, verify};
pub use instance::{
    Birth, Instance, InstanceError, OnBirth, Running, ServerDied, ServerFailure, StopError,
};
