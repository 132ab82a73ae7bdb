//! A stage for tests: a cache of its own, and clients that are shell scripts.

use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;

use tempfile::TempDir;

use prony_host::{Launcher, Roots};

/// A script in the crate's folder of fixtures. They are files of the repository, because a script
/// that a test has just written may not be executable yet: a child that another test forks
/// meanwhile can still hold it open for writing.
pub(crate) fn test_program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(name)
}

/// The script that stands in for `prony guard`.
pub(crate) fn guard() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard")
}

/// Answers one request with `status` and `body`, of which it announces `length` bytes.
pub(crate) fn serve(status: &'static str, body: Vec<u8>, length: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        let mut request = [0; 1024];
        let _ = connection.read(&mut request).unwrap();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n");
        connection.write_all(head.as_bytes()).unwrap();
        connection.write_all(&body).unwrap();
    });
    format!("http://{address}/server.tar")
}

/// A folder with a cache and with files that tell the clients what to do.
pub(crate) struct Stage {
    folder: TempDir,
    pub(crate) roots: Roots,
    pub(crate) launcher: Launcher,
}

impl Stage {
    /// A stage with these clients on its `PATH`.
    pub(crate) fn with_clients(clients: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for client in clients {
            symlink(test_program("client"), bin.join(client)).unwrap();
        }
        // What the scripts themselves use, but none of the real clients.
        for tool in [
            "cat", "cp", "cut", "basename", "dirname", "mkdir", "sh", "sleep", "tr",
        ] {
            let real = ["/bin", "/usr/bin"].map(|place| Path::new(place).join(tool));
            let real = real.iter().find(|path| path.exists()).unwrap();
            symlink(real, bin.join(tool)).unwrap();
        }
        let roots = Roots {
            cache: folder.path().join("cache"),
        };
        let launcher = Launcher::new(guard())
            .unwrap()
            .searching(OsString::from(&bin));
        Self {
            folder,
            roots,
            launcher,
        }
    }

    /// A path on the stage.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file on the stage.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The number of calls of clients.
    pub(crate) fn calls(&self) -> usize {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        calls.lines().count()
    }

    /// `text` without what differs between runs.
    pub(crate) fn redact(&self, text: &str) -> String {
        let own = format!("{}-", std::process::id());
        let folder = self.folder.path().to_str().unwrap();
        let text = text.replace(folder, "STAGE");
        // Folders are numbered: `PID-n`.
        let mut parts = text.split(&own);
        let mut redacted = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            redacted.push('N');
            redacted.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        redacted
    }
}
