//! Files of counts of callgrind, one for each thread, as "Callgrind Format Specification" of valgrind's
//! manual describes them.
//!
//! Only what a function executes itself is read. Callgrind is told to keep counts by chain of callers
//! (`--separate-callers`), so that a function is named `leaf'caller'caller…`, and the chains give the whole
//! tree of calls.

use std::collections::HashMap;

use crate::profile::{Builder, Profile, Thread};

/// The reason that a file of counts can't be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read the counts of callgrind, line {line}: {reason}")]
pub struct CallgrindError {
    /// From 1; the line after the last one for a file that lacks something.
    pub line: usize,
    /// The mistake.
    pub reason: String,
}

/// The line that sums a file up.
const TOTALS: &str = "totals:";

impl Profile {
    /// Reads the files of counts of callgrind, one for each thread.
    ///
    /// # Errors
    /// When one of them is damaged.
    pub fn from_callgrind(threads: &[Vec<u8>]) -> Result<Self, CallgrindError> {
        let mut builder = Builder::default();
        for counts in threads {
            read(counts, &mut builder)?;
        }
        Ok(builder.profile())
    }
}

/// Adds a file of counts to a profile as a thread.
fn read(counts: &[u8], profile: &mut Builder) -> Result<(), CallgrindError> {
    let text = String::from_utf8_lossy(counts);
    let mut file = File::default();
    let mut lines = 0;
    for (index, line) in text.lines().enumerate() {
        lines = index + 1;
        file.line(line).map_err(|reason| CallgrindError {
            line: lines,
            reason,
        })?;
    }
    let incomplete = |reason: String| CallgrindError {
        line: lines + 1,
        reason,
    };
    let totals = file
        .totals
        .ok_or_else(|| incomplete(format!("there is no line `{TOTALS}`")))?;
    let thread = file.thread(profile);
    let sum = thread.total();
    if sum != totals {
        return Err(incomplete(format!(
            "functions add up to {sum}, and `{TOTALS}` says {totals}"
        )));
    }
    profile.add(thread);
    Ok(())
}

/// Texts of one kind that are given once with a number, and named by it afterwards.
#[derive(Default)]
struct Names<'a>(HashMap<&'a str, &'a str>);

impl<'a> Names<'a> {
    /// The text of `(5) text`, of `(5)`, or of a text without number.
    fn get(&mut self, field: &'a str) -> Result<&'a str, String> {
        let numbered = field.strip_prefix('(').and_then(|f| f.split_once(')'));
        // Names may begin so too: `(below main)`.
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let Some((number, text)) = numbered.filter(|(number, _)| is_number(number)) else {
            return Ok(field);
        };
        let text = text.strip_prefix(' ').unwrap_or(text);
        if text.is_empty() {
            let known = self.0.get(number);
            return known
                .copied()
                .ok_or_else(|| format!("the number {number} has no name yet"));
        }
        self.0.insert(number, text);
        Ok(text)
    }
}

/// A file as far as it is read.
#[derive(Default)]
struct File<'a> {
    objects: Names<'a>,
    functions: Names<'a>,
    /// Of the functions that follow.
    object: &'a str,
    /// Of the next call only.
    callee_object: Option<&'a str>,
    /// The chain of the cost lines that follow.
    chain: Option<&'a str>,
    /// The next cost line is of a call, hence of the function that is called.
    is_call: bool,
    /// Words of a cost line before its counts.
    positions: usize,
    /// The object of the innermost function of each chain.
    object_of: HashMap<&'a str, &'a str>,
    own: Vec<(&'a str, u64)>,
    totals: Option<u64>,
}

impl<'a> File<'a> {
    fn line(&mut self, line: &'a str) -> Result<(), String> {
        let Some(first) = line.bytes().next() else {
            return Ok(());
        };
        if first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'*') {
            return self.cost(line);
        }
        if let Some((key, field)) = line.split_once('=') {
            match key {
                "ob" => self.object = self.objects.get(field)?,
                "cob" => self.callee_object = Some(self.objects.get(field)?),
                "fn" => {
                    let chain = self.functions.get(field)?;
                    self.chain = Some(chain);
                    self.object_of.insert(chain, self.object);
                }
                "cfn" => {
                    let chain = self.functions.get(field)?;
                    let object = self.callee_object.take().unwrap_or(self.object);
                    self.object_of.entry(chain).or_insert(object);
                }
                "calls" => self.is_call = true,
                // Files of source text, jumps.
                _ => {}
            }
            return Ok(());
        }
        if let Some(events) = line.strip_prefix("events:") {
            let first = events.split_whitespace().next();
            if first != Some("Ir") {
                return Err(format!(
                    "expected the event `Ir`, found `{}`",
                    events.trim()
                ));
            }
        } else if let Some(positions) = line.strip_prefix("positions:") {
            self.positions = positions.split_whitespace().count();
        } else if let Some(totals) = line.strip_prefix(TOTALS) {
            let count = totals.split_whitespace().next().unwrap_or_default();
            self.totals = Some(number(count)?);
        }
        Ok(())
    }

    fn cost(&mut self, line: &'a str) -> Result<(), String> {
        let is_call = std::mem::take(&mut self.is_call);
        if is_call {
            return Ok(());
        }
        let chain = self
            .chain
            .ok_or("a count stands before the first function")?;
        let positions = self.positions.max(1);
        // Counts at the end that are zero may be left out.
        if let Some(count) = line.split_whitespace().nth(positions) {
            self.own.push((chain, number(count)?));
        }
        Ok(())
    }

    /// The tree of calls.
    fn thread(&self, profile: &mut Builder) -> Thread {
        let mut thread = Thread::default();
        let mut call_of: HashMap<&str, Option<u32>> = HashMap::new();
        for (chain, own) in &self.own {
            let call = *call_of.entry(chain).or_insert_with(|| {
                self.frames(chain)
                    .into_iter()
                    .rev()
                    .fold(None, |parent, (object, symbol)| {
                        let function = profile.function(object, symbol);
                        Some(thread.call(parent, function))
                    })
            });
            if let Some(call) = call {
                thread.count(call, *own);
            }
        }
        thread
    }

    /// The functions of a chain with their objects, the innermost first.
    fn frames(&self, chain: &'a str) -> Vec<(&'a str, &'a str)> {
        let mut frames = Vec::new();
        let mut rest = chain;
        // Without a record of its own, a caller is of the object of the function that it calls.
        let mut object = "";
        loop {
            let (symbol, callers) = rest
                .split_once('\'')
                .map_or((rest, None), |(s, c)| (s, Some(c)));
            object = self.object_of.get(rest).copied().unwrap_or(object);
            // A number is the depth of a function that calls itself.
            if symbol.is_empty() || !symbol.bytes().all(|byte| byte.is_ascii_digit()) {
                frames.push((object, symbol));
            }
            match callers {
                Some(callers) => rest = callers,
                None => return frames,
            }
        }
    }
}

fn number(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a number of instructions, found `{text}`"))
}

#[cfg(test)]
mod tests;
