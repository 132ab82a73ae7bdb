//! How long a report of a large run takes: 44 steps × 12 targets × 20 blocks, in every format.
//!
//! `cargo run --release -p prony-report --example large_run`

#![expect(
    clippy::unwrap_used,
    reason = "an example that fails may say so with a panic"
)]

use std::io::Write as _;
use std::time::Instant;

use prony_report::{Format, render};

#[path = "../tests/report/sample.rs"]
mod sample;

fn main() -> std::io::Result<()> {
    let clients: Vec<u32> = (1..=11).collect();
    let mut large = sample::Sample::new(&sample::plan(12, &clients, 20));
    large.run(|_| true);
    let mut out = std::io::stdout();
    for format in [Format::Text, Format::Markdown, Format::Csv, Format::Json] {
        let begin = Instant::now();
        let report = render(&large.store, format).unwrap();
        let bytes = report.len();
        writeln!(out, "{format:?}: {bytes} bytes in {:?}", begin.elapsed())?;
    }
    Ok(())
}
