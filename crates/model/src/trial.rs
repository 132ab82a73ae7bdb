//! States of a trial.

use crate::words::words;

words! {
    /// The state of a trial. Only `Done` trials enter reports.
    pub enum TrialState {
        /// Begun and not ended.
        Running = "running",
        /// Every step ended; the only state whose figures count.
        Done = "done",
        /// Ended by a fault of the server or of the load; the reason is kept. Not repeated.
        Failed = "failed",
        /// Cut short from outside (interrupt, crash of Prony); the reason is kept. `resume` repeats
        /// it.
        Discarded = "discarded",
        /// Ended well, but its canary exceeded the bound that the experiment declared beforehand;
        /// the reason is kept. Run again at once, and by `resume`.
        Excluded = "excluded",
    }
}
