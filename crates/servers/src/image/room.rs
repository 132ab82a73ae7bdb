//! The room that images take, and the room that there is.

use prony_host::{At, IoError, create_private};
use prony_model::{Column, ColumnType, Dataset, Engine, LoadMethod, Schema};

use super::{Images, RoomError};
use crate::config::render::Rendered;

impl Images<'_> {
    /// Free bytes of the cache's file system, as far as this user may use them.
    ///
    /// # Errors
    /// When the file system can't be asked.
    pub fn room(&self) -> Result<u64, IoError> {
        let folder = &self.roots.cache;
        create_private(folder)?;
        let facts = rustix::fs::statvfs(folder).at("look for room in", folder)?;
        Ok(facts.f_bavail.saturating_mul(facts.f_frsize))
    }

    /// Makes sure that there is room for `needed` bytes in the cache.
    ///
    /// # Errors
    /// When there is not. What can't be asked is taken for enough.
    pub fn check_room(&self, needed: u64) -> Result<(), RoomError> {
        match self.room() {
            Ok(free) if free < needed => Err(RoomError {
                folder: self.roots.cache.clone(),
                needed,
                free,
            }),
            _ => Ok(()),
        }
    }
}

const MIB: u64 = 1 << 20;

/// System tablespaces, dictionary, undo and doublewrite files of any version, logs excluded: 20 MiB
/// in 5.0, 158 MB in 8.0, 146 MB in 9.7 were seen after a load.
const BASE: u64 = 200 * MIB;
/// The largest redo log of a version that is left to its default: 100 MiB from 8.0.30 on.
const LARGEST_DEFAULT_LOG: u64 = 100 * MIB;
/// The log of PostgreSQL since 9.5 that is left to its default.
const LARGEST_DEFAULT_WAL: u64 = 1024 * MIB;
/// Bytes of a file of PostgreSQL's log.
const WAL_FILE: u64 = 16 * MIB;
/// Aria's log grows to this size before another file is begun, and the last one stays.
const ARIA_LOG: u64 = 1024 * MIB;
/// Bytes that a row adds to Aria's log.
const ARIA_LOG_ROW: u64 = 300;
/// Bytes of a row of PostgreSQL besides its values: its head, its place in the page, and padding.
const HEAP_ROW: u64 = 40;
/// Bytes of PostgreSQL's log besides what a load writes: the first files.
const HEAP_LOG: u64 = 64 * MIB;
/// Bytes of an entry of an index besides its columns, the key among them: half of it is room that trees
/// leave.
const INDEX_ENTRY: u64 = 46;
/// Bytes of a row in the binary log besides its values at most: lengths in row events, or quotes and
/// digits in statements.
const LOGGED_ROW: u64 = 50;

/// Bytes that the image of such a target takes at most, by what was seen after loads: rows of
/// sbtest with both indexes took 264 bytes in InnoDB, 210 in MyISAM, 219 in MyRocks and 234 in
/// Aria. A fifth is added to them, and the logs as they are configured.
pub fn image_size_estimate(engine: Engine, dataset: &Dataset, rendered: &Rendered) -> u64 {
    let mut rows = 0_u64;
    let mut bytes = 0_u64;
    for part in dataset.parts() {
        if part.is_in_image(engine) {
            let of_part = part.rows_of_part();
            rows = rows.saturating_add(of_part);
            let row = row_bytes(engine, part.schema, rendered);
            bytes = bytes.saturating_add(of_part.saturating_mul(row));
        }
    }
    let logs = match engine {
        Engine::Aria => rows.saturating_mul(ARIA_LOG_ROW).min(ARIA_LOG),
        _ => 0,
    };
    let redo = match engine {
        // Files of the log come as they are needed: a load writes no more than its rows.
        Engine::Heap => wal_bytes(rendered).min(bytes.saturating_add(HEAP_LOG)),
        _ => redo_bytes(rendered),
    };
    bytes.saturating_add(logs + redo + BASE)
}

/// Bytes by which a load by inserts makes a data directory larger at most: the rows twice, because
/// old versions copy a table to index it, and once more in the binary log if the server writes one.
/// 0 for loads in bulk.
pub fn load_growth_estimate(engine: Engine, dataset: &Dataset, rendered: &Rendered) -> u64 {
    if dataset.load != LoadMethod::Inserts {
        return 0;
    }
    let of_part = |part: &Dataset| {
        let in_tables = if engine.persistent() {
            2 * row_bytes(engine, part.schema, rendered)
        } else {
            0
        };
        let in_log = match value(rendered, "log-bin") {
            Some(_) => part.schema.row_bytes() + LOGGED_ROW,
            None => 0,
        };
        part.rows_of_part().saturating_mul(in_tables + in_log)
    };
    dataset.parts().iter().map(of_part).sum()
}

