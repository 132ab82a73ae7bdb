//! Values of the client groups of a step, group by group.

use std::ops::{Deref, DerefMut};

use serde::{Deserialize, Serialize};

/// One value for each client group of a step. The first is of the step's own clients, so that there
/// always is one; the others are of the groups beside them, in the order of the sequence file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<T>", bound(deserialize = "T: Deserialize<'de>"))]
pub struct Groups<T>(Vec<T>);

/// A step without clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a step has at least one group of clients, its own")]
pub struct NoGroups;

impl<T> Groups<T> {
    /// The value of the step's own clients, and nothing beside it.
    pub fn new(own: T) -> Self {
        Self(vec![own])
    }

    /// Appends the value of one more group.
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }

    /// The value of the step's own clients.
    pub fn own(&self) -> &T {
        &self.0[0]
    }

    /// The value of the step's own clients, to be changed.
    pub fn own_mut(&mut self) -> &mut T {
        &mut self.0[0]
    }

    /// The values of the groups beside the step's own clients, in order.
    pub fn beside(&self) -> &[T] {
        &self.0[1..]
    }
}

impl<T> TryFrom<Vec<T>> for Groups<T> {
    type Error = NoGroups;

    fn try_from(values: Vec<T>) -> Result<Self, NoGroups> {
        if values.is_empty() {
            return Err(NoGroups);
        }
        Ok(Self(values))
    }
}

impl<T> Deref for Groups<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Groups<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> IntoIterator for Groups<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Groups<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_clients_come_first_and_are_always_there() {
        let mut groups = Groups::new(1);
        groups.push(2);
        groups.push(3);
        assert_eq!((groups.own(), groups.beside()), (&1, [2, 3].as_slice()));
        let json = serde_json::to_string(&groups).unwrap();
        assert_eq!(json, "[1,2,3]");
        assert_eq!(serde_json::from_str::<Groups<i32>>(&json).unwrap(), groups);
        let error = serde_json::from_str::<Groups<i32>>("[]").unwrap_err();
        assert!(error.to_string().contains("at least one group"), "{error}");
    }
}
