//! Settings that the server of a target can't have.

use std::collections::BTreeSet;

use prony_model::{Aspect, Family, Target, Transport};

use super::Knowledge;
use super::expand::Draft;
use super::setting::Setting;
use crate::fields::Located;
use crate::invalid::{Document, Problem, Read, Span};

/// The reason why a setting of a target can't be had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The setting: an intent or an option.
    pub setting: Aspect,
    /// Another setting of the target, which it contradicts.
    pub beside: Option<Aspect>,
    /// The unavailable setting, with its value and the server's version.
    pub reason: String,
    /// Available values, or another remedy; may be empty.
    pub remedy: String,
}

/// Reports what the servers of the targets can't have, each once for the line that asks for it.
pub(super) fn check(
    document: &Document<'_>,
    drafts: &[Draft<'_>],
    knowledge: &Knowledge<'_>,
    allow: &[String],
) -> Read<()> {
    let mut outcome = Ok(());
    let mut said = BTreeSet::new();
    for draft in drafts.iter().filter(|d| d.target.external.is_none()) {
        let Target {
            build, transport, ..
        } = &draft.target;
        if build.family == Family::Postgresql
            && *transport == Transport::Socket
            && draft.target.is_encrypted()
        {
            outcome = encrypted_socket(draft).fail(document);
            continue;
        }
        let Err(refused) = (knowledge.honours)(&draft.target, allow) else {
            continue;
        };
        let asked = place(draft, |setting| setting.aspect() == refused.setting);
        // It encrypts by default.
        let network =
            |setting: &Setting<'_>| matches!(setting, Setting::Transport(Transport::Network));
        let by_network = asked.is_none().then(|| place(draft, network)).flatten();
        let is_tls = refused.setting == Aspect::Intent("tls".to_owned());
        if let Some(network) = by_network.filter(|_| is_tls) {
            if said.insert((network.start, refused.reason.clone())) {
                outcome = Problem::new(refused.reason)
                    .at(&network, "encrypted unless the experiment says otherwise")
                    .help("write `config = { tls = false }` where its rows may cross the network in clear")
                    .fail(document);
            }
            continue;
        }
        let build = place(draft, |setting| matches!(setting, Setting::Build(_)));
        let asked = asked.unwrap_or_else(|| draft.place.clone());
        if said.insert((asked.start, refused.reason.clone())) {
            let problem = Problem::new(refused.reason).at(&asked, "asked for here");
            let beside = refused.beside.as_ref();
            let beside =
                beside.and_then(|aspect| place(draft, |setting| setting.aspect() == *aspect));
            let problem = match beside {
                Some(beside) => problem.at(&beside, "and here"),
                None => problem,
            };
            let problem = match (&refused.setting, build) {
                (Aspect::Intent(_), Some(build)) => problem.at(&build, "for this build"),
                _ => problem,
            };
            let problem = match refused.remedy.as_str() {
                "" => problem,
                remedy => problem.help(remedy),
            };
            outcome = problem.fail(document);
        }
    }
    outcome
}

/// The problem of a server that encrypts no connections over its unix socket.
fn encrypted_socket(draft: &Draft<'_>) -> Problem {
    let tls = Aspect::Intent("tls".to_owned());
    let asked = place(draft, |setting| setting.aspect() == tls);
    let transport = place(draft, |setting| matches!(setting, Setting::Transport(_)));
    let problem = Problem::new("PostgreSQL encrypts no connections over unix sockets").at(
        &asked.unwrap_or_else(|| draft.place.clone()),
        "asked for here",
    );
    let problem = match transport {
        Some(transport) => problem.at(&transport, "a socket"),
        None => problem.at(
            &draft.place,
            "loaded over its socket, as no `transport` is set",
        ),
    };
    problem.help("write `transport = \"tcp\"` for this target, or remove `tls` from its `config`")
}

fn place(draft: &Draft<'_>, wanted: impl Fn(&Setting<'_>) -> bool) -> Option<Span> {
    let found = |setting: &&Located<Setting<'_>>| wanted(&setting.value);
    draft.settings.iter().find(found).map(|s| s.span.clone())
}