fn row_bytes(engine: Engine, schema: Schema, rendered: &Rendered) -> u64 {
    let values = schema.row_bytes();
    let columns = schema.definition().columns.iter();
    let room = |kind: ColumnType| u64::from(kind.characters().unwrap_or(8));
    let in_indexes: u64 = (schema.indexes.iter())
        .flat_map(|index| &index.columns)
        .filter_map(|name| schema.column(name))
        .map(Column::value_bytes)
        .sum();
    // Each index has the key, too, and what an engine adds.
    let indexes = in_indexes + (1 + schema.indexes.len() as u64) * INDEX_ENTRY;
    match engine {
        Engine::Innodb => values + values / 5 + indexes,
        Engine::Rocksdb => values + values / 10 + indexes,
        // Texts have their length in front; a character has one byte, or in UTF-8 up to four.
        Engine::Heap => {
            let texts = schema.texts().map(|column| 4 + room(column.kind));
            let bytes = match value(rendered, "initdb:--encoding") {
                Some("UTF8") => 4,
                _ => 1,
            };
            values.max(texts.sum::<u64>() * bytes) + HEAP_ROW + indexes
        }
        // Rows of a fixed length, with room for the longest form of each character.
        _ => {
            let texts: u64 = schema.texts().map(|column| room(column.kind)).sum();
            let numbers = 8 * columns.filter(|column| column.kind.is_number()).count() as u64;
            numbers + texts * character_bytes(rendered) + indexes
        }
    }
}

/// Bytes of the longest character.
fn character_bytes(rendered: &Rendered) -> u64 {
    match value(rendered, "character-set-server") {
        // Without the option the version decides; those since 8.0 and 11.6 have utf8mb4.
        Some("utf8mb4") | None => 4,
        Some("utf8" | "utf8mb3") => 3,
        Some(_) => 1,
    }
}

/// Bytes of PostgreSQL's log at most, as it is configured.
///
/// <https://www.postgresql.org/docs/18/wal-configuration.html>, and of 9.3 for `checkpoint_segments`: normally
/// no more than three files for each segment, and one.
fn wal_bytes(rendered: &Rendered) -> u64 {
    let size = value(rendered, "max_wal_size").and_then(size_of_wal);
    let segments = value(rendered, "checkpoint_segments").and_then(|text| text.parse::<u64>().ok());
    let segments = segments.map(|files| {
        files
            .saturating_mul(3)
            .saturating_add(1)
            .saturating_mul(WAL_FILE)
    });
    size.or(segments).unwrap_or(LARGEST_DEFAULT_WAL)
}

/// Bytes of `max_wal_size`. A number without a unit counts megabytes from 10 on, and files before: the larger is
/// taken. <https://www.postgresql.org/docs/18/config-setting.html>
fn size_of_wal(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let unit = match text[digits.len()..].trim() {
        "" => WAL_FILE,
        "B" => 1,
        "kB" => 1 << 10,
        "MB" => MIB,
        "GB" => MIB << 10,
        "TB" => MIB << 20,
        _ => return None,
    };
    let number: u64 = digits.trim().parse().ok()?;
    Some(number.saturating_mul(unit))
}

/// Bytes of InnoDB's redo log as it is configured.
fn redo_bytes(rendered: &Rendered) -> u64 {
    let number = |name| value(rendered, name).and_then(|text| text.parse::<u64>().ok());
    let files = number("innodb_log_files_in_group").unwrap_or(1);
    let size = number("innodb_log_file_size").map(|size| size.saturating_mul(files));
    let configured = size.max(number("innodb_redo_log_capacity"));
    configured.unwrap_or(LARGEST_DEFAULT_LOG)
}

/// The last value that an option is given, as the server takes it.
fn value<'a>(rendered: &'a Rendered, name: &str) -> Option<&'a str> {
    let bare = |name: &str| name.replace('-', "_");
    let mut options = rendered.options.iter().rev();
    let option = options.find(|option| bare(&option.name) == bare(name))?;
    option.value.as_deref()
}

#[cfg(test)]
mod tests {
    use prony_model::{Baseline, Config, IntentValue};

    use super::*;
    use crate::build::catalogue::Catalogue;
    use crate::config::intents::Wanted;

    fn estimate(build: &str, engine: Engine, rows: u64) -> u64 {
        estimate_of(build, engine, rows, &Config::default())
    }

