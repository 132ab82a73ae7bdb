//! Takes samples at the edges of measured times and, at a period, in between.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use prony_model::{Moment, Sample, Source};

use crate::draft::gap;
use crate::prober::Prober;
use crate::root::monotonic_ns;

/// When samples are taken within a measured time.
#[derive(Debug, Clone, Copy)]
pub struct Period {
    /// Time from one sample to the next.
    pub every: Duration,
    /// With so many, every other one is dropped, and the time to the next one doubles, so that long steps
    /// have no more; `None` to keep them all.
    pub most: Option<usize>,
}

/// An instant at which a sample is to be taken.
#[derive(Debug, Clone, Copy)]
enum Order {
    Start,
    End,
    /// The measured time pauses.
    Pause,
    /// It goes on.
    Resume,
}

/// A thread that takes samples for one step after the other. It ends when this is dropped.
#[derive(Debug)]
pub struct Sampler {
    orders: Option<Sender<Order>>,
    samples: Receiver<Vec<Sample>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Starts the thread, which waits. Without a `period` there are samples at the edges only. Where no
    /// thread can be started, every sample is empty and says so.
    pub fn start(prober: Prober, period: Option<Period>) -> Self {
        let (orders, incoming) = channel();
        let (outgoing, samples) = channel();
        let thread = thread::Builder::new()
            .name("sampler".to_owned())
            .spawn(move || work(prober, period, &incoming, &outgoing));
        Self {
            orders: Some(orders),
            samples,
            thread: thread.ok(),
        }
    }

    /// Takes the sample at the start of the measured time, and from then on one at each period.
    pub fn begin(&self) -> Sample {
        self.order(Order::Start).1
    }

    /// Takes a sample where the measured time pauses, and no more until it goes on; hands over
    /// those since the last one that was asked for as well.
    pub fn pause(&self) -> (Vec<Sample>, Sample) {
        self.order(Order::Pause)
    }

    /// Takes a sample where the measured time goes on, and from then on one at each period.
    pub fn resume(&self) -> Sample {
        self.order(Order::Resume).1
    }

    /// Takes the sample at the end of the measured time, and hands over those in between as well.
    pub fn end(&self) -> (Vec<Sample>, Sample) {
        self.order(Order::End)
    }

    /// Has an order carried out: the samples since the last one, and the one that it asked for.
    fn order(&self, order: Order) -> (Vec<Sample>, Sample) {
        let orders = self.orders.as_ref();
        let sent = orders.and_then(|orders| orders.send(order).ok());
        let received = sent.and_then(|()| self.samples.recv().ok());
        let mut samples = received.unwrap_or_default();
        let last = samples.pop().unwrap_or_else(|| Sample {
            moment: order.moment(),
            at_ns: monotonic_ns(),
            took_ns: 0,
            values: [].into(),
            gaps: vec![gap(
                Source::Lab,
                "the sampling thread does not run".to_owned(),
            )],
        });
        (samples, last)
    }
}

impl Order {
    /// The kind of its sample.
    const fn moment(self) -> Moment {
        match self {
            Self::Start => Moment::Start,
            Self::End => Moment::End,
            Self::Pause | Self::Resume => Moment::Period,
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            // A thread that has panicked has said so.
            let _ = thread.join();
        }
    }
}

fn work(
    mut prober: Prober,
    period: Option<Period>,
    orders: &Receiver<Order>,
    samples: &Sender<Vec<Sample>>,
) {
    let mut taken = Vec::new();
    let mut every = period.map(|period| period.every);
    // When the next sample within a measured time is due, and while it pauses, after how long.
    let mut due: Option<Instant> = None;
    let mut left: Option<Duration> = None;
    loop {
        match next(orders, due) {
            Ok(order) => {
                taken.push(prober.sample(order.moment()));
                if let Order::Start = order {
                    every = period.map(|period| period.every);
                }
                left = match order {
                    Order::Start => every,
                    Order::Pause => due.map(|due| due.saturating_duration_since(Instant::now())),
                    Order::Resume | Order::End => left,
                };
                due = match order {
                    Order::Start | Order::Resume => {
                        left.and_then(|left| Instant::now().checked_add(left))
                    }
                    Order::Pause | Order::End => None,
                };
                if samples.send(std::mem::take(&mut taken)).is_err() {
                    return;
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                taken.push(prober.sample(Moment::Period));
                let most = period.and_then(|period| period.most);
                if most.is_some_and(|most| taken.len() >= most) {
                    every = every.and_then(|every| every.checked_mul(2));
                    drop_every_other(&mut taken);
                }
                due = due
                    .zip(every)
                    .and_then(|(due, every)| following(due, every));
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Keeps the second, the fourth and so on, which are the multiples of twice the period.
fn drop_every_other(samples: &mut Vec<Sample>) {
    let mut keep = true;
    samples.retain(|_| {
        keep = !keep;
        keep
    });
}

fn next(orders: &Receiver<Order>, due: Option<Instant>) -> Result<Order, RecvTimeoutError> {
    match due {
        Some(due) => orders.recv_timeout(due.saturating_duration_since(Instant::now())),
        None => orders.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

/// The next instant of the grid that is yet to come: one that was missed is not made up for.
fn following(due: Instant, period: Duration) -> Option<Instant> {
    let mut next = due.checked_add(period)?;
    let now = Instant::now();
    while next <= now && !period.is_zero() {
        next = next.checked_add(period)?;
    }
    Some(next)
}
