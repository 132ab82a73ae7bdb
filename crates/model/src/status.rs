//! Facts of the counters that servers keep of themselves, by their own names.

use StatusUnit::{Bytes, Count, Microseconds, Milliseconds, Pages, Rows};

use crate::{Counter, Source};

/// The unit of a server's counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatusUnit {
    /// Events.
    Count,
    /// Rows.
    Rows,
    /// Pages or blocks of an engine.
    Pages,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl StatusUnit {
    /// The unit as figures show it; nothing for events.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Count => "",
            Self::Rows => "rows",
            Self::Pages => "pages",
            Self::Bytes => "bytes",
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
        }
    }
}

/// Facts of a counter that explains the cost of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusFacts {
    /// Its source: [`Source::Status`] or [`Source::Innodb`].
    pub source: Source,
    /// The server's name for it, in lower case.
    pub name: &'static str,
    /// Its unit.
    pub unit: StatusUnit,
    /// In a few words, what that is.
    pub what: &'static str,
}

impl StatusFacts {
    /// The counter.
    pub const fn counter(&self) -> Counter {
        Counter::new(self.source, self.name)
    }
}

const fn status(name: &'static str, unit: StatusUnit, what: &'static str) -> StatusFacts {
    StatusFacts {
        source: Source::Status,
        name,
        unit,
        what,
    }
}

const fn innodb(name: &'static str, unit: StatusUnit, what: &'static str) -> StatusFacts {
    StatusFacts {
        source: Source::Innodb,
        name,
        unit,
        what,
    }
}

