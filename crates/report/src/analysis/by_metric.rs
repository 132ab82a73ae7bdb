//! Something of each of some metrics.

use prony_model::Metric;

/// Something of each of some metrics, in their order. A large run has tens of thousands of these: a list
/// takes less memory than a tree, and less time to fill, to search and to give back.
#[derive(Debug, Clone)]
pub(crate) struct ByMetric<T>(Vec<(Metric, T)>);

impl<T> ByMetric<T> {
    pub(crate) fn get(&self, metric: Metric) -> Option<&T> {
        let place = self.0.binary_search_by_key(&metric, |(metric, _)| *metric);
        place.ok().map(|place| &self.0[place].1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Metric, &T)> {
        self.0.iter().map(|(metric, of)| (*metric, of))
    }
}

/// From pairs whose metrics ascend.
impl<T> FromIterator<(Metric, T)> for ByMetric<T> {
    fn from_iter<I: IntoIterator<Item = (Metric, T)>>(pairs: I) -> Self {
        let pairs: Vec<(Metric, T)> = pairs.into_iter().collect();
        debug_assert!(pairs.is_sorted_by_key(|(metric, _)| *metric));
        Self(pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_found() {
        let all: Vec<Metric> = Metric::all().collect();
        let some: ByMetric<&str> = all
            .iter()
            .step_by(2)
            .map(|metric| (*metric, metric.facts().heading))
            .collect();
        for (index, metric) in all.iter().enumerate() {
            let expected = (index % 2 == 0).then_some(metric.facts().heading);
            assert_eq!(some.get(*metric).copied(), expected);
        }
        assert!(some.iter().map(|(metric, _)| metric).is_sorted());
    }
}
