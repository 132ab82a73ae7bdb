//! Aspects in which targets can differ.

use std::collections::BTreeSet;
use std::fmt;

use crate::{External, Plan, Target, Tls};

/// One thing in which targets can differ. Ordered as reports and default names list them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Aspect {
    /// The server build.
    Build,
    /// The storage engine of the tables.
    Engine,
    /// The form in which statements are sent.
    Protocol,
    /// The transport of statements to the server.
    Transport,
    /// The external server and the login to it; or none, where Prony starts the server.
    Server,
    /// The libraries that its server preloads.
    Preload,
    /// The values of settings that are not asked for.
    Baseline,
    /// The intent of this name.
    Intent(String),
    /// The raw option of this name.
    Option(String),
    /// The counters that are read while it is measured.
    Collect,
    /// The placement of all its steps.
    Placement,
}

/// The words for a setting that a target leaves to the baseline.
const DEFAULT: &str = "default";

/// The words for libraries where none is preloaded.
const NOTHING: &str = "nothing";

/// The words for a setting of a server that Prony does not start.
const NOT_OURS: &str = "its own";

impl Aspect {
    /// The aspects in which at least two of `targets` differ, in order. An intent or option differs
    /// when only some targets set it, or set it to other values; servers that Prony does not start
    /// set none and are left out of that comparison.
    pub fn varying<'t>(targets: impl IntoIterator<Item = &'t Target>) -> Vec<Self> {
        let targets: Vec<_> = targets.into_iter().collect();
        let configs = targets.iter().map(|target| &target.config);
        let intents = configs.clone().flat_map(|config| config.intents.keys());
        let options = configs.flat_map(|config| config.raw.keys());
        let aspects: BTreeSet<_> = [
            Self::Build,
            Self::Engine,
            Self::Protocol,
            Self::Transport,
            Self::Server,
            Self::Preload,
            Self::Baseline,
            Self::Collect,
            Self::Placement,
        ]
        .into_iter()
        .chain(intents.cloned().map(Self::Intent))
        .chain(options.cloned().map(Self::Option))
        .collect();
        aspects
            .into_iter()
            .filter(|aspect| {
                let mut values = targets
                    .iter()
                    .filter(|target| !aspect.is_configuration() || target.external.is_none())
                    .map(|target| target.aspect(aspect));
                let first = values.next();
                values.any(|value| Some(value) != first)
            })
            .collect()
    }

    const fn is_configuration(&self) -> bool {
        matches!(
            self,
            Self::Preload | Self::Baseline | Self::Intent(_) | Self::Option(_)
        )
    }
}

/// As reports head a column: `engine`, `performance_schema`, `--sort_buffer_size`.
impl fmt::Display for Aspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build => f.write_str("build"),
            Self::Engine => f.write_str("engine"),
            Self::Protocol => f.write_str("protocol"),
            Self::Transport => f.write_str("transport"),
            Self::Server => f.write_str("server"),
            Self::Preload => f.write_str("preload"),
            Self::Baseline => f.write_str("baseline"),
            Self::Intent(name) => f.write_str(name),
            Self::Option(name) => write!(f, "--{name}"),
            Self::Collect => f.write_str("collect"),
            Self::Placement => f.write_str("placement"),
        }
    }
}

impl Plan {
    /// The aspects in which at least two targets differ, in the order of [`Aspect`].
    pub fn varying(&self) -> Vec<Aspect> {
        Aspect::varying(&self.targets)
    }
}

impl Target {
    /// Returns `true` if the target asks for no value of `aspect`, which then is that of the baseline.
    pub fn is_default(&self, aspect: &Aspect) -> bool {
        self.aspect(aspect) == DEFAULT
    }

    /// The target's value of `aspect`, as people read it: `mysql-8.0.31`, `innodb`, `text`, `on`,
    /// `512M`. A setting that the target leaves to the baseline is `default`; one of a server that
    /// Prony does not start is `its own`.
    pub fn aspect(&self, aspect: &Aspect) -> String {
        let setting = |value: Option<String>| {
            let absent = self.external.as_ref().map_or(DEFAULT, |_| NOT_OURS);
            value.unwrap_or_else(|| absent.to_owned())
        };
        match aspect {
            Aspect::Build => self.build.id.clone(),
            Aspect::Engine => self.engine.name().to_owned(),
            Aspect::Protocol => self.protocol.name().to_owned(),
            Aspect::Transport => self.transport.name().to_owned(),
            Aspect::Server => match &self.external {
                Some(external) => external.to_string(),
                None => "started by Prony".to_owned(),
            },
            Aspect::Preload => {
                let libraries: Vec<_> = self.preload.iter().map(ToString::to_string).collect();
                match libraries.as_slice() {
                    [] if self.external.is_none() => NOTHING.to_owned(),
                    [] => NOT_OURS.to_owned(),
                    all => all.join(", "),
                }
            }
            Aspect::Baseline => {
                let ours = self.external.is_none();
                setting(ours.then(|| self.config.baseline.to_string()))
            }
            Aspect::Intent(name) => setting(self.config.intents.get(name).map(ToString::to_string)),
            Aspect::Option(name) => setting(self.config.raw.get(name).cloned()),
            Aspect::Collect => self.collect.to_string(),
            Aspect::Placement => {
                let wanted = self.placement.as_ref();
                wanted.map_or_else(|| DEFAULT.to_owned(), ToString::to_string)
            }
        }
    }
}

