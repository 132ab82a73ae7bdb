//! Work of a server in one step, by thread, function and chain of callers.

use std::collections::HashMap;
use std::io::{self, Read};

use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::symbols::{Extents, START};

/// What a server's threads did during the measured time of a step: instructions that they executed in user
/// space, or samples of what they were at.
///
/// Names are kept as the linker has them: what is made of them is decided when they are read, so that
/// better rules also explain what was measured before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Paths of programs and libraries.
    objects: Vec<String>,
    functions: Vec<Function>,
    threads: Vec<Thread>,
}

/// A function of an object.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Function {
    /// Index in the profile's objects.
    pub(crate) object: u32,
    /// Its symbol; or, for one without, `+0x` and its start in the object in hexadecimal digits; or
    /// `[PLT]` for a stub of the linker; or nothing for one whose start is unknown too.
    pub(crate) symbol: String,
}

/// The tree of calls of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    /// Ids of the threads that it stands for, where they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ids: Vec<u32>,
    calls: Vec<Call>,
    #[serde(skip)]
    by_place: HashMap<(Option<u32>, u32), u32>,
}

/// A function in a chain of callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Call {
    /// Index of the caller's call, which is smaller than that of this one.
    pub(crate) parent: Option<u32>,
    /// Index in the profile's functions.
    pub(crate) function: u32,
    /// Instructions that it executed itself, or samples that found it.
    pub(crate) own: u64,
}

