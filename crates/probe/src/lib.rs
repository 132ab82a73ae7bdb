//! Readings of the host and of processes from /proc.
