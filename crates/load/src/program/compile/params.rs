//! A statement's parameters, compiled one after the other.

use std::ops::Range;

use prony_model::{Distribution, Expr, Generator, Piece, Protocol, Statement};

use crate::program::Param;
use crate::program::compile::encoding::Filled;
use crate::program::compile::{CompileError, Places, ROWS_MAX, Scope};
use crate::program::linear::{Bounds, Linear};
use crate::program::text::TextRule;
use crate::protocol::{Shapes, Wire};
use crate::values::digits::DigitPattern;
use crate::values::distribution::Sampler;
use crate::values::letters::LetterRule;
use crate::values::random::scatter;

/// The most values of a list: more would fill several of the largest packets.
const LIST_MAX: usize = 1 << 20;

/// The parameters of a statement, as far as they are compiled.
pub(super) struct Params<'a> {
    scope: &'a Scope<'a>,
    places: &'a mut Places,
    /// Places given to this statement's parameters, in order.
    taken: Vec<usize>,
    /// The index among these of the next parameter that needs one: every row begins anew.
    next_place: usize,
    compiled: Vec<Param>,
    /// By name, in the order in which they are drawn.
    names: Vec<(String, Found)>,
    /// Of each integer, by slot.
    bounds: Vec<Bounds>,
    texts: Vec<TextRule>,
}

/// Least and greatest key, as far as sums of them fit 64 bits.
const KEYS: Bounds = Bounds {
    min: 0,
    max: 1 << 61,
};

/// Meaning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The slot of an integer.
    Integer(usize),
    /// The slots of a list of integers.
    List(Range<usize>),
    /// The index of a text.
    Text(usize),
}

