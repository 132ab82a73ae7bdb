//! Messages about wrong matrices, transports, allowances and external servers.

use prony_model::{BuildFacts, Engine, Family, Version};

use super::messages::{RIGHT_TARGETS, changed, check};
use super::{World, assert_says, golden};

/// Checks the message of an experiment whose first target has a matrix.
#[track_caller]
fn check_matrix(matrix: &str, expected: &str) {
    check(
        "build = \"mysql-5.0.21\"\n",
        &format!("build = \"mysql-5.0.21\"\nmatrix = {{ {matrix} }}\n"),
        expected,
    );
}

/// An experiment with an external server in place of its second target.
fn with_external(target: &str, server: &str) -> String {
    changed(
        "build = \"mysql-5.7.22\"\n",
        &format!("{target}\n[target.external]\n{server}\n"),
    )
}

/// Checks the message of an experiment with an external server in place of its second target.
#[track_caller]
fn check_external(target: &str, server: &str, expected: &str) {
    let invalid = World::new()
        .parse(&with_external(target, server))
        .unwrap_err();
    assert_says(&invalid, expected);
}

const NAMED: &str = r#"name = "copy""#;
const ADDRESS: &str = "address = \"127.0.0.1:3306\"\nuser = \"bench\"\n";

#[test]
fn preloads() {
    let check = |libraries: &str, expected: &str| {
        check(
            "build = \"mysql-5.0.21\"\n",
            &format!("build = \"mysql-5.0.21\"\npreload = {libraries}\n"),
            expected,
        );
    };
    check(
        r#"["missing.so"]"#,
        r#"a library can't be preloaded: open /experiments/missing.so: no such file
           | preload = [«"missing.so"»] asked for here
           | write the path of a shared library; a relative one starts from the folder of this
           file"#,
    );
    check(
        r#"["a b.so"]"#,
        r#"/experiments/a b.so can't be preloaded
           | preload = [«"a b.so"»] empty, or with a space or colon in its path
           | give the library another name, or copy it into another folder"#,
    );
    check(
        r#"["a/x.so", "b/x.so"]"#,
        r#"`preload` has x.so (sha256 digest-of-x.) twice
           | preload = [«"a/x.so"», "b/x.so"] first here
           | preload = ["a/x.so", «"b/x.so"»] here again
           | a process loads a library once: remove one"#,
    );
    check(
        r#""x.so""#,
        r#"`preload` must be a list | preload = «"x.so"» this is a text"#,
    );
    check_external(
        "name = \"copy\"\npreload = [\"x.so\"]",
        ADDRESS,
        r#"`preload` can't be set: Prony does not start this server
           | preload = «["x.so"]» decided by whoever starts the server
           | an external target can set `engine`, `protocol`, `collect` and `placement`"#,
    );
}

#[test]
fn matrices() {
    check_matrix(
        "perfomance_schema = [true, false]",
        "unknown key `perfomance_schema` in a matrix
         | matrix = { «perfomance_schema» = [true, false] } neither an intent nor a key of a
         target
         | did you mean `performance_schema`? known keys: build, … options of one server go into
         `options` inside the matrix",
    );
    check_matrix(
        "binlog = true",
        "`binlog` must be a list | matrix = { binlog = «true» } this is a flag",
    );
    check_matrix(
        "binlog = []",
        "`binlog` must not be empty | matrix = { binlog = «[]» } no value",
    );
    check_matrix(
        "",
        "`matrix` must not be empty | matrix = «{ }» nothing varies",
    );
    check_matrix(
        r#"buffer_pool = ["1G", "2G", "1024M"]"#,
        r#"`buffer_pool` has 1G twice
           | matrix = { buffer_pool = [«"1G"», "2G", "1024M"] } first here
           | matrix = { buffer_pool = ["1G", "2G", «"1024M"»] } here again
           | each value makes targets of its own: remove one"#,
    );
    check_matrix(
        r#"performance_schema = [true, "off"]"#,
        r#"`performance_schema` must be true or false
           | matrix = { performance_schema = [true, «"off"»] } this is a text"#,
    );
    check_matrix(
        r#"build = ["mysql-5.7.2"]"#,
        r#"unknown build `mysql-5.7.2`
           | matrix = { build = [«"mysql-5.7.2"»] } no such build
           | did you mean `mysql-5.7.22` or `mysql-5.7.29`? known builds: mysql-4.1.13, …"#,
    );
    check_matrix(
        "options.--x = [1, 2]",
        "`--x` is not the name of an option
         | matrix = { options.«--x» = [1, 2] } not a name
         | write it as in a configuration file, without leading dashes",
    );
}

