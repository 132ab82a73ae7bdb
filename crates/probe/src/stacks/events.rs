//! The kernel's clock as an event of `perf_event_open(2)`, on every processor.

use std::io;

use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};
use prony_model::CpuSet;
use rustix::io::Errno;

use crate::counters::CountersError;
use crate::root::Root;

/// The event, in messages.
pub(super) const NAME: &str = "cpu-clock (samples of stacks)";
/// Bytes of a stack's top that a sample copies; a record can't have 64 KiB. Point queries of MySQL 8.0 need up to
/// 32 KiB, and a tenth of its updates needs more: 8 KiB, the default of the program perf, cut four of five stacks.
const STACK_BYTES: u32 = 60 << 10;
/// Registers of x86-64 that unwinding begins with, as bits of `enum perf_event_x86_regs`: BP, SP, IP.
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
/// Bytes of the ring of each processor, where memory may be locked: a hundred samples.
const RING: usize = 8 << 20;
/// The same for users without that right (`kernel.perf_event_mlock_kb`, 516 by default).
const SMALL_RING: usize = 512 << 10;
/// Samples per second of a processor, where its threads are sampled one by one: a clock for each thread is set
/// at every switch, which costs a third of the throughput from 500 per second on in virtual machines.
const RATE_OF_SERVER: u32 = 99;

/// What is sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// User space and kernel, on all processors; what belongs to other programs is thrown away.
    Processors,
    /// User space of the server's threads.
    Server,
}

/// Open events, one for each processor, switched off.
pub struct StackEvents {
    rings: Vec<Sampler>,
    reach: Reach,
    rate: u32,
}

impl StackEvents {
    /// Opens events on a process of one thread, which is to become the server, and on whatever comes of it:
    /// on all processors, `rate` times per second of each, where that is permitted, else on the threads of
    /// the server, at most 99 times.
    ///
    /// # Errors
    /// If neither is permitted, or the machine can't do it.
    pub fn open(root: &Root, pid: u32, rate: u32) -> Result<Self, CountersError> {
        match Self::reaching(root, Reach::Processors, pid, rate) {
            Err(error) if is_denied(&error) => {
                Self::reaching(root, Reach::Server, pid, rate.min(RATE_OF_SERVER))
            }
            ended => ended,
        }
        .map_err(|source| CountersError::open(NAME, 2, source))
    }

    fn reaching(root: &Root, reach: Reach, pid: u32, rate: u32) -> io::Result<Self> {
        let online = root.words("sys/devices/system/cpu/online");
        let online = online.first().and_then(|list| list.parse().ok());
        let online: CpuSet = online.ok_or(Errno::NODEV)?;
        let open = |cpu: u16| {
            let builder = builder(reach, pid, usize::from(cpu), rate)?;
            builder.build()?.sampled(RING).or_else(|error| {
                if is_denied(&error) {
                    builder.build()?.sampled(SMALL_RING)
                } else {
                    Err(error)
                }
            })
        };
        let rings = online
            .cpus()
            .iter()
            .copied()
            .map(open)
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self { rings, reach, rate })
    }

    /// What is sampled.
    pub fn reach(&self) -> Reach {
        self.reach
    }

    /// Samples per second of a processor.
    pub fn rate(&self) -> u32 {
        self.rate
    }

    pub(super) fn enable(&mut self) -> Result<(), CountersError> {
        let enabled = self.rings.iter_mut().try_for_each(|ring| ring.enable());
        enabled.map_err(|source| CountersError::Read {
            event: NAME,
            source,
        })
    }

    /// One that can't be switched off has no more to tell than others.
    pub(super) fn disable(&mut self) {
        for ring in &mut self.rings {
            let _ = ring.disable();
        }
    }

    pub(super) fn rings(&mut self) -> &mut [Sampler] {
        &mut self.rings
    }
}

/// Finds out whether this program may sample the stacks of servers.
///
/// # Errors
/// If it may not, or the machine can't do it.
pub fn check_stack_samples() -> Result<(), CountersError> {
    let try_one = |reach| {
        let counter = builder(reach, std::process::id(), 0, 1)?.build()?;
        counter.sampled(SMALL_RING).map(drop)
    };
    try_one(Reach::Processors)
        .or_else(|_| try_one(Reach::Server))
        .map_err(|source| CountersError::open(NAME, 2, source))
}

fn builder(reach: Reach, pid: u32, cpu: usize, rate: u32) -> io::Result<Builder<'static>> {
    let mut builder = Builder::new(Software::CPU_CLOCK);
    match reach {
        Reach::Processors => builder.any_pid(),
        Reach::Server => {
            let pid = i32::try_from(pid).map_err(io::Error::other)?;
            builder.observe_pid(pid).inherit(true)
        }
    };
    builder
        .one_cpu(cpu)
        .sample(
            SampleFlag::TID
                | SampleFlag::PERIOD
                | SampleFlag::CALLCHAIN
                | SampleFlag::REGS_USER
                | SampleFlag::STACK_USER,
        )
        .sample_frequency(rate.into())
        .sample_regs_user(REGISTERS)
        .sample_stack_user(STACK_BYTES)
        .exclude_idle(true)
        .exclude_kernel(reach == Reach::Server)
        .exclude_hv(true);
    Ok(builder)
}

fn is_denied(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::ACCESS | Errno::PERM)
    )
}
