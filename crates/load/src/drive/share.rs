//! Dealing operations to the clients of threads.

use prony_model::Length;

use crate::DriveTask;
use crate::connection::Link;

/// The clients of one thread, and the operations of each in count mode.
pub(super) struct Share {
    pub(super) links: Vec<Link>,
    pub(super) operations: Vec<u64>,
}

impl Share {
    /// Deals operations to the task's own clients among those of a thread, the remainder of all to
    /// the first ones. Clients of other groups go on until the own ones end.
    pub(super) fn new(task: &DriveTask, links: Vec<Link>) -> Self {
        let clients = u64::from(task.groups.own().clients);
        let operations_of = |link: &Link| match task.length {
            Length::Count { operations } if link.client.group() == 0 => {
                let number = u64::from(link.client.number());
                operations / clients + u64::from(number < operations % clients)
            }
            Length::Count { .. } | Length::Time { .. } => u64::MAX,
        };
        let operations = links.iter().map(operations_of).collect();
        Self { links, operations }
    }
}