impl<'a> Params<'a> {
    pub(super) fn new(scope: &'a Scope<'a>, places: &'a mut Places) -> Self {
        Self {
            scope,
            places,
            taken: Vec::new(),
            next_place: 0,
            compiled: Vec::new(),
            names: Vec::new(),
            bounds: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// The place of a table or a procedure among the names of a set.
    pub(super) fn place(&self, piece: &Piece) -> Result<usize, CompileError> {
        let place = self.scope.dataset.schema.place(piece);
        place.ok_or_else(|| match piece {
            Piece::Further(name) => CompileError::NoName(format!("table:{name}")),
            Piece::Procedure(name) => CompileError::NoName(format!("procedure:{name}")),
            _ => CompileError::NoName(String::new()),
        })
    }

    /// The bounds of a table's keys, as its column holds them.
    fn keys(&self) -> Bounds {
        let dataset = self.scope.dataset;
        let key = dataset.schema.column(dataset.schema.key_column());
        let is_short = key.is_some_and(|column| dataset.is_short(column.kind));
        Bounds {
            max: if is_short { i32::MAX.into() } else { KEYS.max },
            ..KEYS
        }
    }

    /// Gives the marks of the table their slots, which are the first two.
    pub(super) fn add_marks(&mut self) {
        let keys = self.keys();
        for name in Statement::MARKS {
            let slot = self.bounds.len();
            self.names.push((name.to_owned(), Found::Integer(slot)));
            self.bounds.push(keys);
        }
    }

    /// Compiles the rows of a statement, each with parameters of its own but for the `fixed` ones.
    /// What goes through a range in an order does so from row to row.
    pub(super) fn rows(
        &mut self,
        statement: &Statement,
        fixed: &[&prony_model::Param],
    ) -> Result<Vec<Filled>, CompileError> {
        let Some(row) = &statement.row else {
            return Ok(Vec::new());
        };
        let count = row
            .count
            .eval(&|name: &str| self.scope.known(name))
            .map_err(|source| CompileError::Expression {
                name: "row".to_owned(),
                source,
            })?;
        if !(1..=ROWS_MAX).contains(&count) {
            return Err(CompileError::Rows(count));
        }
        let is_fixed = |param: &&prony_model::Param| fixed.iter().any(|f| f.name == param.name);
        let own: Vec<_> = statement.params.iter().filter(|p| !is_fixed(p)).collect();
        let (names, taken) = (self.names.len(), self.taken.len());
        let mut filled = Vec::new();
        for number in 0..count {
            if number > 0 {
                filled.push(Filled::Sql(",".to_owned()));
            }
            self.names.truncate(names);
            self.next_place = taken;
            for param in &own {
                self.add(param)?;
            }
            filled.extend(self.filled(row.sql.pieces(), &[])?);
        }
        self.names.truncate(names);
        Ok(filled)
    }

    /// Compiles the next parameter.
    pub(super) fn add(&mut self, param: &prony_model::Param) -> Result<(), CompileError> {
        let name = &param.name;
        if self.scope.known(name).is_some() || self.lookup(name).is_some() {
            return Err(CompileError::NameTaken(name.clone()));
        }
        let first = self.bounds.len();
        match &param.generator {
            Generator::Derived(expr) => {
                let sum = self.reduce(name, expr)?;
                let bounds = sum.bounds(&self.bounds);
                self.compiled.push(Param::Derived { slot: first, sum });
                self.add_integers(name, Found::Integer(first), bounds, 1)?;
            }
            Generator::Draw {
                low,
                high,
                distribution,
                count,
            } => {
                let length = self.list_length(name, count.as_ref())?;
                let slots = first..first + length;
                let bounds = self.add_draw(name, (low, high), *distribution, slots.clone())?;
                let found = match count {
                    Some(_) => Found::List(slots),
                    None => Found::Integer(first),
                };
                self.add_integers(name, found, bounds, length)?;
            }
            Generator::Digits(pattern) => {
                let rule = TextRule::Digits(DigitPattern::new(&self.written(pattern)));
                self.add_text(name, rule);
            }
            Generator::Letters { lengths, random } => {
                let rule = TextRule::Letters {
                    rule: LetterRule {
                        min: lengths.min,
                        max: lengths.max,
                        random: random.0,
                    },
                    is_quoted: self.is_text(),
                };
                self.add_text(name, rule);
            }
            Generator::Numbered { text, number } => {
                let start = self.written(&text.before).len() - usize::from(self.is_text());
                let zeros = "0".repeat(text.digits as usize);
                let rule = TextRule::Numbered {
                    place: [start, start + zeros.len()],
                    text: self.written(&format!("{}{zeros}{}", text.before, text.after)),
                    number: self.sum(name, number)?,
                };
                self.add_text(name, rule);
            }
            Generator::DateTime { since, seconds } => {
                let rule = TextRule::DateTime {
                    since: *since,
                    seconds: self.sum(name, seconds)?,
                    is_quoted: self.is_text(),
                };
                self.add_text(name, rule);
            }
        }
        Ok(())
    }

    /// A sum that fits 64 bits.
    fn sum(&self, name: &str, expr: &Expr) -> Result<Linear, CompileError> {
        let sum = self.reduce(name, expr)?;
        if sum.bounds(&self.bounds).fit_i64() {
            Ok(sum)
        } else {
            Err(CompileError::OutOfRange(name.to_owned()))
        }
    }

    /// Meaning of the name.
    pub(super) fn find(&self, name: &str) -> Result<&Found, CompileError> {
        self.lookup(name)
            .ok_or_else(|| CompileError::NoParam(name.to_owned()))
    }

    /// The forms of the values.
    pub(super) fn shapes(&self) -> Shapes {
        let sizes = self.texts.iter().map(|text| text.longest().len());
        Shapes {
            short_integers: self.bounds.iter().map(|of| of.fit_i32()).collect(),
            text_sizes: sizes.collect(),
            varying: self.texts.iter().any(TextRule::varies),
        }
    }

    /// The protocol of the requests.
    pub(super) const fn wire(&self) -> Wire {
        self.scope.wire()
    }

    /// There are no more parameters.
    pub(super) fn finish(self) -> (Vec<Param>, Vec<TextRule>, usize) {
        self.places.previous = self.taken;
        (self.compiled, self.texts, self.bounds.len())
    }

    fn lookup(&self, name: &str) -> Option<&Found> {
        let (_, found) = self.names.iter().find(|(other, _)| other == name)?;
        Some(found)
    }

    fn reduce(&self, name: &str, expr: &Expr) -> Result<Linear, CompileError> {
        let known = |name: &str| self.scope.known(name);
        let is_list = |name: &&str| matches!(self.lookup(name), Some(Found::List(_)));
        if let Some(list) = expr.names().find(is_list) {
            return Err(CompileError::ListInExpression {
                name: name.to_owned(),
                list: list.to_owned(),
            });
        }
        if let Some(factor) = expr.nonlinear(|name| self.lookup(name).is_some()) {
            return Err(CompileError::NotLinear {
                name: name.to_owned(),
                factor: factor.to_owned(),
            });
        }
        let slot = |name: &str| match self.lookup(name) {
            Some(Found::Integer(slot)) => Some(*slot),
            _ => None,
        };
        Linear::new(expr, &known, &slot).map_err(|source| CompileError::Expression {
            name: name.to_owned(),
            source,
        })
    }

    /// The number of values of a parameter: 1 where it is no list.
    fn list_length(&self, name: &str, count: Option<&Expr>) -> Result<usize, CompileError> {
        let Some(count) = count else { return Ok(1) };
        let count = count
            .eval(&|name: &str| self.scope.known(name))
            .map_err(|source| CompileError::Expression {
                name: name.to_owned(),
                source,
            })?;
        match usize::try_from(count) {
            Ok(length @ 1..=LIST_MAX) => Ok(length),
            _ => Err(CompileError::ListLength {
                name: name.to_owned(),
                count,
                max: LIST_MAX,
            }),
        }
    }

    /// Compiles a draw and returns the bounds of its values.
    fn add_draw(
        &mut self,
        name: &str,
        (low, high): (&Expr, &Expr),
        distribution: Distribution,
        slots: Range<usize>,
    ) -> Result<Bounds, CompileError> {
        let (low, high) = (self.reduce(name, low)?, self.reduce(name, high)?);
        let out_of_range = || CompileError::OutOfRange(name.to_owned());
        let count = Linear::count(&low, &high).ok_or_else(out_of_range)?;
        let counts = count.bounds(&self.bounds);
        // Between the marks of a table is what clients leave; drawing heeds it.
        let is_moving = self.is_moving(&count);
        if counts.min < 1 && !is_moving {
            return Err(CompileError::EmptyRange {
                name: name.to_owned(),
                by: 1 - counts.min,
            });
        }
        if !counts.fit_i64() {
            return Err(out_of_range());
        }
        let bounds = Bounds {
            min: low.bounds(&self.bounds).min,
            max: high.bounds(&self.bounds).max,
        };
        let param = if distribution == Distribution::Uniform {
            match (low.constant(), count.constant()) {
                (Some(low), Some(count)) if slots.len() == 1 => Param::UniformFixed {
                    slot: slots.start,
                    low,
                    count: count.cast_unsigned(),
                },
                _ => Param::Uniform { slots, low, count },
            }
        } else {
            let changing = || CompileError::ChangingRange(name.to_owned());
            if low.constant().is_none() && !self.is_moving(&low) {
                return Err(changing());
            }
            let count = count.constant().ok_or_else(changing)?.cast_unsigned();
            self.sampled(distribution, slots, low, count)
        };
        self.compiled.push(param);
        Ok(bounds)
    }

    fn sampled(
        &mut self,
        distribution: Distribution,
        slots: Range<usize>,
        low: Linear,
        count: u64,
    ) -> Param {
        let place = if Sampler::is_ordered(distribution) {
            self.take_place()
        } else {
            0
        };
        let seed = scatter(self.scope.seed).wrapping_add(place as u64);
        Param::Drawn {
            slots,
            low,
            sampler: Sampler::new(distribution, count, self.scope.clients, seed),
            place,
        }
    }

    /// A place of its own for the next parameter that needs one; that of the statement before,
    /// where its values are repeated.
    fn take_place(&mut self) -> usize {
        let index = self.next_place;
        self.next_place += 1;
        if let Some(place) = self.taken.get(index) {
            // That of the row before.
            return *place;
        }
        let repeated = self.places.previous.get(index).copied();
        let place = repeated.unwrap_or_else(|| {
            self.places.next += 1;
            self.places.next - 1
        });
        self.taken.push(place);
        place
    }

    /// `true` if a sum has a mark of the table in it.
    fn is_moving(&self, sum: &Linear) -> bool {
        let mut marks = Statement::MARKS.iter().filter_map(|mark| self.lookup(mark));
        marks.any(|found| matches!(found, Found::Integer(slot) if sum.has(*slot)))
    }

    fn add_integers(
        &mut self,
        name: &str,
        found: Found,
        bounds: Bounds,
        length: usize,
    ) -> Result<(), CompileError> {
        if !bounds.fit_i64() {
            return Err(CompileError::OutOfRange(name.to_owned()));
        }
        self.names.push((name.to_owned(), found));
        self.bounds.resize(self.bounds.len() + length, bounds);
        Ok(())
    }

    fn add_text(&mut self, name: &str, rule: TextRule) {
        let index = self.texts.len();
        self.compiled.push(Param::Text { index });
        self.names.push((name.to_owned(), Found::Text(index)));
        self.texts.push(rule);
    }

    /// `true` if the statement is sent as text.
    fn is_text(&self) -> bool {
        self.scope.protocol() == Protocol::Text
    }

    /// A text as it is sent.
    fn written(&self, text: &str) -> Vec<u8> {
        if self.is_text() {
            self.scope.wire().quote(text)
        } else {
            text.as_bytes().to_vec()
        }
    }
}
