//! `bench-inserts`: the client's processor time for a row that statements of many rows insert, beside
//! sysbench's `bulk_insert` on the same server.

use std::fs;
use std::io;
use std::process::Command;

use clap::{Args, value_parser};
use prony_client::{Connection, Login};
use prony_load::{DriveTask, Task};
use prony_model::{Backend, Config, Dataset, Engine, Length, LoadMethod, Protocol, Workload};
use prony_servers::Running;

use crate::job::{DATABASE, fill, job, start_server};
use crate::spread::Spread;
use crate::sysbench;

/// The table of `bulk_insert` and statements for it, of 50 rows.
const WORKLOAD: &str = r#"
[[schema]]
name = "pairs"
tables = "pairs"
key = "id"

[[schema.column]]
name = "id"
type = "integer"
value = "row"

[[schema.column]]
name = "k"
type = "integer"
default = "0"
value = "row"

[[workload]]
name = "pairs"
group = "write"
effect = "grow"
schema = "pairs"
description = "Pairs of numbers, 50 in a statement"

[[workload.statement]]
name = "insert"
sql = "INSERT INTO {table} VALUES {row:list}"
row = { sql = "({id}, {k})", count = 50 }
params.id = { from = "1..rows", distribution = "sequential" }
params.k = { value = "id" }
expect.affected = "50"
change.rows = 1
"#;
const ROWS_PER_STATEMENT: u64 = 50;
/// The same statements as a script for sysbench.
const SCRIPT: &str = r#"
function thread_init()
  connection = sysbench.sql.driver():connect()
  last = 0
end

function event()
  local rows = {}
  for place = 1, 50 do
    last = last + 1
    rows[place] = "(" .. last .. "," .. last .. ")"
  end
  connection:query("INSERT INTO sbtest1 VALUES " .. table.concat(rows, ","))
end
"#;
const TIMEOUT: std::time::Duration = std::time::Duration::from_mins(5);

/// Insert the same rows alternately with sysbench's `bulk_insert` and with Prony
///
/// Rows are pairs of numbers, over one connection. sysbench fills statements of half a megabyte; with a
/// script it sends 50 rows in a statement, as Prony does, prepared and as text. The table is empty before
/// each turn. The figures are medians with their ranges. sysbench must be on the PATH (Debian: apt-get install sysbench).
#[derive(Args)]
pub(crate) struct Options {
    /// Build of the server
    #[arg(long, value_name = "ID", default_value = "mysql-8.0.31")]
    build: String,
    /// Rows of each turn, a multiple of 50
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    rows: u64,
    /// Turns of each program
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Processor time of the client for a row, in nanoseconds.
struct Cost {
    user: f64,
    all: f64,
}

/// Measures, and prints a table.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let version = sysbench::version()?;
    let launcher = crate::launcher();
    let server = start_server(
        &launcher,
        &options.build,
        Engine::Innodb,
        &Config::default(),
        4,
    );
    let scratch = tempfile::tempdir().unwrap();
    let script = scratch.path().join("fifty.lua");
    fs::write(&script, SCRIPT).unwrap();
    let rounds: Vec<[Cost; 4]> = (0..options.rounds)
        .map(|_| {
            [
                options.sysbench(&server, "bulk_insert", options.rows),
                options.sysbench(
                    &server,
                    script.to_str().unwrap(),
                    options.rows / ROWS_PER_STATEMENT,
                ),
                options.prony(&server, Protocol::Prepared),
                options.prony(&server, Protocol::Text),
            ]
        })
        .collect();
    server.stop(TIMEOUT).unwrap();
    println!(
        "{version}, {}, {} rows a turn\n",
        options.build, options.rows
    );
    println!(
        "| who | CPU, ns/row | ÷ bulk_insert | of it user, ns/row | ÷ bulk_insert |\n\
         |---|---:|---:|---:|---:|"
    );
    let names = [
        "sysbench bulk_insert",
        "sysbench, 50 rows",
        "Prony, prepared",
        "Prony, text",
    ];
    for (place, who) in names.iter().enumerate() {
        let spread =
            |value: &dyn Fn(&[Cost; 4]) -> f64| Spread::of(rounds.iter().map(value)).unwrap();
        let all = spread(&|round| round[place].all);
        let user = spread(&|round| round[place].user);
        let of_all = spread(&|round| round[place].all / round[0].all);
        let of_user = spread(&|round| round[place].user / round[0].user);
        println!("| {who} | {all:.0} | {of_all} | {user:.0} | {of_user} |");
    }
    Ok(())
}