    fn estimate_of(build: &str, engine: Engine, rows: u64, config: &Config) -> u64 {
        let catalogue = Catalogue::embedded().unwrap();
        let facts = catalogue.get(build).unwrap().facts();
        let wanted = Wanted::over_socket(engine, config, 4);
        let rendered = catalogue.render(&facts, wanted).unwrap();
        image_size_estimate(engine, &Dataset::sbtest(1, rows, 1), &rendered)
    }

    /// Sizes of data directories that were seen after loading 524288 rows and settling.
    #[test]
    fn estimates_are_above_what_was_seen_and_not_far() {
        for (build, engine, seen) in [
            ("mysql-5.0.21", Engine::Innodb, 258_538_691),
            ("mysql-8.0.31", Engine::Innodb, 392_446_695),
            ("mariadb-10.11", Engine::Myisam, 240_299_374),
            ("mariadb-10.11", Engine::Rocksdb, 245_434_946),
            ("mariadb-10.11", Engine::Aria, 398_539_116),
            ("postgresql-18.6", Engine::Heap, 337_200_000),
        ] {
            let estimate = estimate(build, engine, 524_288);
            assert!(estimate > seen, "{build} {engine}: {estimate} < {seen}");
            assert!(
                estimate < 2 * seen,
                "{build} {engine}: {estimate} of {seen}"
            );
        }
    }

    #[test]
    fn the_log_of_postgresql_is_as_large_as_it_is_configured() {
        let catalogue = Catalogue::embedded().unwrap();
        let wal = |id: &str, config: &Config| {
            let facts = catalogue.get(id).unwrap().facts();
            let wanted = Wanted::over_socket(Engine::Heap, config, 4);
            wal_bytes(&catalogue.render(&facts, wanted).unwrap()) / MIB
        };
        let mut config = Config::default();
        let log = IntentValue::Bytes(512 * MIB);
        config.intents.insert("redo_log".to_owned(), log);
        // 32 segments between two checkpoints.
        assert_eq!(wal("postgresql-9.3.5", &config), 97 * 16);
        assert_eq!(wal("postgresql-18.6", &config), 987);
        for (text, expected) in [("2GB", 2048), ("300", 4800), ("4096 kB", 4), ("much", 1024)] {
            let mut raw = Config::default();
            raw.raw.insert("max_wal_size".to_owned(), text.to_owned());
            assert_eq!(wal("postgresql-18.6", &raw), expected, "{text}");
        }
    }

    #[test]
    fn a_load_by_inserts_takes_room_in_trials_and_not_in_images() {
        let catalogue = Catalogue::embedded().unwrap();
        let facts = catalogue.get("mysql-8.0.31").unwrap().facts();
        let bulk = Dataset::sbtest(2, 500_000, 1);
        let inserts = Dataset {
            load: LoadMethod::Inserts,
            ..bulk
        };
        let estimates = |dataset, engine, log| {
            let mut config = Config::default();
            config
                .intents
                .insert("binlog".to_owned(), IntentValue::Flag(log));
            let wanted = Wanted::over_socket(engine, &config, 4);
            let rendered = catalogue.render(&facts, wanted).unwrap();
            (
                image_size_estimate(engine, &dataset, &rendered),
                load_growth_estimate(engine, &dataset, &rendered),
            )
        };
        let empty = 296 * MIB;
        let log = 236_000_000;
        for (dataset, engine, with_log, expected) in [
            (bulk, Engine::Innodb, true, (empty + 319_000_000, 0)),
            (inserts, Engine::Innodb, false, (empty, 638_000_000)),
            (inserts, Engine::Innodb, true, (empty, 638_000_000 + log)),
            (inserts, Engine::Memory, true, (empty, log)),
        ] {
            assert_eq!(estimates(dataset, engine, with_log), expected, "{engine}");
        }
    }

    #[test]
    fn rows_of_tables_in_memory_are_in_no_image() {
        let few = estimate("mysql-9.7", Engine::Memory, 1);
        assert_eq!(estimate("mysql-9.7", Engine::Memory, 1_000_000), few);
        assert_eq!(few, BASE + 96 * MIB, "the redo log is configured");
    }

    #[test]
    fn settings_that_a_version_ships_are_estimated_at_their_largest() {
        let shipped = Config {
            baseline: Baseline::Shipped,
            ..Config::default()
        };
        let rows = 524_288;
        let common = estimate("mysql-9.7", Engine::Myisam, rows);
        let more = estimate_of("mysql-9.7", Engine::Myisam, rows, &shipped) - common;
        assert_eq!(more, rows * 180 * 3 + 4 * MIB);
    }
}
