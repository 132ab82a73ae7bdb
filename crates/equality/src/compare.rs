//! The comparison itself.

use std::collections::BTreeSet;

use prony_model::{IntentValue, OptionOrigin};

use crate::difference::{Difference, DifferenceKind, is_allowed};
use crate::subject::{Asked, Prepared, Subject, canonical};
use crate::table::{Row, VariableTable};
use crate::value::plain;

/// One variable across all subjects.
pub(crate) struct Item<'t, 'p> {
    /// As [`Difference::variable`].
    pub(crate) variable: String,
    pub(crate) row: Option<&'t Row>,
    pub(crate) values: Vec<Option<String>>,
    pub(crate) asked: Vec<Option<String>>,
    /// The options that ask for it; the last of each subject counts.
    pub(crate) options: Vec<Vec<&'p Asked<'p>>>,
}

impl VariableTable {
    /// The variables whose values differ between the subjects for another reason than that an
    /// intent was asked for with different values. Those known to matter come first, then by kind
    /// and name. `allow` has names of variables as any version writes them.
    pub fn compare(&self, subjects: &[Subject<'_>], allow: &[String]) -> Vec<Difference> {
        let prepared = self.prepare(subjects);
        let mut differences: Vec<Difference> = self
            .items(&prepared)
            .iter()
            .filter_map(|item| self.difference(item, &prepared, allow))
            .collect();
        differences.sort_by(|a, b| {
            let key = |d: &Difference| (d.matters.is_none(), d.kind);
            key(a)
                .cmp(&key(b))
                .then_with(|| a.variable.cmp(&b.variable))
        });
        differences
    }

    /// The names in `allow` that are no variable of any subject and of no row of the table: they
    /// are probably misspelt.
    pub fn unknown_allowed<'a>(
        &self,
        subjects: &[Subject<'_>],
        allow: &'a [String],
    ) -> Vec<&'a str> {
        let prepared = self.prepare(subjects);
        let known = |name: &str| {
            self.row(name).is_some()
                || prepared.iter().any(|prepared| {
                    prepared.variables.contains_key(name)
                        || prepared.subject.variables.contains_key(name)
                })
        };
        allow
            .iter()
            .map(String::as_str)
            .filter(|name| !known(&canonical(name)))
            .collect()
    }