#[test]
fn matrix_and_single_value() {
    check(
        "config = { buffer_pool",
        "matrix = { binlog = [true, false] }\nconfig = { buffer_pool",
        r#"`binlog` is set to one value and to those of the matrix
           | matrix = { «binlog» = [true, false] } several values here
           | config = { buffer_pool = "256M", «binlog» = false } one value here
           | remove one of the two"#,
    );
    check_matrix(
        r#"build = ["mysql-5.7.22"]"#,
        r#"`build` is set to one value and to those of the matrix
           | build = «"mysql-5.0.21"» one value here
           | matrix = { «build» = ["mysql-5.7.22"] } several values here
           | remove one of the two"#,
    );
}

#[test]
fn matrix_in_the_wrong_place() {
    check(
        "clients = [1, 4]",
        "clients = [1, 4]\nmatrix.binlog = [true, false]",
        "`matrix` does not stand at the top of the file
         | «matrix».binlog = [true, false] belongs to targets
         | write it below [[target]], or below [defaults] to have it in every target",
    );
    check(
        "[defaults]",
        "[defaults]\nmatrix.build = [\"mysql-5.7.22\"]",
        r#"`build` can't be in the matrix of the defaults
           | matrix.«build» = ["mysql-5.7.22"] belongs to a target
           | write it in the `matrix` of a [[target]], in place of `build`"#,
    );
}

#[test]
fn matrix_engine_that_a_build_lacks() {
    check(
        RIGHT_TARGETS,
        "[[target]]\n[target.matrix]\nbuild = [\"mysql-5.7.22\", \"mariadb-10.11\"]\nengine = [\"innodb\", \"aria\"]\n",
        r#"mysql-5.7.22 has no storage engine `aria`
           | build = [«"mysql-5.7.22"», "mariadb-10.11"] this build lacks it
           | engine = ["innodb", «"aria"»] asked for here
           | mysql-5.7.22 has innodb, myisam, memory: leave one of the two out of the matrix, or
           give the build a [[target]] of its own"#,
    );
}

#[test]
fn settings_that_a_version_cannot_have() {
    check(
        "binlog = false",
        "performance_schema = true",
        r#"mysql-5.0.21 can't honour performance_schema = on
           | config = { buffer_pool = "256M", performance_schema = «true» } asked for here
           | build = «"mysql-5.0.21"» for this build
           | it can be off"#,
    );
    check_matrix(
        r#"performance_schema = [false, true], protocol = ["text", "prepared"]"#,
        r#"mysql-5.0.21 can't honour performance_schema = on
           | build = «"mysql-5.0.21"» for this build
           | matrix = { performance_schema = [false, «true»], protocol = ["text", "prepared"] }
           asked for here
           | it can be off"#,
    );
    check(
        "[defaults]",
        "[defaults]\noptions.datadir = \"/tmp\"",
        r#"the raw option `datadir` is set by Prony itself: leave it out
           | options.datadir = «"/tmp"» asked for here"#,
    );
    check(
        "[defaults]",
        "[defaults]\noptions.innodb-buffer-pool-size = 1",
        r#"the raw option `innodb_buffer_pool_size` sets what the intent `buffer_pool` sets
           | options.innodb-buffer-pool-size = «1» asked for here
           | config = { buffer_pool = «"256M"», binlog = false } and here
           | remove one of the two"#,
    );
}

