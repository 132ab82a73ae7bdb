//! The table of metrics.

use crate::metric::value::{
    client_cpu, disk_per_row, per_cpu_second, rate, round_trip, server_only, server_share,
    write_amplification,
};
use crate::metric::{Alternatives, Better, Formula, Metric, MetricFacts, figures};
use crate::{Counter, Source, TrialKind};

const CGROUP_CPU: Counter = Counter::new(Source::Cgroup, "cpu_ns");
const CLOCK_CPU: Counter = Counter::new(Source::Process, "cpu_ns");
const USER_TICKS: Counter = Counter::new(Source::Process, "user_ns");
const SYSTEM_TICKS: Counter = Counter::new(Source::Process, "system_ns");
const TASK_CLOCK: Counter = Counter::new(Source::Perf, "task_clock_ns");

/// The group and the process clocks are exact; `/proc` counts in ticks, mostly of 10 ms.
const CPU: Alternatives = &[&[CGROUP_CPU], &[CLOCK_CPU], &[USER_TICKS, SYSTEM_TICKS]];

/// Every source of the server's processor time.
pub(super) const CPU_OF_ALL: Alternatives = &[
    &[CGROUP_CPU],
    &[CLOCK_CPU],
    &[USER_TICKS, SYSTEM_TICKS],
    &[TASK_CLOCK],
];

const USER: Alternatives = &[&[Counter::new(Source::Cgroup, "user_ns")], &[USER_TICKS]];
const SYSTEM: Alternatives = &[
    &[Counter::new(Source::Cgroup, "system_ns")],
    &[SYSTEM_TICKS],
];
const RUN_QUEUE: Alternatives = &[&[Counter::new(Source::Threads, "run_queue_ns")]];
/// perf counts threads that have ended as well.
const SWITCHES: Alternatives = &[
    &[Counter::new(Source::Perf, "context_switches")],
    &[
        Counter::new(Source::Threads, "voluntary_switches"),
        Counter::new(Source::Threads, "involuntary_switches"),
    ],
];
const MIGRATIONS: Alternatives = &[&[Counter::new(Source::Perf, "migrations")]];
const FAULTS: Alternatives = &[
    &[Counter::new(Source::Perf, "page_faults")],
    &[
        Counter::new(Source::Process, "minor_faults"),
        Counter::new(Source::Process, "major_faults"),
    ],
];
const INSTRUCTIONS: Alternatives = &[
    &[Counter::new(Source::Perf, "instructions_user")],
    &[Counter::new(Source::Valgrind, "instructions_user")],
];
const USER_INSTRUCTIONS_OF_PERF: Alternatives =
    &[&[Counter::new(Source::Perf, "instructions_user")]];
const KERNEL_INSTRUCTIONS: Alternatives = &[&[Counter::new(Source::Perf, "instructions_kernel")]];
const CYCLES: Alternatives = &[&[Counter::new(Source::Perf, "cycles_user")]];
const KERNEL_CYCLES: Alternatives = &[&[Counter::new(Source::Perf, "cycles_kernel")]];
const CACHE_MISSES: Alternatives = &[&[Counter::new(Source::Perf, "cache_misses")]];
const BRANCH_MISSES: Alternatives = &[&[Counter::new(Source::Perf, "branch_misses")]];
const READS: Alternatives = &[
    &[Counter::new(Source::Cgroup, "reads")],
    &[Counter::new(Source::Device, "reads")],
];
/// The kernel knows for each process what it had fetched from storage.
const READ_BYTES: Alternatives = &[
    &[Counter::new(Source::Process, "read_bytes")],
    &[Counter::new(Source::Cgroup, "read_bytes")],
    &[Counter::new(Source::Device, "read_bytes")],
];
/// Late write-back by the kernel and the file system's journal are in no group of the server.
const WRITES: Alternatives = &[
    &[Counter::new(Source::Device, "writes")],
    &[Counter::new(Source::Cgroup, "writes")],
];
const WRITTEN_BYTES: Alternatives = &[
    &[Counter::new(Source::Process, "written_bytes")],
    &[Counter::new(Source::Cgroup, "written_bytes")],
    &[Counter::new(Source::Device, "written_bytes")],
];
const DATA_BYTES: Alternatives = &[&[Counter::new(Source::Files, "data_bytes")]];
const RESIDENT: Alternatives = &[&[Counter::new(Source::Memory, "resident_bytes")]];
const SAMPLING: Alternatives = &[&[Counter::new(Source::Lab, "sampler_ns")]];
const LAB: Alternatives = &[&[Counter::new(Source::Lab, "cpu_ns")]];
const NO_COUNTERS: Alternatives = &[];