    pub(crate) fn prepare<'a>(&self, subjects: &'a [Subject<'a>]) -> Vec<Prepared<'a>> {
        subjects
            .iter()
            .map(|subject| Prepared::new(self, subject))
            .collect()
    }

    /// Every variable that a subject has or was told, once, whatever its names. Those that say
    /// nothing about speed are left out.
    pub(crate) fn items<'t, 'p>(&'t self, prepared: &'p [Prepared<'p>]) -> Vec<Item<'t, 'p>> {
        let mut names = BTreeSet::new();
        let mut items = Vec::new();
        for subject in prepared {
            names.extend(subject.variables.keys().map(String::as_str));
            names.extend(subject.asked.keys().map(String::as_str));
        }
        let of_rows = self
            .rows
            .iter()
            .filter(|row| row.factors().any(|name| names.contains(name)));
        for row in of_rows {
            items.push(Item::of_row(row, prepared));
        }
        for name in names {
            match self.row(name) {
                Some(row) if row.factors().any(|factor| factor == name) => {}
                Some(row) => items.push(Item::of_name(name, Some(row), prepared)),
                None if self.ignores(name) => {}
                None => items.push(Item::of_name(name, None, prepared)),
            }
        }
        items
    }

    /// By subject: equal numbers for values that mean the same.
    pub(crate) fn groups(
        &self,
        row: Option<&Row>,
        values: &[Option<String>],
    ) -> Vec<Option<usize>> {
        let keys: Vec<Option<String>> = values
            .iter()
            .map(|value| {
                let absent = row.and_then(|row| row.absent.as_ref());
                Some(self.key(row, value.as_ref().or(absent)?))
            })
            .collect();
        let distinct = clusters(&keys, row.map_or(0.0, |row| row.tolerance));
        let number = |key: &String| distinct.iter().position(|cluster| cluster.contains(key));
        keys.iter()
            .map(|key| key.as_ref().and_then(number))
            .collect()
    }

    /// What stands for a value and all its spellings.
    fn key(&self, row: Option<&Row>, value: &str) -> String {
        let value = plain(value);
        let value = match row {
            Some(row) => row.same.representative(value),
            None => value,
        };
        self.same.representative(value)
    }

    /// Whether a server took another value than it was told.
    pub(crate) fn adjusted(&self, row: Option<&Row>, asked: &str, got: &str) -> bool {
        let pair = [Some(asked.to_owned()), Some(got.to_owned())];
        let groups = self.groups(row, &pair);
        // A switch that is given a file's name is on.
        let is_number = plain(asked).parse::<f64>().is_ok();
        let switched_on = !is_number && self.key(None, got) == self.key(None, "ON");
        groups[0] != groups[1] && !switched_on
    }

    fn difference(
        &self,
        item: &Item<'_, '_>,
        prepared: &[Prepared<'_>],
        allow: &[String],
    ) -> Option<Difference> {
        let groups = self.groups(item.row, &item.values);
        if groups.iter().all(|group| *group == groups[0]) {
            return None;
        }
        let intent = item.intent();
        let settings: Vec<Option<&IntentValue>> = prepared
            .iter()
            .map(|p| p.subject.intents.get(intent.as_deref()?))
            .collect();
        let everyone: Vec<usize> = (0..prepared.len()).collect();
        let unexcused = |subjects: &[usize]| conflict(&groups, &settings, subjects);
        let having = |subjects: &[usize]| -> Vec<usize> {
            let has = |subject: &&usize| groups[**subject].is_some();
            subjects.iter().filter(has).copied().collect()
        };
        let found = unexcused(&everyone)?;
        let concerned: Vec<usize> = match item.row {
            Some(row) => everyone
                .iter()
                .filter(|&&subject| row.matters_for(prepared[subject].subject.engine))
                .copied()
                .collect(),
            None => Vec::new(),
        };
        // Values that differ where they matter count more than values that are missing there.
        let kind = if unexcused(&having(&everyone)).is_none() {
            DifferenceKind::OnlyInSome
        } else {
            self.kind(item)
        };
        let matters = if kind == DifferenceKind::OnlyInSome {
            unexcused(&concerned)
        } else {
            unexcused(&having(&concerned))
        };
        let row = item.row.filter(|_| matters.is_some());
        let asked_for = matters.unwrap_or(found) == Conflict::AlthoughAskedAlike;
        Some(Difference {
            variable: item.variable.clone(),
            values: item.values.clone(),
            asked: item.asked.clone(),
            kind,
            matters: row.map(|row| row.why.clone()),
            governed_by: intent,
            allowed: is_allowed(
                allow,
                &item.variable,
                item.row.into_iter().flat_map(Row::factors),
            ),
            absent: item.row.and_then(|row| row.absent.clone()),
            groups,
            warns_only: row.is_some_and(|row| !row.stops) && !asked_for,
        })
    }

    fn kind(&self, item: &Item<'_, '_>) -> DifferenceKind {
        let raw: Vec<Option<String>> = item
            .options
            .iter()
            .zip(&item.asked)
            .map(|(options, asked)| {
                let is_raw = |asked: &&Asked<'_>| asked.option.origin == OptionOrigin::Raw;
                let value = asked.as_ref().filter(|_| options.iter().any(is_raw))?;
                Some(self.key(item.row, value))
            })
            .collect();
        if raw.iter().any(|value| *value != raw[0]) {
            return DifferenceKind::RawOption;
        }
        let adjusted = item.asked.iter().zip(&item.values).any(|pair| match pair {
            (Some(asked), Some(got)) => self.adjusted(item.row, asked, got),
            _ => false,
        });
        if adjusted {
            DifferenceKind::Adjusted
        } else {
            DifferenceKind::DefaultChanged
        }
    }
}

impl<'t, 'p> Item<'t, 'p> {
    fn of_row(row: &'t Row, prepared: &'p [Prepared<'p>]) -> Self {
        let value_of = |p: &Prepared<'_>| row.value(&p.variables).map(|(_, value)| value);
        let asked = prepared.iter().map(|p| {
            let mut told = p.variables.clone();
            let mut any = false;
            for name in row.factors() {
                if let Some(asked) = p.asked.get(name) {
                    told.insert(name.to_owned(), asked.value.clone());
                    any = true;
                }
            }
            row.value(&told).map(|(_, value)| value).filter(|_| any)
        });
        let options = |p: &'p Prepared<'p>| row.factors().filter_map(|name| p.asked.get(name));
        Self {
            variable: newest_name(row, prepared),
            row: Some(row),
            values: prepared.iter().map(value_of).collect(),
            asked: asked.collect(),
            options: prepared.iter().map(|p| options(p).collect()).collect(),
        }
    }

    fn of_name(name: &str, row: Option<&'t Row>, prepared: &'p [Prepared<'p>]) -> Self {
        let asked = |p: &'p Prepared<'p>| p.asked.get(name);
        Self {
            variable: name.to_owned(),
            row,
            values: prepared
                .iter()
                .map(|p| p.variables.get(name).cloned())
                .collect(),
            asked: prepared
                .iter()
                .map(|p| asked(p).map(|asked| asked.value.clone()))
                .collect(),
            options: prepared
                .iter()
                .map(|p| asked(p).into_iter().collect())
                .collect(),
        }
    }

    /// The intent that sets the variable: as the table says, or as the options say.
    pub(crate) fn intent(&self) -> Option<String> {
        let of_row = self.row.and_then(|row| row.intent.clone());
        of_row.or_else(|| {
            let options = self.options.iter().flatten();
            options
                .filter_map(|asked| asked.option.intent.clone())
                .min()
        })
    }
}

impl Row {
    fn matters_for(&self, engine: prony_model::Engine) -> bool {
        self.engines.is_empty() || self.engines.contains(&engine)
    }
}

/// The newest name of a row that a server uses, or that one was told.
fn newest_name(row: &Row, prepared: &[Prepared<'_>]) -> String {
    row.names
        .iter()
        .rev()
        .find(|name| {
            let first = &name.factors[0];
            let knows =
                |p: &Prepared<'_>| p.variables.contains_key(first) || p.asked.contains_key(first);
            prepared.iter().any(knows)
        })
        .or(row.names.last())
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// Two subjects that differ and were not asked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Conflict {
    /// The intent that governs the variable was asked of neither, or none does.
    Unasked,
    /// The same was asked of both by intent.
    AlthoughAskedAlike,
}

/// The worst conflict among some subjects.
fn conflict(
    groups: &[Option<usize>],
    settings: &[Option<&IntentValue>],
    subjects: &[usize],
) -> Option<Conflict> {
    let mut worst = None;
    for (position, &one) in subjects.iter().enumerate() {
        for &other in &subjects[position + 1..] {
            if groups[one] != groups[other] && settings[one] == settings[other] {
                let found = match settings[one] {
                    Some(_) => Conflict::AlthoughAskedAlike,
                    None => Conflict::Unasked,
                };
                worst = worst.max(Some(found));
            }
        }
    }
    worst
}

/// The distinct keys in order of appearance. Numbers of which the smaller lacks at most the share
/// `tolerance` of the larger belong together.
fn clusters(keys: &[Option<String>], tolerance: f64) -> Vec<Vec<String>> {
    let mut distinct: Vec<&String> = keys.iter().flatten().collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut clusters: Vec<Vec<String>> = Vec::new();
    let mut numbers = Vec::new();
    for key in distinct {
        match key.parse::<f64>() {
            Ok(number) if tolerance > 0.0 => numbers.push((number, key.clone())),
            _ => clusters.push(vec![key.clone()]),
        }
    }
    // From the largest down, each cluster beginning with its largest.
    numbers.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let mut largest = f64::NEG_INFINITY;
    for (number, key) in numbers {
        match clusters.last_mut() {
            Some(cluster) if number >= largest * (1.0 - tolerance) && largest.is_finite() => {
                cluster.push(key);
            }
            _ => {
                largest = number;
                clusters.push(vec![key]);
            }
        }
    }
    clusters
}
