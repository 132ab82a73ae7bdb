//! Machines for tests.

use prony_probe::Root;

/// A machine with these files and no others.
pub(crate) fn recorded(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let root = Root::recorded(folder.path());
    (folder, root)
}
