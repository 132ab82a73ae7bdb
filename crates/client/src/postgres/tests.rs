//! Conversations with fake servers.
