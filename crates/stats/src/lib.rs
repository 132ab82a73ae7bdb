//! Numbers in, estimates out; knows no domain word.
