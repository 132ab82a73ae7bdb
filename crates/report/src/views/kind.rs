//! The views by name: what each shows, and its usual arrangement.

use std::fmt;

use prony_model::Metric;

use crate::views::key::Key;
use crate::views::measure::Measure;

/// A table or graph of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// Throughput.
    Absolute,
    /// Throughput relative to a base.
    Relative,
    /// Time of an operation relative to a base, over versions.
    ResponseTime,
    /// Costs of an operation, absolute and relative to a base.
    Efficiency,
    /// Ratios of throughput and processor time, step after step.
    Annotated,
    /// Operations per second over clients.
    Tps,
    /// Throughput over clients as a graph.
    Scaling,
    /// Numbers of clients between which another target is ahead.
    Crossings,
    /// Throughput relative to a base over versions, as a graph.
    RatioByVersion,
    /// Throughput of each target as bars.
    Bars,
    /// Throughput and its ratio side by side.
    QpsRatio,
}

/// Costs of an operation: the columns of studies by hand, in their order.
const COSTS: [Measure; 6] = [
    Measure::Cost(Metric::ServerCpu),
    Measure::Cost(Metric::ContextSwitches),
    Measure::Cost(Metric::Reads),
    Measure::Cost(Metric::ReadKb),
    Measure::Cost(Metric::WrittenKb),
    Measure::Cost(Metric::Rate),
];

/// The same relative to a base.
const COST_RATIOS: [Measure; 6] = [
    Measure::CostRatio(Metric::ServerCpu),
    Measure::CostRatio(Metric::ContextSwitches),
    Measure::CostRatio(Metric::Reads),
    Measure::CostRatio(Metric::ReadKb),
    Measure::CostRatio(Metric::WrittenKb),
    Measure::CostRatio(Metric::Rate),
];

impl View {
    /// All views.
    pub const ALL: [Self; 11] = [
        Self::Absolute,
        Self::Relative,
        Self::QpsRatio,
        Self::RatioByVersion,
        Self::ResponseTime,
        Self::Tps,
        Self::Scaling,
        Self::Crossings,
        Self::Bars,
        Self::Efficiency,
        Self::Annotated,
    ];

    /// The view of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.name() == name)
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Relative => "relative",
            Self::ResponseTime => "response-time",
            Self::Efficiency => "efficiency",
            Self::Annotated => "annotated",
            Self::Tps => "tps",
            Self::Scaling => "scaling",
            Self::Crossings => "crossings",
            Self::RatioByVersion => "ratio-by-version",
            Self::Bars => "bars",
            Self::QpsRatio => "qps-ratio",
        }
    }

    /// A noun phrase for lists of views.
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Absolute => "Throughput: steps by targets",
            Self::Relative => "Throughput relative to the base: steps by targets",
            Self::ResponseTime => {
                "Time of an operation relative to the base: builds by clients, with a graph"
            }
            Self::Efficiency => "Costs of an operation, absolute and relative to the base",
            Self::Annotated => "Ratios of throughput and processor time, step after step",
            Self::Tps => "Operations per second: clients by targets",
            Self::Scaling => "Throughput over clients: a line for each target, and peaks",
            Self::Crossings => "Numbers of clients between which another target is ahead",
            Self::RatioByVersion => {
                "Throughput relative to the base: builds by clients, with a graph"
            }
            Self::Bars => "Throughput of each target as bars",
            Self::QpsRatio => "Throughput and its ratio side by side: targets by clients",
        }
    }

    /// Measures of its tables; a table, or several, for each list of them.
    pub(crate) fn measures(self) -> &'static [&'static [Measure]] {
        match self {
            Self::Absolute | Self::Scaling | Self::Bars => &[&[Measure::Throughput]],
            Self::Relative | Self::RatioByVersion | Self::Crossings => &[&[Measure::Ratio]],
            Self::ResponseTime => &[&[Measure::TimeRatio]],
            Self::Efficiency => &[&COSTS, &COST_RATIOS],
            Self::Annotated => &[&[Measure::Ratio, Measure::CostRatio(Metric::ServerCpu)]],
            Self::Tps => &[&[Measure::Operations]],
            Self::QpsRatio => &[&[Measure::Throughput, Measure::Ratio]],
        }
    }

    /// Keys of the tables, the rows and the columns.
    pub(crate) fn arrangement(self) -> [Vec<Key>; 3] {
        match self {
            Self::Absolute | Self::Relative | Self::Annotated => {
                [vec![Key::Section], vec![Key::Step], vec![Key::Target]]
            }
            Self::ResponseTime | Self::RatioByVersion => {
                [vec![Key::Step], vec![Key::BUILD], vec![Key::Clients]]
            }
            Self::Efficiency | Self::Bars => {
                [vec![Key::Step, Key::Clients], vec![Key::Target], Vec::new()]
            }
            Self::Tps | Self::Scaling | Self::Crossings => {
                [vec![Key::Step], vec![Key::Clients], vec![Key::Target]]
            }
            Self::QpsRatio => [vec![Key::Step], vec![Key::Target], vec![Key::Clients]],
        }
    }

    /// Returns `true` if a graph stands beside its tables.
    pub(crate) const fn has_graph(self) -> bool {
        matches!(
            self,
            Self::ResponseTime | Self::Scaling | Self::RatioByVersion | Self::Bars
        )
    }

    /// Returns `true` if bases have no figures relative to themselves.
    pub(crate) const fn leaves_out_bases(self) -> bool {
        matches!(self, Self::Relative | Self::Efficiency | Self::Annotated)
    }

    /// Items of its legend.
    pub(crate) fn legend(self) -> Vec<String> {
        const MEAN: &str = "± is half the distance between the lowest and the highest block, in \
            percent of the mean.";
        const RATIO: &str = "A ratio is operations per second ÷ those of the base in the same block: \
            above 1 is faster. [a, b] holds it with 95 %.";
        const ALL: &str = "The geometric mean is over all rows, without those whose operations arrive at a \
            rate; its interval is that of blocks that have all of them. It is - if a row lacks a figure.";
        const TIME: &str = "A ratio is the time of an operation ÷ that of the base in the same block: \
            above 1 is slower. [a, b] holds it with 95 %.";
        const COST: &str = "A ratio of a cost is the cost of an operation ÷ that of the base in the \
            same block: above 1 costs more.";
        const LETTERS: &str = "cpu: processor time of the server in µs; cs: context switches; r: reads; \
            rKB, wKB: read and written; o: an operation, or a row of a scan; o/s: their rate.";
        const CROSSING: &str = "The ratio is of the target that is ahead after a crossing to the one \
            that is ahead before it. A crossing is resolved if the intervals of the ratios on both sides \
            do not hold 1. Numbers of clients between them, if there are any, show no difference.";
        let items: &[&str] = match self {
            Self::Absolute | Self::Tps | Self::Scaling | Self::Bars => &[MEAN],
            Self::Relative => &[RATIO, ALL],
            Self::RatioByVersion => &[RATIO],
            Self::ResponseTime => &[TIME],
            Self::Efficiency => &[LETTERS, COST],
            Self::Annotated => &[RATIO, COST],
            Self::Crossings => &[CROSSING],
            Self::QpsRatio => &[MEAN, RATIO],
        };
        items.iter().map(|&item| item.to_owned()).collect()
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
