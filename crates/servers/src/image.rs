//! Data directories after load, kept to start every trial from the same state.

pub(crate) mod copy;
mod error;
mod manifest;
mod room;
mod shelf;
mod tree;

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use prony_host::{
    At, FileLock, OwnedFolder, Roots, STAGING, remove_abandoned, retire, sync_filesystem,
    write_private,
};
use prony_model::{
    Dataset, Engine, LoadMethod, LoadOutcome, Schema, SchemaDefinition, SettleOutcome,
};
use serde::{Deserialize, Serialize};

use crate::admin::settle;
use crate::build::ServerBuild;
use crate::config::render::Rendered;
use crate::digest::hex_of;
use crate::instance::{Instance, PASSWORD_FILE};

pub use error::{ImageError, RoomError};
use manifest::{FILE, Manifest};
pub use room::{image_size_estimate, load_growth_estimate};
pub use shelf::{ImageFacts, Made, Removal};
use tree::Tree;

/// Changes whenever an image made by an older Prony becomes unusable.
const FORMAT: u32 = 2;
const DATA: &str = "data";

/// The images under one cache folder.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a> {
    roots: &'a Roots,
}

/// The name of an image: a hash of everything that made it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ImageKey(String);

/// The facts that an image's maker keeps with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImageRecord {
    /// The engine of its tables.
    pub engine: Engine,
    /// Their rows.
    pub dataset: Dataset,
    /// The outcome of loading; `None` where nothing was loaded, because the engine forgets it.
    pub load: Option<LoadOutcome>,
    /// The outcome of settling; `None` where it was not settled.
    pub settle: Option<SettleOutcome>,
}

/// An image that is there whole. It is not removed as long as this value or a clone of it lives.
#[derive(Debug, Clone)]
pub struct Image {
    folder: PathBuf,
    manifest: Manifest,
    _in_use: Arc<FileLock>,
}

impl ImageKey {
    /// The key as people see and type it: the name of the image's folder.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Image {
    /// The facts that its maker kept with it.
    pub fn record(&self) -> &ImageRecord {
        &self.manifest.record
    }

    /// Its key.
    pub fn key(&self) -> &ImageKey {
        &self.manifest.key
    }

    /// A digest of the files of its data directory: SHA-256 of the list of their paths, sizes and
    /// CRC-32s. Equal digests mean equal files.
    pub fn digest(&self) -> &str {
        &self.manifest.digest
    }

    /// Bytes of the files of its data directory.
    pub fn bytes(&self) -> u64 {
        self.manifest.bytes
    }
}

/// A dataset in the words that keys have had since datasets had one way of loading, so that images
/// stay of use.
fn described(dataset: &Dataset) -> String {
    let Dataset {
        schema,
        tables,
        rows,
        seed,
        primary_key,
        load,
        indexes,
    } = dataset;
    let load = match load {
        LoadMethod::Bulk => "",
        LoadMethod::Inserts => " inserts",
        LoadMethod::None => " none",
    };
    let indexes = if *indexes { "" } else { " without indexes" };
    let schema = words_of(*schema);
    format!(
        "Dataset {{ schema: {schema}, tables: {tables}, rows: {rows}, seed: {seed}, \
         primary_key: {primary_key} }}{load}{indexes}"
    )
}

