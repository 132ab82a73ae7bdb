//! Making a data directory: by copying a prebuilt one, by SQL, or by the server alone.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use prony_host::{At, ChildSetup, create_private, describe_exit};
use prony_model::StopFlag;

use super::{Instance, InstanceError, postgres};
use crate::build::catalogue::Bootstrap;
use crate::image::copy;

/// The time that a server may take. Slow disks need some seconds.
const LIMIT: Duration = Duration::from_mins(5);
const LOOK: Duration = Duration::from_millis(100);

/// See [`Instance::bootstrap`].
pub(super) fn bootstrap(instance: &Instance, stop: &StopFlag) -> Result<(), InstanceError> {
    let data = instance.data_dir();
    match &instance.build.bootstrap {
        Bootstrap::Template(folder) => {
            copy::tree(&instance.build.root.join(folder), &data)?;
            Ok(())
        }
        Bootstrap::Sql(files) => {
            create_private(&data.join("mysql"))?;
            let script = instance.path("bootstrap.sql");
            let mut sql = b"use mysql;\n".to_vec();
            for file in files {
                let path = instance.build.root.join(file);
                sql.extend(fs::read(&path).at("read", &path)?);
                sql.push(b'\n');
            }
            fs::write(&script, sql).at("write", &script)?;
            let input = File::open(&script).at("open", &script)?;
            let mut command = instance.server_command();
            command.args([
                "--bootstrap",
                "--default-storage-engine=MyISAM",
                // The help texts come in long lines.
                "--net_buffer_length=16384",
            ]);
            run(instance, command, input.into(), stop)?;
            Ok(fs::remove_file(&script).at("remove", &script)?)
        }
        Bootstrap::Initdb(program) => {
            let mut tool = instance.build.clone();
            tool.program = tool.root.join(program);
            // It starts the server, and writes nothing that a sudden end could spoil.
            let setup = ChildSetup {
                not_as_root: true,
                ..ChildSetup::default()
            };
            let mut command = tool.command(&instance.launcher, setup, &[]);
            command
                .args(postgres::initdb_words(instance))
                .current_dir(instance.folder.path());
            run(instance, command, Stdio::null(), stop)
        }
        Bootstrap::InitializeInsecure => {
            let mut command = instance.server_command();
            command.args(["--initialize-insecure", "--default-storage-engine=InnoDB"]);
            run(instance, command, Stdio::null(), stop)
        }
    }
}

/// Runs the server to its end.
fn run(
    instance: &Instance,
    command: Command,
    input: Stdio,
    stop: &StopFlag,
) -> Result<(), InstanceError> {
    let mut process = instance.spawn(command, input)?;
    let end = Instant::now() + LIMIT;
    let status = loop {
        let ended = process
            .wait_timeout(LOOK)
            .map_err(|error| instance.run_error(&error))?;
        if let Some(status) = ended {
            if status.success() {
                return Ok(());
            }
            break describe_exit(status);
        }
        if stop.requested() {
            return Err(InstanceError::Stopped);
        }
        if Instant::now() >= end {
            break format!("did not end within {} s", LIMIT.as_secs());
        }
    };
    let task = format!("bootstrap {}", instance.build.id);
    Err(instance
        .failure(task, format!("the server {status}"))
        .into())
}
