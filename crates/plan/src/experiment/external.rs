//! `[target.external]`: a server that runs already.

use std::path::{Path, PathBuf};

use prony_model::{Address, BuildFacts, External, Family, PasswordSource, Tls, Transport, Version};

use crate::endpoint::{self, Rejected};
use crate::fields::{Fields, Located, Value};
use crate::invalid::{Problem, Read, Span};

/// Possible sources of a password.
const PASSWORD_SOURCES: [&str; 2] = ["password_env", "password_file"];

/// An external server as an experiment describes it.
#[derive(Debug)]
pub(super) struct ExternalServer {
    pub(super) login: External,
    /// Facts of its build, or their replacement.
    pub(super) build: BuildFacts,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TlsMode {
    Off,
    Required,
    VerifyCa,
    VerifyFull,
}

impl ExternalServer {
    /// Transport of its statements.
    pub(super) const fn transport(&self) -> Transport {
        match self.login.address {
            Address::Unix(_) => Transport::Socket,
            Address::Tcp(_) => Transport::Tcp,
        }
    }
}

/// Reads `external`. Relative paths start from `folder`.
pub(super) fn read(value: Value<'_>, folder: &Path) -> Read<ExternalServer> {
    let mut fields = value.table("an external server")?;
    fields.hide(|key| key.contains("pass") && !PASSWORD_SOURCES.contains(&key));
    let address = fields.required("address", read_address);
    let user = fields.required("user", read_user);
    let password = read_password(&mut fields, folder);
    let database = fields.optional("database", read_database);
    let tls = read_tls(&mut fields, folder);
    let family = fields.optional("family", |value| value.choice(&Family::NAMED));
    let version = fields.optional("version", read_version);
    let document = fields.document();
    fields.finish()?;

    let address = address?;
    let tls = tls?;
    if let (Address::Unix(_), Tls::VerifyFull(_)) = (&address.value, &tls) {
        return Problem::new("`verify-full` needs an address that a certificate can name")
            .at(&address.span, "a socket has none")
            .help("write `tls = \"verify-ca\"`, or an address and port")
            .fail(document);
    }
    let family = family?.map_or(Family::Mysql, |family| family.value);
    if family == Family::Postgresql
        && let Address::Unix(_) = address.value
        && tls != Tls::Off
    {
        return Problem::new("PostgreSQL encrypts no connections over unix sockets")
            .at(&address.span, "a socket")
            .help("leave `tls` out, or write an address and port")
            .fail(document);
    }
    Ok(ExternalServer {
        login: External {
            address: address.value,
            user: user?,
            password: password?,
            database: database?.unwrap_or_else(|| "prony".to_owned()),
            tls,
        },
        build: BuildFacts::external(family, version?.unwrap_or(Version::new(0, 0, 0))),
    })
}

fn read_address(value: Value<'_>) -> Read<Located<Address>> {
    let document = value.document();
    let text = value.text()?;
    match endpoint::address(text.value) {
        Ok(address) => Ok(text.map(|_| address)),
        Err(rejected) => problem(rejected, &text.span).fail(document),
    }
}

/// Problem with the text at `span`.
fn problem(rejected: Rejected, span: &Span) -> Problem {
    Problem::new(rejected.message)
        .at(span, rejected.label)
        .help(rejected.help)
}

fn read_user(value: Value<'_>) -> Read<String> {
    let whole = value.clone();
    let user = value.text()?.value;
    if user.is_empty() || user.chars().any(char::is_control) {
        return Err(whole.report("must be the name of an account", "not a name"));
    }
    Ok(user.to_owned())
}

fn read_version(value: Value<'_>) -> Read<Version> {
    let document = value.document();
    let text = value.text()?;
    text.value.parse::<Version>().map_err(|error| {
        document.report(
            Problem::new(error.to_string())
                .at(&text.span, "not a version")
                .help("write what SELECT VERSION() answers up to the first letter or dash"),
        )
    })
}

fn read_password(fields: &mut Fields<'_>, folder: &Path) -> Read<PasswordSource> {
    let document = fields.document();
    let literal = fields.refuse("password", |span| {
        Problem::new("a password can't be written into an experiment")
            .at(span, "would be readable to everyone with this file")
            .help(
                "put it into an environment variable and name that: `password_env = \
                 \"PRONY_PASSWORD\"`,\nor into a file: `password_file = \"password.txt\"`",
            )
    });
    let env = fields.optional("password_env", read_variable);
    let file = fields.optional("password_file", |value| read_path(value, folder));
    let (env, file) = (env?, file?);
    literal?;
    match (env, file) {
        (None, None) => Ok(PasswordSource::None),
        (Some(env), None) => Ok(PasswordSource::Env(env.value)),
        (None, Some(file)) => Ok(PasswordSource::File(file.value)),
        (Some(env), Some(file)) => {
            Problem::new("the password is in a variable or in a file, not in both")
                .at(&file.span, "and here")
                .at(&env.span, "here")
                .help("remove one of the two")
                .fail(document)
        }
    }
}

fn read_variable(value: Value<'_>) -> Read<Located<String>> {
    let document = value.document();
    let name = value.text()?;
    let well_formed = name
        .value
        .starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .value
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_');
    if well_formed {
        return Ok(name.map(str::to_owned));
    }
    // The text may be the password itself.
    document.hide(&name.span);
    Problem::new("`password_env` is the name of an environment variable")
        .at(&name.span, "not a name")
        .help("such a name has letters, digits and `_`: write \"PRONY_PASSWORD\" and set that")
        .fail(document)
}

fn read_path(value: Value<'_>, folder: &Path) -> Read<Located<PathBuf>> {
    let whole = value.clone();
    let text = value.text()?;
    if text.value.is_empty() {
        return Err(whole.report("must be the path of a file", "empty"));
    }
    Ok(text.map(|path| folder.join(path)))
}

fn read_database(value: Value<'_>) -> Read<String> {
    let document = value.document();
    let name = value.text()?;
    match endpoint::check_database(name.value) {
        Ok(()) => Ok(name.value.to_owned()),
        Err(rejected) => problem(rejected, &name.span).fail(document),
    }
}

fn read_tls(fields: &mut Fields<'_>, folder: &Path) -> Read<Tls> {
    let document = fields.document();
    let modes = [
        ("off", TlsMode::Off),
        ("required", TlsMode::Required),
        ("verify-ca", TlsMode::VerifyCa),
        ("verify-full", TlsMode::VerifyFull),
    ];
    let mode = fields.optional("tls", |value| value.choice(&modes));
    let ca = fields.optional("ca", |value| read_path(value, folder));
    let (mode, ca) = (mode?, ca?);
    let span = mode.as_ref().map_or(0..0, |mode| mode.span.clone());
    let mode = mode.map_or(TlsMode::Off, |mode| mode.value);
    let problem = match (mode, ca) {
        (TlsMode::Off, None) => return Ok(Tls::Off),
        (TlsMode::Required, None) => return Ok(Tls::Required),
        (TlsMode::VerifyCa, Some(ca)) => return Ok(Tls::VerifyCa(ca.value)),
        (TlsMode::VerifyFull, Some(ca)) => return Ok(Tls::VerifyFull(ca.value)),
        (TlsMode::Off | TlsMode::Required, Some(ca)) => {
            Problem::new("`ca` is for `tls = \"verify-ca\"` and `tls = \"verify-full\"`")
                .at(&ca.span, "nothing is verified")
                .help("set `tls` to one of them, or remove `ca`")
        }
        (TlsMode::VerifyCa | TlsMode::VerifyFull, None) => {
            Problem::new("verifying a server needs `ca`")
                .at(&span, "against which authorities?")
                .help("write `ca = \"ca.pem\"`: a file of certificates, those of the authorities")
        }
    };
    problem.fail(document)
}
