//! The formats of exports.

/// A format of exports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Tables as CSV.
    Csv,
    /// Tables as JSON lines.
    Json,
    /// Tables as Parquet.
    Parquet,
    /// Go's benchmark format, for `benchstat`.
    GoBench,
    /// Bencher Metric Format.
    Bmf,
    /// For github-action-benchmark.
    GitHub,
    /// For Apache Otava.
    Otava,
}

impl Format {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
            Self::GoBench => "gobench",
            Self::Bmf => "bmf",
            Self::GitHub => "github",
            Self::Otava => "otava",
        }
    }

    /// The extension of the files of its tables. `None` if it has no tables.
    pub(crate) const fn extension(self) -> Option<&'static str> {
        match self {
            Self::Csv => Some("csv"),
            Self::Json => Some("jsonl"),
            Self::Parquet => Some("parquet"),
            Self::GoBench | Self::Bmf | Self::GitHub | Self::Otava => None,
        }
    }
}
