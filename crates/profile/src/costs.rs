//! Costs of one step on one target: what an operation costs, by function and component.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use crate::component::{Components, Match};
use crate::name::comparable;
use crate::profile::{Profile, Thread, is_unnamed};

/// The component of functions that no rule has.
pub const NOT_MAPPED: &str = "not mapped";
/// The object of the kernel's functions in samples of stacks.
pub const KERNEL: &str = "[kernel]";
/// The part of stacks outside of named functions.
const NO_CALLER: &str = "the thread's start";

/// The way in which a function's component is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MappedBy {
    /// By its name.
    Name,
    /// By its object, such as a library.
    Object,
    /// It has no symbol: by the function that calls it.
    Caller,
    /// Not at all.
    Nothing,
}

/// What sessions execute for each operation: instructions, or microseconds of a processor.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Costs {
    /// How sure the figures are, where they are of samples.
    pub sampling: Option<Sampling>,
    /// Of the threads of sessions.
    pub total: f64,
    /// Of all other threads.
    pub background: f64,
    /// Of functions that have no symbol.
    pub unnamed: f64,
    /// Of functions whose component is known, by the way in which it is.
    pub mapped: BTreeMap<MappedBy, f64>,
    /// By function; they add up to the total.
    pub functions: BTreeMap<FunctionName, FunctionCost>,
    /// By component; they add up to the total.
    pub components: BTreeMap<String, f64>,
    /// By chain of callers, the outermost first, functions without symbols left out; the component of the
    /// function that executes is the last part. They add up to the total.
    pub stacks: BTreeMap<Vec<String>, f64>,
}

/// The name of a function as it is compared: its own, or the place of one without a symbol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FunctionName {
    /// Comparable name.
    Named(String),
    /// Functions without symbols that this one calls, directly or by others of that kind.
    Below(String),
    /// Functions without symbols in a library.
    In(String),
}

/// How sure figures of samples are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// The cost that one sample stands for, above 0.
    pub unit: f64,
    /// Standard error of the cost of an operation, as a share of it: that of the time which is divided among
    /// the samples.
    pub relative_error: f64,
}

/// The cost of a function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCost {
    /// Its own for each operation.
    pub own: f64,
    /// Name of its component.
    pub component: String,
    /// The way in which that is known.
    pub mapped: MappedBy,
    /// The nearest function with a symbol that calls it and is not of its component, where it costs most.
    pub caller: Option<String>,
}

impl std::fmt::Display for FunctionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::Below(caller) => write!(f, "(no symbol, called by {caller})"),
            Self::In(object) => write!(f, "(no symbol, in {object})"),
        }
    }
}

/// A function as it is shown.
#[derive(Clone)]
struct Shown {
    name: FunctionName,
    component: String,
    mapped: MappedBy,
    /// The nearest named function, this one included, and the component of functions without symbols
    /// that it calls.
    named: Option<(String, String)>,
}

impl Profile {
    /// Costs of each operation in instructions; `operations` is at least 1.
    pub fn costs(&self, components: &Components, operations: u64) -> Costs {
        self.costs_in_units(components, 1.0 / operations.max(1) as f64)
    }

    /// Costs of each operation in the unit of `cost`, which all samples share: the time that all threads of
    /// the server spend on a processor for an operation, with its standard error as a share of it.
    pub fn costs_of_samples(
        &self,
        components: &Components,
        cost: f64,
        relative_error: f64,
    ) -> Costs {
        let unit = cost / self.total().max(1) as f64;
        let sampling = Sampling {
            unit,
            relative_error,
        };
        Costs {
            sampling: Some(sampling),
            ..self.costs_in_units(components, unit)
        }
    }

    /// Ids of the threads that serve clients, where they are known.
    pub(crate) fn session_ids(&self, components: &Components) -> BTreeSet<u32> {
        let mut known = Known {
            profile: self,
            components,
            found: HashMap::new(),
        };
        known.session_ids()
    }

    /// Costs where one of what was counted costs `unit`.
    fn costs_in_units(&self, components: &Components, unit: f64) -> Costs {
        let mut known = Known {
            profile: self,
            components,
            found: HashMap::new(),
        };
        let of_each = |count: u64| count as f64 * unit;
        let mut costs = Costs::default();
        let mut callers: BTreeMap<FunctionName, BTreeMap<String, f64>> = BTreeMap::new();
        let session_ids = known.session_ids();
        for thread in self.threads() {
            // Of a stack that was not followed to the session's functions, the thread is known.
            let is_of_sessions =
                |ids: &[u32]| !ids.is_empty() && ids.iter().all(|id| session_ids.contains(id));
            if !known.is_session(thread) && !is_of_sessions(thread.ids()) {
                costs.background += of_each(thread.total());
                continue;
            }
            let shown = known.shown(thread);
            for (index, call) in thread.calls().iter().enumerate() {
                if call.own == 0 {
                    continue;
                }
                let own = of_each(call.own);
                let function = &shown[index];
                costs.total += own;
                *costs.mapped.entry(function.mapped).or_default() += own;
                *costs
                    .components
                    .entry(function.component.clone())
                    .or_default() += own;
                if is_unnamed(&self.functions()[call.function as usize].symbol) {
                    costs.unnamed += own;
                }
                let path = path(thread, &shown, index);
                let caller = path.iter().rev().find_map(|caller| match &caller.name {
                    FunctionName::Named(name) if caller.component != function.component => {
                        Some(name)
                    }
                    _ => None,
                });
                if let Some(caller) = caller {
                    let of_function = callers.entry(function.name.clone()).or_default();
                    *of_function.entry(caller.clone()).or_default() += own;
                }
                let cost = costs.functions.entry(function.name.clone());
                cost.or_insert_with(|| FunctionCost {
                    own: 0.0,
                    component: function.component.clone(),
                    mapped: function.mapped,
                    caller: None,
                })
                .own += own;
                let stack = known.stack(&path, &function.component);
                *costs.stacks.entry(stack).or_default() += own;
            }
        }
        for (name, cost) in &mut costs.functions {
            let of_function = callers.remove(name).unwrap_or_default();
            let most = of_function.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
            cost.caller = most.map(|(caller, _)| caller);
        }
        costs
    }
}

