//! What is said of wrong matrices, transports, allowances and external servers.

use super::messages::{RIGHT_TARGETS, changed, check};
use super::{World, golden};

/// Checks the message of an experiment whose first target has a matrix.
fn check_matrix(name: &str, matrix: &str) {
    check(
        name,
        "build = \"mysql-5.0.21\"\n",
        &format!("build = \"mysql-5.0.21\"\nmatrix = {{ {matrix} }}\n"),
    );
}

/// Checks the message of an experiment with an external server in place of its second target.
fn check_external(name: &str, target: &str, server: &str) {
    check(
        name,
        "build = \"mysql-5.7.22\"\n",
        &format!("{target}\n[target.external]\n{server}\n"),
    );
}

const NAMED: &str = "name = \"copy\"";
const ADDRESS: &str = "address = \"127.0.0.1:3306\"\nuser = \"bench\"\n";

#[test]
fn matrices() {
    check_matrix("matrix-unknown-key", "perfomance_schema = [true, false]");
    check_matrix("matrix-no-list", "binlog = true");
    check_matrix("matrix-no-value", "binlog = []");
    check_matrix("matrix-without-keys", "");
    check_matrix(
        "matrix-value-twice",
        "buffer_pool = [\"1G\", \"2G\", \"1024M\"]",
    );
    check_matrix("matrix-wrong-kind", "performance_schema = [true, \"off\"]");
    check_matrix("matrix-unknown-build", "build = [\"mysql-5.7.2\"]");
    check_matrix("matrix-option-with-dashes", "options.--x = [1, 2]");
}

#[test]
fn matrix_and_single_value() {
    check(
        "matrix-and-config",
        "config = { buffer_pool",
        "matrix = { binlog = [true, false] }\nconfig = { buffer_pool",
    );
    check_matrix("matrix-and-build", "build = [\"mysql-5.7.22\"]");
}

#[test]
fn matrix_in_the_wrong_place() {
    check(
        "matrix-at-the-top",
        "clients = [1, 4]",
        "clients = [1, 4]\nmatrix.binlog = [true, false]",
    );
    check(
        "matrix-of-builds-in-the-defaults",
        "[defaults]",
        "[defaults]\nmatrix.build = [\"mysql-5.7.22\"]",
    );
}

#[test]
fn matrix_engine_that_a_build_lacks() {
    check(
        "matrix-engine-that-a-build-lacks",
        RIGHT_TARGETS,
        "[[target]]\n[target.matrix]\nbuild = [\"mysql-5.7.22\", \"mariadb-10.11\"]\nengine = [\"innodb\", \"aria\"]\n",
    );
}

#[test]
fn settings_that_a_version_cannot_have() {
    check(
        "refused-in-the-defaults",
        "binlog = false",
        "performance_schema = true",
    );
    check_matrix(
        "refused-in-a-matrix",
        "performance_schema = [false, true], protocol = [\"text\", \"prepared\"]",
    );
    check(
        "refused-option",
        "[defaults]",
        "[defaults]\noptions.datadir = \"/tmp\"",
    );
}

#[test]
fn too_many_targets() {
    let sizes: Vec<_> = (1..=40).map(|n| format!("\"{n}M\"")).collect();
    let sizes = sizes.join(", ");
    check_matrix(
        "matrix-too-large",
        &format!(
            "protocol = [\"text\", \"prepared\"], binlog = [true, false],\n innodb_thread_concurrency = [0, 64], buffer_pool = [{sizes}]"
        ),
    );
}

#[test]
fn ambiguous_base_in_a_matrix() {
    let text = changed(
        "build = \"mysql-5.0.21\"\n",
        "build = \"mysql-5.0.21\"\nmatrix.protocol = [\"text\", \"prepared\"]\n",
    );
    golden(
        "matrix-ambiguous-base",
        &World::new().parse(&text).unwrap_err(),
    );
    let text = text.replace("base = \"mysql-5.0\"", "base = \"mysql-5.0.21-texts\"");
    golden("matrix-base", &World::new().parse(&text).unwrap_err());
}

#[test]
fn names_that_a_matrix_makes_alike() {
    check_matrix("matrix-names-alike", "options.x = [\"a b\", \"a,b\"]");
}

#[test]
fn transports_and_allowances() {
    check(
        "unknown-transport",
        "[defaults]",
        "[defaults]\ntransport = \"udp\"",
    );
    check(
        "allow-no-list",
        "blocks = 3",
        "blocks = 3\nallow = \"innodb_io_capacity\"",
    );
    check(
        "allow-no-name",
        "blocks = 3",
        "blocks = 3\nallow = [\"innodb io capacity\"]",
    );
    check(
        "allow-twice",
        "blocks = 3",
        "blocks = 3\nallow = [\"innodb_io_capacity\", \"innodb-io-capacity\"]",
    );
}

#[test]
fn external_without_its_parts() {
    check_external("external-without-name", "", ADDRESS);
    check_external("external-without-address", NAMED, "user = \"bench\"");
    check_external(
        "external-unknown-key",
        NAMED,
        &format!("{ADDRESS}host = \"here\""),
    );
}

#[test]
fn external_addresses() {
    for (name, address) in [
        ("external-elsewhere", "192.168.1.7:3306"),
        ("external-host-name", "localhost:3306"),
        ("external-without-port", "127.0.0.1"),
        ("external-port-zero", "127.0.0.1:0"),
        ("external-relative-socket", "run/mysqld.sock"),
    ] {
        let server = format!("address = \"{address}\"\nuser = \"bench\"");
        check_external(name, NAMED, &server);
    }
    let long = format!("address = \"/{}\"\nuser = \"bench\"", "x".repeat(107));
    check_external("external-long-socket", NAMED, &long);
}

#[test]
fn external_and_what_only_a_started_server_has() {
    check_external(
        "external-and-build",
        &format!("{NAMED}\nbuild = \"mysql-5.7.22\""),
        ADDRESS,
    );
    check_external(
        "external-and-settings",
        &format!(
            "{NAMED}\nconfig.binlog = false\noptions.x = 1\ntransport = \"tcp\"\nmatrix.charset = [\"latin1\"]"
        ),
        ADDRESS,
    );
}

#[test]
fn external_passwords_are_not_shown() {
    check_external(
        "external-password",
        NAMED,
        &format!("{ADDRESS}password = \"geheim\""),
    );
    check_external(
        "external-password-misspelt",
        NAMED,
        &format!("{ADDRESS}passwort = \"geheim\""),
    );
    check_external(
        "external-password-as-variable",
        NAMED,
        &format!("{ADDRESS}password_env = \"geh-eim\""),
    );
    check_external(
        "external-password-twice",
        NAMED,
        &format!("{ADDRESS}password_env = \"A\"\npassword_file = \"a\""),
    );
}

#[test]
fn external_databases_and_encryption() {
    for (name, more) in [
        ("external-system-database", "database = \"MySQL\""),
        ("external-bad-database", "database = \"a`b\""),
        ("external-bad-version", "version = \"8.0.31-log\""),
        ("external-unknown-family", "family = \"maria\""),
        ("external-unknown-tls", "tls = \"on\""),
        ("external-tls-without-ca", "tls = \"verify-full\""),
        (
            "external-ca-without-tls",
            "tls = \"required\"\nca = \"ca.pem\"",
        ),
    ] {
        check_external(name, NAMED, &format!("{ADDRESS}{more}"));
    }
    check_external(
        "external-name-of-a-socket",
        NAMED,
        "address = \"/run/x.sock\"\nuser = \"bench\"\ntls = \"verify-full\"\nca = \"ca.pem\"",
    );
}
