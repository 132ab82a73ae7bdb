//! The arguments of `prony load`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use prony_model::{Address, Engine, Family, PlacementRule, Protocol, Spacing, Thousandths};
use prony_plan::{
    BadArgument, parse_address, parse_database, parse_duration, parse_parameter, parse_rate,
    parse_short_duration,
};

use super::{CatalogueArgs, ImagesLimitArgs, WorkloadFileArgs};

pub(crate) const EXAMPLES: &str = "\
Examples:
  Create and fill tables on a server of your own first (its tables sbtest1 and sbtest2 are
  dropped), then run 64 clients for half a minute:
    PASSWORD=… prony load --address 127.0.0.1:3306 --user bench --password-env PASSWORD \\
        --database sbtest --fill --tables 2 --rows 100000 \\
        --workload read-only --clients 64 --time 30s
  A throw-away server of the catalogue, 2000 operations arriving each second:
    prony load --build mysql-8.0.31 --rows 100000 --workload point-query --clients 16 --rate 2000
  The same, with everything as JSON and the latencies of every second for other tools:
    prony load --build mysql-8.0.31 --rows 100000 --workload point-query --clients 16 --rate 2000 \\
        --format json --hdr-log point-query.hlog

Lines of intervals and progress go to standard error, the summary to standard output.
`prony workloads list` shows workloads and their parameters.";

#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    // Under the same heading.
    #[command(flatten)]
    pub(crate) catalogue: CatalogueArgs,
    #[command(flatten)]
    pub(crate) images: ImagesLimitArgs,
    #[command(flatten)]
    pub(crate) work: WorkArgs,
    #[command(flatten)]
    pub(crate) pace: PaceArgs,
    #[command(flatten)]
    pub(crate) generator: GeneratorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// The server: one that runs already, or a throw-away instance of a build.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
#[command(group(clap::ArgGroup::new("one-server").required(true).args(["address", "build"])))]
pub(crate) struct ServerArgs {
    /// Address of a running server on this machine: `unix:/path/to.sock`, or an IP address and port
    /// such as 127.0.0.1:3306
    // Only throw-away servers are copied from data images.
    #[arg(
        long,
        value_parser = told(parse_address),
        requires = "user",
        conflicts_with = "images_limit"
    )]
    pub(crate) address: Option<Address>,
    /// Its family: mysql, mariadb or postgresql
    #[arg(long, default_value_t = Family::Mysql, requires = "address")]
    pub(crate) family: Family,
    /// Its account
    #[arg(long, requires = "address")]
    pub(crate) user: Option<String>,
    /// Environment variable with the account's password; without it and --password-file, no
    /// password is sent
    #[arg(
        long,
        value_name = "NAME",
        requires = "address",
        conflicts_with = "password_file"
    )]
    pub(crate) password_env: Option<String>,
    /// A file whose first line is the account's password
    #[arg(long, value_name = "FILE", requires = "address")]
    pub(crate) password_file: Option<PathBuf>,
    /// The database with the tables
    #[arg(long, value_parser = told(parse_database), default_value = "prony", requires = "address")]
    pub(crate) database: String,
    /// Encryption, and verification of the server
    #[arg(long, value_enum, default_value_t = TlsArg::Off, requires = "address")]
    pub(crate) tls: TlsArg,
    /// Certificates of the authorities trusted by --tls verify-ca and verify-full
    #[arg(long, value_name = "FILE", requires = "address")]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Drop, create and fill the tables first; always done with --build
    #[arg(long, requires = "address")]
    pub(crate) fill: bool,
    /// Build of the catalogue, such as mysql-8.0.31: start a throw-away instance of it with the
    /// common configuration, fill it, and remove it at the end
    #[arg(long, value_name = "ID")]
    pub(crate) build: Option<String>,
    /// A setting of the instance, such as `buffer_pool=512M`; may be given several times
    #[arg(long, value_name = "INTENT=VALUE", requires = "build")]
    pub(crate) set: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TlsArg {
    /// Not encrypted
    Off,
    /// Encrypted, with any certificate of the server
    Required,
    /// Its certificate is signed by one of the authorities of --tls-ca
    VerifyCa,
    /// The same, and its certificate names the address
    VerifyFull,
}

