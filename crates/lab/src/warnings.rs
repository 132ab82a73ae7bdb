//! Warnings about the whole run.

use prony_store::{Store, StoreError, Subject};

/// Records a warning about the whole run, unless an earlier part of the run did.
pub(crate) fn warn_once(store: &mut Store, code: &str, text: &str) -> Result<(), StoreError> {
    let before = store.warnings()?;
    if before.iter().all(|warning| warning.text != text) {
        store.record_warning(Subject::Run, code, text)?;
    }
    Ok(())
}