/// The reason that a stored profile can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The bytes can't be decompressed.
    #[error("decompress the profile: {0}")]
    Compression(#[from] io::Error),
    /// The content is none.
    #[error("read the profile: {0}")]
    Content(#[from] serde_json::Error),
    /// An index leads nowhere.
    #[error("read the profile: {0}")]
    Index(&'static str),
}

impl Profile {
    /// Instructions or samples of all threads.
    pub fn total(&self) -> u64 {
        let totals = self.threads.iter().map(Thread::total);
        totals.fold(0, u64::saturating_add)
    }

    /// Paths of the objects that have functions without symbols.
    pub fn objects_without_symbols(&self) -> impl Iterator<Item = &str> {
        let lacks = |index: usize| {
            let mut functions = self.functions.iter();
            functions.any(|f| f.object as usize == index && address(&f.symbol).is_some())
        };
        let objects = self.objects.iter().enumerate();
        objects.filter_map(move |(index, path)| lacks(index).then_some(path.as_str()))
    }

    /// Puts the start of a function in place of each address in it, for objects by path. Functions
    /// without symbols of other objects become one.
    #[must_use]
    pub fn with_starts(&self, extents: &HashMap<String, Extents>) -> Self {
        let mut builder = Builder::default();
        for thread in &self.threads {
            let mut merged = Thread::default();
            let mut new_of: Vec<u32> = Vec::with_capacity(thread.calls.len());
            for call in &thread.calls {
                let function = &self.functions[call.function as usize];
                let object = &self.objects[function.object as usize];
                let symbol = &function.symbol;
                let symbol = match address(symbol) {
                    None => symbol.clone(),
                    Some(Address::Stub) => STUB.to_owned(),
                    Some(Address::At(at)) => extents
                        .get(object)
                        .and_then(|extents| extents.start(at))
                        .map_or_else(String::new, |start| format!("{START}{start:x}")),
                };
                let function = builder.function(object, &symbol);
                let parent = call.parent.map(|parent| new_of[parent as usize]);
                // The blocks of one function call each other.
                let is_same = parent.filter(|parent| {
                    merged.calls[*parent as usize].function == function && is_unnamed(&symbol)
                });
                let new = is_same.unwrap_or_else(|| merged.call(parent, function));
                merged.count(new, call.own);
                new_of.push(new);
            }
            builder.add(merged);
        }
        builder.profile()
    }

    /// The profile in compressed form.
    ///
    /// # Errors
    /// When it can't be written as JSON, which does not happen.
    pub fn encode(&self) -> Result<Vec<u8>, ProfileError> {
        compressed(self)
    }

    /// Reads what [`Self::encode`] has written.
    ///
    /// # Errors
    /// When it is something else.
    pub fn decode(bytes: &[u8]) -> Result<Self, ProfileError> {
        let profile: Self = decompressed(bytes)?;
        profile.check()?;
        Ok(profile)
    }

    /// Every index leads somewhere.
    pub(crate) fn check(&self) -> Result<(), ProfileError> {
        let objects = self.objects.len();
        if self.functions.iter().any(|f| f.object as usize >= objects) {
            return Err(ProfileError::Index("a function has no object"));
        }
        for thread in &self.threads {
            for (index, call) in thread.calls.iter().enumerate() {
                if call.function as usize >= self.functions.len() {
                    return Err(ProfileError::Index("a call has no function"));
                }
                if call.parent.is_some_and(|parent| parent as usize >= index) {
                    return Err(ProfileError::Index("a call stands before its caller"));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn threads(&self) -> &[Thread] {
        &self.threads
    }

    pub(crate) fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The name of a function's object without its folder.
    pub(crate) fn object(&self, function: &Function) -> &str {
        let path = &self.objects[function.object as usize];
        path.rsplit('/').next().unwrap_or(path)
    }
}

/// Content as JSON, compressed.
pub(crate) fn compressed(content: &impl Serialize) -> Result<Vec<u8>, ProfileError> {
    let json = serde_json::to_vec(content)?;
    let mut bytes = Vec::new();
    GzEncoder::new(json.as_slice(), Compression::default()).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What [`compressed`] has written.
pub(crate) fn decompressed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ProfileError> {
    let mut json = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut json)?;
    Ok(serde_json::from_slice(&json)?)
}

/// The symbol of stubs of the linker.
const STUB: &str = "[PLT]";

/// `true` for the symbol of a function that has none.
pub(crate) fn is_unnamed(symbol: &str) -> bool {
    symbol.is_empty() || symbol.starts_with(START)
}

/// An address in place of a symbol.
enum Address {
    At(u64),
    Stub,
}

/// The address that callgrind shows for a block of code without symbol.
fn address(symbol: &str) -> Option<Address> {
    let digits = symbol.strip_prefix("0x")?;
    // Outside of the text of the program, the part that it is in follows: `[PLT]`, `[GOT]`.
    if digits.ends_with(']') {
        return Some(Address::Stub);
    }
    u64::from_str_radix(digits.trim(), 16).ok().map(Address::At)
}

impl Thread {
    /// Ids of the threads that it stands for, where they are known.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Makes it stand for one more thread.
    pub(crate) fn stand_for(&mut self, id: u32) {
        if let Err(at) = self.ids.binary_search(&id) {
            self.ids.insert(at, id);
        }
    }

    pub(crate) fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub(crate) fn total(&self) -> u64 {
        // Damaged files may have any counts.
        let own = self.calls.iter().map(|call| call.own);
        own.fold(0, u64::saturating_add)
    }

    /// The call of a function below a caller's, made where it is not there yet.
    pub(crate) fn call(&mut self, parent: Option<u32>, function: u32) -> u32 {
        *self.by_place.entry((parent, function)).or_insert_with(|| {
            let index = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
            self.calls.push(Call {
                parent,
                function,
                own: 0,
            });
            index
        })
    }

    /// Adds to what a call's function executed itself.
    pub(crate) fn count(&mut self, call: u32, own: u64) {
        let sum = &mut self.calls[call as usize].own;
        *sum = sum.saturating_add(own);
    }
}

/// A profile in the making.
#[derive(Default)]
pub(crate) struct Builder {
    profile: Profile,
    objects: HashMap<String, u32>,
    functions: HashMap<(u32, String), u32>,
}

impl Builder {
    /// The index of a function, which is added where it is new.
    pub(crate) fn function(&mut self, object: &str, symbol: &str) -> u32 {
        let objects = &mut self.profile.objects;
        let object = if let Some(index) = self.objects.get(object) {
            *index
        } else {
            let index = u32::try_from(objects.len()).unwrap_or(u32::MAX);
            objects.push(object.to_owned());
            self.objects.insert(object.to_owned(), index);
            index
        };
        let functions = &mut self.profile.functions;
        let key = (object, symbol.to_owned());
        *self.functions.entry(key).or_insert_with(|| {
            let index = u32::try_from(functions.len()).unwrap_or(u32::MAX);
            functions.push(Function {
                object,
                symbol: symbol.to_owned(),
            });
            index
        })
    }

    /// Adds a thread that executed anything.
    pub(crate) fn add(&mut self, mut thread: Thread) {
        if thread.total() > 0 {
            // Only a tree that grows needs it.
            thread.by_place = HashMap::new();
            self.profile.threads.push(thread);
        }
    }

    /// The profile, complete.
    pub(crate) fn profile(self) -> Profile {
        self.profile
    }
}

#[cfg(test)]
mod tests;
