//! The table of metrics.

use crate::metric::value::{
    client_cpu, disk_per_row, host_utilisation, per_cpu_second, rate, round_trip, server_only,
    server_share, write_amplification,
};
use crate::metric::{
    Alternatives, Better, Formula, GroupFigures, Metric, MetricFacts, NoValue, StepCounts, Value,
    figures,
};
use crate::{Counter, Source, StepReadings, TrialKind};

/// Makes [`Alternatives`]: sets apart by `|`, counters of a set by `&`.
macro_rules! counters {
    ($($($source:ident $name:ident)&+)|+) => {
        &[$(&[$(Counter::new(Source::$source, stringify!($name))),+]),+]
    };
}

/// The group and the process clocks are exact; `/proc` counts in ticks, mostly of 10 ms.
const CPU: Alternatives =
    counters!(Cgroup cpu_ns | Process cpu_ns | Process user_ns & Process system_ns);

/// Every source of the server's processor time.
pub(super) const CPU_OF_ALL: Alternatives = counters!(
    Cgroup cpu_ns | Process cpu_ns | Process user_ns & Process system_ns | Perf task_clock_ns
);

const USER: Alternatives = counters!(Cgroup user_ns | Process user_ns);
const SYSTEM: Alternatives = counters!(Cgroup system_ns | Process system_ns);
const RUN_QUEUE: Alternatives = counters!(Threads run_queue_ns);
/// perf counts threads that have ended as well.
const SWITCHES: Alternatives = counters!(
    Perf context_switches | Threads voluntary_switches & Threads involuntary_switches
);
const MIGRATIONS: Alternatives = counters!(Perf migrations);
const FAULTS: Alternatives =
    counters!(Perf page_faults | Process minor_faults & Process major_faults);
const INSTRUCTIONS: Alternatives = counters!(Perf instructions_user | Valgrind instructions_user);
const USER_INSTRUCTIONS_OF_PERF: Alternatives = counters!(Perf instructions_user);
const KERNEL_INSTRUCTIONS: Alternatives = counters!(Perf instructions_kernel);
const CYCLES: Alternatives = counters!(Perf cycles_user);
const KERNEL_CYCLES: Alternatives = counters!(Perf cycles_kernel);
const CACHE_MISSES: Alternatives = counters!(Perf cache_misses);
const BRANCH_MISSES: Alternatives = counters!(Perf branch_misses);
const READS: Alternatives = counters!(Cgroup reads | Device reads);
/// The kernel knows for each process what it had fetched from storage.
const READ_BYTES: Alternatives =
    counters!(Process read_bytes | Cgroup read_bytes | Device read_bytes);
/// Late write-back by the kernel and the file system's journal are in no group of the server.
const WRITES: Alternatives = counters!(Device writes | Cgroup writes);
const WRITTEN_BYTES: Alternatives =
    counters!(Process written_bytes | Cgroup written_bytes | Device written_bytes);
const DATA_BYTES: Alternatives = counters!(Files data_bytes);
const RESIDENT: Alternatives = counters!(Memory resident_bytes);
const SAMPLING: Alternatives = counters!(Lab sampler_ns);
const LAB: Alternatives = counters!(Lab cpu_ns);
const NO_COUNTERS: Alternatives = &[];

/// Below so many storage requests, kilobytes or switches an operation, they are somebody
/// else's or a timer's.
const RARE: f64 = 0.01;

/// KB and MB of 1024 and 1024 × 1024 bytes, as iostat(1) counts them.
const KB: f64 = 1024.0;
const MB: f64 = 1024.0 * 1024.0;

/// Makes the table: of each metric its name in Rust, id, heading, unit, good direction, trials, least
/// amount and formula; then its name in prose, the formula in words, and the meaning.
macro_rules! metrics {
    ($($metric:ident, $id:literal, $heading:literal, $unit:literal, $better:ident, $taken:ident,
        $least:expr, $how:expr, $name:literal, $formula:literal, $meaning:literal;)*) => {
        &[$(MetricFacts {
            metric: Metric::$metric,
            id: $id,
            heading: $heading,
            name: $name,
            unit: $unit,
            better: Better::$better,
            taken: TrialKind::$taken,
            least: $least,
            formula: $formula,
            meaning: $meaning,
            how: $how,
        },)*]
    };
}

