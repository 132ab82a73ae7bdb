//! The samples of one step of one trial, by the places of their counters.

use prony_model::{
    Continuity, Counter, IDENTITY, Moment, NoDifference, Source, StepReadings, THREADS_LOST,
};
use prony_store::{Counters, FlatSample};

/// The counters of a result file, with the places of those that are asked for with each sample.
#[derive(Debug, Default)]
pub(crate) struct CounterTable {
    pub(crate) counters: Counters,
    identity: Option<usize>,
    threads_lost: Option<usize>,
    /// Places of the server's own counters that are no levels, ascending.
    pub(crate) own: Vec<usize>,
    /// Places of sizes in bytes, ascending.
    pub(crate) sizes: Vec<usize>,
    /// By source, the counters that it has: nearly all questions are about sources of few.
    by_source: Vec<std::ops::Range<usize>>,
}

/// The samples of a step, in the order of time, and how the counters grew between its edges.
#[derive(Debug)]
pub(crate) struct Readings<'a> {
    pub(crate) table: &'a CounterTable,
    pub(crate) samples: &'a [FlatSample],
    start: Option<&'a FlatSample>,
    end: Option<&'a FlatSample>,
    continuity: Continuity,
}

impl CounterTable {
    pub(crate) fn of(counters: Counters) -> Self {
        let all = counters.all();
        let places = |wanted: &dyn Fn(&Counter) -> bool| -> Vec<usize> {
            let all = all.iter().enumerate();
            all.filter(|(_, counter)| wanted(counter))
                .map(|(place, _)| place)
                .collect()
        };
        Self {
            identity: counters.place(&IDENTITY),
            threads_lost: counters.place(&THREADS_LOST),
            own: places(&|counter| counter.source.is_status() && !counter.is_level()),
            sizes: places(&|counter| counter.source.is_level() && counter.name.ends_with("_bytes")),
            by_source: Source::ALL.map(|source| counters.of_source(source)).into(),
            counters,
        }
    }

    /// The place of a counter; `None` if no sample has it.
    pub(crate) fn place(&self, counter: &Counter) -> Option<usize> {
        let range = self.by_source.get(counter.source as usize)?.clone();
        let begin = range.start;
        let of_source = self.counters.all().get(range)?;
        let place = of_source.binary_search_by(|known| known.name.cmp(&counter.name));
        place.ok().map(|place| begin + place)
    }

    fn continuity(&self, earlier: &FlatSample, later: &FlatSample) -> Continuity {
        let value = |place: Option<usize>, sample: &FlatSample| sample.value(place?);
        Continuity::of(
            (value(self.identity, earlier), value(self.identity, later)),
            value(self.threads_lost, later),
        )
    }

    /// By how much a counter grew between two samples.
    ///
    /// # Errors
    /// When that is not known.
    pub(crate) fn growth(
        &self,
        earlier: &FlatSample,
        later: &FlatSample,
        counter: &Counter,
    ) -> Result<u64, NoDifference> {
        let place = self.place(counter).ok_or(NoDifference::NotRead)?;
        let values = (earlier.value(place), later.value(place));
        let continuity = self.continuity(earlier, later);
        continuity.of_counter(counter.source, values)
    }
}

impl<'a> Readings<'a> {
    /// The samples of one step, in the order of time.
    pub(crate) fn of(table: &'a CounterTable, samples: &'a [FlatSample]) -> Self {
        let at = |moment| samples.iter().find(|sample| sample.moment == moment);
        let (start, end) = (at(Moment::Start), at(Moment::End));
        let edges = start.zip(end);
        let none = Continuity::of((None, None), None);
        Self {
            table,
            samples,
            start,
            end,
            continuity: edges.map_or(none, |(start, end)| table.continuity(start, end)),
        }
    }

    pub(crate) fn at(&self, moment: Moment) -> Option<&'a FlatSample> {
        match moment {
            Moment::Start => self.start,
            Moment::End => self.end,
            Moment::Period => self.samples.iter().find(|sample| sample.moment == moment),
        }
    }

    /// By how much the counter at a place grew over the measured time.
    ///
    /// # Errors
    /// When that is not known.
    pub(crate) fn growth(&self, place: usize, source: Source) -> Result<u64, NoDifference> {
        match (self.start, self.end) {
            (Some(start), Some(end)) => {
                let values = (start.value(place), end.value(place));
                self.continuity.of_counter(source, values)
            }
            (None, None) => Err(NoDifference::NotRead),
            _ => Err(NoDifference::Lost),
        }
    }
}

impl StepReadings for Readings<'_> {
    fn difference(&self, counter: &Counter) -> Result<u64, NoDifference> {
        match self.table.place(counter) {
            Some(place) => self.growth(place, counter.source),
            // A file without the counter has no value of it in any sample.
            None if self.start.is_some() != self.end.is_some() => Err(NoDifference::Lost),
            None => Err(NoDifference::NotRead),
        }
    }

    fn value_at(&self, moment: Moment, counter: &Counter) -> Option<u64> {
        self.at(moment)?.value(self.table.place(counter)?)
    }

    fn at_ns(&self, moment: Moment) -> Option<u64> {
        self.at(moment).map(|sample| sample.at_ns)
    }
}
