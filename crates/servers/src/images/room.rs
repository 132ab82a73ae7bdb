//! How much room images take, and how much there is.

use std::path::Path;

use prony_model::{Dataset, Engine};

use super::{Images, RoomError};
use crate::io_error::{At, IoError};
use crate::render::Rendered;
use crate::roots::create_private;

/// Free bytes of a folder's file system for this user.
pub(super) fn free_bytes(folder: &Path) -> Result<u64, IoError> {
    create_private(folder)?;
    let facts = rustix::fs::statvfs(folder).at("look for room in", folder)?;
    Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
}

impl Images<'_> {
    /// Makes sure that there is room for `needed` bytes in the cache.
    ///
    /// # Errors
    /// When there is not. What can't be asked is taken for enough.
    pub fn check_room(&self, needed: u64) -> Result<(), RoomError> {
        match self.room() {
            Ok(free) if free < needed => Err(RoomError {
                folder: self.roots.cache.clone(),
                needed,
                free,
            }),
            _ => Ok(()),
        }
    }
}

/// Bytes that the image of such a target takes at most, estimated.
pub fn image_size_estimate(engine: Engine, dataset: &Dataset, rendered: &Rendered) -> u64 {
    let _ = (engine, rendered);
    dataset
        .rows
        .saturating_mul(u64::from(dataset.tables))
        .saturating_mul(300)
        + (300 << 20)
}
