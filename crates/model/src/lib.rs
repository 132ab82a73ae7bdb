//! The nouns of Prony and nothing else: what is compared (builds, targets), what is asked of it
//! (datasets, workloads, plans) and what came out (outcomes, trial states).
//!
//! No I/O, no clock, no randomness. Every word is defined in `docs/glossary.md`.

mod aspect;
mod bases;
mod build;
mod calibration;
mod campaign;
mod canary;
mod client_host;
mod collect;
mod config;
mod dataset;
mod debt;
mod distribution;
mod endpoint;
mod engine;
mod errors;
mod expr;
mod expr_range;
mod finding;
mod fingerprint;
mod groups;
pub mod hex;
mod metric;
mod needed_steps;
mod options;
mod outcome;
mod pace;
mod placement;
mod plan;
mod process;
mod sample;
mod scheduling_group;
mod schema;
mod sql;
mod status;
mod stop;
mod template;
mod text;
mod trial;
mod version;
mod wake_ups;
mod words;
mod workload;

pub use aspect::Aspect;
pub use build::BuildFacts;
pub use calibration::{
    CalibratedHost, Calibration, CalibrationCounts, ClosedPoint, HostUse, LookingPrice, Loss,
    NoisePoint, NoiseWindow, OpenPoint, PricedRound, Taken,
};
pub use campaign::{AdditionReason, BlockWithout, Campaign, Verdict};
pub use canary::{CanaryChange, CanaryMoment, CanaryPart, CanaryReading, CanaryRule};
pub use client_host::{ClientHostFacts, NetworkFacts};
pub use collect::{
    Collect, CountedBy, CountedSteps, CounterSet, Counting, KeptSamples, Profiling, RidingCounters,
    TrialKind,
};
pub use config::{Baseline, Config, IntentFacts, IntentKind, IntentValue, IntentValueError};
pub use dataset::{Dataset, LoadMethod, TableIndex};
pub use debt::{Debt, DebtKind, Level, SettleOutcome};
pub use distribution::{Distribution, Hot, Thousandths};
pub use endpoint::{Address, External, PasswordSource, Tls, Transport};
pub use engine::{Engine, UnknownEngine};
pub use errors::{ErrorClass, ErrorCode, ErrorCodeError, classify};
pub use expr::{Expr, ExprError, Scope};
pub use expr_range::ExprRange;
pub use finding::{Finding, FindingState, HostProperty, sort_findings};
pub use groups::{Groups, NoGroups};
pub use metric::{
    Alternatives, Beside, Better, CostUnit, CpuDisagreement, Formula, GroupFigures, Metric,
    MetricFacts, NoValue, ServiceTimes, StepCounts, Value, cpu_disagreement, per_second,
};
pub use needed_steps::needed_steps;
pub use options::{OptionOrigin, RenderedOption};
pub use outcome::{
    ErrorCount, GroupOutcome, Interval, LoadOutcome, Schedule, StatementOutcome, StepOutcome,
    ThreadUse,
};
pub use pace::{Backend, ClientGroup, Pace, Scheduling, Spacing, Think};
pub use placement::{
    DefaultPlacement, DefaultReason, Placement, PlacementReading, PlacementRule, Processors,
    ThreadsOn, WantedPlacement,
};
pub use plan::{
    Bases, Length, Phase, Plan, PlannedTrial, Protocol, RatioDisplay, Section, Settle, Step,
    Target, Timing,
};
pub use process::{Allocator, CpuSet, CpuSetError, HugePages, PreloadedLibrary, ProcessSettings};
pub use sample::{
    Continuity, Counter, Gap, IDENTITY, Moment, NoDifference, Period, Sample, Source, StepReadings,
    StepSamples, THREADS_LOST,
};
pub use scheduling_group::{SchedulingGroup, SchedulingGroups};
pub use schema::{
    Column, ColumnError, ColumnType, ColumnTypeError, ColumnValue, Condition, DatasetError,
    DateTime, DateTimeError, ForeignKey, FurtherTable, IndexDefinition, Lengths, LengthsError,
    NumberRule, NumberedText, NumberedTextError, Procedure, Schema, SchemaDefinition,
    WrittenColumn,
};
pub use sql::{NoSqlError, Sql};
pub use status::{EXPLAINING, StatusFacts, StatusUnit};
pub use stop::StopFlag;
pub use template::{Piece, SqlTemplate, TemplateError};
pub use trial::TrialState;
pub use version::{Family, UnknownFamily, Version, VersionError};
pub use wake_ups::{FreeWakeUps, WakeUpPrice, WakeUpWindow, WakeUps};
pub use workload::{
    Change, CountRange, CountRangeError, Display, Effect, Expect, Generator, Group, Param, RowList,
    Statement, TableChoice, Workload,
};
