//! The block of memory that the kernel reads requests from and writes answers to.

use std::ptr::NonNull;

/// The longest request that has a place in the block.
pub(super) const REQUEST_SIZE: usize = 1024;

/// Bytes received at once. Long results take several rounds. No multiple of a page, so that the
/// beginnings of all answers do not compete for the same lines of the processor's cache.
pub(super) const ANSWER_SIZE: u32 = 16 * 1024 + 7 * 64;

/// A place for a request and one for an answer of each connection, all zeros at first. Pages that
/// are never used take no memory. Nobody but the owner of a `Memory` knows whether the kernel is
/// using a place, so they are handed out as pointers.
pub(super) struct Memory {
    block: NonNull<u8>,
    places: usize,
}

impl Memory {
    pub(super) fn new(places: usize) -> Self {
        let block = vec![0; size(places)].into_boxed_slice();
        let block = Box::into_raw(block).cast();
        Self {
            block: NonNull::new(block).unwrap_or(NonNull::dangling()),
            places,
        }
    }

    /// Copies a request to its place and returns that. Of a longer one than fits, only the begin.
    ///
    /// # Panics
    /// When there is no such place.
    pub(super) fn put_request(&self, place: usize, request: &[u8]) -> *const u8 {
        assert!(place < self.places);
        let count = request.len().min(REQUEST_SIZE);
        // SAFETY: the place lies in the block, is as long as that, and no reference to it exists.
        // The kernel may read it at the same time, which is its affair.
        unsafe {
            let to = self.block.add(place * REQUEST_SIZE);
            to.copy_from_nonoverlapping(NonNull::from(request).cast(), count);
            to.as_ptr()
        }
    }

    /// The place of an answer.
    ///
    /// # Panics
    /// When there is no such place.
    pub(super) fn answer(&self, place: usize) -> NonNull<[u8]> {
        assert!(place < self.places);
        let at = self.places * REQUEST_SIZE + place * ANSWER_SIZE as usize;
        // SAFETY: that is inside the block.
        let first = unsafe { self.block.add(at) };
        NonNull::slice_from_raw_parts(first, ANSWER_SIZE as usize)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let block = NonNull::slice_from_raw_parts(self.block, size(self.places));
        // SAFETY: it was made as a box of this size. The owner that drops it has made sure that
        // nothing uses it.
        drop(unsafe { Box::from_raw(block.as_ptr()) });
    }
}

const fn size(places: usize) -> usize {
    places * (REQUEST_SIZE + ANSWER_SIZE as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap() {
        let memory = Memory::new(3);
        let requests: Vec<_> = (0..3_u8)
            .map(|place| memory.put_request(place.into(), &[place + 1; 2000]))
            .collect();
        for place in 0..3 {
            // SAFETY: the place is in the block, filled, and not used elsewhere.
            let answer = unsafe { memory.answer(place).as_mut() };
            assert!(answer.iter().all(|byte| *byte == 0));
            answer.fill(u8::MAX);
        }
        for (number, request) in (1..).zip(requests) {
            // SAFETY: as above.
            let request = unsafe { std::slice::from_raw_parts(request, REQUEST_SIZE) };
            assert!(request.iter().all(|byte| *byte == number));
        }
    }
}
