//! The load generator: connections, event loop, datasets, histograms.