const fn per_unit(counters: Alternatives, divisor: f64) -> Formula {
    Formula::PerUnit { counters, divisor }
}

const fn per_second(counters: Alternatives, divisor: f64) -> Formula {
    Formula::PerSecond { counters, divisor }
}

const fn at_end(counters: Alternatives, divisor: f64) -> Formula {
    Formula::AtEnd { counters, divisor }
}

const fn quotient(counters: Alternatives, by: Alternatives) -> Formula {
    Formula::Quotient { counters, by }
}

const fn derived(
    counters: Alternatives,
    by: fn(&StepCounts, &dyn StepReadings) -> Result<Value, NoValue>,
) -> Formula {
    Formula::Derived { counters, by }
}

const fn figure(by: fn(&GroupFigures) -> Result<Value, NoValue>) -> Formula {
    Formula::Figure { by }
}

/// Every metric, in the order of [`Metric`].
pub(super) static FACTS: &[MetricFacts] = metrics! {
    ServerCpu, "server_cpu_us", "cpu/o", "µs", Lower, Timed, 0.0, per_unit(CPU, 1e3),
        "processor time of the server",
        "processor time of all processes of the server ÷ operations",
        "What an operation costs the server on its processors, in user space and in the kernel, \
         threads in the background included. The load generator is not in it.";
    ServerUser, "server_user_us", "user/o", "µs", Lower, Timed, 0.0, per_unit(USER, 1e3),
        "processor time of the server in user space",
        "processor time in user space ÷ operations",
        "The server's own code and its libraries. Kernels that divide the time by ticks know the \
         sum better than its parts.";
    ServerSystem, "server_system_us", "sys/o", "µs", Lower, Timed, 0.0, per_unit(SYSTEM, 1e3),
        "processor time of the server in the kernel",
        "processor time in the kernel ÷ operations",
        "System calls, page faults, and sending to the client, which the kernel does in the \
         sender's name.";
    RunQueue, "run_queue_us", "wait/o", "µs", Lower, Timed, RARE, per_unit(RUN_QUEUE, 1e3),
        "run-queue delay of the server",
        "time that threads were ready to run and had no processor ÷ operations",
        "Above what one client shows, processors are scarce: the load generator needs them too.";
    ContextSwitches, "context_switches", "cs/o", "switches", Lower, Timed, RARE, per_unit(SWITCHES, 1.0),
        "context switches of the server",
        "times that threads of the server left a processor ÷ operations",
        "One for each time that the server waits for the client, and one for each lock or disk \
         that it waits for. Threads that end take their number along, unless perf counts.";
    Migrations, "migrations", "mig/o", "migrations", Lower, Counting, RARE, per_unit(MIGRATIONS, 1.0),
        "migrations of the server's threads",
        "moves of threads to another processor ÷ operations",
        "Each leaves warm caches behind.";
    PageFaults, "page_faults", "pf/o", "faults", Lower, Timed, RARE, per_unit(FAULTS, 1.0),
        "page faults of the server",
        "page faults, with and without I/O ÷ operations",
        "Memory that was asked for and touched for the first time; memory that an allocator gives \
         back and takes again shows here.";
    Instructions, "instructions", "instr/o", "instructions", Lower, Counting, 0.0, per_unit(INSTRUCTIONS, 1.0),
        "instructions in user space",
        "instructions that the server executed in user space ÷ operations",
        "The amount of work, whatever the machine's mood: the figure that repeats best. Counts of \
         valgrind and of the processor are not compared with each other.";
    KernelInstructions, "kernel_instructions", "kinstr/o", "instructions", Lower, Counting, 0.0, per_unit(KERNEL_INSTRUCTIONS, 1.0),
        "instructions in the kernel",
        "instructions that the kernel executed in the server's name ÷ operations",
        "Less repeatable than those in user space: interrupts are among them.";
    Cycles, "cycles", "cyc/o", "cycles", Lower, Counting, 0.0, per_unit(CYCLES, 1.0),
        "processor cycles in user space",
        "cycles in user space ÷ operations",
        "Time on a processor without its frequency: instructions and what they waited for.";
    KernelCycles, "kernel_cycles", "kcyc/o", "cycles", Lower, Counting, 0.0, per_unit(KERNEL_CYCLES, 1.0),
        "processor cycles in the kernel",
        "cycles in the kernel ÷ operations",
        "The same in the kernel.";
    InstructionsPerCycle, "instructions_per_cycle", "IPC", "instructions per cycle", Higher, Counting, 0.0, quotient(USER_INSTRUCTIONS_OF_PERF, CYCLES),
        "instructions per cycle in user space",
        "instructions in user space ÷ cycles in user space",
        "Few mean that the processor waits: for memory, or for code that has to be fetched.";
    CacheMisses, "cache_misses", "cmiss/o", "misses", Lower, Counting, RARE, per_unit(CACHE_MISSES, 1.0),
        "cache misses",
        "misses of the last-level cache ÷ operations",
        "Each waits for memory.";
    BranchMisses, "branch_misses", "bmiss/o", "misses", Lower, Counting, RARE, per_unit(BRANCH_MISSES, 1.0),
        "mispredicted branches",
        "mispredicted branches ÷ operations",
        "Each throws away what the processor has begun.";
    Reads, "reads", "r/o", "requests", Lower, Timed, RARE, per_unit(READS, 1.0),
        "reads from storage",
        "read requests ÷ operations",
        "Requests of the server's control group, else all requests to the device that holds the \
         data, whoever made them.";
    ReadKb, "read_kb", "rKB/o", "KB", Lower, Timed, RARE, per_unit(READ_BYTES, KB),
        "amount read from storage",
        "bytes fetched from storage ÷ 1024 ÷ operations",
        "What the server had fetched from storage; what the page cache answered is not in it.";
    Writes, "writes", "w/o", "requests", Lower, Timed, RARE, per_unit(WRITES, 1.0),
        "writes to storage",
        "write requests ÷ operations",
        "All requests to the device that holds the data, whoever made them: the file system's \
         journal writes in the server's service and not in its name. Where the device is not \
         known, those of the control group.";
    WrittenKb, "written_kb", "wKB/o", "KB", Lower, Timed, RARE, per_unit(WRITTEN_BYTES, KB),
        "amount written to storage",
        "bytes sent towards storage ÷ 1024 ÷ operations",
        "Counted when the server hands a page over, also where the kernel writes it later.";
    WriteAmplification, "write_amplification", "wamp", "bytes per byte", Lower, Timed, RARE, derived(WRITTEN_BYTES, write_amplification),
        "write amplification",
        "bytes sent towards storage ÷ (rows changed × bytes of a row's values)",
        "Rows changed are those that the server reports; a row counts whole, whatever part of it \
         changed (186 bytes in sbtest, 24 in foo). What an engine puts off until after the step \
         is missing: see work left over.";
    DiskPerRow, "disk_bytes_per_row", "B/row", "bytes", Lower, Timed, 0.0, derived(DATA_BYTES, disk_per_row),
        "bytes on disk for each row",
        "bytes of the data directory that are no log, at the start of the step ÷ rows of all \
         tables",
        "Indexes, and what the server keeps for itself, are in it, so that small datasets look \
         large. Only before the first step that adds or deletes rows.";
    Memory, "memory_mb", "MB", "MB", Lower, Timed, 0.0, at_end(RESIDENT, MB),
        "resident memory of the server",
        "resident memory at the end of the step ÷ 1024 ÷ 1024",
        "Of a server of several processes, each page is divided among all processes that use it, so \
         that memory that they share counts once.";
    ClientCpu, "client_cpu_us", "client/o", "µs", Neither, Timed, 0.0, derived(NO_COUNTERS, client_cpu),
        "processor time of the load generator",
        "processor time of the load generator, user and kernel ÷ operations",
        "What the client adds to each operation, whatever the server.";
    RoundTrip, "round_trip_us", "trip/o", "µs", Lower, Timed, 0.0, derived(NO_COUNTERS, round_trip),
        "round trip",
        "busy time of all clients ÷ operations",
        "The time of an operation as a client sees it, its own work included. Only where \
         operations follow each other.";
    ServerOnly, "server_only_us", "server/o", "µs", Lower, Timed, 0.0, derived(NO_COUNTERS, server_only),
        "the server's part of the round trip",
        "round trip − processor time of the load generator − its wait for a processor, per \
         operation",
        "What is left when the client's own work is taken away, and what its thread waited for a \
         processor while it was ready: the server, and waking each other up. Only for one client \
         that sends one operation after the other; with more, clients work while others wait.";
    ServerShare, "server_share", "share", "of 1", Neither, Timed, 0.0, derived(NO_COUNTERS, server_share),
        "server share of the round trip",
        "the server's part of the round trip ÷ round trip",
        "The smaller it is, the more a ratio of throughput hides of the server's.";
    Rate, "throughput", "o/s", "per second", Higher, Timed, 0.0, derived(NO_COUNTERS, rate),
        "throughput",
        "operations ÷ mean busy time of a client",
        "Operations per second, or rows per second of scans.";
    PerCpuSecond, "per_cpu_second", "o/cpu-s", "per processor second", Higher, Timed, 0.0, derived(CPU, per_cpu_second),
        "throughput of one processor",
        "operations ÷ processor seconds of the server",
        "What one processor of this machine does when the server has it for itself.";
    HostUtilisation, "host_utilisation", "host", "of 1", Neither, Timed, 0.0, derived(CPU, host_utilisation),
        "utilisation of the host",
        "(processor time of the server + processor time of the load generator) ÷ (processors that \
         Prony may use × seconds of the step)",
        "Near 1, server and load generator compete for processors. Other programs, and Prony's own \
         sampling, are not in it.";
    Sampling, "sampler_us_per_second", "sampler", "µs per second", Lower, Timed, 0.0, per_second(SAMPLING, 1e3),
        "processor time of sampling",
        "processor time of the sampling thread ÷ seconds of the step",
        "What looking costs while the server is measured: 5,000 are half a percent of one \
         processor.";
    Lab, "lab_us_per_second", "lab", "µs per second", Lower, Timed, 0.0, per_second(LAB, 1e3),
        "processor time of Prony without the load generator",
        "processor time of the program that runs the experiment ÷ seconds of the step",
        "Sampling and waiting for the load generator.";
    Operations, "operations_per_second", "ops/s", "per second", Higher, Timed, 0.0, figure(figures::operations),
        "operations per second",
        "operations ÷ mean busy time of a client",
        "What a group of clients gets done. Scans count as operations here.";
    Queries, "queries_per_second", "QPS", "per second", Higher, Timed, 0.0, figure(figures::queries),
        "queries per second",
        "statements answered, `BEGIN` and `COMMIT` included ÷ mean busy time of a client",
        "The same in statements.";
    ServiceMean, "service_time_mean_us", "mean", "µs", Lower, Timed, 0.0, figure(figures::mean),
        "mean service time",
        "sum of the service times ÷ operations",
        "The time of a whole operation, from send to the last byte, retries included.";
    ServiceP50, "service_time_p50_us", "p50", "µs", Lower, Timed, 0.0, figure(figures::p50),
        "median of the service times",
        "service time that half of the operations do not exceed",
        "From 200 operations on.";
    ServiceP95, "service_time_p95_us", "p95", "µs", Lower, Timed, 0.0, figure(figures::p95),
        "95th percentile of the service times",
        "service time that 95 % of the operations do not exceed",
        "From 2,000 operations on.";
    ServiceP99, "service_time_p99_us", "p99", "µs", Lower, Timed, 0.0, figure(figures::p99),
        "99th percentile of the service times",
        "service time that 99 % of the operations do not exceed",
        "From 10,000 operations on.";
    ServiceMax, "service_time_max_us", "max", "µs", Lower, Timed, 0.0, figure(figures::max),
        "longest service time",
        "longest service time",
        "One operation decides it: it shows stalls, and repeats badly.";
    ResponseMean, "response_time_mean_us", "resp", "µs", Lower, Timed, 0.0, figure(figures::response_mean),
        "mean response time",
        "sum of the response times ÷ operations",
        "From intended start to the last byte, where operations have an intended start: \
         waiting for an idle client is in it.";
    ResponseP50, "response_time_p50_us", "resp p50", "µs", Lower, Timed, 0.0, figure(figures::response_p50),
        "median of the response times",
        "response time that half of the operations do not exceed",
        "From 200 operations on.";
    ResponseP95, "response_time_p95_us", "resp p95", "µs", Lower, Timed, 0.0, figure(figures::response_p95),
        "95th percentile of the response times",
        "response time that 95 % of the operations do not exceed",
        "From 2,000 operations on.";
    ResponseP99, "response_time_p99_us", "resp p99", "µs", Lower, Timed, 0.0, figure(figures::response_p99),
        "99th percentile of the response times",
        "response time that 99 % of the operations do not exceed",
        "From 10,000 operations on.";
};
