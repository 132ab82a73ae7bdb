//! The comparison itself.

use prony_model::OptionOrigin;

use crate::conflict::{self, Conflict, Request};
use crate::difference::{Difference, DifferenceKind, is_allowed};
use crate::item::Item;
use crate::subject::{Asked, Prepared, Subject};
use crate::table::{Row, Table};
use crate::value::plain;

impl Table {
    /// The variables whose values differ between the subjects for another reason than that an
    /// intent was asked for with different values. Those known to matter come first, then by kind
    /// and name. `allow` has names of variables as any version writes them, and of the intents that
    /// govern them.
    pub(crate) fn compare(&self, subjects: &[Subject<'_>], allow: &[String]) -> Vec<Difference> {
        let prepared = self.prepare(subjects);
        let items = self.items(&prepared);
        let differences = items
            .iter()
            .filter_map(|item| self.difference(item, &prepared, allow));
        let mut differences: Vec<Difference> = differences.collect();
        differences.sort_by(|a, b| a.rank().cmp(&b.rank()));
        differences
    }

    /// Returns `true` for a name, in the form of `canonical`, of a variable of a subject or of a row of the
    /// table, or of an intent of a row.
    pub(crate) fn knows(&self, subjects: &[Subject<'_>], name: &str) -> bool {
        let has = |prepared: &Prepared<'_>| {
            prepared.variables.contains_key(name) || prepared.lists.contains(name)
        };
        self.row(name).is_some()
            || self.intents().contains(name)
            || self.prepare(subjects).iter().any(has)
    }

    pub(crate) fn prepare<'a>(&self, subjects: &'a [Subject<'a>]) -> Vec<Prepared<'a>> {
        let subjects = subjects.iter();
        subjects.map(|it| Prepared::new(self, it)).collect()
    }

    /// By subject: equal numbers for values that mean the same.
    pub(crate) fn groups(
        &self,
        row: Option<&Row>,
        values: &[Option<String>],
    ) -> Vec<Option<usize>> {
        let absent = row.and_then(|row| row.absent.as_ref());
        let keys: Vec<Option<String>> = values
            .iter()
            .map(|value| Some(self.key(row, value.as_ref().or(absent)?)))
            .collect();
        let distinct = clusters(&keys, row.map_or(0.0, |row| row.tolerance));
        let number = |key: &String| distinct.iter().position(|cluster| cluster.contains(key));
        let numbers = keys.iter().map(|key| number(key.as_ref()?));
        numbers.collect()
    }

    /// Representative of a value and all its spellings.
    fn key(&self, row: Option<&Row>, value: &str) -> String {
        let value = plain(value);
        let value = match row {
            Some(row) => row.same.representative(value),
            None => value,
        };
        self.same.representative(value)
    }

    /// Returns `true` if a server took another value than the requested one.
    pub(crate) fn adjusted(
        &self,
        row: Option<&Row>,
        asked: Option<&str>,
        got: Option<&str>,
    ) -> bool {
        let (Some(asked), Some(got)) = (asked, got) else {
            return false;
        };
        let groups = self.groups(row, &[asked, got].map(|value| Some(value.to_owned())));
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
        let intents = item.intents();
        let requests = self.requests(item, &intents, prepared);
        let raw_differs = requests.iter().any(|it| it.raw != requests[0].raw);
        let everyone: Vec<usize> = (0..prepared.len()).collect();
        let unexcused = |subjects: &[usize]| conflict::worst(&groups, &requests, subjects);
        let having = |subjects: &[usize]| -> Vec<usize> {
            let has = |subject: &&usize| groups[**subject].is_some();
            subjects.iter().filter(has).copied().collect()
        };
        let found = unexcused(&everyone)?;
        let concerns = |subject: &usize| {
            let engine = prepared[*subject].subject.engine;
            item.row.is_some_and(|row| row.matters_for(engine))
        };
        let concerned: Vec<usize> = everyone.iter().copied().filter(concerns).collect();
        // Values that differ where they matter count more than values that are missing there.
        let kind = if !raw_differs && unexcused(&having(&everyone)).is_none() {
            DifferenceKind::OnlyInSome
        } else {
            self.kind(item, raw_differs)
        };
        let matters = if raw_differs || kind == DifferenceKind::OnlyInSome {
            unexcused(&concerned)
        } else {
            unexcused(&having(&concerned))
        };
        let row = item.row.filter(|_| matters.is_some());
        let conflict = matters.unwrap_or(found);
        let asked_for = conflict == Conflict::AlthoughAskedAlike;
        let shipped = conflict == Conflict::Shipped;
        let names = item.row.into_iter().flat_map(Row::factors);
        let names = names.chain(intents.iter().copied());
        let allowed = is_allowed(allow, &item.variable, names);
        Some(Difference {
            variable: item.variable.clone(),
            values: item.values.clone(),
            asked: item.asked.clone(),
            kind,
            matters: row.map(|row| row.why.clone()),
            governed_by: intents.first().copied().map(str::to_owned),
            allowed,
            absent: item.row.and_then(|row| row.absent.clone()),
            of: vec![true; groups.len()],
            groups,
            shipped,
            warns_only: shipped || row.is_some_and(|row| !row.stops) && !asked_for,
        })
    }

    /// The experiment's settings of a variable for each subject.
    fn requests<'p>(
        &self,
        item: &Item<'_, '_>,
        intents: &[&str],
        prepared: &'p [Prepared<'p>],
    ) -> Vec<Request<'p>> {
        let is_raw = |asked: &&Asked<'_>| asked.option.origin == OptionOrigin::Raw;
        let request = |(index, p): (usize, &'p Prepared<'p>)| {
            let raw = item.options[index].iter().any(is_raw);
            let asked = item.asked[index].as_ref().filter(|_| raw);
            let wanted = |intent: &&str| p.subject.intents.get(*intent);
            Request {
                intents: intents.iter().map(wanted).collect(),
                baseline: p.subject.baseline,
                external: p.subject.external,
                raw: asked.map(|asked| self.key(item.row, asked)),
            }
        };
        prepared.iter().enumerate().map(request).collect()
    }

    fn kind(&self, item: &Item<'_, '_>, raw_differs: bool) -> DifferenceKind {
        let mut pairs = item.asked.iter().zip(&item.values);
        if raw_differs {
            DifferenceKind::RawOption
        } else if pairs
            .any(|(asked, got)| self.adjusted(item.row, asked.as_deref(), got.as_deref()))
        {
            DifferenceKind::Adjusted
        } else {
            DifferenceKind::DefaultChanged
        }
    }
}

impl Row {
    fn matters_for(&self, engine: prony_model::Engine) -> bool {
        self.engines.is_empty() || self.engines.contains(&engine)
    }
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

#[cfg(test)]
mod tests;
