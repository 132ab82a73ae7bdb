//! A graph as data and labels, before a format draws it.

/// Lines over one horizontal axis. Whoever shows it puts a table with the same figures beside it,
/// for readers of formats that can't draw.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<Line>,
    /// A bound that lines can't exceed. It has the line's colour of no target.
    pub(crate) limit: Option<Line>,
    /// Sentences below the graph.
    pub(crate) notes: Vec<String>,
}

/// One axis of a graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// What it shows, with its unit: "operations/s".
    pub(crate) label: String,
    pub(crate) scale: Scale,
}

/// How positions on an axis follow from figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    /// In proportion; the axis begins at 0.
    FromZero,
    /// By the logarithm; figures are above 0.
    Log,
    /// One place for each name; a point's `x` is the index of its name.
    Names(Vec<String>),
}

/// The points of one target, step or number of clients.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// The index of the target whose colour it has.
    pub(crate) target: Option<usize>,
    /// Ascending by `x`.
    pub(crate) points: Vec<Point>,
}

/// One figure of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The 95 % interval of `y`, where there is one.
    pub(crate) interval: Option<(f64, f64)>,
}
