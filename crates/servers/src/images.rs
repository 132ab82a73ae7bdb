//! Data directories after load, kept to start every trial from the same state.

use std::fs;
use std::io;
use std::path::PathBuf;

use prony_model::{Dataset, Engine};
use serde::{Deserialize, Serialize};

use crate::build::ServerBuild;
use crate::copy;
use crate::digest::hex_of;
use crate::folder::{self, OwnedFolder, STAGING};
use crate::instance::{Instance, PASSWORD_FILE, write_private};
use crate::io_error::{At, IoError};
use crate::render::Rendered;
use crate::roots::Roots;

/// Changes whenever an image made by an older Prony can't be used any more.
const FORMAT: u32 = 1;
const MANIFEST: &str = "image.json";
const DATA: &str = "data";

/// The images under one cache folder.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a> {
    roots: &'a Roots,
}

/// What an image is known by: a hash of everything that made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImageKey(String);

/// An image that is there whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    folder: PathBuf,
}

/// Written last, before the image gets its name.
#[derive(Serialize, Deserialize)]
struct Manifest {
    format: u32,
    key: ImageKey,
}

impl<'a> Images<'a> {
    /// The images of `roots`.
    pub fn new(roots: &'a Roots) -> Self {
        Self { roots }
    }

    /// The key of the image that these make.
    pub fn key(
        &self,
        build: &ServerBuild,
        rendered: &Rendered,
        engine: Engine,
        dataset: &Dataset,
    ) -> ImageKey {
        let made_of = format!(
            "{FORMAT} {} {} {engine} {} {dataset:?}",
            build.content_hash,
            rendered.hash(),
            Dataset::VERSION,
        );
        // The name begins with the build, for people who look for what fills their disk.
        ImageKey(format!(
            "{}-{engine}-{}",
            build.id,
            &hex_of(made_of.as_bytes())[..24]
        ))
    }

    /// The image with this key, if there is one.
    pub fn find(&self, key: &ImageKey) -> Option<Image> {
        let folder = self.roots.images().join(&key.0);
        let text = fs::read_to_string(folder.join(MANIFEST)).ok()?;
        let manifest: Manifest = serde_json::from_str(&text).ok()?;
        (manifest.format == FORMAT && manifest.key == *key).then_some(Image { folder })
    }

    /// Keeps the data directory of a cleanly stopped instance as the image `key`. It appears in
    /// one step, or not at all.
    ///
    /// # Errors
    /// When a file can't be written or moved.
    pub fn publish(&self, instance: Instance, key: &ImageKey) -> Result<Image, IoError> {
        let all = self.roots.images();
        folder::remove_abandoned(&all, STAGING)?;
        let staging = OwnedFolder::create(&all, STAGING)?;
        let data = instance.data_dir();
        fs::rename(&data, staging.path().join(DATA)).at("move", &data)?;
        let password = instance.password_file();
        fs::rename(&password, staging.path().join(PASSWORD_FILE)).at("move", &password)?;
        drop(instance);
        let folder = all.join(&key.0);
        if folder.exists() {
            if let Some(image) = self.find(key) {
                // Another process made the same meanwhile.
                return Ok(image);
            }
            folder::retire(&folder).at("replace", &folder)?;
        }
        let manifest = Manifest {
            format: FORMAT,
            key: key.clone(),
        };
        let path = staging.path().join(MANIFEST);
        serde_json::to_vec(&manifest)
            .map_err(io::Error::other)
            .and_then(|text| fs::write(&path, text))
            .at("write", &path)?;
        staging.publish(&folder)?;
        Ok(Image { folder })
    }

    /// Puts a copy of the image into an instance that has no data directory yet, and waits until
    /// it is on the disk, so that its writing back does not disturb what is measured.
    ///
    /// # Errors
    /// When a file can't be read or written.
    pub fn restore(&self, image: &Image, instance: &Instance) -> Result<(), IoError> {
        copy::tree(&image.folder.join(DATA), &instance.data_dir())?;
        let password = image.folder.join(PASSWORD_FILE);
        let text = fs::read(&password).at("read", &password)?;
        write_private(&instance.password_file(), &text)?;
        folder::sync_filesystem(&instance.data_dir())
    }
}
