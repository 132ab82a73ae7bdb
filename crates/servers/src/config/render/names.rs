//! Names of options, as servers take them, and those that are not for experiments to set.

use prony_model::Family;

/// Options of MySQL and MariaDB that an instance sets itself, or that would move its files out of its
/// folder, in the form of [`bare_name`]; their beginnings are reserved as well.
const RESERVED: [&str; 27] = [
    "aria_log_dir_path",
    "basedir",
    "bind_address",
    "bootstrap",
    "character_sets_dir",
    "datadir",
    "defaults_file",
    "initialize_insecure",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
    "language",
    "lc_messages_dir",
    "log_error",
    "name_resolve",
    "networking",
    "pid_file",
    "plugin_dir",
    "port",
    "rocksdb_datadir",
    "rocksdb_wal_dir",
    "socket",
    "ssl_capath",
    "ssl_cert",
    "ssl_key",
    "tmpdir",
    "user",
];
/// The same of PostgreSQL, whose names can't be shortened; those that move the log, those that read other
/// files, and those that put shared memory where it outlives a killed server.
const RESERVED_POSTGRESQL: [&str; 26] = [
    "config_file",
    "data_directory",
    "dynamic_shared_memory_type",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "include",
    "include_dir",
    "include_if_exists",
    "listen_addresses",
    "log_destination",
    "log_directory",
    "log_filename",
    "logging_collector",
    "port",
    "shared_memory_type",
    "ssl",
    "ssl_ca_file",
    "ssl_cert_file",
    "ssl_crl_dir",
    "ssl_crl_file",
    "ssl_key_file",
    "stats_temp_directory",
    "unix_socket_directories",
    "unix_socket_group",
    "unix_socket_permissions",
];
/// Options of their own that reserved names begin with.
const WHOLE: [&str; 5] = ["aria", "innodb", "log", "rocksdb", "ssl"];
/// Prefixes of the name of an option that servers take: manual, "Program Option Modifiers".
const PREFIXES: [&str; 5] = ["loose_", "skip_", "enable_", "disable_", "maximum_"];

/// Servers take `-` and `_` for each other, ignore the case, and put up with a `loose-` in front.
pub(super) fn normal_name(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('-', "_");
    name.strip_prefix("loose_").unwrap_or(&name).to_owned()
}

/// True for a name of an option that is not for experiments to set. Servers take the beginning
/// of a name for the whole of it where that is unambiguous.
pub(super) fn is_reserved(name: &str, family: Family) -> bool {
    if family == Family::Postgresql {
        return RESERVED_POSTGRESQL.contains(&normal_name(name).as_str());
    }
    let bare = bare_name(name);
    let mut reserved = RESERVED.iter();
    !WHOLE.contains(&bare.as_str()) && reserved.any(|one| one.starts_with(&bare))
}

/// The name without anything that servers take in front of it.
pub(super) fn bare_name(name: &str) -> String {
    let normal = normal_name(name);
    let mut bare = normal.as_str();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| bare.strip_prefix(prefix)) {
        bare = rest;
    }
    bare.to_owned()
}
