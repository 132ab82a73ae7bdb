//! Server builds: the catalogue of what can be had, fetching, configuration for each version,
//! instances and data images.
//!
//! Every difference between versions is data in the catalogue files; the code knows only the
//! three ways to bootstrap and the kinds of source. No registry host is named anywhere: the
//! package clients' own configuration decides where packages come from.

mod add;
mod build;
mod catalogue;
mod certificates;
mod copy;
mod depot;
mod digest;
mod elf;
mod fetch;
mod folder;
mod glob;
pub mod guard;
mod images;
mod instance;
mod intents;
mod io_error;
mod launcher;
mod leftovers;
mod lock;
mod owner;
mod render;
mod roots;
mod settle;
mod status;
#[cfg(test)]
mod testing;
mod tree;
mod unpack;
mod valgrind;
mod verify;

pub use add::{AddError, Added, Adder, NewServer};
pub use build::{Artefact, ServerBuild};
pub use catalogue::{
    Bootstrap, Catalogue, CatalogueError, DebOrigin, Dependencies, Entry, Origin, Part, Shutdown,
    Source, Support,
};
pub use depot::Depot;
pub use fetch::{FetchError, FetchEvent};
pub use folder::OwnedFolder;
pub use guard::Placement;
pub use images::{
    Image, ImageError, ImageFacts, ImageKey, ImageRecord, Images, Made, Removal, RoomError,
    image_size_estimate,
};
pub use instance::{Birth, Instance, InstanceError, OnBirth, Running, ServerDied, StopError};
pub use io_error::IoError;
pub use launcher::{Launcher, LauncherError, Process};
pub use leftovers::{Leftover, clear_leftovers};
pub use owner::{Owner, OwnerError};
pub use render::{Refusal, RenderError, Rendered, Wanted};
pub use roots::{Roots, RootsError};
pub use settle::{SettleError, Whose, debt, empty_binlog, settle};
pub use status::status;
pub use unpack::UnpackError;
pub use valgrind::{Callgrind, Valgrind, ValgrindError};
pub use verify::{Verified, VerifyError, verify};
