//! Facts of the counters that servers keep of themselves, by their own names.

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
    /// Its source: [`Source::Status`], [`Source::Innodb`] or [`Source::Postgres`].
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

/// Makes the table: of each counter its source, name, unit, and what that is.
macro_rules! explaining {
    ($($source:ident $name:ident $(.$part:ident)* $unit:ident $what:literal,)*) => {
        &[$(StatusFacts {
            source: Source::$source,
            name: concat!(stringify!($name) $(, ".", stringify!($part))*),
            unit: StatusUnit::$unit,
            what: $what,
        },)*]
    };
}

/// The counters that explain what an operation costs, in the order in which they are shown. None of
/// them is a level. Which of them a server has, and which of them its engine moves, differs; where
/// InnoDB tells the same twice, it is here as a status variable only.
pub const EXPLAINING: &[StatusFacts] = explaining! {
    // What the layer above the engine asks of it.
    Status handler_read_key Count "index lookups",
    Status handler_read_next Rows "next rows in an index",
    Status handler_read_prev Rows "previous rows in an index",
    Status handler_read_first Count "first rows of an index",
    Status handler_read_last Count "last rows of an index",
    Status handler_read_rnd Rows "rows read by position",
    Status handler_read_rnd_next Rows "rows read by scanning",
    Status handler_icp_attempts Rows "index conditions checked",
    Status handler_mrr_init Count "multi-range reads",
    Status handler_write Rows "rows inserted, temporary ones too",
    Status handler_update Rows "rows updated",
    Status handler_delete Rows "rows deleted",
    Status handler_tmp_write Rows "temporary rows inserted",
    Status handler_commit Count "commits within the server",
    Status handler_prepare Count "two-phase commits prepared",
    Status handler_rollback Count "rollbacks within the server",
    Status handler_external_lock Count "tables locked for a statement",
    Status rows_read Rows "rows read",
    Status rows_sent Rows "rows sent",
    // What the statement itself takes.
    Status created_tmp_tables Count "temporary tables",
    Status created_tmp_disk_tables Count "temporary tables on disk",
    Status created_tmp_files Count "temporary files",
    Status sort_rows Rows "rows sorted",
    Status sort_merge_passes Count "merge passes of sorts",
    Status select_scan Count "first tables scanned",
    Status select_full_join Count "joins without an index",
    Status opened_tables Count "tables opened",
    Status table_open_cache_misses Count "tables not in the table cache",
    Status threads_created Count "threads created",
    Status qcache_hits Count "answers from the query cache",
    Status qcache_inserts Count "answers kept in the query cache",
    Status bytes_received Bytes "received from clients",
    Status bytes_sent Bytes "sent to clients",
    // InnoDB.
    Status innodb_rows_read Rows "rows read",
    Status innodb_rows_inserted Rows "rows inserted",
    Status innodb_rows_updated Rows "rows updated",
    Status innodb_rows_deleted Rows "rows deleted",
    Status innodb_buffer_pool_read_requests Pages "pages looked up",
    Status innodb_buffer_pool_write_requests Pages "pages changed",
    Status innodb_buffer_pool_reads Pages "pages waited for",
    Status innodb_buffer_pool_read_ahead Pages "pages read ahead",
    Status innodb_pages_read Pages "pages read",
    Status innodb_pages_created Pages "pages created",
    Status innodb_pages_written Pages "pages written",
    Status innodb_buffer_pool_pages_flushed Pages "changed pages flushed",
    Status innodb_buffer_pool_wait_free Count "waits for a free page",
    Status innodb_dblwr_pages_written Pages "pages written twice",
    Status innodb_data_reads Count "reads of data files",
    Status innodb_data_read Bytes "read from data files",
    Status innodb_data_writes Count "writes to all files",
    Status innodb_data_written Bytes "written to all files",
    Status innodb_data_fsyncs Count "fsyncs of all files",
    Status innodb_log_write_requests Count "entries of the redo log",
    Status innodb_log_writes Count "writes of the redo log",
    Status innodb_os_log_written Bytes "redo log written",
    Status innodb_os_log_fsyncs Count "fsyncs of the redo log",
    Status innodb_log_waits Count "waits for the log buffer",
    Status innodb_row_lock_waits Count "waits for row locks",
    Status innodb_row_lock_time Milliseconds "waited for row locks",
    Status innodb_deadlocks Count "deadlocks",
    Status innodb_ibuf_merges Count "merges of the change buffer",
    Innodb adaptive_hash_searches Count "searches by the adaptive hash index",
    Innodb adaptive_hash_searches_btree Count "searches down a B-tree",
    Innodb innodb_rwlock_s_spin_rounds Count "spins for shared latches",
    Innodb innodb_rwlock_sx_spin_rounds Count "spins for shared-exclusive latches",
    Innodb innodb_rwlock_x_spin_rounds Count "spins for exclusive latches",
    Innodb innodb_rwlock_s_os_waits Count "waits for shared latches",
    Innodb innodb_rwlock_sx_os_waits Count "waits for shared-exclusive latches",
    Innodb innodb_rwlock_x_os_waits Count "waits for exclusive latches",
    // MyISAM and Aria.
    Status key_read_requests Pages "index blocks looked up",
    Status key_reads Pages "index blocks read",
    Status key_write_requests Pages "index blocks changed",
    Status key_writes Pages "index blocks written",
    Status aria_pagecache_read_requests Pages "Aria blocks looked up",
    Status aria_pagecache_reads Pages "Aria blocks read",
    Status aria_pagecache_write_requests Pages "Aria blocks changed",
    Status aria_pagecache_writes Pages "Aria blocks written",
    Status aria_transaction_log_syncs Count "fsyncs of Aria's log",
    Status table_locks_waited Count "waits for table locks",
    // RocksDB.
    Status rocksdb_rows_read Rows "rows read",
    Status rocksdb_rows_inserted Rows "rows inserted",
    Status rocksdb_rows_updated Rows "rows updated",
    Status rocksdb_rows_deleted Rows "rows deleted",
    Status rocksdb_block_cache_hit Pages "RocksDB blocks from the cache",
    Status rocksdb_block_cache_miss Pages "RocksDB blocks read",
    Status rocksdb_number_db_seek Count "seeks",
    Status rocksdb_number_db_next Count "steps to the next key",
    Status rocksdb_bloom_filter_useful Count "reads spared by bloom filters",
    Status rocksdb_compact_read_bytes Bytes "read by compaction",
    Status rocksdb_compact_write_bytes Bytes "written by compaction",
    Status rocksdb_flush_write_bytes Bytes "written by flushes",
    Status rocksdb_wal_bytes Bytes "write-ahead log written",
    Status rocksdb_wal_synced Count "fsyncs of the write-ahead log",
    Status rocksdb_stall_micros Microseconds "writes held up by compaction",
    // The binary log.
    Status binlog_bytes_written Bytes "binary log written",
    Status binlog_cache_disk_use Count "transactions larger than the binary log's cache",
    // PostgreSQL.
    Postgres database.xact_commit Count "transactions committed",
    Postgres database.xact_rollback Count "transactions rolled back",
    Postgres tables.idx_scan Count "index scans",
    Postgres indexes.idx_tup_read Rows "entries read from indexes",
    Postgres tables.idx_tup_fetch Rows "rows fetched by indexes",
    Postgres tables.seq_scan Count "tables scanned",
    Postgres tables.seq_tup_read Rows "rows read by scanning",
    Postgres tables.n_tup_ins Rows "rows inserted",
    Postgres tables.n_tup_upd Rows "rows updated",
    Postgres tables.n_tup_hot_upd Rows "rows updated without their indexes",
    Postgres tables.n_tup_del Rows "rows deleted",
    Postgres tables.heap_blks_hit Pages "pages of tables found in memory",
    Postgres tables.heap_blks_read Pages "pages of tables read",
    Postgres tables.idx_blks_hit Pages "pages of indexes found in memory",
    Postgres tables.idx_blks_read Pages "pages of indexes read",
    Postgres database.temp_files Count "temporary files",
    Postgres database.temp_bytes Bytes "temporary files written",
    Postgres database.deadlocks Count "deadlocks",
    Postgres wal.insert_bytes Bytes "WAL inserted",
    Postgres wal.wal_records Count "WAL records",
    Postgres wal.wal_fpi Pages "whole pages in WAL",
    Postgres bgwriter.buffers_checkpoint Pages "pages written by checkpoints",
    Postgres checkpointer.buffers_written Pages "pages written by checkpoints",
    Postgres bgwriter.buffers_clean Pages "pages written in the background",
    Postgres bgwriter.buffers_backend Pages "pages written by sessions",
    Postgres tables.vacuum_count Count "vacuums",
    Postgres tables.autovacuum_count Count "vacuums by the server itself",
};

