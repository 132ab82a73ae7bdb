//! Probability of each value: `distribution = "zipfian", exponent = 0.8`.

use prony_model::{Distribution, Hot, Thousandths};

use crate::fields::{Fields, Located, Value};
use crate::invalid::{Document, Problem, Read, Span};

/// The words of `distribution`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Uniform,
    Zipfian,
    Pareto,
    Gaussian,
    Special,
    Sequential,
    Unique,
}

/// Each shape, with the keys that it has of its own.
const SHAPES: [(&str, Shape, &[&str]); 7] = [
    ("uniform", Shape::Uniform, &[]),
    ("zipfian", Shape::Zipfian, &["exponent", "hot"]),
    ("pareto", Shape::Pareto, &["h"]),
    ("gaussian", Shape::Gaussian, &[]),
    ("special", Shape::Special, &["hot_percent", "hot_share"]),
    ("sequential", Shape::Sequential, &[]),
    ("unique", Shape::Unique, &[]),
];

/// Greatest exponent: beyond it, nearly every draw is the first value.
const EXPONENT_MAX: Thousandths = Thousandths(100_000);

/// Default of sysbench.
const DEFAULT_EXPONENT: Thousandths = Thousandths(800);
const DEFAULT_H: Thousandths = Thousandths(200);
const DEFAULT_HOT_PERCENT: u32 = 1;
const DEFAULT_HOT_SHARE: u32 = 75;

/// Keys of distributions, as far as they are written.
#[derive(Debug)]
pub(crate) struct Written {
    shape: Option<Located<Shape>>,
    exponent: Option<Located<Thousandths>>,
    hot: Option<Located<Hot>>,
    h: Option<Located<Thousandths>>,
    hot_percent: Option<Located<u32>>,
    hot_share: Option<Located<u32>>,
}

/// Reads the keys of a parameter that are about its distribution.
pub(crate) fn read(fields: &mut Fields<'_>) -> Read<Written> {
    let shapes = SHAPES.map(|(name, shape, _)| (name, shape));
    let shape = fields.optional("distribution", |value| value.choice(&shapes));
    let exponent = fields.optional("exponent", |value| {
        value.thousandths(Thousandths(0)..=EXPONENT_MAX)
    });
    let hot = fields.optional("hot", |value| value.choice(&Hot::NAMED));
    let h = fields.optional("h", |value| {
        value.thousandths(Thousandths(1)..=Thousandths(999))
    });
    let hot_percent = fields.optional("hot_percent", |value: Value<'_>| value.count(1..=100));
    let hot_share = fields.optional("hot_share", |value: Value<'_>| value.count(0..=100));
    Ok(Written {
        shape: shape?,
        exponent: exponent?,
        hot: hot?,
        h: h?,
        hot_percent: hot_percent?,
        hot_share: hot_share?,
    })
}

impl Written {
    /// True where nothing was said of a distribution.
    pub(crate) fn is_empty(&self) -> bool {
        self.shape.is_none() && self.keys().next().is_none()
    }

    /// The distribution, once every key is known to belong to it.
    pub(crate) fn finish(self, document: &Document<'_>) -> Read<Distribution> {
        let shape = self.shape.as_ref().map_or(Shape::Uniform, |s| s.value);
        if let Some((key, place)) = self.keys().find(|(key, _)| !own_keys(shape).contains(key)) {
            return misplaced(key, shape)
                .at(&place, "has no meaning here")
                .fail(document);
        }
        Ok(match shape {
            Shape::Uniform => Distribution::Uniform,
            Shape::Zipfian => Distribution::Zipfian {
                exponent: or(self.exponent, DEFAULT_EXPONENT),
                hot: or(self.hot, Hot::Adjacent),
            },
            Shape::Pareto => Distribution::Pareto {
                h: or(self.h, DEFAULT_H),
            },
            Shape::Gaussian => Distribution::Gaussian,
            Shape::Special => Distribution::Special {
                hot_percent: or(self.hot_percent, DEFAULT_HOT_PERCENT),
                hot_share: or(self.hot_share, DEFAULT_HOT_SHARE),
            },
            Shape::Sequential => Distribution::Sequential,
            Shape::Unique => Distribution::Unique,
        })
    }

    /// The keys that are written besides `distribution`, with their places.
    fn keys(&self) -> impl Iterator<Item = (&'static str, Span)> {
        [
            ("exponent", span(self.exponent.as_ref())),
            ("hot", span(self.hot.as_ref())),
            ("h", span(self.h.as_ref())),
            ("hot_percent", span(self.hot_percent.as_ref())),
            ("hot_share", span(self.hot_share.as_ref())),
        ]
        .into_iter()
        .filter_map(|(key, span)| Some((key, span?)))
    }
}

fn span<T>(written: Option<&Located<T>>) -> Option<Span> {
    written.map(|written| written.span.clone())
}

fn or<T>(written: Option<Located<T>>, default: T) -> T {
    written.map_or(default, |written| written.value)
}

fn own_keys(shape: Shape) -> &'static [&'static str] {
    SHAPES
        .iter()
        .find(|(_, other, _)| *other == shape)
        .map_or(&[], |(_, _, keys)| keys)
}

fn misplaced(key: &str, shape: Shape) -> Problem {
    let named = |wanted: &dyn Fn(Shape, &[&str]) -> bool| {
        SHAPES
            .iter()
            .find(|(_, shape, keys)| wanted(*shape, keys))
            .map_or("", |(name, _, _)| name)
    };
    let here = named(&|other, _| other == shape);
    let there = named(&|_, keys| keys.contains(&key));
    Problem::new(format!("the distribution \"{here}\" has no `{key}`")).help(format!(
        "`{key}` belongs to distribution = \"{there}\": write that, or remove the key"
    ))
}