/// Its address and the login, without the password:
/// `bench@127.0.0.1:3306/prony, TLS required`.
impl fmt::Display for External {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            address,
            user,
            password: _,
            database,
            tls,
        } = self;
        write!(f, "{user}@{address}/{database}")?;
        match tls {
            Tls::Off => Ok(()),
            Tls::Required => f.write_str(", TLS required"),
            Tls::VerifyCa(_) => f.write_str(", TLS verify-ca"),
            Tls::VerifyFull(_) | Tls::VerifyFullBy(_) => f.write_str(", TLS verify-full"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{
        Address, BuildFacts, Config, Engine, Family, IntentValue, PasswordSource, Protocol,
        Transport, Version,
    };

    fn target(id: &str, intents: &[(&str, IntentValue)]) -> Target {
        let intents = intents
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        Target {
            name: id.to_owned(),
            build: BuildFacts {
                id: id.to_owned(),
                family: Family::Mysql,
                version: Version::new(8, 0, 31),
                engines: vec![Engine::Innodb],
                engine_options: BTreeMap::new(),
                lacks: Vec::new(),
                caution: None,
                compiled: None,
                no_valgrind: None,
            },
            engine: Engine::Innodb,
            config: Config {
                intents: intents.collect(),
                ..Config::default()
            },
            protocol: Protocol::Prepared,
            transport: Transport::Socket,
            preload: Vec::new(),
            external: None,
            collect: crate::Collect::default(),
            placement: None,
        }
    }

    fn external(user: &str, tls: Tls) -> Target {
        let mut external = target(BuildFacts::EXTERNAL, &[]);
        external.external = Some(External {
            address: Address::Tcp("127.0.0.1:3306".parse().unwrap()),
            user: user.to_owned(),
            password: PasswordSource::None,
            database: "prony".to_owned(),
            tls,
        });
        external.transport = Transport::Tcp;
        external
    }

    #[test]
    fn only_what_differs_is_varying() {
        let mut first = target(
            "a",
            &[
                ("buffer_pool", IntentValue::Bytes(512 << 20)),
                ("binlog", IntentValue::Flag(true)),
                ("charset", IntentValue::Text("latin1".to_owned())),
            ],
        );
        let second = target(
            "a",
            &[
                ("buffer_pool", IntentValue::Bytes(1 << 30)),
                ("charset", IntentValue::Text("latin1".to_owned())),
            ],
        );
        first.protocol = Protocol::Text;
        first.config.raw.insert("x".to_owned(), "7".to_owned());
        first.config.baseline = crate::Baseline::Shipped;
        first.collect = crate::Collect::NOTHING;
        first.preload = vec![crate::PreloadedLibrary {
            file: "/a/libx.so.2".into(),
            sha256: "0123456789abcdef".to_owned(),
        }];
        let varying = Aspect::varying([&first, &second]);
        let shown: Vec<_> = varying
            .iter()
            .map(|aspect| {
                let values = [first.aspect(aspect), second.aspect(aspect)];
                format!("{aspect}: {}", values.join(" / "))
            })
            .collect();
        assert_eq!(
            shown,
            [
                "protocol: text / prepared",
                "preload: libx.so.2 (sha256 0123456789ab) / nothing",
                "baseline: shipped / common",
                "binlog: on / default",
                "buffer_pool: 512M / 1G",
                "--x: 7 / default",
                "collect: nothing / default",
            ]
        );
        assert!(Aspect::varying([&first, &first]).is_empty());
        assert!(Aspect::varying([]).is_empty());
    }

    #[test]
    fn servers_that_run_already_have_settings_of_their_own() {
        let mut ours = target("mysql-8.0.31", &[("binlog", IntentValue::Flag(true))]);
        ours.config.baseline = crate::Baseline::Shipped;
        let theirs = external("bench", Tls::Required);
        let varying = Aspect::varying([&ours, &theirs]);
        assert_eq!(varying, [Aspect::Build, Aspect::Transport, Aspect::Server]);
        assert_eq!(
            theirs.aspect(&Aspect::Server),
            "bench@127.0.0.1:3306/prony, TLS required"
        );
        assert_eq!(
            theirs.aspect(&Aspect::Intent("binlog".to_owned())),
            "its own"
        );
        assert_eq!(theirs.aspect(&Aspect::Baseline), "its own");
        assert_eq!(ours.aspect(&Aspect::Server), "started by Prony");
        assert_eq!(
            Aspect::varying([&external("a", Tls::Off), &external("b", Tls::Off)]),
            [Aspect::Server]
        );
    }
}