/// The counters that explain what an operation costs, in the order in which they are shown. None of
/// them is a level. Which of them a server has, and which of them its engine moves, differs; where
/// InnoDB tells the same twice, it is here as a status variable only.
pub const EXPLAINING: [StatusFacts; 96] = [
    // What the layer above the engine asks of it.
    status("handler_read_key", Count, "index lookups"),
    status("handler_read_next", Rows, "next rows in an index"),
    status("handler_read_prev", Rows, "previous rows in an index"),
    status("handler_read_first", Count, "first rows of an index"),
    status("handler_read_last", Count, "last rows of an index"),
    status("handler_read_rnd", Rows, "rows read by position"),
    status("handler_read_rnd_next", Rows, "rows read by scanning"),
    status("handler_icp_attempts", Rows, "index conditions checked"),
    status("handler_mrr_init", Count, "multi-range reads"),
    status("handler_write", Rows, "rows inserted, temporary ones too"),
    status("handler_update", Rows, "rows updated"),
    status("handler_delete", Rows, "rows deleted"),
    status("handler_tmp_write", Rows, "temporary rows inserted"),
    status("handler_commit", Count, "commits within the server"),
    status("handler_prepare", Count, "two-phase commits prepared"),
    status("handler_rollback", Count, "rollbacks within the server"),
    status(
        "handler_external_lock",
        Count,
        "tables locked for a statement",
    ),
    status("rows_read", Rows, "rows read"),
    status("rows_sent", Rows, "rows sent"),
    // What the statement itself takes.
    status("created_tmp_tables", Count, "temporary tables"),
    status("created_tmp_disk_tables", Count, "temporary tables on disk"),
    status("created_tmp_files", Count, "temporary files"),
    status("sort_rows", Rows, "rows sorted"),
    status("sort_merge_passes", Count, "merge passes of sorts"),
    status("select_scan", Count, "first tables scanned"),
    status("select_full_join", Count, "joins without an index"),
    status("opened_tables", Count, "tables opened"),
    status(
        "table_open_cache_misses",
        Count,
        "tables not in the table cache",
    ),
    status("threads_created", Count, "threads created"),
    status("qcache_hits", Count, "answers from the query cache"),
    status("qcache_inserts", Count, "answers kept in the query cache"),
    status("bytes_received", Bytes, "received from clients"),
    status("bytes_sent", Bytes, "sent to clients"),
    // InnoDB.
    status("innodb_rows_read", Rows, "rows read"),
    status("innodb_rows_inserted", Rows, "rows inserted"),
    status("innodb_rows_updated", Rows, "rows updated"),
    status("innodb_rows_deleted", Rows, "rows deleted"),
    status("innodb_buffer_pool_read_requests", Pages, "pages looked up"),
    status("innodb_buffer_pool_write_requests", Pages, "pages changed"),
    status("innodb_buffer_pool_reads", Pages, "pages waited for"),
    status("innodb_buffer_pool_read_ahead", Pages, "pages read ahead"),
    status("innodb_pages_read", Pages, "pages read"),
    status("innodb_pages_created", Pages, "pages created"),
    status("innodb_pages_written", Pages, "pages written"),
    status(
        "innodb_buffer_pool_pages_flushed",
        Pages,
        "changed pages flushed",
    ),
    status(
        "innodb_buffer_pool_wait_free",
        Count,
        "waits for a free page",
    ),
    status("innodb_dblwr_pages_written", Pages, "pages written twice"),
    status("innodb_data_reads", Count, "reads of data files"),
    status("innodb_data_read", Bytes, "read from data files"),
    status("innodb_data_writes", Count, "writes to all files"),
    status("innodb_data_written", Bytes, "written to all files"),
    status("innodb_data_fsyncs", Count, "fsyncs of all files"),
    status(
        "innodb_log_write_requests",
        Count,
        "entries of the redo log",
    ),
    status("innodb_log_writes", Count, "writes of the redo log"),
    status("innodb_os_log_written", Bytes, "redo log written"),
    status("innodb_os_log_fsyncs", Count, "fsyncs of the redo log"),
    status("innodb_log_waits", Count, "waits for the log buffer"),
    status("innodb_row_lock_waits", Count, "waits for row locks"),
    status("innodb_row_lock_time", Milliseconds, "waited for row locks"),
    status("innodb_deadlocks", Count, "deadlocks"),
    status("innodb_ibuf_merges", Count, "merges of the change buffer"),
    innodb(
        "adaptive_hash_searches",
        Count,
        "searches by the adaptive hash index",
    ),
    innodb(
        "adaptive_hash_searches_btree",
        Count,
        "searches down a B-tree",
    ),
    innodb(
        "innodb_rwlock_s_spin_rounds",
        Count,
        "spins for shared latches",
    ),
    innodb(
        "innodb_rwlock_sx_spin_rounds",
        Count,
        "spins for shared-exclusive latches",
    ),
    innodb(
        "innodb_rwlock_x_spin_rounds",
        Count,
        "spins for exclusive latches",
    ),
    innodb(
        "innodb_rwlock_s_os_waits",
        Count,
        "waits for shared latches",
    ),
    innodb(
        "innodb_rwlock_sx_os_waits",
        Count,
        "waits for shared-exclusive latches",
    ),
    innodb(
        "innodb_rwlock_x_os_waits",
        Count,
        "waits for exclusive latches",
    ),
    // MyISAM and Aria.
    status("key_read_requests", Pages, "index blocks looked up"),
    status("key_reads", Pages, "index blocks read"),
    status("key_write_requests", Pages, "index blocks changed"),
    status("key_writes", Pages, "index blocks written"),
    status(
        "aria_pagecache_read_requests",
        Pages,
        "Aria blocks looked up",
    ),
    status("aria_pagecache_reads", Pages, "Aria blocks read"),
    status(
        "aria_pagecache_write_requests",
        Pages,
        "Aria blocks changed",
    ),
    status("aria_pagecache_writes", Pages, "Aria blocks written"),
    status("aria_transaction_log_syncs", Count, "fsyncs of Aria's log"),
    status("table_locks_waited", Count, "waits for table locks"),
    // RocksDB.
    status("rocksdb_rows_read", Rows, "rows read"),
    status("rocksdb_rows_inserted", Rows, "rows inserted"),
    status("rocksdb_rows_updated", Rows, "rows updated"),
    status("rocksdb_rows_deleted", Rows, "rows deleted"),
    status(
        "rocksdb_block_cache_hit",
        Pages,
        "RocksDB blocks from the cache",
    ),
    status("rocksdb_block_cache_miss", Pages, "RocksDB blocks read"),
    status("rocksdb_number_db_seek", Count, "seeks"),
    status("rocksdb_number_db_next", Count, "steps to the next key"),
    status(
        "rocksdb_bloom_filter_useful",
        Count,
        "reads spared by bloom filters",
    ),
    status("rocksdb_compact_read_bytes", Bytes, "read by compaction"),
    status(
        "rocksdb_compact_write_bytes",
        Bytes,
        "written by compaction",
    ),
    status("rocksdb_flush_write_bytes", Bytes, "written by flushes"),
    status("rocksdb_wal_bytes", Bytes, "write-ahead log written"),
    status("rocksdb_wal_synced", Count, "fsyncs of the write-ahead log"),
    status(
        "rocksdb_stall_micros",
        Microseconds,
        "writes held up by compaction",
    ),
    // The binary log.
    status("binlog_bytes_written", Bytes, "binary log written"),
    status(
        "binlog_cache_disk_use",
        Count,
        "transactions larger than the binary log's cache",
    ),
];