/// Values of [`Source::Status`] that rise and fall, separated by spaces; a `*` stands for the rest of
/// a name. All other values of a server only grow while it runs.
const STATUS_LEVELS: &str = "\
    acl_* aria_pagecache_blocks_* binlog_snapshot_position compression_level \
    delayed_insert_threads deprecated_use_fk_on_non_standard_key_last_timestamp \
    deprecated_use_i_s_processlist_last_timestamp error_log_buffered_* error_log_latest_write \
    global_connection_memory innodb_async_reads_pending innodb_async_reads_queue_size \
    innodb_async_reads_tasks_running innodb_async_writes_pending innodb_async_writes_queue_size \
    innodb_async_writes_tasks_running innodb_available_undo_logs innodb_buffer_pool_bytes_* \
    innodb_buffer_pool_pages_data innodb_buffer_pool_pages_dirty innodb_buffer_pool_pages_free \
    innodb_buffer_pool_pages_latched innodb_buffer_pool_pages_misc innodb_buffer_pool_pages_old \
    innodb_buffer_pool_pages_total innodb_buffer_pool_resize_status_* innodb_checkpoint_* \
    innodb_data_pending_* innodb_encryption_rotation_estimated_iops innodb_history_list_length \
    innodb_ibuf_free_list innodb_ibuf_segment_size innodb_ibuf_size innodb_mem_* \
    innodb_num_open_files innodb_onlineddl_* innodb_os_log_pending_* innodb_page_size \
    innodb_redo_log_capacity_resized innodb_redo_log_logical_size innodb_redo_log_physical_size \
    innodb_redo_log_uuid innodb_row_lock_current_waits innodb_row_lock_time_avg \
    innodb_row_lock_time_max innodb_undo_tablespaces_* key_blocks_* max_memory_used \
    max_tmp_space_used max_used_connections memory_used* ndb_* not_flushed_delayed_rows \
    ongoing_anonymous_transaction_count open_* prepared_stmt_count qcache_free_* \
    qcache_queries_in_cache qcache_total_blocks replica_open_temp_tables \
    rocksdb_manual_compactions_running rocksdb_memtable_total rocksdb_memtable_unflushed \
    rpl_semi_sync_master_clients slave_open_temp_tables slaves_* stack_usage \
    table_open_cache_active_instances tc_log_* threadpool_* threads_cached threads_connected \
    threads_running tmp_space_used";

