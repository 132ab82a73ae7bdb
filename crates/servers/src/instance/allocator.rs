//! The memory allocator of a server.

use std::fs;
use std::io;
use std::path::Path;

use prony_model::Allocator;

use super::{Instance, ServerFailure};
use crate::build::{Preload, ServerBuild};

/// Refuses an allocator that the build was not got with.
pub(super) fn check_build(build: &ServerBuild, wanted: Allocator) -> Result<(), ServerFailure> {
    let preloaded = build.preload.as_ref();
    let preloaded = preloaded.map_or(Allocator::Built, |preload| preload.allocator);
    if wanted == preloaded {
        return Ok(());
    }
    Err(ServerFailure {
        task: format!("start {} with {}", build.id, wanted.name()),
        reason: format!("the build was prepared to start with {}", preloaded.name()),
        log_tail: String::new(),
    })
}

/// Makes sure that the allocator that was preloaded is there.
pub(super) fn check_running(instance: &Instance, pid: u32) -> Result<(), ServerFailure> {
    let build = &instance.build;
    let Some(Preload { allocator, library }) = &build.preload else {
        return Ok(());
    };
    let reason = match maps(pid) {
        Ok(maps) if is_mapped(&maps, library) => return Ok(()),
        Ok(_) => format!("it did not load {}", library.display()),
        Err(error) => format!("read its memory map: {error}"),
    };
    let task = format!("start {} with {}", build.id, allocator.name());
    Err(instance.failure(task, reason))
}

/// The allocator in use. A preloaded one comes before one that the program was linked with.
pub(super) fn in_use(build: &ServerBuild, pid: u32) -> io::Result<&'static str> {
    let maps = maps(pid)?;
    let preload = build.preload.as_ref();
    Ok(match preload {
        Some(preload) if is_mapped(&maps, &preload.library) => preload.allocator.name(),
        _ => linked(&maps),
    })
}

pub(super) fn maps(pid: u32) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{pid}/maps"))
}

/// True for a file in the memory map, `proc_pid_maps(5)`: its path is the rest of the line.
pub(super) fn is_mapped(maps: &str, file: &Path) -> bool {
    let file = file.to_string_lossy();
    maps.lines().any(|line| line.ends_with(&*file))
}

/// The allocator among the libraries that a process has loaded.
fn linked(maps: &str) -> &'static str {
    let libraries = maps.lines().filter_map(|line| line.rsplit('/').next());
    let names = [Allocator::Jemalloc, Allocator::Tcmalloc].map(Allocator::name);
    let of_name = |library: &str| {
        let mut names = names.into_iter();
        names.find(|name| library.starts_with(&format!("lib{name}")))
    };
    libraries.into_iter().find_map(of_name).unwrap_or("libc")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0-55d1 r-xp 00000000 fe:00 1 /x/bin/mysqld
7f00-7f01 r-xp 00000000 fe:00 2 /cache/support/a/tree/usr/lib/libtcmalloc_minimal.so.4.5.9
7f02-7f03 r-xp 00000000 fe:00 3 /usr/lib/x86_64-linux-gnu/libc.so.6
7ffd-7ffe rw-p 00000000 00:00 0 [stack]
";

    #[test]
    fn maps_tell_the_allocator() {
        assert_eq!(linked(MAPS), "tcmalloc");
        assert_eq!(
            linked("7f00-7f01 r-xp 0 0 2 /libs/libjemalloc.so.1\n"),
            "jemalloc"
        );
        assert_eq!(
            linked("55d0-55d1 r-xp 0 0 1 /x/jemalloc/bin/mysqld\n"),
            "libc"
        );
        let library = "/cache/support/a/tree/usr/lib/libtcmalloc_minimal.so.4.5.9";
        assert!(is_mapped(MAPS, Path::new(library)));
        assert!(!is_mapped(
            MAPS,
            Path::new("/elsewhere/libtcmalloc_minimal.so.4.5.9")
        ));
    }
}