impl Options {
    /// Runs a script of sysbench for so many events, on the table of `bulk_insert`.
    fn sysbench(&self, server: &Running, script: &str, events: u64) -> Cost {
        let command = |script: &str, action: &str| {
            let mut command = Command::new("sysbench");
            command
                .args([script, "--threads=1", "--time=0"])
                .arg(format!("--events={events}"))
                .arg(format!("--mysql-socket={}", server.socket().display()))
                .arg(format!("--mysql-user={}", server.admin_login().user))
                .arg(format!("--mysql-db={DATABASE}"))
                .arg(action);
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success(), "sysbench failed: {said}");
        };
        command("bulk_insert", "prepare");
        let before = Ticks::read();
        command(script, "run");
        let cost = Ticks::read().since(&before).children.per_row(self.rows);
        command("bulk_insert", "cleanup");
        cost
    }

    fn prony(&self, server: &Running, protocol: Protocol) -> Cost {
        let workloads = prony_plan::parse_workloads("pairs.toml", WORKLOAD).unwrap();
        let workload: Workload = workloads.into_iter().next().unwrap();
        let dataset = Dataset {
            schema: workload.schema,
            load: LoadMethod::None,
            ..Dataset::sbtest(1, self.rows, 1)
        };
        let run = |task: Task| {
            let job = job(server.admin_address(), server.admin_login(), task);
            prony_load::run(&job, &mut io::empty(), &mut io::sink()).unwrap();
        };
        run(fill(dataset, Engine::Innodb));
        let length = Length::Count {
            operations: self.rows / ROWS_PER_STATEMENT,
        };
        let task = DriveTask {
            protocol,
            ..DriveTask::closed_loop(workload, 1, dataset, length, Backend::Epoll)
        };
        let before = Ticks::read();
        run(Task::Drive(Box::new(task)));
        let cost = Ticks::read().since(&before).own.per_row(self.rows);
        let login = Login {
            database: Some(DATABASE.to_owned()),
            ..server.admin_login()
        };
        let mut connection = Connection::connect(&server.admin_address(), &login, TIMEOUT).unwrap();
        let answer = connection.query("SELECT COUNT(*) FROM pairs1").unwrap();
        assert_eq!(answer.single(), Some(self.rows.to_string().as_str()));
        connection.query("DROP TABLE pairs1").unwrap();
        cost
    }
}

/// Processor time in ticks: in user space, and in the kernel.
#[derive(Clone, Copy)]
struct Time {
    user: u64,
    system: u64,
}

/// Processor time of this process, and of its children that ended.
struct Ticks {
    own: Time,
    children: Time,
}

impl Ticks {
    /// Fields 14 to 17 of `proc_pid_stat(5)`: utime, stime, cutime, cstime.
    fn read() -> Self {
        let stat = fs::read_to_string("/proc/self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let mut times = fields
            .split_whitespace()
            .skip(11)
            .map(|ticks| ticks.parse::<u64>().unwrap());
        let mut time = || Time {
            user: times.next().unwrap(),
            system: times.next().unwrap(),
        };
        Self {
            own: time(),
            children: time(),
        }
    }

    const fn since(&self, before: &Self) -> Self {
        Self {
            own: self.own.since(before.own),
            children: self.children.since(before.children),
        }
    }
}

impl Time {
    const fn since(self, before: Self) -> Self {
        Self {
            user: self.user - before.user,
            system: self.system - before.system,
        }
    }

    fn per_row(self, rows: u64) -> Cost {
        let ns = 1e9 / rustix::param::clock_ticks_per_second() as f64 / rows as f64;
        Cost {
            user: self.user as f64 * ns,
            all: (self.user + self.system) as f64 * ns,
        }
    }
}
