//! The choice to run tests that start real servers. Included by every test file that does.
#![allow(
    clippy::print_stderr,
    dead_code,
    unreachable_pub,
    reason = "this is test code, outside of functions marked as tests"
)]

/// Says why not where they do not.
pub fn live() -> bool {
    live_with(&[])
}

/// The same for tests that take further programs.
pub fn live_with(programs: &[&str]) -> bool {
    match std::env::var("PRONY_LIVE_TESTS").as_deref() {
        Ok("require") => true,
        Ok("skip") => {
            eprintln!("skipped: PRONY_LIVE_TESTS=skip");
            false
        }
        _ => {
            let missing: Vec<&str> = ["mvn", "npm", "apt-get", "dpkg-deb"]
                .iter()
                .chain(programs)
                .copied()
                .filter(|program| !on_path(program))
                .collect();
            if !missing.is_empty() {
                eprintln!("skipped: {} not found on PATH", missing.join(", "));
            }
            missing.is_empty()
        }
    }
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| {
        std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
    })
}
