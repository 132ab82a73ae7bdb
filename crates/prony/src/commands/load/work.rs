//! From arguments to the load that the lab drives.

use std::collections::BTreeMap;

use prony_lab::{AdHoc, Tables};
use prony_model::{
    Address, Backend, BuildFacts, ClientGroup, Config, Dataset, External, Family, Groups, Length,
    Pace, PasswordSource, PlacementRule, Step, Target, Think, Timing, Tls, Transport, Version,
    WantedPlacement, Workload,
};
use prony_plan::{BadArgument, parse_intent, workload_on};
use prony_servers::Catalogue;

use crate::cli::{BackendArg, LoadArgs, TlsArg};
use crate::commands::servers::known;
use crate::commands::workloads;
use crate::failure::{ExitStatus, Failure};

/// The measured time where no argument sets it, in milliseconds.
const TIME_MS: u64 = 10_000;
/// The warm-up where no argument sets it, in milliseconds.
const WARMUP_MS: u64 = 1_000;
/// The seed of the tables: those of experiments that set none.
const DATASET_SEED: u64 = 1;

/// Checks the arguments against each other, the workloads and the catalogue.
pub(super) fn work(args: &LoadArgs, catalogue: &Catalogue) -> Result<AdHoc, Failure> {
    let target = target(args, catalogue)?;
    let workload = workloads::find(&args.work.workload, &args.work.files)?.workload;
    let dataset = Dataset {
        schema: workload.schema,
        ..Dataset::sbtest(args.work.tables, args.work.rows, DATASET_SEED)
    };
    let step = step(args, &workload, &dataset, &target)?;
    let placement = args.generator.placement.map(PlacementRule::from);
    if target.external.is_some() && placement.is_some_and(|rule| rule != PlacementRule::Free) {
        let message = "--placement can't bind a server that Prony does not start";
        return Err(Failure::new(ExitStatus::Usage, message)
            .with_hint("leave --placement out, or write --placement free"));
    }
    Ok(AdHoc {
        target: Target {
            placement: placement.map(WantedPlacement::Rule),
            ..target
        },
        dataset,
        tables: if args.server.fill {
            Tables::Filled
        } else {
            Tables::Found
        },
        step,
        seed: args.work.seed,
        threads_max: args.generator.threads,
        backend: match args.generator.backend {
            BackendArg::Auto => None,
            BackendArg::Epoll => Some(Backend::Epoll),
            BackendArg::IoUring => Some(Backend::IoUring),
        },
        interval_ms: args.output.interval,
    })
}

fn target(args: &LoadArgs, catalogue: &Catalogue) -> Result<Target, Failure> {
    let server = &args.server;
    let external = external(args)?;
    let build = match &server.build {
        Some(id) => known(id, catalogue)?.facts(),
        None => BuildFacts::external(server.family, Version::new(0, 0, 0)),
    };
    let name = match &external {
        Some(external) => external.address.to_string(),
        None => build.id.clone(),
    };
    let engine = (args.work.engine).unwrap_or_else(|| build.family.usual_engine());
    if !build.engines.contains(&engine) {
        let known: Vec<_> = build.engines.iter().map(|engine| engine.name()).collect();
        let message = format!("{name} has no storage engine `{engine}`");
        return Err(Failure::new(ExitStatus::Usage, message).with_hint(format!(
            "write --engine with one that it has: {}",
            known.join(", ")
        )));
    }
    let facts = catalogue.intent_facts();
    let intents = server.set.iter().map(|text| parse_intent(text, &facts));
    let intents = intents.collect::<Result<BTreeMap<_, _>, _>>();
    Ok(Target {
        name,
        engine,
        build,
        config: Config {
            intents: intents.map_err(usage)?,
            ..Config::default()
        },
        protocol: args.work.protocol.into(),
        transport: match server.address {
            Some(Address::Tcp(_)) => Transport::Tcp,
            Some(Address::Unix(_)) | None => Transport::Socket,
        },
        preload: Vec::new(),
        external,
        collect: prony_model::Collect::default(),
        placement: None,
    })
}

