//! pgbench, which must be on the `PATH`.

use std::path::Path;
use std::process::Command;

/// The name and version that pgbench prints.
pub(crate) fn version() -> Result<String, String> {
    let output = Command::new("pgbench").arg("--version").output();
    let output = output.map_err(|error| {
        format!(
            "failed to run pgbench: {error}; is it installed? (Debian: apt-get install postgresql-15)"
        )
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The words that name a server by its socket, whose name ends with its port, and an account.
pub(crate) fn place(socket: &Path, user: &str) -> [String; 6] {
    let name = socket.file_name().unwrap().to_string_lossy();
    let port = name.rsplit('.').next().unwrap();
    let folder = socket.parent().unwrap().to_string_lossy();
    ["-h", &*folder, "-p", port, "-U", user].map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_has_its_port_in_its_name() {
        let place = place(Path::new("/run/x/.s.PGSQL.15432"), "root");
        assert_eq!(place, ["-h", "/run/x", "-p", "15432", "-U", "root"]);
    }
}
