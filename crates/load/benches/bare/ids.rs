//! Random ids, at a few instructions each.

/// Xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled",
/// 2016): enough to spread reads over a table.
pub(crate) struct Ids {
    state: u64,
    rows: u64,
}

impl Ids {
    /// Ids from 1 to `rows`; `seed` must not be 0.
    pub(crate) fn new(seed: u64, rows: u32) -> Self {
        Self {
            state: seed,
            rows: rows.into(),
        }
    }

    #[inline]
    pub(crate) fn draw(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        let high = self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32;
        ((high * self.rows) >> 32) + 1
    }
}