/// The functions from the outermost to that of a call.
fn path<'a>(thread: &Thread, shown: &'a [Shown], index: usize) -> Vec<&'a Shown> {
    let mut path = Vec::new();
    let mut next = Some(index);
    while let Some(index) = next {
        path.push(&shown[index]);
        next = thread.calls()[index].parent.map(|parent| parent as usize);
    }
    path.reverse();
    path
}

/// Functions of a profile that have been looked up.
struct Known<'a> {
    profile: &'a Profile,
    components: &'a Components,
    found: HashMap<u32, Rc<Found<'a>>>,
}

/// A function with its comparable name, and the rule that has it.
struct Found<'a> {
    name: String,
    object: &'a str,
    is_unnamed: bool,
    /// By its name; of functions without one, by its object.
    rule: Option<Match<'a>>,
}

impl<'a> Known<'a> {
    fn find(&mut self, index: u32) -> Rc<Found<'a>> {
        let (profile, components) = (self.profile, self.components);
        let found = self.found.entry(index).or_insert_with(|| {
            let function = &profile.functions()[index as usize];
            let object = profile.object(function);
            let mut name = comparable(&function.symbol);
            if object == KERNEL {
                // The C library has functions of the same names.
                name.push(' ');
                name.push_str(KERNEL);
            }
            let is_unnamed = is_unnamed(&function.symbol);
            let rule = if is_unnamed {
                components.of_object(object)
            } else {
                components.of_function(object, &name)
            };
            Rc::new(Found {
                name,
                object,
                is_unnamed,
                rule,
            })
        });
        Rc::clone(found)
    }

    /// Ids of the threads that serve clients, where they are known.
    fn session_ids(&mut self) -> BTreeSet<u32> {
        let threads = self.profile.threads().iter();
        let sessions = threads.filter(|thread| self.is_session(thread));
        sessions.flat_map(Thread::ids).copied().collect()
    }

    fn is_session(&mut self, thread: &Thread) -> bool {
        let components = self.components;
        let mut calls = thread.calls().iter();
        calls.any(|call| components.is_of_session(&self.find(call.function).name))
    }

    fn shown(&mut self, thread: &Thread) -> Vec<Shown> {
        let mut all: Vec<Shown> = Vec::with_capacity(thread.calls().len());
        for call in thread.calls() {
            let caller = call.parent.map(|parent| &all[parent as usize]);
            let above = caller.and_then(|caller| caller.named.clone());
            let shown = shown(&self.find(call.function), above);
            all.push(shown);
        }
        all
    }

    /// The names in a chain of callers from the root on, and at last a component.
    fn stack(&self, path: &[&Shown], component: &str) -> Vec<String> {
        let rank = |shown: &Shown| match &shown.name {
            FunctionName::Named(name) => self.components.root_rank(name),
            _ => None,
        };
        let root = (0..path.len())
            .filter_map(|at| Some((rank(path[at])?, at)))
            .min();
        let mut stack: Vec<String> = Vec::new();
        for shown in &path[root.map_or(0, |(_, at)| at)..] {
            if let FunctionName::Named(name) = &shown.name {
                stack.push(name.clone());
            }
        }
        stack.push(format!("[{component}]"));
        stack
    }
}

/// A function as it is shown below `above`, the nearest named function and the component of functions without
/// symbols that it calls.
fn shown(found: &Found<'_>, above: Option<(String, String)>) -> Shown {
    if !found.is_unnamed {
        let component = found.rule.map_or(NOT_MAPPED, |rule| rule.component);
        let callees = found
            .rule
            .and_then(|rule| rule.callees)
            .unwrap_or(component);
        return Shown {
            name: FunctionName::Named(found.name.clone()),
            component: component.to_owned(),
            mapped: found.rule.map_or(MappedBy::Nothing, |_| MappedBy::Name),
            named: Some((found.name.clone(), callees.to_owned())),
        };
    }
    if let Some(rule) = found.rule {
        return Shown {
            name: FunctionName::In(found.object.to_owned()),
            component: rule.component.to_owned(),
            mapped: MappedBy::Object,
            named: above,
        };
    }
    let (name, component) = above
        .clone()
        .unwrap_or_else(|| (NO_CALLER.to_owned(), NOT_MAPPED.to_owned()));
    let is_mapped = component != NOT_MAPPED;
    Shown {
        name: FunctionName::Below(name),
        component,
        mapped: if is_mapped {
            MappedBy::Caller
        } else {
            MappedBy::Nothing
        },
        named: above,
    }
}

#[cfg(test)]
mod tests;
