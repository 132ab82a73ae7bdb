//! Facts of a server build that the catalogue promises.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Engine, Family, Version};

/// The facts of a catalogue entry that an experiment is checked against, before anything is
/// fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFacts {
    /// The catalogue's name for it, such as `mysql-5.7.22`.
    pub id: String,
    /// Decides dialect and options.
    pub family: Family,
    /// The catalogued version. For a floating entry, the lowest that it can be.
    pub version: Version,
    /// Engines that tables can be created in.
    pub engines: Vec<Engine>,
    /// Server options that bring an engine which is not built in, such as the loading of a plugin.
    #[serde(default)]
    pub engine_options: BTreeMap<Engine, Vec<String>>,
    /// Intents that this build can't honour though its version could.
    #[serde(default)]
    pub lacks: Vec<String>,
    /// What a reader must know before he compares its figures with those of other builds; a fragment
    /// without final period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caution: Option<String>,
    /// How its compiler was told to optimise, such as `-O2`, where the server can't be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled: Option<String>,
    /// Why its instructions can't be counted in valgrind; a fragment without final period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_valgrind: Option<String>,
}

impl BuildFacts {
    /// The id that stands for the build of a server that Prony does not start.
    pub const EXTERNAL: &str = "external";

    /// A stand-in for the build of a server that Prony does not start, as far as it is known; a
    /// version of 0.0.0 is not.
    pub fn external(family: Family, version: Version) -> Self {
        Self {
            id: Self::EXTERNAL.to_owned(),
            family,
            version,
            engines: family.engines(),
            engine_options: BTreeMap::new(),
            lacks: Vec::new(),
            caution: None,
            compiled: None,
            no_valgrind: None,
        }
    }
}