/// The same of [`Source::Innodb`].
const INNODB_LEVELS: &str = "\
    buffer_pool_bytes_* buffer_pool_pages_* buffer_pool_size file_num_open_files ibuf_size \
    innodb_page_size lock_row_lock_current_waits lock_row_lock_time_* lock_threads_waiting \
    os_log_pending_* os_pending_* trx_*";

/// The same of [`Source::Postgres`].
const POSTGRES_LEVELS: &str = "\
    database.numbackends io.relation.op_bytes io.temp_relation.op_bytes \
    tables.n_dead_tup tables.n_ins_since_vacuum tables.n_live_tup tables.n_mod_since_analyze";

impl Counter {
    /// Facts of a server's own counter that explains the cost of an operation.
    pub fn explains(&self) -> Option<&'static StatusFacts> {
        EXPLAINING
            .iter()
            .find(|facts| facts.source == self.source && facts.name == self.name)
    }

    /// True where its values are levels, which rise and fall, and not counts that only grow.
    pub fn is_level(&self) -> bool {
        let levels = match self.source {
            Source::Status => STATUS_LEVELS,
            Source::Innodb => INNODB_LEVELS,
            Source::Postgres => POSTGRES_LEVELS,
            source => return source.is_level(),
        };
        let mut patterns = levels.split_ascii_whitespace();
        patterns.any(|pattern| fits(pattern, &self.name))
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
        for facts in EXPLAINING {
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
        assert!(level(Source::Postgres, "tables.n_dead_tup"));
        assert!(!level(Source::Postgres, "tables.n_tup_upd"));
        assert!(level(Source::Memory, "resident_bytes"));
        assert!(!level(Source::Process, "user_ns"));
        assert_eq!(Counter::new(Source::Status, "uptime").explains(), None);
    }
}
