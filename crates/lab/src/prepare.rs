//! Everything that comes before a trial's work: builds are fetched, settings are read and compared,
//! images are made, servers are started from them.

mod image;
mod ready;
mod start;
mod supply;
mod survey;

pub(crate) use self::image::ImageMaker;
pub(crate) use self::ready::{Preparation, Ready};
pub(crate) use self::start::Start;
pub use self::supply::check;
pub(crate) use self::supply::{Fetched, Supply, supply_all};
pub(crate) use self::survey::subject;
pub use self::survey::{Effective, effective};