/// The server that runs already, if it is one.
fn external(args: &LoadArgs) -> Result<Option<External>, Failure> {
    let server = &args.server;
    let Some(address) = &server.address else {
        return Ok(None);
    };
    let password = match (&server.password_env, &server.password_file) {
        (Some(name), _) => PasswordSource::Env(name.clone()),
        (None, Some(path)) => PasswordSource::File(path.clone()),
        (None, None) => PasswordSource::None,
    };
    let is_socket = matches!(address, Address::Unix(_));
    if is_socket && server.family == Family::Postgresql && server.tls != TlsArg::Off {
        let message = "PostgreSQL encrypts no connections over unix sockets";
        return Err(Failure::new(ExitStatus::Usage, message)
            .with_hint("leave --tls out, or use an address and port"));
    }
    let tls = match (server.tls, &server.tls_ca) {
        (TlsArg::Off, None) => Tls::Off,
        (TlsArg::Required, None) => Tls::Required,
        (TlsArg::VerifyCa, Some(ca)) => Tls::VerifyCa(ca.clone()),
        (TlsArg::VerifyFull, Some(_)) if is_socket => {
            let message = "--tls verify-full needs an address that a certificate can name";
            return Err(Failure::new(ExitStatus::Usage, message).with_hint(
                "a socket has no address: use --tls verify-ca, or an address and port",
            ));
        }
        (TlsArg::VerifyFull, Some(ca)) => Tls::VerifyFull(ca.clone()),
        (TlsArg::VerifyCa | TlsArg::VerifyFull, None) => {
            let message = "verifying the server requires --tls-ca";
            return Err(Failure::new(ExitStatus::Usage, message)
                .with_hint("name a file with the certificates of the authorities to trust"));
        }
        (TlsArg::Off | TlsArg::Required, Some(_)) => {
            let message = "--tls-ca requires --tls verify-ca or --tls verify-full";
            return Err(Failure::new(ExitStatus::Usage, message));
        }
    };
    Ok(Some(External {
        address: address.clone(),
        user: server.user.clone().unwrap_or_default(),
        password,
        database: server.database.clone(),
        tls,
    }))
}

fn step(
    args: &LoadArgs,
    workload: &Workload,
    dataset: &Dataset,
    target: &Target,
) -> Result<Step, Failure> {
    let set: BTreeMap<String, i64> = args.work.parameters.iter().cloned().collect();
    let (workload, parameters) = workload_on(workload, dataset, target, &set).map_err(usage)?;
    let length = match (args.work.operations, args.work.time) {
        (Some(operations), _) => Length::Count { operations },
        (None, time) => Length::Time {
            ms: time.unwrap_or(TIME_MS),
        },
    };
    let warmup_ms = match length {
        Length::Time { .. } => WARMUP_MS,
        Length::Count { .. } => 0,
    };
    Ok(Step {
        name: workload.name.clone(),
        entry: 0,
        groups: Groups::new(ClientGroup {
            name: None,
            workload,
            parameters,
            clients: args.work.clients,
            pace: pace(args),
            reconnect_every: args.pace.reconnect_every,
            sla_percent: None,
        }),
        warmup_ms: args.work.warmup.unwrap_or(warmup_ms),
        length,
        phase: None,
        warm_only: false,
        settle: None,
        timing: Timing::Operations,
        ramp_ms: args.pace.ramp,
        margin_percent: None,
        placement: None,
    })
}

fn pace(args: &LoadArgs) -> Pace {
    match args.pace.rate {
        Some(rate) => Pace::Open {
            rate,
            spacing: args.pace.arrivals.into(),
        },
        None => Pace::Closed {
            think: args.pace.think.map(|mean_us| Think {
                mean_us,
                spacing: args.pace.think_spacing.into(),
            }),
        },
    }
}

fn usage(error: BadArgument) -> Failure {
    let failure = Failure::new(ExitStatus::Usage, error.message);
    if error.help.is_empty() {
        return failure;
    }
    failure.with_hint(error.help)
}
