//! The columns of all tables.

use std::borrow::Cow;

use jiff::Timestamp;

use super::table::row;

/// A text of the run or of the program.
pub type Text<'a> = Cow<'a, str>;

row! {
    /// One value of one metric: of one target, step, group of clients and trial.
    Measurement {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself; with `step`, it names the step.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
            /// Block, from 1.
            block: u64,
            /// Kind of the trial: `timed` or `counting`.
            trial_kind: Text<'a>,
            /// Id of the metric, `status.NAME` or `innodb.NAME` for a counter of the server, `debt.KIND` for work left over.
            metric: Text<'a>,
        }
        /// Its value; null if there is none.
        value: Option<f64>,
        /// Unit of the value; null for counters of the server, which have none.
        unit: Option<Text<'a>>,
        /// Divisor of the value, `operation` or `row`; null if it is not divided.
        per: Option<Text<'a>>,
        /// Good direction: `higher`, `lower` or `neither`.
        better: Text<'a>,
        /// Counters that the value was computed from; null if the load generator's own counts suffice.
        source: Option<Text<'a>>,
        /// Interface that carried the connections; values over different ones must not be compared.
        backend: Text<'a>,
        /// Number of warnings about these clients in this trial.
        warnings: u64,
        /// True if a warning concerns this metric in any trial of the cell.
        doubtful: bool,
        /// Reason for a null value; null if there is a value.
        why_null: Option<Text<'a>>,
    }
}

row! {
    /// Raw counts of one group of clients in one step of one trial.
    Outcome {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
            /// Block, from 1.
            block: u64,
            /// Kind of the trial: `timed` or `counting`.
            trial_kind: Text<'a>,
        }
        /// Connections of the group.
        connections: u64,
        /// Operations completed without a final error.
        operations: u64,
        /// Statements answered inside these.
        queries: u64,
        /// Sum of the busy times of the connections, in nanoseconds; null for counting trials, whose times mean nothing.
        busy_ns: Option<u64>,
        /// Server errors of all classes.
        errors: u64,
        /// Answers whose counts are not what the workload expects.
        unexpected: u64,
        /// Operations planned within the measured time; null if they have no intended start.
        planned: Option<u64>,
        /// Planned operations that had not begun at its end; null if they have no intended start.
        backlog: Option<u64>,
        /// Planned operations that never began; null if they have no intended start.
        left_undone: Option<u64>,
        /// Processor time of the load generator for all groups of the step, in microseconds.
        client_cpu_us: f64,
        /// Threads of the load generator for all groups of the step.
        threads: u64,
        /// Interface that carried the connections.
        backend: Text<'a>,
        /// Scheduling policy of the load generator's threads.
        scheduling: Text<'a>,
    }
}

row! {
    /// One metric of one cell over the blocks, relative to the base.
    Cell {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
            /// Id of the metric.
            metric: Text<'a>,
        }
        /// Unit of the values.
        unit: Text<'a>,
        /// Divisor of the values, `operation` or `row`; null if they are not divided.
        per: Option<Text<'a>>,
        /// Good direction: `higher`, `lower` or `neither`.
        better: Text<'a>,
        /// Kind of the trials behind the values: `timed` or `counting`.
        trial_kind: Text<'a>,
        /// Number of blocks with a value.
        n: u64,
        /// Arithmetic mean.
        mean: f64,
        /// Median.
        median: f64,
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
        /// Sample standard deviation ÷ mean; null with one block.
        variation: Option<f64>,
        /// Name of the target in the denominator of the ratio; null if there is no ratio.
        base: Option<Text<'a>>,
        /// Geometric mean of the ratios of the blocks.
        ratio: Option<f64>,
        /// Lower end of its interval of 95 %; null with one pair.
        ratio_low: Option<f64>,
        /// Upper end of its interval of 95 %; null with one pair.
        ratio_high: Option<f64>,
        /// Number of pairs behind ratio and interval.
        ratio_n: Option<u64>,
        /// Lowest ratio of a block.
        ratio_min: Option<f64>,
        /// Highest ratio of a block.
        ratio_max: Option<f64>,
        /// Difference of the ratio from 1 below which targets count as equivalent, as a share; null if the metric is not judged here.
        margin: Option<f64>,
        /// Verdict: `improved`, `regressed`, `equivalent` or `inconclusive`; null if the metric is not judged here.
        verdict: Option<Text<'a>>,
        /// The interval beside the margin: `beyond`, `may-be-within` or `within`.
        size: Option<Text<'a>>,
        /// p-value of the ratio 1, adjusted for all comparisons of the run.
        adjusted_p: Option<f64>,
        /// Blocks that an inconclusive verdict lacks; null for others and for more than a thousand.
        blocks_needed: Option<u64>,
        /// True if a warning concerns this metric in the cell.
        doubtful: bool,
        /// Hash of all that decides the figures of the cell except the server build; cells of several runs with equal ones can be compared. Null for groups beside.
        fingerprint: Option<Text<'a>>,
        /// Conditions to be shown beside the figures of these clients: a JSON array of texts.
        notes: Text<'a>,
    }
}