#[test]
fn too_many_targets() {
    let sizes: Vec<_> = (1..=40).map(|n| format!(r#""{n}M""#)).collect();
    let sizes = sizes.join(", ");
    check_matrix(
        &format!(
            "protocol = [\"text\", \"prepared\"], binlog = [true, false],\n innodb_thread_concurrency = [0, 64], buffer_pool = [{sizes}]"
        ),
        r#"an experiment has at most 200 targets
           | build = «"mysql-5.0.21"» its matrix expands to 320 targets
           | every target is started and measured in every block: vary less at a time, or split
           the experiment"#,
    );
}

#[test]
fn ambiguous_base_in_a_matrix() {
    let text = changed(
        "build = \"mysql-5.0.21\"\n",
        "build = \"mysql-5.0.21\"\nmatrix.protocol = [\"text\", \"prepared\"]\n",
    );
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"the base `mysql-5.0` is ambiguous
           | base = «"mysql-5.0"» means 2 targets
           | write one of their names: mysql-5.0.21-text, mysql-5.0.21-prepared"#,
    );
    let text = text.replace(r#"base = "mysql-5.0""#, r#"base = "mysql-5.0.21-texts""#);
    assert_says(
        &World::new().parse(&text).unwrap_err(),
        r#"the base `mysql-5.0.21-texts` is not among the targets
           | base = «"mysql-5.0.21-texts"» no such target
           | did you mean `mysql-5.0.21-text`? known targets: mysql-5.0.21-text,
           mysql-5.0.21-prepared, mysql-5.7.22 name one of them, or add a [[target]] with this
           build"#,
    );
}

#[test]
fn names_that_a_matrix_makes_alike() {
    check_matrix(
        r#"options.x = ["a b", "a,b"]"#,
        r#"two targets are named `mysql-5.0.21-x-a_b`
           | build = «"mysql-5.0.21"» both from this matrix
           | their values differ only in what can't be in a name: write a [[target]] with a `name`
           for each"#,
    );
}

#[test]
fn transports_and_allowances() {
    check(
        "[defaults]",
        "[defaults]\ntransport = \"udp\"",
        r#"unknown transport `udp`
           | transport = «"udp"» no such transport
           | known transports: socket, tcp, network"#,
    );
    check(
        "blocks = 3",
        "blocks = 3\nallow = \"innodb_io_capacity\"",
        r#"`allow` must be a list | allow = «"innodb_io_capacity"» this is a text"#,
    );
    check(
        "blocks = 3",
        "blocks = 3\nallow = [\"innodb io capacity\"]",
        r#"`innodb io capacity` is not the name of a variable
           | allow = [«"innodb io capacity"»] not a name
           | write the names that SHOW VARIABLES lists, such as "innodb_io_capacity""#,
    );
    check(
        "blocks = 3",
        "blocks = 3\nallow = [\"innodb_io_capacity\", \"innodb-io-capacity\"]",
        r#"`allow` has innodb_io_capacity twice
           | allow = [«"innodb_io_capacity"», "innodb-io-capacity"] first here
           | allow = ["innodb_io_capacity", «"innodb-io-capacity"»] here again
           | remove one"#,
    );
}

#[test]
fn external_without_its_parts() {
    check_external(
        "",
        ADDRESS,
        "a target needs `name` | «[[target]]» `name` is missing",
    );
    check_external(
        NAMED,
        r#"user = "bench""#,
        "an external server needs `address` | «[target.external]» `address` is missing",
    );
    check_external(
        NAMED,
        &format!(r#"{ADDRESS}host = "here""#),
        r#"unknown key `host`
           | «host» = "here" an external server has no such key
           | known keys: address, user, password_env, password_file, database, tls, ca, family,
           version"#,
    );
}

#[test]
fn external_addresses() {
    for (address, expected) in [
        (
            "192.168.1.7:3306",
            r#"`192.168.1.7` is not on this machine
               | address = «"192.168.1.7:3306"» another machine
               | Prony connects to this machine only. Through a tunnel, another one is here: ssh
               -N -L 3307:127.0.0.1:3306 192.168.1.7 makes it the address 127.0.0.1:3307"#,
        ),
        (
            "localhost:3306",
            r#"`localhost:3306` is not an address of a server
               | address = «"localhost:3306"» neither an address and port nor the path of a socket
               | write "127.0.0.1:3306" or "[::1]:3306", or the absolute path of a socket such as
               "/run/mysqld/mysqld.sock" host names are not resolved; a server elsewhere is
               reached through a tunnel (ssh -L)"#,
        ),
        (
            "127.0.0.1",
            r#"`127.0.0.1` is not an address of a server
               | address = «"127.0.0.1"» neither an address and port nor the path of a socket
               | write "127.0.0.1:3306" or "[::1]:3306", or the absolute path of a socket such as
               "/run/mysqld/mysqld.sock" host names are not resolved; a server elsewhere is
               reached through a tunnel (ssh -L)"#,
        ),
        (
            "127.0.0.1:0",
            r#"no server listens on port 0
               | address = «"127.0.0.1:0"» which port?
               | SHOW VARIABLES LIKE 'port' shows it"#,
        ),
        (
            "run/mysqld.sock",
            r#"`run/mysqld.sock` is not an address of a server
               | address = «"run/mysqld.sock"» neither an address and port nor the path of a
               socket
               | write "127.0.0.1:3306" or "[::1]:3306", or the absolute path of a socket such as
               "/run/mysqld/mysqld.sock" host names are not resolved; a server elsewhere is
               reached through a tunnel (ssh -L)"#,
        ),
    ] {
        let server = format!("address = \"{address}\"\nuser = \"bench\"");
        check_external(NAMED, &server, expected);
    }
    let long = format!("address = \"/{}\"\nuser = \"bench\"", "x".repeat(107));
    check_external(
        NAMED,
        &long,
        r#"a socket's path has at most 107 bytes
           | address = «"/…"» this one has 108
           | make a shorter link to it"#,
    );
}

#[test]
fn external_and_what_only_a_started_server_has() {
    check_external(
        &format!("{NAMED}\nbuild = \"mysql-5.7.22\""),
        ADDRESS,
        r#"a target has a `build` or is `external`, not both
           | «build» = "mysql-5.7.22" a build is what Prony starts
           | remove `build`, or make two targets of it"#,
    );
    check_external(
        &format!(
            "{NAMED}\nconfig.binlog = false\noptions.x = 1\ntransport = \"tcp\"\nmatrix.charset = [\"latin1\"]"
        ),
        ADDRESS,
        r#"× `binlog` can't be set: Prony does not start this server
           | config.«binlog» = false decided by whoever starts the server
           | an external target can set `engine`, `protocol`, `collect` and `placement`
           × `--x` can't be set: Prony does not start this server
           | options.«x» = 1 decided by whoever starts the server
           | an external target can set `engine`, `protocol`, `collect` and `placement`
           × `transport` can't be set: Prony does not start this server
           | transport = «"tcp"» decided by whoever starts the server
           | an external target can set `engine`, `protocol`, `collect` and `placement`
           × `charset` can't be set: Prony does not start this server
           | matrix.«charset» = ["latin1"] decided by whoever starts the server
           | an external target can set `engine`, `protocol`, `collect` and `placement`"#,
    );
}

#[test]
fn external_passwords_are_not_shown() {
    let text = with_external(NAMED, &format!(r#"{ADDRESS}password = "geheim""#));
    golden("external-password", &World::new().parse(&text).unwrap_err());
    check_external(
        NAMED,
        &format!(r#"{ADDRESS}passwort = "geheim""#),
        "unknown key `passwort`
         | «passwort» = ******** an external server has no such key
         | known keys: address, user, password_env, password_file, database, tls, ca, family,
         version",
    );
    check_external(
        NAMED,
        &format!(r#"{ADDRESS}password_env = "geh-eim""#),
        r#"`password_env` is the name of an environment variable
           | password_env = «*********» not a name
           | such a name has letters, digits and `_`: write "PRONY_PASSWORD" and set that"#,
    );
    check_external(
        NAMED,
        &format!("{ADDRESS}password_env = \"A\"\npassword_file = \"a\""),
        r#"the password is in a variable or in a file, not in both
           | password_env = «"A"» here
           | password_file = «"a"» and here
           | remove one of the two"#,
    );
}

#[test]
fn external_databases_and_encryption() {
    for (more, expected) in [
        (
            r#"database = "MySQL""#,
            r#"`mysql` is the server's own database
               | database = «"MySQL"» not for tables of a measurement
               | use a database for this purpose alone, such as "prony""#,
        ),
        (
            r#"database = "a`b""#,
            r#"`a`b` can't be a database
               | database = «"a`b"» not a name
               | a database has letters, digits, `_` and `$`, at most 64 of them"#,
        ),
        (
            r#"version = "8.0.31-log""#,
            r#"`8.0.31-log` does not begin with a version such as 5.7.22 or 10.11
               | version = «"8.0.31-log"» not a version
               | write what SELECT VERSION() answers up to the first letter or dash"#,
        ),
        (
            r#"family = "maria""#,
            r#"unknown family `maria`
               | family = «"maria"» no such family
               | did you mean `mariadb`? known families: mysql, mariadb, postgresql"#,
        ),
        (
            r#"family = "postgresql""#,
            r#"a server of postgresql has no storage engine `innodb`
               | engine = «"innodb"» asked for here
               | set `engine = "heap"` in this target"#,
        ),
        (
            r#"tls = "on""#,
            r#"unknown tls `on`
               | tls = «"on"» no such tls
               | known values of tls: off, required, verify-ca, verify-full"#,
        ),
        (
            r#"tls = "verify-full""#,
            r#"verifying a server needs `ca`
               | tls = «"verify-full"» against which authorities?
               | write `ca = "ca.pem"`: a file of certificates, those of the authorities"#,
        ),
        (
            "tls = \"required\"\nca = \"ca.pem\"",
            r#"`ca` is for `tls = "verify-ca"` and `tls = "verify-full"`
               | ca = «"ca.pem"» nothing is verified
               | set `tls` to one of them, or remove `ca`"#,
        ),
    ] {
        check_external(NAMED, &format!("{ADDRESS}{more}"), expected);
    }
    check_external(
        NAMED,
        "address = \"/run/x.sock\"\nuser = \"bench\"\ntls = \"verify-full\"\nca = \"ca.pem\"",
        r#"`verify-full` needs an address that a certificate can name
           | address = «"/run/x.sock"» a socket has none
           | write `tls = "verify-ca"`, or an address and port"#,
    );
}

#[test]
fn targets_that_are_loaded_from_another_host() {
    let target = |settings: &str| {
        changed(
            "build = \"mysql-5.7.22\"\n",
            &format!("build = \"mysql-5.7.22\"\ntransport = \"network\"\n{settings}\n"),
        )
    };
    let plan = World::new().parse(&target("")).unwrap();
    let far = plan.targets.iter().find(|target| target.is_far()).unwrap();
    assert!(far.is_encrypted());
    let plan = World::new()
        .parse(&target("config = { tls = false }"))
        .unwrap();
    let far = plan.targets.iter().find(|target| target.is_far()).unwrap();
    assert!(!far.is_encrypted());
    assert_says(
        &World::new()
            .parse(&target("placement = \"together\""))
            .unwrap_err(),
        "no placement can be had for a target whose load generator is on another host
         | placement = «\"together\"» applies to a target with `transport = \"network\"`
         | remove it, or write `placement = \"free\"` in that [[target]]; the file of hosts has the
         processors of the load generator there",
    );
}

#[test]
fn postgresql_encrypts_nothing_over_sockets() {
    check_external(
        "name = \"copy\"\nengine = \"heap\"",
        "address = \"/run/.s.PGSQL.5432\"\nuser = \"bench\"\nfamily = \"postgresql\"\ntls = \"required\"",
        r#"PostgreSQL encrypts no connections over unix sockets
           | address = «"/run/.s.PGSQL.5432"» a socket
           | leave `tls` out, or write an address and port"#,
    );
    let own = |settings: &str| {
        let keys = format!("build = \"postgresql-18.6\"\nengine = \"heap\"\n{settings}");
        with_postgresql().parse(&changed("build = \"mysql-5.7.22\"", &keys))
    };
    let encrypted = "config = { tls = true }\n";
    assert_says(
        &own(encrypted).unwrap_err(),
        r#"PostgreSQL encrypts no connections over unix sockets
           | build = «"postgresql-18.6"» loaded over its socket, as no `transport` is set
           | config = { tls = «true» } asked for here
           | write `transport = "tcp"` for this target, or remove `tls` from its `config`"#,
    );
    assert_says(
        &own(&format!("{encrypted}transport = \"socket\"")).unwrap_err(),
        r#"PostgreSQL encrypts no connections over unix sockets
           | config = { tls = «true» } asked for here
           | transport = «"socket"» a socket
           | write `transport = "tcp"` for this target, or remove `tls` from its `config`"#,
    );
    let plan = own(&format!("{encrypted}transport = \"tcp\"")).unwrap();
    assert!(plan.targets[1].is_encrypted());
}

/// A catalogue that has a build of PostgreSQL too.
fn with_postgresql() -> World {
    let mut world = World::new();
    world.builds.push(BuildFacts {
        id: "postgresql-18.6".to_owned(),
        family: Family::Postgresql,
        version: Version::new(18, 6, 0),
        engines: vec![Engine::Heap],
        ..world.builds[0].clone()
    });
    world
}
