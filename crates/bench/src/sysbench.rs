//! sysbench, which must be on the `PATH`.

use std::process::Command;

/// The name and version that sysbench prints.
pub(crate) fn version() -> Result<String, String> {
    let output = Command::new("sysbench").arg("--version").output();
    let output = output.map_err(|error| {
        format!(
            "failed to run sysbench: {error}; is it installed? (Debian: apt-get install sysbench)"
        )
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