row! {
    /// One attempt at a trial.
    Trial {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Block, from 1.
            block: u64,
            /// Kind of the trial: `timed` or `counting`.
            trial_kind: Text<'a>,
            /// Number of the attempt, from 1.
            attempt: u64,
        }
        /// State: `running`, `done`, `failed`, `discarded` or `excluded`. Only done trials have rows in other tables.
        state: Text<'a>,
        /// Position among the trials of the block, from 1.
        order_in_block: u64,
        /// Number of the host in `hosts`.
        host: u64,
        /// Instant at which it began.
        began_at: Timestamp,
        /// Instant at which it ended; null if that is unknown.
        ended_at: Option<Timestamp>,
        /// Reason why it failed, was discarded or excluded.
        reason: Option<Text<'a>>,
    }
}

row! {
    /// Counts of one reporting period of one group of clients in a timed trial.
    Interval {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
            /// Block, from 1.
            block: u64,
            /// Number of the period, from 1.
            position: u64,
        }
        /// Start of the period, in seconds after the start of the measured time.
        start_s: f64,
        /// End of the period, on the same scale.
        end_s: f64,
        /// Operations that ended in it.
        operations: u64,
        /// Statements answered in it.
        queries: u64,
        /// Server errors in it.
        errors: u64,
        /// 99th percentile of the service times, in microseconds; null if no operation ended.
        service_time_p99_us: Option<f64>,
        /// Longest service time, in microseconds; null if no operation ended.
        service_time_max_us: Option<f64>,
        /// 99th percentile of the response times, in microseconds; null if operations have no intended start.
        response_time_p99_us: Option<f64>,
        /// Operations due and not begun at its end; null if operations have no intended start.
        backlog: Option<u64>,
    }
}

row! {
    /// One bucket of a histogram of times in a timed trial. Empty buckets have no row.
    Latency {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
            /// Block, from 1.
            block: u64,
            /// Position of the statement in its workload, from 1; 0 for whole operations.
            position: u64,
            /// Kind of the times: `service`, `response` or `schedule_error`.
            kind: Text<'a>,
            /// Upper end of the bucket, in microseconds.
            value_us: f64,
        }
        /// Name of the statement, `connect` for connecting; null for whole operations.
        statement: Option<Text<'a>>,
        /// Operations or statements whose time is in the bucket.
        count: u64,
    }
}

row! {
    /// One load of a target's data.
    Load {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Block of the trial, from 1; null for the load of an image.
            block: Option<u64>,
        }
        /// Rows of all tables.
        rows: u64,
        /// Time until the last row was in, in seconds, without indexes and checks.
        rows_s: f64,
        /// Time for the secondary indexes, in seconds.
        indexes_s: f64,
        /// Rows ÷ the time for rows and indexes.
        rows_per_second: Option<f64>,
        /// Method of loading, in words.
        method: Text<'a>,
        /// True if an earlier run loaded the image.
        reused: bool,
    }
}

row! {
    /// One target.
    Target {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
        }
        /// True for the base, or for each of several bases.
        is_base: bool,
        /// True for the base's twin: the same target once more.
        is_twin: bool,
        /// Position in the experiment, from 1.
        target_order: u64,
        /// Id of the build in the catalogue.
        build: Text<'a>,
        /// Family: `mysql` or `mariadb`.
        family: Text<'a>,
        /// Version as the server reports it; null before its build was fetched.
        server_version: Option<Text<'a>>,
        /// First number of the version.
        version_major: u64,
        /// Second number of the version.
        version_minor: u64,
        /// Third number of the version.
        version_patch: u64,
        /// Hash of everything that makes up the build; null before it was fetched.
        build_hash: Option<Text<'a>>,
        /// Storage engine of the tables.
        engine: Text<'a>,
        /// Form in which statements are sent: `prepared` or `text`.
        protocol: Text<'a>,
        /// Transport: `socket` or `tcp`; null for an external server.
        transport: Option<Text<'a>>,
        /// True for a server that Prony does not start.
        is_external: bool,
        /// Baseline, intents and raw options: a JSON object.
        config: Text<'a>,
    }
}

