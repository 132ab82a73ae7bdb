//! Counters that sessions of PostgreSQL keep, and publish late.

use std::thread;
use std::time::Duration;

use crate::LoadError;

/// A session publishes its counters after a query, unless it did so within half a second before; since
/// 15, within a second.
const PAUSE: Duration = Duration::from_millis(1_100);

/// Makes sessions that rest publish their counters: each is asked one query, an empty one, which counts
/// as a transaction. `ask` returns `false` for a session that is not open. Returns the number of queries.
///
/// One session is asked after the other: two that publish at the same time may keep some counts back.
pub(crate) fn flush_statistics<S>(
    sessions: &mut [S],
    ask: impl Fn(&mut S) -> Result<bool, LoadError>,
) -> Result<u32, LoadError> {
    thread::sleep(PAUSE);
    let mut asked = 0;
    for session in sessions {
        asked += u32::from(ask(session)?);
    }
    Ok(asked)
}
