//! `prony servers shell`: a throw-away instance for people.

use std::thread;
use std::time::Duration;

use prony_model::{Config, Engine, Family};
use prony_servers::{Instance, InstanceError, Running, Wanted};

use super::{fetch_one, interrupted, known};
use crate::cli::ServersShellArgs;
use crate::definitions;
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;

/// Time between two looks at the server and at the wish to stop.
const POLL: Duration = Duration::from_millis(100);
/// Limit for the server to stop.
const STOP_TIMEOUT: Duration = Duration::from_mins(1);

/// Starts an instance, says how to connect, and stops it when the user asks to.
pub(super) fn shell(args: &ServersShellArgs, signals: &Signals) -> Result<(), Failure> {
    let catalogue = definitions::catalogue(&args.catalogue)?;
    known(&args.build, &catalogue)?;
    let surroundings = Surroundings::find()?;
    let build = fetch_one(&args.build, &catalogue, &surroundings, signals)?;
    let engine = build
        .facts
        .engines
        .first()
        .copied()
        .unwrap_or(Engine::Innodb);
    let rendered = catalogue
        .render(
            &build.facts,
            Wanted::over_socket(engine, &Config::default(), 100),
        )
        .map_err(Failure::invalid)?;
    let instance_failure = |error: &InstanceError| {
        if signals.stop.requested() {
            return interrupted(signals);
        }
        Failure::to(ExitStatus::Server, error).with_log(error.log_tail())
    };
    output::talk(&format!("starting {}", args.build));
    let mut instance = Instance::create(
        &surroundings.roots,
        &surroundings.launcher,
        &build,
        &rendered,
    )
    .map_err(|error| instance_failure(&error))?;
    instance
        .bootstrap(&signals.stop)
        .map_err(|error| instance_failure(&error))?;
    let server = instance
        .start(&signals.stop)
        .map_err(|error| instance_failure(&error))?;
    output::data(&connecting(&server))?;
    wait(server, signals)
}

/// The ways to connect, as text for people that scripts can read too.
fn connecting(server: &Running) -> String {
    let socket = server.socket();
    let admin = server.admin_login();
    let load = server.load_login();
    let connect = match server.build().facts.family {
        Family::Mysql | Family::Mariadb => {
            format!(
                "mysql --no-defaults --user={} --socket={}",
                admin.user,
                socket.display()
            )
        }
        Family::Postgresql => {
            // Its port is the end of the socket's name, and its folder takes the place of the host.
            let port = socket.extension().unwrap_or_default().to_string_lossy();
            let folder = socket.parent().unwrap_or(&socket).display();
            format!(
                "psql --host={folder} --port={port} --username={} postgres",
                admin.user
            )
        }
    };
    format!(
        "socket    {socket}\n\
         admin     {admin}, no password\n\
         load      {load}, password in {password}, database prony\n\
         log       {log}\n\
         connect   {connect}\n\
         Ctrl-C stops the server and removes its data.\n",
        socket = socket.display(),
        admin = admin.user,
        load = load.user,
        password = server.password_path().display(),
        log = server.log_path().display(),
    )
}

fn wait(mut server: Running, signals: &Signals) -> Result<(), Failure> {
    while !signals.stop.requested() {
        server.check().map_err(|died| {
            Failure::new(ExitStatus::Server, died.to_string()).with_log(Some(&died.log_tail))
        })?;
        thread::sleep(POLL);
    }
    output::talk("stopping the server");
    server
        .stop(STOP_TIMEOUT)
        .map(drop)
        .map_err(|error| Failure::new(ExitStatus::Server, error.to_string()))
}
