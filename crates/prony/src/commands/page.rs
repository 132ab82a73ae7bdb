//! The page of a run in its folder, and reports that go to files.

use std::fs;
use std::path::{Path, PathBuf};

use prony_report::{Format, render};
use prony_store::Store;

use crate::failure::{ExitStatus, Failure};
use crate::output;

/// The page within a run's folder.
const PAGE_FILE: &str = "report.html";

/// Writes the page of a run into its folder and shows its path.
pub(crate) fn leave(store: &Store, folder: &Path) -> Result<(), Failure> {
    let page = render(store, Format::Html).map_err(Failure::usage)?;
    let path = folder.join(PAGE_FILE);
    replace(&path, &page)?;
    output::notice(&path.display().to_string());
    Ok(())
}

/// Does the same for a run that ends with a failure of its own, which matters more.
pub(crate) fn leave_if_possible(store: &Store, folder: &Path) {
    if let Err(failure) = leave(store, folder) {
        output::notice(&failure.message);
    }
}

/// Writes a file as a whole or not at all, in place of an older one. A pipe or a device is written to.
pub(crate) fn replace(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial: PathBuf = path.with_file_name(name);
    let is_special = path.metadata().is_ok_and(|known| !known.is_file());
    let written = if is_special {
        fs::write(path, &content)
    } else {
        fs::write(&partial, &content).and_then(|()| fs::rename(&partial, path))
    };
    written.map_err(|error| {
        // The reason for the failure is known; there may be nothing to remove.
        let _ = fs::remove_file(&partial);
        let what = format!("write {}: {error}", path.display());
        Failure::to(ExitStatus::Host, &what)
            .with_hint("`prony report RUN --format html -o FILE` writes the page to another place")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.html");
        replace(&path, "old").unwrap();
        replace(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let failure = replace(&folder.path().join("none/page.html"), "x").unwrap_err();
        assert_eq!(failure.code, ExitStatus::Host);
    }
}
