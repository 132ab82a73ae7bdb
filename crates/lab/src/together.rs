//! Trials that run together: one alone, or all of a block, whose servers then take turns.
//!
//! One server runs at a time, whatever it does: the others are stopped where they are. So each has
//! the host for itself, as in a trial that runs alone, and the work that it has put off waits for
//! its own time. Turns are short, so that a host which is faster in one second than in the next is
//! so for all of them.

use prony_model::StopFlag;
use prony_store::Store;

use crate::event::Events;
use crate::fault::{Failure, Fault, Stop, contain};
use crate::trial::{Course, Trial};

/// Runs trials of the same steps to their end, and returns how each ended. Their servers are gone
/// then.
///
/// # Errors
/// When the run is to end; then no trial has ended.
pub(crate) fn run(
    trials: &[Trial<'_>],
    stop: &StopFlag,
    store: &mut Store,
    events: &mut Events<'_>,
) -> Result<Vec<Result<(), Failure>>, Stop> {
    let mut ring = Ring {
        members: trials.iter().map(|_| Member::default()).collect(),
        trials,
        stop,
    };
    ring.each(&mut |trial, course| {
        *course = Some(trial.begin(store, events)?);
        Ok(())
    })?;
    let steps = trials.first().map_or(0, |trial| trial.plan.steps.len());
    for index in 0..steps {
        ring.each_running(&mut |trial, course| trial.begin_step(course, index, store, events))?;
        while ring.is_measuring() {
            ring.each_running(&mut |_, course| {
                if course.is_measuring() {
                    Trial::turn(course, events)?;
                }
                Ok(())
            })?;
        }
        ring.each_running(&mut |trial, course| trial.end_step(course, store, events))?;
    }
    ring.each(&mut |_, course| course.take().map_or(Ok(()), Trial::end))?;
    let ended = ring.members.into_iter();
    Ok(ended
        .map(|member| member.failure.map_or(Ok(()), Err))
        .collect())
}

/// A trial among those that run together.
#[derive(Default)]
struct Member<'a> {
    course: Option<Course<'a>>,
    failure: Option<Failure>,
}

/// Trials that run together, in their order.
struct Ring<'r, 'a> {
    trials: &'r [Trial<'a>],
    members: Vec<Member<'a>>,
    stop: &'r StopFlag,
}

/// An act of one trial while all others rest.
type Act<'f, 'a, C> = dyn FnMut(&Trial<'a>, &mut C) -> Result<(), Fault> + 'f;

impl<'a> Ring<'_, 'a> {
    /// Lets each trial act that has not failed, one after the other. One that fails loses its server
    /// and takes no further part.
    fn each(&mut self, act: &mut Act<'_, 'a, Option<Course<'a>>>) -> Result<(), Stop> {
        let is_alone = self.trials.len() == 1;
        for (trial, member) in self.trials.iter().zip(&mut self.members) {
            if member.failure.is_some() {
                continue;
            }
            if let Some(course) = member.course.as_mut().filter(|_| !is_alone) {
                course.watched.server.go_on();
            }
            if let Err(failure) = contain(self.stop, act(trial, &mut member.course))? {
                *member = Member {
                    course: None,
                    failure: Some(failure),
                };
            }
            if let Some(course) = member.course.as_mut().filter(|_| !is_alone) {
                course.watched.server.pause();
            }
        }
        Ok(())
    }

    /// The same for those whose server runs.
    fn each_running(&mut self, act: &mut Act<'_, 'a, Course<'a>>) -> Result<(), Stop> {
        self.each(&mut |trial, course| match course {
            Some(course) => act(trial, course),
            None => Ok(()),
        })
    }

    /// Returns `true` if the measured time of any trial is not over.
    fn is_measuring(&self) -> bool {
        let mut courses = self
            .members
            .iter()
            .filter_map(|member| member.course.as_ref());
        courses.any(Course::is_measuring)
    }
}