/// Work of the clients.
#[derive(Debug, Args)]
#[command(next_help_heading = "Work")]
pub(crate) struct WorkArgs {
    /// Workload that each client repeats, such as point-query or read-only
    #[arg(long, value_name = "NAME")]
    pub(crate) workload: String,
    #[command(flatten)]
    pub(crate) files: WorkloadFileArgs,
    /// A parameter of the workload, such as `range=100`; may be given several times
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = told(parse_parameter))]
    pub(crate) parameters: Vec<(String, i64)>,
    /// Number of tables
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) rows: u64,
    /// The engine of the tables: innodb, myisam, memory, rocksdb, aria or heap [default: innodb, of
    /// PostgreSQL heap]
    #[arg(long)]
    pub(crate) engine: Option<Engine>,
    /// Statements prepared once, or sent as text every time
    #[arg(long, value_enum, default_value_t = ProtocolArg::Prepared)]
    pub(crate) protocol: ProtocolArg,
    /// Connections
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) clients: u32,
    /// Length of the measured time, such as 30s [default: 10s]
    #[arg(long, value_parser = positive, conflicts_with = "operations")]
    pub(crate) time: Option<u64>,
    /// Operations over all clients, instead of a time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub(crate) operations: Option<u64>,
    /// Length of the warm-up, such as 5s [default: 1s; none with --operations]
    #[arg(long, value_name = "TIME", value_parser = told(parse_duration))]
    pub(crate) warmup: Option<u64>,
    /// Seed of every drawn value: the same seed gives the same statements
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtocolArg {
    Prepared,
    Text,
}

/// Pace of the clients.
#[derive(Debug, Args)]
#[command(next_help_heading = "Pace")]
pub(crate) struct PaceArgs {
    /// Operations arriving per second, independent of answers (open loop); without it, each client
    /// sends its next operation as soon as the last one is answered
    #[arg(long, value_name = "PER-SECOND", value_parser = told(parse_rate), conflicts_with = "think")]
    pub(crate) rate: Option<Thousandths>,
    /// Distribution of the gaps between arrivals
    #[arg(long, value_enum, default_value_t = SpacingArg::Poisson, requires = "rate")]
    pub(crate) arrivals: SpacingArg,
    /// Mean think time of a client between two operations, such as 10ms
    #[arg(long, value_name = "TIME", value_parser = told(parse_short_duration))]
    pub(crate) think: Option<u64>,
    /// Distribution of think times
    #[arg(long, value_enum, default_value_t = SpacingArg::Poisson, requires = "think")]
    pub(crate) think_spacing: SpacingArg,
    /// Ramp-up time before measuring begins, such as 5s
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = told(parse_duration))]
    pub(crate) ramp: u64,
    /// Number of operations after which a client reconnects
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) reconnect_every: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpacingArg {
    /// All equal
    Regular,
    /// Exponentially distributed, as between independent events
    Poisson,
}

/// Settings of the load generator.
#[derive(Debug, Args)]
#[command(next_help_heading = "Load generator")]
pub(crate) struct GeneratorArgs {
    /// Maximum number of threads that drive the clients [default: 2, but 1 for io-uring on up to 3
    /// processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_024))]
    pub(crate) threads: Option<u32>,
    /// Placement of clients and sessions [default: together if a wake-up across processors costs
    /// more than one on the same, else free]
    #[arg(long, value_enum)]
    pub(crate) placement: Option<PlacementArg>,
    /// Kernel interface for the connections
    #[arg(long, value_enum, default_value_t = BackendArg::Auto)]
    pub(crate) backend: BackendArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlacementArg {
    /// On the same processors, as many as there are clients
    Together,
    /// On processors of their own
    Apart,
    /// As the kernel decides
    Free,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendArg {
    /// io-uring if the host supports it, else epoll
    Auto,
    Epoll,
    IoUring,
}

/// Settings of the output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Interval between two lines on standard error
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = positive)]
    pub(crate) interval: u64,
    /// Format of the summary
    #[arg(long, value_enum, default_value_t = SummaryFormatArg::Text)]
    pub(crate) format: SummaryFormatArg,
    /// File for the latencies of every interval, in the format of `HdrHistogram` logs
    #[arg(long, value_name = "FILE")]
    pub(crate) hdr_log: Option<PathBuf>,
}

/// A length of time that is not 0.
pub(super) fn positive(text: &str) -> Result<u64, String> {
    match told(parse_duration)(text)? {
        0 => Err("it must be longer than 0".to_owned()),
        ms => Ok(ms),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormatArg {
    /// For the terminal
    Text,
    /// One document with everything
    Json,
}

/// A parser whose errors say what is wrong and what to do about it, as one text.
fn told<T>(
    parse: fn(&str) -> Result<T, BadArgument>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        parse(text).map_err(|error| match error.help.as_str() {
            "" => error.message,
            help => format!("{}\n  {}", error.message, help.replace('\n', "\n  ")),
        })
    }
}

impl From<ProtocolArg> for Protocol {
    fn from(arg: ProtocolArg) -> Self {
        match arg {
            ProtocolArg::Prepared => Self::Prepared,
            ProtocolArg::Text => Self::Text,
        }
    }
}

impl From<PlacementArg> for PlacementRule {
    fn from(arg: PlacementArg) -> Self {
        match arg {
            PlacementArg::Together => Self::Together,
            PlacementArg::Apart => Self::Apart,
            PlacementArg::Free => Self::Free,
        }
    }
}

impl From<SpacingArg> for Spacing {
    fn from(arg: SpacingArg) -> Self {
        match arg {
            SpacingArg::Regular => Self::Regular,
            SpacingArg::Poisson => Self::Poisson,
        }
    }
}
