//! Dealing clients and operations to threads.

use prony_model::Length;

use crate::DriveTask;
use crate::connection::Link;

/// The clients of one thread, and the operations of each in count mode.
#[derive(Default)]
pub(super) struct Share {
    pub(super) links: Vec<Link>,
    pub(super) operations: Vec<u64>,
}

/// Deals clients to threads in turn, and operations to the task's own clients, the remainder to the
/// first ones. Clients of other groups go on until the own ones end.
pub(super) fn share_out(task: &DriveTask, links: Vec<Link>, threads: u32) -> Vec<Share> {
    let mut shares: Vec<Share> = (0..threads).map(|_| Share::default()).collect();
    let count = shares.len();
    let clients = u64::from(task.groups.own().clients);
    for (index, link) in links.into_iter().enumerate() {
        let share = &mut shares[index % count];
        let number = u64::from(link.client.number());
        share.operations.push(match task.length {
            Length::Count { operations } if link.client.group() == 0 => {
                operations / clients + u64::from(number < operations % clients)
            }
            Length::Count { .. } | Length::Time { .. } => u64::MAX,
        });
        share.links.push(link);
    }
    shares
}