/// Below so many storage requests, kilobytes or switches an operation, they are somebody
/// else's or a timer's.
const RARE: f64 = 0.01;

/// KB and MB of 1024 and 1024 × 1024 bytes, as iostat(1) counts them.
const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * 1024.0;

const fn per_unit(counters: Alternatives, divisor: f64) -> Formula {
    Formula::PerUnit { counters, divisor }
}

const fn per_second(counters: Alternatives, divisor: f64) -> Formula {
    Formula::PerSecond { counters, divisor }
}

/// Every metric, in the order of [`Metric`].
pub(super) static FACTS: [MetricFacts; 36] = [
    MetricFacts {
        metric: Metric::ServerCpu,
        id: "server_cpu_us",
        heading: "cpu/o",
        name: "processor time of the server",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time of all processes of the server ÷ operations",
        meaning: "What an operation costs the server on its processors, in user space and in the \
                  kernel, threads in the background included. The load generator is not in it.",
        how: per_unit(CPU, 1e3),
    },
    MetricFacts {
        metric: Metric::ServerUser,
        id: "server_user_us",
        heading: "user/o",
        name: "processor time of the server in user space",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time in user space ÷ operations",
        meaning: "The server's own code and its libraries. Kernels that divide the time by ticks \
                  know the sum better than its parts.",
        how: per_unit(USER, 1e3),
    },
    MetricFacts {
        metric: Metric::ServerSystem,
        id: "server_system_us",
        heading: "sys/o",
        name: "processor time of the server in the kernel",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time in the kernel ÷ operations",
        meaning: "System calls, page faults, and sending to the client, which the kernel does in \
                  the sender's name.",
        how: per_unit(SYSTEM, 1e3),
    },
    MetricFacts {
        metric: Metric::RunQueue,
        id: "run_queue_us",
        heading: "wait/o",
        name: "run-queue delay of the server",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "time that threads were ready to run and had no processor ÷ operations",
        meaning: "Above what one client shows, processors are scarce: the load generator needs them \
                  too.",
        how: per_unit(RUN_QUEUE, 1e3),
    },
    MetricFacts {
        metric: Metric::ContextSwitches,
        id: "context_switches",
        heading: "cs/o",
        name: "context switches of the server",
        unit: "switches",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "times that threads of the server left a processor ÷ operations",
        meaning: "One for each time that the server waits for the client, and one for each lock or \
                  disk that it waits for. Threads that end take their number along, unless perf \
                  counts.",
        how: per_unit(SWITCHES, 1.0),
    },
    MetricFacts {
        metric: Metric::Migrations,
        id: "migrations",
        heading: "mig/o",
        name: "migrations of the server's threads",
        unit: "migrations",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: RARE,
        formula: "moves of threads to another processor ÷ operations",
        meaning: "Each leaves warm caches behind.",
        how: per_unit(MIGRATIONS, 1.0),
    },
    MetricFacts {
        metric: Metric::PageFaults,
        id: "page_faults",
        heading: "pf/o",
        name: "page faults of the server",
        unit: "faults",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "page faults, with and without I/O ÷ operations",
        meaning: "Memory that was asked for and touched for the first time; memory that an allocator \
                  gives back and takes again shows here.",
        how: per_unit(FAULTS, 1.0),
    },
    MetricFacts {
        metric: Metric::Instructions,
        id: "instructions",
        heading: "instr/o",
        name: "instructions in user space",
        unit: "instructions",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: 0.0,
        formula: "instructions that the server executed in user space ÷ operations",
        meaning: "The amount of work, whatever the machine's mood: the figure that repeats best. \
                  Counts of valgrind and of the processor are not compared with each other.",
        how: per_unit(INSTRUCTIONS, 1.0),
    },
    MetricFacts {
        metric: Metric::KernelInstructions,
        id: "kernel_instructions",
        heading: "kinstr/o",
        name: "instructions in the kernel",
        unit: "instructions",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: 0.0,
        formula: "instructions that the kernel executed in the server's name ÷ operations",
        meaning: "Less repeatable than those in user space: interrupts are among them.",
        how: per_unit(KERNEL_INSTRUCTIONS, 1.0),
    },
    MetricFacts {
        metric: Metric::Cycles,
        id: "cycles",
        heading: "cyc/o",
        name: "processor cycles in user space",
        unit: "cycles",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: 0.0,
        formula: "cycles in user space ÷ operations",
        meaning: "Time on a processor without its frequency: instructions and what they waited for.",
        how: per_unit(CYCLES, 1.0),
    },
    MetricFacts {
        metric: Metric::KernelCycles,
        id: "kernel_cycles",
        heading: "kcyc/o",
        name: "processor cycles in the kernel",
        unit: "cycles",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: 0.0,
        formula: "cycles in the kernel ÷ operations",
        meaning: "The same in the kernel.",
        how: per_unit(KERNEL_CYCLES, 1.0),
    },
    MetricFacts {
        metric: Metric::InstructionsPerCycle,
        id: "instructions_per_cycle",
        heading: "IPC",
        name: "instructions per cycle in user space",
        unit: "instructions per cycle",
        better: Better::Higher,
        taken: TrialKind::Counting,
        least: 0.0,
        formula: "instructions in user space ÷ cycles in user space",
        meaning: "Few mean that the processor waits: for memory, or for code that has to be fetched.",
        how: Formula::Quotient {
            counters: USER_INSTRUCTIONS_OF_PERF,
            by: CYCLES,
        },
    },
    MetricFacts {
        metric: Metric::CacheMisses,
        id: "cache_misses",
        heading: "cmiss/o",
        name: "cache misses",
        unit: "misses",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: RARE,
        formula: "misses of the last-level cache ÷ operations",
        meaning: "Each waits for memory.",
        how: per_unit(CACHE_MISSES, 1.0),
    },
    MetricFacts {
        metric: Metric::BranchMisses,
        id: "branch_misses",
        heading: "bmiss/o",
        name: "mispredicted branches",
        unit: "misses",
        better: Better::Lower,
        taken: TrialKind::Counting,
        least: RARE,
        formula: "mispredicted branches ÷ operations",
        meaning: "Each throws away what the processor has begun.",
        how: per_unit(BRANCH_MISSES, 1.0),
    },
    MetricFacts {
        metric: Metric::Reads,
        id: "reads",
        heading: "r/o",
        name: "reads from storage",
        unit: "requests",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "read requests ÷ operations",
        meaning: "Requests of the server's control group, else all requests to the device that holds \
                  the data, whoever made them.",
        how: per_unit(READS, 1.0),
    },
    MetricFacts {
        metric: Metric::ReadKb,
        id: "read_kb",
        heading: "rKB/o",
        name: "amount read from storage",
        unit: "KB",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "bytes fetched from storage ÷ 1024 ÷ operations",
        meaning: "What the server had fetched from storage; what the page cache answered is not in \
                  it.",
        how: per_unit(READ_BYTES, KB),
    },
    MetricFacts {
        metric: Metric::Writes,
        id: "writes",
        heading: "w/o",
        name: "writes to storage",
        unit: "requests",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "write requests ÷ operations",
        meaning: "All requests to the device that holds the data, whoever made them: the file \
                  system's journal writes in the server's service and not in its name. Where the \
                  device is not known, those of the control group.",
        how: per_unit(WRITES, 1.0),
    },
    MetricFacts {
        metric: Metric::WrittenKb,
        id: "written_kb",
        heading: "wKB/o",
        name: "amount written to storage",
        unit: "KB",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "bytes sent towards storage ÷ 1024 ÷ operations",
        meaning: "Counted when the server hands a page over, also where the kernel writes it later.",
        how: per_unit(WRITTEN_BYTES, KB),
    },
    MetricFacts {
        metric: Metric::WriteAmplification,
        id: "write_amplification",
        heading: "wamp",
        name: "write amplification",
        unit: "bytes per byte",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: RARE,
        formula: "bytes sent towards storage ÷ (rows changed × bytes of a row's values)",
        meaning: "Rows changed are those that the server reports; a row counts whole, whatever part \
                  of it changed (186 bytes in sbtest, 24 in foo). What an engine puts off until \
                  after the step is missing: see work left over.",
        how: Formula::Derived {
            counters: WRITTEN_BYTES,
            by: write_amplification,
        },
    },
    MetricFacts {
        metric: Metric::DiskPerRow,
        id: "disk_bytes_per_row",
        heading: "B/row",
        name: "bytes on disk for each row",
        unit: "bytes",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "bytes of the data directory that are no log, at the start of the step ÷ rows of all \
                  tables",
        meaning: "Indexes, and what the server keeps for itself, are in it, so that small datasets \
                  look large. Only before the first step that adds or deletes rows.",
        how: Formula::Derived {
            counters: DATA_BYTES,
            by: disk_per_row,
        },
    },
    MetricFacts {
        metric: Metric::Memory,
        id: "memory_mb",
        heading: "MB",
        name: "resident memory of the server",
        unit: "MB",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "resident memory at the end of the step ÷ 1024 ÷ 1024",
        meaning: "Pages that several processes share count once for each of them.",
        how: Formula::AtEnd {
            counters: RESIDENT,
            divisor: MB,
        },
    },
    MetricFacts {
        metric: Metric::ClientCpu,
        id: "client_cpu_us",
        heading: "client/o",
        name: "processor time of the load generator",
        unit: "µs",
        better: Better::Neither,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time of the load generator, user and kernel ÷ operations",
        meaning: "What the client adds to each operation, whatever the server.",
        how: Formula::Derived {
            counters: NO_COUNTERS,
            by: client_cpu,
        },
    },
    MetricFacts {
        metric: Metric::RoundTrip,
        id: "round_trip_us",
        heading: "trip/o",
        name: "round trip",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "busy time of all clients ÷ operations",
        meaning: "The time of an operation as a client sees it, its own work included. Only where \
                  operations follow each other.",
        how: Formula::Derived {
            counters: NO_COUNTERS,
            by: round_trip,
        },
    },
    MetricFacts {
        metric: Metric::ServerOnly,
        id: "server_only_us",
        heading: "server/o",
        name: "the server's part of the round trip",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "round trip − processor time of the load generator − its wait for a processor, per \
                  operation",
        meaning: "What is left when the client's own work is taken away, and what its thread waited \
                  for a processor while it was ready: the server, and waking each other up. Only for \
                  one client that sends one operation after the other; with more, clients work while \
                  others wait.",
        how: Formula::Derived {
            counters: NO_COUNTERS,
            by: server_only,
        },
    },
    MetricFacts {
        metric: Metric::ServerShare,
        id: "server_share",
        heading: "share",
        name: "server share of the round trip",
        unit: "of 1",
        better: Better::Neither,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "the server's part of the round trip ÷ round trip",
        meaning: "The smaller it is, the more a ratio of throughput hides of the server's.",
        how: Formula::Derived {
            counters: NO_COUNTERS,
            by: server_share,
        },
    },
    MetricFacts {
        metric: Metric::Rate,
        id: "throughput",
        heading: "o/s",
        name: "throughput",
        unit: "per second",
        better: Better::Higher,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "operations ÷ mean busy time of a client",
        meaning: "Operations per second, or rows per second of scans.",
        how: Formula::Derived {
            counters: NO_COUNTERS,
            by: rate,
        },
    },
    MetricFacts {
        metric: Metric::PerCpuSecond,
        id: "per_cpu_second",
        heading: "o/cpu-s",
        name: "throughput of one processor",
        unit: "per processor second",
        better: Better::Higher,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "operations ÷ processor seconds of the server",
        meaning: "What one processor of this machine does when the server has it for itself.",
        how: Formula::Derived {
            counters: CPU,
            by: per_cpu_second,
        },
    },
    MetricFacts {
        metric: Metric::Sampling,
        id: "sampler_us_per_second",
        heading: "sampler",
        name: "processor time of sampling",
        unit: "µs per second",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time of the sampling thread ÷ seconds of the step",
        meaning: "What looking costs while the server is measured: 5,000 are half a percent of one \
                  processor.",
        how: per_second(SAMPLING, 1e3),
    },
    MetricFacts {
        metric: Metric::Lab,
        id: "lab_us_per_second",
        heading: "lab",
        name: "processor time of Prony without the load generator",
        unit: "µs per second",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "processor time of the program that runs the experiment ÷ seconds of the step",
        meaning: "Sampling and waiting for the load generator.",
        how: per_second(LAB, 1e3),
    },
    MetricFacts {
        metric: Metric::Operations,
        id: "operations_per_second",
        heading: "ops/s",
        name: "operations per second",
        unit: "per second",
        better: Better::Higher,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "operations ÷ mean busy time of a client",
        meaning: "What a group of clients gets done. Scans count as operations here.",
        how: Formula::Figure {
            by: figures::operations,
        },
    },
    MetricFacts {
        metric: Metric::Queries,
        id: "queries_per_second",
        heading: "QPS",
        name: "queries per second",
        unit: "per second",
        better: Better::Higher,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "statements answered, `BEGIN` and `COMMIT` included ÷ mean busy time of a client",
        meaning: "The same in statements.",
        how: Formula::Figure {
            by: figures::queries,
        },
    },
    MetricFacts {
        metric: Metric::ServiceMean,
        id: "service_time_mean_us",
        heading: "mean",
        name: "mean service time",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "sum of the service times ÷ operations",
        meaning: "The time of a whole operation, from send to the last byte, retries included.",
        how: Formula::Figure { by: figures::mean },
    },
    MetricFacts {
        metric: Metric::ServiceP50,
        id: "service_time_p50_us",
        heading: "p50",
        name: "median of the service times",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "service time that half of the operations do not exceed",
        meaning: "From 200 operations on.",
        how: Formula::Figure { by: figures::p50 },
    },
    MetricFacts {
        metric: Metric::ServiceP95,
        id: "service_time_p95_us",
        heading: "p95",
        name: "95th percentile of the service times",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "service time that 95 % of the operations do not exceed",
        meaning: "From 2,000 operations on.",
        how: Formula::Figure { by: figures::p95 },
    },
    MetricFacts {
        metric: Metric::ServiceP99,
        id: "service_time_p99_us",
        heading: "p99",
        name: "99th percentile of the service times",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "service time that 99 % of the operations do not exceed",
        meaning: "From 10,000 operations on.",
        how: Formula::Figure { by: figures::p99 },
    },
    MetricFacts {
        metric: Metric::ServiceMax,
        id: "service_time_max_us",
        heading: "max",
        name: "longest service time",
        unit: "µs",
        better: Better::Lower,
        taken: TrialKind::Timed,
        least: 0.0,
        formula: "longest service time",
        meaning: "One operation decides it: it shows stalls, and repeats badly.",
        how: Formula::Figure { by: figures::max },
    },
];
