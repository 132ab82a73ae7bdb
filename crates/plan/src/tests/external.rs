//! External servers and allowances that are right.

use std::path::PathBuf;

use prony_model::{
    Address, BuildFacts, Engine, External, Family, PasswordSource, Protocol, Tls, Transport,
    Version,
};

use super::{RIGHT, World};

#[test]
fn an_external_server_in_full() {
    let text = RIGHT.replace(
        "build = \"mysql-5.7.22\"\n",
        "name = \"copy\"
engine = \"aria\"
matrix.protocol = [\"text\", \"prepared\"]
[target.external]
address = \"127.0.0.1:3307\"
user = \"bench\"
password_file = \"password.txt\"
database = \"load_test\"
tls = \"verify-full\"
ca = \"/etc/ca.pem\"
family = \"mariadb\"
version = \"11.4.5\"
",
    );
    let plan = World::new().parse(&text).unwrap();
    let [_, target, other] = plan.targets.as_slice() else {
        panic!("three targets expected: {:?}", plan.targets.len());
    };
    assert_eq!(
        (target.name.as_str(), other.name.as_str()),
        ("copy-text", "copy-prepared")
    );
    assert_eq!(
        target.external,
        Some(External {
            address: Address::Tcp("127.0.0.1:3307".parse().unwrap()),
            user: "bench".to_owned(),
            password: PasswordSource::File(PathBuf::from("/experiments/password.txt")),
            database: "load_test".to_owned(),
            tls: Tls::VerifyFull(PathBuf::from("/etc/ca.pem")),
        })
    );
    assert_eq!(target.transport, Transport::Tcp);
    assert_eq!(
        (target.engine, target.protocol),
        (Engine::Aria, Protocol::Text)
    );
    assert!(
        target.config.intents.is_empty(),
        "the defaults are not for it"
    );
    assert_eq!(target.build.id, BuildFacts::EXTERNAL);
    assert_eq!(
        (target.build.family, target.build.version),
        (Family::Mariadb, Version::new(11, 4, 5))
    );
}

#[test]
fn an_external_server_in_short() {
    let text = RIGHT.replace(
        "build = \"mysql-5.7.22\"\n",
        "name = \"copy\"\nexternal = { address = \"/run/mysqld/mysqld.sock\", user = \"bench\" }\n",
    );
    let plan = World::new().parse(&text).unwrap();
    let target = &plan.targets[1];
    assert_eq!(
        target.external,
        Some(External {
            address: Address::Unix(PathBuf::from("/run/mysqld/mysqld.sock")),
            user: "bench".to_owned(),
            password: PasswordSource::None,
            database: "prony".to_owned(),
            tls: Tls::Off,
        })
    );
    assert_eq!(target.transport, Transport::Socket);
    assert_eq!(target.engine, Engine::Innodb);
    assert_eq!(
        (target.build.family, target.build.version),
        (Family::Mysql, Version::new(0, 0, 0))
    );
}

#[test]
fn external_servers_listen_on_this_machine() {
    for (address, right) in [
        ("127.0.0.1:3306", true),
        ("127.8.9.10:3306", true),
        ("[::1]:3306", true),
        ("0.0.0.0:3306", false),
        ("[::]:3306", false),
        ("[::ffff:10.0.0.1]:3306", false),
        ("10.0.0.1:3306", false),
    ] {
        let text = RIGHT.replace(
            "build = \"mysql-5.7.22\"\n",
            &format!("name = \"x\"\nexternal = {{ address = \"{address}\", user = \"u\" }}\n"),
        );
        assert_eq!(World::new().parse(&text).is_ok(), right, "{address}");
    }
}

#[test]
fn allowances_are_named_as_servers_list_variables() {
    let text = RIGHT.replace(
        "blocks = 3",
        "blocks = 3\nallow = [\"Innodb-IO-capacity\", \"prony.allocator\"]",
    );
    let plan = World::new().parse(&text).unwrap();
    assert_eq!(plan.allow, ["innodb_io_capacity", "prony.allocator"]);
}
