//! Archives at an address.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use prony_host::At;

use super::{FetchError, Getter};
use crate::build::catalogue::Source;
use crate::digest::each_chunk;

const LOOK: Duration = Duration::from_millis(200);
const CONNECT: Duration = Duration::from_secs(30);
const ANSWER: Duration = Duration::from_mins(1);

/// Shared between the thread that reads and the one that watches.
#[derive(Default)]
struct Progress {
    bytes: AtomicU64,
    /// Bytes in all; 0 where the server does not say.
    total: AtomicU64,
    abandoned: AtomicBool,
}

impl Getter<'_> {
    /// Gets the file at `url`.
    ///
    /// A thread of its own reads, so that a silent server does not keep the user from stopping.
    pub(super) fn url(&mut self, source: &Source, url: &str) -> Result<PathBuf, FetchError> {
        let name = name(url);
        let target = self.downloads.join("archive");
        let progress = Arc::new(Progress::default());
        let reader = {
            let (url, target) = (url.to_owned(), target.clone());
            let progress = Arc::clone(&progress);
            thread::spawn(move || {
                download(&url, &target, &progress).map_err(|error| error.to_string())
            })
        };
        while !reader.is_finished() {
            thread::sleep(LOOK);
            if self.stop.requested() {
                progress.abandoned.store(true, Ordering::Relaxed);
                return Err(FetchError::Stopped);
            }
            let total = match progress.total.load(Ordering::Relaxed) {
                0 => source.size,
                total => Some(total),
            };
            self.say_downloading(&name, progress.bytes.load(Ordering::Relaxed), total);
        }
        let outcome = reader
            .join()
            .unwrap_or_else(|_| Err("the download crashed".to_owned()));
        outcome.map_err(|reason| FetchError::Download {
            reason: reason.replace(url, &name),
            url: name,
        })?;
        Ok(target)
    }
}

/// The name of an address in everything that is shown or kept: without user, password, query
/// and fragment, which may be secrets (RFC 3986, section 3).
pub(super) fn name(url: &str) -> String {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let url = &url[..end];
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

fn download(url: &str, target: &Path, progress: &Progress) -> Result<(), Box<dyn Error>> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(ANSWER))
        .build()
        .into();
    let mut response = agent.get(url).call()?;
    let length = response.body().content_length();
    progress.total.store(length.unwrap_or(0), Ordering::Relaxed);
    let mut file = File::create(target).at("create", target)?;
    each_chunk(&mut response.body_mut().as_reader(), |chunk| {
        if progress.abandoned.load(Ordering::Relaxed) {
            return Err("stopped".into());
        }
        file.write_all(chunk).at("write", target)?;
        let count = chunk.len() as u64;
        progress.bytes.fetch_add(count, Ordering::Relaxed);
        Ok(())
    })
    .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_addresses_hold_no_secrets() {
        for (url, expected) in [
            ("https://x.org/a/b.tar.gz", "https://x.org/a/b.tar.gz"),
            ("https://me:p@ss@x.org:1/b@c.tar", "https://x.org:1/b@c.tar"),
            (
                "https://x.org/b.tar?signature=s/e@c#f",
                "https://x.org/b.tar",
            ),
            ("http://me:secret@x.org?key=1", "http://x.org"),
            ("b.tar#x", "b.tar"),
        ] {
            assert_eq!(name(url), expected);
        }
    }

    #[test]
    fn a_full_disk_is_named_with_the_remedy() {
        let url = crate::testing::serve("200 OK", vec![7; 4096], 4096);
        let full = Path::new("/dev/full");
        let error = download(&url, full, &Progress::default());
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("write /dev/full: No space left"),
            "{error}"
        );
        assert!(error.contains("make room there"), "{error}");
    }
}