/// Values that rise and fall, by source; a `*` stands for the rest of a name. All other values of a
/// server only grow while it runs.
const LEVELS: [(Source, &str); 86] = [
    (Source::Status, "acl_*"),
    (Source::Status, "aria_pagecache_blocks_*"),
    (Source::Status, "binlog_snapshot_position"),
    (Source::Status, "compression_level"),
    (Source::Status, "delayed_insert_threads"),
    (
        Source::Status,
        "deprecated_use_fk_on_non_standard_key_last_timestamp",
    ),
    (
        Source::Status,
        "deprecated_use_i_s_processlist_last_timestamp",
    ),
    (Source::Status, "error_log_buffered_*"),
    (Source::Status, "error_log_latest_write"),
    (Source::Status, "global_connection_memory"),
    (Source::Status, "innodb_async_reads_pending"),
    (Source::Status, "innodb_async_reads_queue_size"),
    (Source::Status, "innodb_async_reads_tasks_running"),
    (Source::Status, "innodb_async_writes_pending"),
    (Source::Status, "innodb_async_writes_queue_size"),
    (Source::Status, "innodb_async_writes_tasks_running"),
    (Source::Status, "innodb_available_undo_logs"),
    (Source::Status, "innodb_buffer_pool_bytes_*"),
    (Source::Status, "innodb_buffer_pool_pages_data"),
    (Source::Status, "innodb_buffer_pool_pages_dirty"),
    (Source::Status, "innodb_buffer_pool_pages_free"),
    (Source::Status, "innodb_buffer_pool_pages_latched"),
    (Source::Status, "innodb_buffer_pool_pages_misc"),
    (Source::Status, "innodb_buffer_pool_pages_old"),
    (Source::Status, "innodb_buffer_pool_pages_total"),
    (Source::Status, "innodb_buffer_pool_resize_status_*"),
    (Source::Status, "innodb_checkpoint_*"),
    (Source::Status, "innodb_data_pending_*"),
    (Source::Status, "innodb_encryption_rotation_estimated_iops"),
    (Source::Status, "innodb_history_list_length"),
    (Source::Status, "innodb_ibuf_free_list"),
    (Source::Status, "innodb_ibuf_segment_size"),
    (Source::Status, "innodb_ibuf_size"),
    (Source::Status, "innodb_mem_*"),
    (Source::Status, "innodb_num_open_files"),
    (Source::Status, "innodb_onlineddl_*"),
    (Source::Status, "innodb_os_log_pending_*"),
    (Source::Status, "innodb_page_size"),
    (Source::Status, "innodb_redo_log_capacity_resized"),
    (Source::Status, "innodb_redo_log_logical_size"),
    (Source::Status, "innodb_redo_log_physical_size"),
    (Source::Status, "innodb_redo_log_uuid"),
    (Source::Status, "innodb_row_lock_current_waits"),
    (Source::Status, "innodb_row_lock_time_avg"),
    (Source::Status, "innodb_row_lock_time_max"),
    (Source::Status, "innodb_undo_tablespaces_*"),
    (Source::Status, "key_blocks_*"),
    (Source::Status, "max_memory_used"),
    (Source::Status, "max_tmp_space_used"),
    (Source::Status, "max_used_connections"),
    (Source::Status, "memory_used*"),
    (Source::Status, "ndb_*"),
    (Source::Status, "not_flushed_delayed_rows"),
    (Source::Status, "ongoing_anonymous_transaction_count"),
    (Source::Status, "open_*"),
    (Source::Status, "prepared_stmt_count"),
    (Source::Status, "qcache_free_*"),
    (Source::Status, "qcache_queries_in_cache"),
    (Source::Status, "qcache_total_blocks"),
    (Source::Status, "replica_open_temp_tables"),
    (Source::Status, "rocksdb_manual_compactions_running"),
    (Source::Status, "rocksdb_memtable_total"),
    (Source::Status, "rocksdb_memtable_unflushed"),
    (Source::Status, "rpl_semi_sync_master_clients"),
    (Source::Status, "slave_open_temp_tables"),
    (Source::Status, "slaves_*"),
    (Source::Status, "stack_usage"),
    (Source::Status, "table_open_cache_active_instances"),
    (Source::Status, "tc_log_*"),
    (Source::Status, "threadpool_*"),
    (Source::Status, "threads_cached"),
    (Source::Status, "threads_connected"),
    (Source::Status, "threads_running"),
    (Source::Status, "tmp_space_used"),
    (Source::Innodb, "buffer_pool_bytes_*"),
    (Source::Innodb, "buffer_pool_pages_*"),
    (Source::Innodb, "buffer_pool_size"),
    (Source::Innodb, "file_num_open_files"),
    (Source::Innodb, "ibuf_size"),
    (Source::Innodb, "innodb_page_size"),
    (Source::Innodb, "lock_row_lock_current_waits"),
    (Source::Innodb, "lock_row_lock_time_*"),
    (Source::Innodb, "lock_threads_waiting"),
    (Source::Innodb, "os_log_pending_*"),
    (Source::Innodb, "os_pending_*"),
    (Source::Innodb, "trx_*"),
];

