//! Servers, and jobs for the load generator. Bare loops and sysbench take theirs from the same
//! values.

use prony_client::{Address, Login};
use prony_host::{Launcher, Roots};
use prony_load::{DriveTask, FillTask, Job, Task, usual_threads};
use prony_model::{Backend, Config, Dataset, Engine, Length, StopFlag};
use prony_servers::{Catalogue, Depot, Instance, Running, Wanted};

/// The database of the tables.
pub(crate) const DATABASE: &str = "prony";

/// The engine of a build's tables where none is asked for; InnoDB for builds that are unknown.
pub(crate) fn usual_engine(build: &str) -> Engine {
    let catalogue = Catalogue::embedded().unwrap();
    let entry = catalogue.get(build);
    entry.map_or(Engine::Innodb, |entry| entry.facts().family.usual_engine())
}

/// Starts a server with the common baseline and `config`, without tables.
pub(crate) fn start_server(
    launcher: &Launcher,
    build: &str,
    engine: Engine,
    config: &Config,
    clients: u32,
) -> Running {
    let roots = Roots::from_environment().unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let stop = StopFlag::default();
    let depot = Depot::new(&roots, &catalogue, launcher);
    let build = depot.fetch(build, &stop, &mut |_| ()).unwrap();
    let wanted = Wanted::over_socket(engine, config, clients);
    let rendered = catalogue.render(&build.facts, wanted).unwrap();
    let mut instance = Instance::create(&roots, launcher, &build, &rendered).unwrap();
    instance.bootstrap(&stop).unwrap();
    instance.start(&stop).unwrap()
}

pub(crate) fn job(address: Address, login: Login, task: Task) -> Job {
    Job {
        family: login.family,
        address,
        user: login.user,
        password: login.password,
        tls: login.tls,
        database: DATABASE.to_owned(),
        task,
    }
}

/// Fills a dataset with two connections.
pub(crate) fn fill(dataset: Dataset, engine: Engine) -> Task {
    Task::Fill(FillTask {
        dataset,
        engine,
        connections: 2,
        own_server: true,
        hold: false,
        flush_statistics: false,
    })
}

/// Runs point queries in a closed loop, on `threads_max` threads or as many as are usual.
pub(crate) fn point_queries(
    rows: u64,
    clients: u32,
    threads_max: u32,
    length: Length,
    backend: Backend,
) -> DriveTask {
    let workloads = prony_plan::embedded_workloads().unwrap();
    let mut workloads = workloads.into_iter();
    let point_query = workloads.find(|workload| workload.name == "point-query");
    let dataset = Dataset::sbtest(1, rows, 1);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    DriveTask {
        threads_max: threads_max.min(usual_threads(backend, processors)),
        stall_ms: 60_000,
        ..DriveTask::closed_loop(point_query.unwrap(), clients, dataset, length, backend)
    }
}