/// A schema in keys: a word that has stood there since schemas were few, or the definition, of which
/// everything decides the tables but its name and description.
fn words_of(schema: Schema) -> String {
    if schema == Schema::SBTEST {
        return "Sbtest".to_owned();
    }
    if schema == Schema::SBTEST_04 {
        return "Sbtest04".to_owned();
    }
    if schema == Schema::FOO {
        return "Foo".to_owned();
    }
    let definition = SchemaDefinition {
        name: String::new(),
        description: String::new(),
        ..schema.definition().clone()
    };
    serde_json::to_string(&definition).unwrap_or_default()
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
            "{FORMAT} {} {} {} {engine} {} {}",
            settle::VERSION,
            build.content_hash,
            rendered.hash(),
            Dataset::VERSION,
            described(dataset),
        );
        // The name begins with the build, for people who look for what fills their disk.
        ImageKey(format!(
            "{}-{engine}-{}",
            build.id,
            &hex_of(made_of.as_bytes())[..24]
        ))
    }

    /// The image with this key, if there is one. It counts as used now.
    pub fn find(&self, key: &ImageKey) -> Option<Image> {
        let folder = self.roots.images().join(&key.0);
        let file = File::open(folder.join(FILE)).ok()?;
        // Whoever removes images holds this lock alone; what he has just removed is not there.
        let in_use = FileLock::try_shared(file)?;
        let manifest = Manifest::read(&folder)?;
        if manifest.key != *key {
            return None;
        }
        // What can't be noted makes the image look older than it is, no more.
        let _ = in_use.file().set_modified(SystemTime::now());
        Some(Image {
            folder,
            manifest,
            _in_use: Arc::new(in_use),
        })
    }

    /// Keeps the data directory of a cleanly stopped instance as the image `key`. It appears in
    /// one step, or not at all.
    ///
    /// # Errors
    /// When a file can't be read, written or moved.
    pub fn publish(
        &self,
        instance: Instance,
        key: &ImageKey,
        record: ImageRecord,
    ) -> Result<Image, ImageError> {
        let all = self.roots.images();
        remove_abandoned(&all, STAGING)?;
        let staging = OwnedFolder::create(&all, STAGING)?;
        let data = instance.data_dir();
        fs::rename(&data, staging.path().join(DATA)).at("move", &data)?;
        let password = instance.password_file();
        fs::rename(&password, staging.path().join(PASSWORD_FILE)).at("move", &password)?;
        let build = instance.build().id.clone();
        drop(instance);
        let folder = all.join(&key.0);
        if folder.exists() {
            if let Some(image) = self.find(key) {
                // Another process made the same meanwhile.
                return Ok(image);
            }
            retire(&folder)?;
        }
        let tree = Tree::read(&staging.path().join(DATA))?;
        Manifest::new(key.clone(), build, &tree, record).write(staging.path())?;
        match (staging.publish(&folder), self.find(key)) {
            // Whoever made it: this process, or another one in the last moment.
            (_, Some(image)) => Ok(image),
            (Err(error), None) => Err(error.into()),
            (Ok(()), None) => Err(ImageError::Gone(key.clone())),
        }
    }

    /// Puts a copy of the image into an instance that has no data directory yet, and waits until
    /// it is on the disk, so that its writing back does not disturb what is measured.
    ///
    /// The copy is compared with the image's digest. Where the file system shares blocks
    /// instead, only the sizes of the files are.
    ///
    /// # Errors
    /// When a file can't be read or written, or the image is not what it was when it was made.
    pub fn restore(&self, image: &Image, instance: &Instance) -> Result<(), ImageError> {
        let data = instance.data_dir();
        let copied = copy::tree(&image.folder.join(DATA), &data)?;
        image.manifest.compare(&copied)?;
        let password = image.folder.join(PASSWORD_FILE);
        let text = fs::read(&password).at("read", &password)?;
        write_private(&instance.password_file(), &text)?;
        Ok(sync_filesystem(&data)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Other words are other keys: every image would be made again.
    #[test]
    fn datasets_keep_their_words_in_keys() {
        let bulk = Dataset::sbtest(2, 10, 1);
        let words = "Dataset { schema: Sbtest, tables: 2, rows: 10, seed: 1, primary_key: true }";
        assert_eq!(described(&bulk), words);
        let inserts = Dataset {
            load: LoadMethod::Inserts,
            ..bulk
        };
        assert_eq!(described(&inserts), format!("{words} inserts"));
        for (schema, word) in [(Schema::SBTEST_04, "Sbtest04"), (Schema::FOO, "Foo")] {
            let words = words.replace("Sbtest", word);
            assert_eq!(described(&Dataset { schema, ..bulk }), words);
        }
    }

    #[test]
    fn own_schemas_are_described_by_all_that_decides_their_rows() {
        let own = |change: fn(&mut SchemaDefinition)| {
            let mut definition = Schema::FOO.definition().clone();
            definition.name = "own".into();
            change(&mut definition);
            words_of(Schema::own(definition))
        };
        let words = own(|_| {});
        assert!(words.contains("1..rows"), "{words}");
        assert_eq!(own(|schema| schema.name = "other".into()), words);
        assert_eq!(own(|schema| schema.description = "other".into()), words);
        assert_ne!(own(|schema| schema.indexes[0].unique = true), words);
        assert_ne!(own(|schema| schema.columns[2].name = "m".into()), words);
    }
}