impl Counter {
    /// Facts of a server's own counter that explains the cost of an operation.
    pub fn explains(&self) -> Option<&'static StatusFacts> {
        EXPLAINING
            .iter()
            .find(|facts| facts.source == self.source && facts.name == self.name)
    }

    /// True where its values are levels, which rise and fall, and not counts that only grow.
    pub fn is_level(&self) -> bool {
        self.source.is_level()
            || LEVELS
                .iter()
                .any(|(source, pattern)| *source == self.source && fits(pattern, &self.name))
    }
}

/// True where a name is one that a pattern stands for.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_explains_is_named_once_and_no_level() {
        let names: BTreeSet<_> = EXPLAINING.iter().map(StatusFacts::counter).collect();
        assert_eq!(names.len(), EXPLAINING.len());
        for facts in &EXPLAINING {
            let counter = facts.counter();
            assert!(!counter.is_level(), "{counter}");
            assert_eq!(counter.explains(), Some(facts));
            assert_eq!(facts.name, facts.name.to_lowercase());
        }
    }

    #[test]
    fn levels_are_known_by_name_or_by_its_beginning() {
        let level = |source, name| Counter::new(source, name).is_level();
        assert!(level(Source::Status, "threads_connected"));
        assert!(!level(Source::Status, "threads_created"));
        assert!(level(Source::Status, "open_tables"));
        assert!(!level(Source::Status, "opened_tables"));
        assert!(level(Source::Innodb, "buffer_pool_pages_dirty"));
        assert!(!level(Source::Innodb, "buffer_pool_reads"));
        assert!(level(Source::Memory, "resident_bytes"));
        assert!(!level(Source::Process, "user_ns"));
        assert_eq!(Counter::new(Source::Status, "uptime").explains(), None);
    }
}
