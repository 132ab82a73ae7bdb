//! PostgreSQL servers that listen for a client host: nobody logs in over the network before that is admitted.

use std::net::IpAddr;
use std::path::Path;

use prony_client::{ClientError, Connection};
use prony_host::{Launcher, Roots};
use prony_model::{Config, Engine, IntentValue, StopFlag, Transport};
use prony_servers::{Catalogue, Depot, Instance, Wanted};

use crate::{LIMIT, ask, live};

/// The oldest that encrypts, the last without encryption versions of its own, and the newest.
const BUILDS: [&str; 3] = ["postgresql-9.5.3", "postgresql-11.22", "postgresql-18.6"];

#[test]
fn postgresql_admits_the_client_host_only() {
    if !live() {
        return;
    }
    let fetched = Roots::from_environment().unwrap();
    let scratch = tempfile::tempdir().unwrap();
    let roots = Roots {
        cache: scratch.path().to_owned(),
    };
    let catalogue = Catalogue::embedded().unwrap();
    let guard = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host/fixtures/guard");
    let launcher = Launcher::new(guard).unwrap();
    let stop = StopFlag::default();
    // Connections to it come from 127.0.0.1.
    let listens: IpAddr = "127.0.0.2".parse().unwrap();
    let [client, other] = ["127.0.0.1", "127.0.0.3"].map(|text| text.parse::<IpAddr>().unwrap());
    for (id, encrypted) in BUILDS.into_iter().flat_map(|id| [(id, true), (id, false)]) {
        let depot = Depot::new(&fetched, &catalogue, &launcher);
        let build = depot.fetch(id, &stop, &mut |_| ()).unwrap();
        let mut config = Config::default();
        let tls = IntentValue::Flag(encrypted);
        config.intents.insert("tls".to_owned(), tls);
        let wanted = Wanted {
            transport: Transport::Network,
            ..Wanted::over_socket(Engine::Heap, &config, 4)
        };
        let rendered = catalogue.render(&build.facts, wanted).unwrap();
        let mut instance = Instance::create(&roots, &launcher, &build, &rendered).unwrap();
        instance.bootstrap(&stop).unwrap();
        let instance = instance.listening_on(&roots, listens).unwrap();
        let server = instance.start(&stop).unwrap();
        assert!(server.is_on_network());
        let load = server.load_login();
        let refused = || {
            let error = Connection::connect(&server.address(), &load, LIMIT).unwrap_err();
            assert!(
                matches!(&error, ClientError::Login { sqlstate, .. } if sqlstate == "28000"),
                "{id}: {error}"
            );
        };
        refused();
        server.admit(other).unwrap();
        refused();
        server.admit(client).unwrap();
        assert_eq!(ask(&server, &load, "SELECT 'in'"), "in", "{id}");
        if encrypted {
            let version = "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
            assert_eq!(ask(&server, &load, version), "TLSv1.2", "{id}");
        }
        let mut clear = load.clone();
        clear.tls = prony_model::Tls::Off;
        let in_clear = Connection::connect(&server.address(), &clear, LIMIT);
        assert_eq!(
            in_clear.is_ok(),
            !encrypted,
            "{id}: what is encrypted is so always"
        );
        let mut administrator = server.admin_login();
        administrator.tls = load.tls;
        let over_network = Connection::connect(&server.address(), &administrator, LIMIT);
        assert!(
            over_network.is_err(),
            "{id}: the administrator has no password"
        );
        server.stop(LIMIT).unwrap();
    }
}
