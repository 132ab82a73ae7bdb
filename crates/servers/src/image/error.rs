//! Errors of images.

use prony_host::IoError;

use super::ImageKey;

/// The reason that an image could not be kept or restored.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// A file can't be read or written.
    #[error(transparent)]
    Io(#[from] IoError),
    /// Its files are not what they were when it was made.
    #[error(
        "restore the image {}: {what}; remove it with `prony images clear {}`, and it is made \
         again",
        key.as_str(),
        key.as_str()
    )]
    Changed {
        /// The image.
        key: ImageKey,
        /// The difference.
        what: String,
    },
    /// It was removed as soon as it was there.
    #[error("use the image {}: another process removed it", .0.as_str())]
    Gone(ImageKey),
}

/// There is not enough room for the images of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "find room for the data images in {}: {:.1} GiB are needed and {:.1} GiB are free; free some \
     space (`prony images list` shows the stored images), or set PRONY_CACHE to a folder on a \
     larger disk",
    folder.display(),
    gibibytes(*needed),
    gibibytes(*free)
)]
pub struct RoomError {
    /// The folder of the cache.
    pub folder: std::path::PathBuf,
    /// Bytes that are needed.
    pub needed: u64,
    /// Bytes that are free.
    pub free: u64,
}

const fn gibibytes(bytes: u64) -> f64 {
    bytes as f64 / (1_u64 << 30) as f64
}
