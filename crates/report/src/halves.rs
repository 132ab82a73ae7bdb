//! Work on many items by two threads.

use std::panic::resume_unwind;
use std::thread;

/// Items from which on a second thread is worth its start.
const SHARED_FROM: usize = 32;

/// What `work` makes of each item, in their order. A second thread does half of many items.
pub(crate) fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < SHARED_FROM {
        return items.iter().map(work).collect();
    }
    let (first, second) = items.split_at(items.len() / 2);
    thread::scope(|scope| {
        let second = scope.spawn(|| second.iter().map(&work).collect::<Vec<R>>());
        let mut all: Vec<R> = first.iter().map(&work).collect();
        all.extend(second.join().unwrap_or_else(|panic| resume_unwind(panic)));
        all
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        for n in [0, 1, SHARED_FROM - 1, SHARED_FROM, 1001] {
            let items: Vec<usize> = (0..n).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * 2).collect();
            assert_eq!(map(&items, |item| item * 2), expected);
        }
    }
}