row! {
    /// One group of clients of a step: its own, or one beside it.
    Step {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the step.
            step: Text<'a>,
            /// Clients of the step itself.
            clients: u64,
            /// Name of the group of clients beside the step's own; null for the step's own clients.
            beside: Option<Text<'a>>,
        }
        /// Position of the step in the sequence, from 1.
        step_order: u64,
        /// Connections of the group.
        connections: u64,
        /// Name of the workload.
        workload: Text<'a>,
        /// Kind of the workload.
        workload_group: Text<'a>,
        /// Its effect on the tables.
        effect: Text<'a>,
        /// Section or phase under whose title reports show the step; null without sections.
        section: Option<Text<'a>>,
        /// Part of the sequence by its kind of work.
        phase: Option<Text<'a>>,
        /// True if the step only brings the server into a state: it has no ratios.
        warm_only: bool,
        /// Time that counts: `operations` or `whole-run`.
        timing: Text<'a>,
        /// Form in which reports show the rate: `rate`, `transactions` or `milliseconds`.
        display: Text<'a>,
        /// Operations that arrive per second; null for a closed loop.
        rate_per_second: Option<f64>,
        /// Mean think time, in microseconds; null if clients do not think.
        think_us: Option<u64>,
        /// Operations after which a client reconnects; null for never.
        reconnect_every: Option<u64>,
        /// Warm-up, in seconds.
        warmup_s: f64,
        /// Measured time, in seconds; null if operations are counted.
        measure_s: Option<f64>,
        /// Measured operations of all clients; null if time is measured.
        measure_operations: Option<u64>,
        /// Parameters of the workload: a JSON object.
        parameters: Text<'a>,
        /// Statements of an operation: a JSON array of objects.
        statements: Text<'a>,
    }
}

row! {
    /// One setting of one target, as requested and as its server reports it.
    Setting {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Name of the target.
            target: Text<'a>,
            /// Name of the variable; null for an intent that no variable shows.
            variable: Option<Text<'a>>,
            /// Intent that sets the variable; null if none does.
            intent: Option<Text<'a>>,
        }
        /// Value given to the server; null if it was given none.
        asked: Option<Text<'a>>,
        /// Value that the server reports; null if it has no such variable.
        effective: Option<Text<'a>>,
        /// Origin of the request: `raw`, `intent` or `baseline`; null if no target was given a value.
        origin: Option<Text<'a>>,
        /// True if the targets' values differ.
        differs: bool,
        /// Reason why the variable is known to matter for speed; null if it is not, and if the targets do not differ.
        matters: Option<Text<'a>>,
        /// True if the experiment allows the difference.
        allowed: bool,
    }
}

row! {
    /// The host at one time.
    Host {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Number of the record, from 1.
            host: u64,
        }
        /// Instant of the record.
        recorded_at: Timestamp,
        /// Model of the processor; null if unknown.
        cpu_model: Option<Text<'a>>,
        /// Processors; null if unknown.
        cpus: Option<u64>,
        /// Main memory, in bytes; null if unknown.
        memory_bytes: Option<u64>,
        /// Version of the kernel; null if unknown.
        kernel: Option<Text<'a>>,
        /// All facts: a JSON object.
        facts: Text<'a>,
        /// Findings about the host: a JSON array of objects.
        findings: Text<'a>,
    }
}

row! {
    /// One condition that does not stop analysis.
    Warning {
        key {
            /// Id of the run.
            run: Text<'a>,
            /// Number of the warning, from 1.
            warning: u64,
        }
        /// Name of the target; null for the whole run.
        target: Option<Text<'a>>,
        /// Block, from 1; null for the whole run.
        block: Option<u64>,
        /// Name of the step; null for a whole trial.
        step: Option<Text<'a>>,
        /// Clients of the step itself; null for a whole trial.
        clients: Option<u64>,
        /// Name of the group beside the step's own clients that it is about; null for others.
        beside: Option<Text<'a>>,
        /// Word for its kind.
        code: Text<'a>,
        /// Sentence for people.
        text: Text<'a>,
    }
}
