//! The nouns of Prony: versions, targets, workloads, plans, outcomes.
