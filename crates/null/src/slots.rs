//! Connections by number. A number is given again, a key is not: what still waits for a connection
//! that is gone does not reach the one that came after it.

/// Names a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    /// Its place.
    pub(crate) index: u32,
    /// Number of earlier connections in this place.
    pub(crate) generation: u32,
}

impl Key {
    /// As the data of an epoll event.
    pub(crate) const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.index as u64
    }

    /// What [`Self::to_bits`] made.
    pub(crate) fn from_bits(bits: u64) -> Self {
        let half = |bits: u64| u32::try_from(bits & u64::from(u32::MAX)).unwrap_or(u32::MAX);
        Self {
            index: half(bits),
            generation: half(bits >> 32),
        }
    }
}

/// Places for values, each of which is reused when its value is gone.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> Slots<T> {
    pub(crate) const fn new() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Puts a value into a free place.
    pub(crate) fn insert(&mut self, value: T) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                generation: 0,
                value: None,
            });
            u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
        });
        let place = &mut self.places[index as usize];
        place.value = Some(value);
        Key {
            index,
            generation: place.generation,
        }
    }

    /// The value with this key, unless it is gone.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let place = self.places.get_mut(key.index as usize)?;
        if place.generation == key.generation {
            place.value.as_mut()
        } else {
            None
        }
    }

    /// Drops the value with this key, unless it is gone.
    pub(crate) fn remove(&mut self, key: Key) {
        if self.get_mut(key).is_some() {
            let place = &mut self.places[key.index as usize];
            place.value = None;
            place.generation = place.generation.wrapping_add(1);
            self.free.push(key.index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_reused_and_keys_are_not() {
        let mut slots = Slots::new();
        let first = slots.insert("a");
        let second = slots.insert("b");
        slots.remove(first);
        slots.remove(first);
        assert_eq!(slots.len(), 1);
        let third = slots.insert("c");
        assert_eq!(third.index, first.index);
        assert_eq!(slots.get_mut(first), None);
        assert_eq!(slots.get_mut(second), Some(&mut "b"));
        assert_eq!(slots.get_mut(third), Some(&mut "c"));
        assert_eq!(slots.len(), 2);
        for key in [first, second, third] {
            assert_eq!(Key::from_bits(key.to_bits()), key);
        }
    }
}
