//! The head of a report, before its figures: the run, the host, the targets.

use std::collections::{BTreeMap, BTreeSet};

use prony_model::{
    Aspect, Baseline, ClientHostFacts, Config, Dataset, LoadMethod, Metric, Plan, Protocol, Target,
    Transport,
};
use prony_store::HostRow;
use serde::Deserialize;

use crate::analysis::Analysis;
use crate::analysis::findings::bad_properties;
use crate::document::{Cell, Table};
use crate::page::{canaries, generator, placement};
use crate::words::{listed, plural, seconds};

/// Facts of the run as a whole.
pub(crate) fn facts(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    let plan = analysis.plan;
    let mut facts = vec![run(analysis)];
    facts.extend(host(analysis));
    facts.extend(hosts(analysis));
    facts.extend(client_host(analysis));
    facts.extend(host_check(&analysis.hosts).map(|text| ("Check", text)));
    facts.extend(left_out(analysis.plan).map(|text| ("Left out", text)));
    facts.extend(generator::line(analysis).map(|text| ("Generator", text)));
    facts.extend(placement::line(analysis).map(|text| ("Placement", text)));
    facts.extend(sampling(analysis).map(|text| ("Sampling", text)));
    facts.extend(canaries::line(analysis).map(|text| ("Canary", text)));
    facts.extend(canaries::excluded(analysis).map(|text| ("Excluded", text)));
    facts.push(("Data", data(&plan.dataset)));
    facts.extend(sequence(plan).map(|text| ("Sequence", text)));
    facts.extend(settling(plan).map(|text| ("Settling", text)));
    facts.push(work(analysis));
    facts.extend(turns(plan).map(|text| ("Turns", text)));
    let common = list(&common_settings(&plan.targets));
    let separator = if common.is_empty() { "" } else { ", " };
    let foreign = plan.targets.iter().any(|target| target.external.is_some());
    let where_ours = if foreign {
        " where Prony starts the server"
    } else {
        ""
    };
    facts.push((
        "Settings",
        format!("{}{where_ours}{separator}{common}", baseline(&plan.targets)),
    ));
    facts
}

/// The facts of the short page.
pub(crate) fn brief(analysis: &Analysis<'_>) -> Vec<(&'static str, String)> {
    let left_out = left_out(analysis.plan).map(|text| ("Left out", text));
    let facts = std::iter::once(run(analysis)).chain(host(analysis));
    let facts = facts.chain(hosts(analysis)).chain(client_host(analysis));
    facts.chain([work(analysis)]).chain(left_out).collect()
}

/// The builds of optional targets that the machine did not have. `None` without one.
fn left_out(plan: &Plan) -> Option<String> {
    (!plan.left_out.is_empty()).then(|| {
        format!(
            "{}, not on the machine when the run began; `prony servers add` adds builds",
            listed(&plan.left_out)
        )
    })
}

fn run(analysis: &Analysis<'_>) -> (&'static str, String) {
    let run = &analysis.run;
    let text = format!(
        "{}, begun {}, Prony {}",
        run.id,
        run.started_at.strftime("%Y-%m-%d %H:%M UTC"),
        run.prony_version
    );
    ("Run", text)
}

fn host(analysis: &Analysis<'_>) -> Option<(&'static str, String)> {
    analysis.hosts.first().map(|host| ("Host", host_line(host)))
}

/// The hosts of a run that several measured, and what intervals then hold for.
fn hosts(analysis: &Analysis<'_>) -> Option<(&'static str, String)> {
    let mut blocks: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for trial in analysis.trials.all() {
        let host = analysis.hosts.get(trial.host)?;
        let of_host = blocks.entry(host.host_name.as_deref()?).or_default();
        of_host.insert(trial.planned.block + 1);
    }
    let most = blocks.values().map(BTreeSet::len).max()?;
    let listed: Vec<String> = blocks
        .iter()
        .map(|(name, blocks)| {
            let numbers: Vec<String> = blocks.iter().map(u32::to_string).collect();
            let noun = if blocks.len() == 1 { "block" } else { "blocks" };
            format!("{name} ({noun} {})", numbers.join(", "))
        })
        .collect();
    let alike = match (most > 1, analysis.trials.replicates.hosts().len() > 1) {
        (false, _) => "",
        (true, true) => {
            ". Blocks of one host are alike: ratios are means over hosts, each of its blocks, and intervals hold \
             for hosts like these"
        }
        (true, false) => {
            ". Blocks of one host are alike: intervals hold for this host, and no other"
        }
    };
    Some(("Hosts", format!("{}{alike}", listed.join(", "))))
}

/// The host of the load generators, where that is another one.
fn client_host(analysis: &Analysis<'_>) -> Option<(&'static str, String)> {
    let facts = analysis.client_host.as_ref()?;
    Some(("Client", client_host_lines(facts).join("; ")))
}

/// A client host in a few lines: its name and hardware, the network to it, its interface.
pub fn client_host_lines(facts: &ClientHostFacts) -> Vec<String> {
    let micros = |ns: u64| format!("{:.0} µs", ns as f64 / 1e3);
    let megabytes = |bytes: u64| format!("{:.0} MB/s", bytes as f64 / 1e6);
    let network = &facts.network;
    let mut lines = vec![
        format!("{}: {}", facts.name, facts_line(&facts.host.to_string())),
        format!(
            "round trip {} at the shortest, {} in the median, {} at the 99th percentile of {}",
            micros(network.shortest_ns),
            micros(network.median_ns),
            micros(network.p99_ns),
            network.round_trips
        ),
        format!(
            "one connection carried {} to the client and {} from it",
            megabytes(network.to_client_bytes_per_second),
            megabytes(network.to_server_bytes_per_second)
        ),
    ];
    let interface = |key: &str| facts.interface.get(key);
    if let Some(name) = interface("name").and_then(|name| name.as_str()) {
        let number = |key| interface(key).and_then(serde_json::Value::as_u64);
        let speed = number("mbit_per_second").map(|speed| format!(", {speed} Mbit/s"));
        let mtu = number("mtu").map(|mtu| format!(", packets of {mtu} bytes"));
        lines.push(format!(
            "interface {name}{}{}",
            speed.unwrap_or_default(),
            mtu.unwrap_or_default()
        ));
    }
    lines
}

fn work(analysis: &Analysis<'_>) -> (&'static str, String) {
    let plan = analysis.plan;
    let clients = analysis.client_counts();
    let noun = if clients == [1] { "client" } else { "clients" };
    let clients: Vec<String> = clients.iter().map(u32::to_string).collect();
    let entries: BTreeSet<usize> = plan.steps.iter().map(|step| step.entry).collect();
    let text = format!(
        "{} at {} {noun}; {} of {} complete, {} of {} done",
        plural(entries.len() as u64, "step"),
        clients.join(", "),
        analysis.trials.blocks_complete(plan),
        plural(plan.blocks().into(), "block"),
        analysis.trials.counts.done,
        plural(analysis.trials.counts.planned, "trial")
    );
    ("Work", text)
}

/// The way in which targets share the time of a block. `None` where they run one after another.
fn turns(plan: &Plan) -> Option<String> {
    let ms = plan.turn_ms?;
    Some(format!(
        "the targets of a block worked for {ms} ms each, round after round within each step, while \
         the servers of all others were stopped"
    ))
}

/// The price of sampling while servers were measured. `None` where nothing was sampled.
fn sampling(analysis: &Analysis<'_>) -> Option<String> {
    let cells = analysis.costs.cells();
    let used = cells.filter_map(|cell| {
        let figure = cell.figures.get(&Metric::Sampling)?;
        Some(figure.summary.mean)
    });
    let most = used.max_by(f64::total_cmp)?;
    let periods: BTreeSet<Option<u64>> = analysis
        .plan
        .targets
        .iter()
        .map(|target| target.collect.period_ms)
        .collect();
    let mut periods = periods.into_iter();
    let when = match (periods.next().flatten(), periods.next()) {
        (Some(ms), None) => format!("every {} s within the measured time", ms as f64 / 1e3),
        (None, None) => "at both ends of the measured time".to_owned(),
        _ => "not alike for all targets".to_owned(),
    };
    let percent = most / 1e4;
    Some(format!(
        "{when}; took {percent:.2} % of one processor at most"
    ))
}

fn data(dataset: &Dataset) -> String {
    let key = if dataset.primary_key {
        ""
    } else {
        ", without a primary key"
    };
    let load = match dataset.load {
        LoadMethod::Bulk => "",
        LoadMethod::Inserts => ", loaded by inserts",
        LoadMethod::None => ", put in by steps",
    };
    format!(
        "{}: {} of {}{key}{load}",
        dataset.schema.name(),
        plural(dataset.tables.into(), "table"),
        plural(dataset.rows, "row")
    )
}

/// The origin of the sequence, if it is not the experiment's own as written.
fn sequence(plan: &Plan) -> Option<String> {
    let preset = plan.preset.as_ref().map(|name| format!("preset {name}"));
    let profile = plan.profile.as_ref().map(|name| format!("profile {name}"));
    let parts: Vec<String> = preset.into_iter().chain(profile).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The steps before which engines are brought to a quiet state, and for how long at least.
fn settling(plan: &Plan) -> Option<String> {
    let places: Vec<String> = plan
        .steps
        .iter()
        .filter_map(|step| {
            let settle = step.settle?;
            Some(format!(
                "before {} for {} or more",
                step.name,
                seconds(settle.idle_ms)
            ))
        })
        .collect();
    (!places.is_empty()).then(|| places.join(", "))
}

/// The facts of a host under these keys; others are not for this line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Host {
    cpu_model: Option<String>,
    cpus: Option<u64>,
    sockets: Option<u64>,
    cores: Option<u64>,
    threads: Option<u64>,
    turbo: Option<bool>,
    memory_bytes: Option<u64>,
    kernel: Option<String>,
}

impl Host {
    /// Sockets, if there are several, cores, threads and turbo; the number of processors where these
    /// are unknown.
    fn processors(&self) -> Option<String> {
        let usable = self.cpus.map(|cpus| plural(cpus, "processor"));
        let (Some(cores), Some(threads)) = (self.cores, self.threads) else {
            return usable;
        };
        let sockets = self.sockets.filter(|sockets| *sockets > 1);
        let parts = [
            sockets.map(|sockets| plural(sockets, "socket")),
            Some(plural(cores, "core")),
            Some(plural(threads, "thread")),
            usable
                .filter(|_| self.cpus != Some(threads))
                .map(|usable| format!("{usable} usable")),
            Some(match self.turbo {
                Some(true) => "turbo on".to_owned(),
                Some(false) => "turbo off".to_owned(),
                None => "turbo unknown".to_owned(),
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Some(parts.join(", "))
    }
}

/// A host in one line.
pub(crate) fn host_line(host: &HostRow) -> String {
    facts_line(&host.facts_json)
}

/// The facts of a host, as JSON, in one line.
fn facts_line(json: &str) -> String {
    let host: Host = serde_json::from_str(json).unwrap_or_default();
    let processors = host.processors();
    let known = [
        host.cpu_model,
        processors,
        host.memory_bytes
            .map(|bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))),
        host.kernel.map(|kernel| format!("kernel {kernel}")),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    if known.is_empty() {
        "not known".into()
    } else {
        known.join(", ")
    }
}

/// Bad findings about the host when the run began or was resumed, each once. `None` without one.
fn host_check(hosts: &[HostRow]) -> Option<String> {
    let bad = bad_properties(hosts);
    (!bad.is_empty()).then(|| {
        format!(
            "bad: {}; `prony check` shows the effect and the remedy",
            bad.join("; ")
        )
    })
}

/// The targets, each with its version and the aspects that vary, and only these.
pub(crate) fn targets(analysis: &Analysis<'_>) -> Table {
    let varying = varying(analysis);
    let row = |index: usize| {
        let target = &analysis.plan.targets[index];
        let aspects = varying.iter().map(|aspect| target.aspect(aspect));
        let all = [target.name.clone(), version(analysis, index)]
            .into_iter()
            .chain(aspects);
        all.map(Cell::from).collect()
    };
    let aspects = varying.iter().map(ToString::to_string);
    let header = ["target", "server version"]
        .map(str::to_owned)
        .into_iter()
        .chain(aspects);
    Table::of_words(header, analysis.all_targets().into_iter().map(row))
}

/// The aspects in which targets differ. The build is left out where the versions tell the builds apart.
fn varying(analysis: &Analysis<'_>) -> Vec<Aspect> {
    let targets = &analysis.plan.targets;
    let by_version: BTreeSet<(String, &str)> = (0..targets.len())
        .map(|index| (version(analysis, index), targets[index].build.id.as_str()))
        .collect();
    let versions: BTreeSet<&str> = by_version.iter().map(|(v, _)| v.as_str()).collect();
    let versions_tell = versions.len() == by_version.len();
    let is_redundant = |aspect: &Aspect| *aspect == Aspect::Build && versions_tell;
    let varying = analysis.plan.varying();
    varying
        .into_iter()
        .filter(|aspect| !is_redundant(aspect))
        .collect()
}

/// Other differences between targets of different versions, so that a ratio is not taken for one
/// of versions alone: every other aspect in which they differ, and what the experiment allows.
pub(crate) fn beside_version(analysis: &Analysis<'_>) -> Option<String> {
    let targets = &analysis.plan.targets;
    let versions: BTreeSet<String> = (0..targets.len())
        .map(|index| version(analysis, index))
        .collect();
    if versions.len() < 2 {
        return None;
    }
    let tls = Aspect::Intent("tls".to_owned());
    let mut others: Vec<String> = analysis
        .plan
        .varying()
        .iter()
        .filter_map(|aspect| match aspect {
            Aspect::Transport => Some("transport".to_owned()),
            Aspect::Server => Some("servers that Prony did not start".to_owned()),
            Aspect::Build => None,
            Aspect::Baseline => {
                Some("settings, which are those of the common baseline or as shipped".to_owned())
            }
            aspect if *aspect == tls => Some("encryption".to_owned()),
            other => Some(other.to_string()),
        })
        .collect();
    let shipped = |target: &Target| target.config.baseline == Baseline::Shipped;
    if targets.iter().all(shipped) {
        others.push("settings, which are as each version ships them".to_owned());
    }
    let allowed: Vec<&str> = analysis.settings.allowed().collect();
    if !allowed.is_empty() {
        others.push(format!(
            "what the experiment allows ({})",
            allowed.join(", ")
        ));
    }
    (!others.is_empty()).then(|| {
        format!(
            "Not only the version differs, but also: {}.",
            others.join("; ")
        )
    })
}

fn version(analysis: &Analysis<'_>, target: usize) -> String {
    match &analysis.builds[target] {
        Some(build) => build.server_version.clone(),
        None if analysis.plan.targets[target].external.is_some() => "not asked yet".into(),
        None => format!(
            "{} (catalogued)",
            analysis.plan.targets[target].build.version
        ),
    }
}

/// The settings that all targets share.
fn common_settings(targets: &[Target]) -> BTreeSet<String> {
    let common = |settings: &mut dyn Iterator<Item = BTreeSet<String>>| {
        settings
            .reduce(|common, own| common.intersection(&own).cloned().collect())
            .unwrap_or_default()
    };
    let mut all = common(&mut targets.iter().map(manner));
    // Servers that Prony does not start are asked nothing.
    let ours = targets.iter().filter(|target| target.external.is_none());
    all.extend(common(&mut ours.map(|target| asked(&target.config))));
    all
}

/// The values of the settings that the experiment does not ask for.
fn baseline(targets: &[Target]) -> &'static str {
    let ours = targets.iter().filter(|target| target.external.is_none());
    let baselines: BTreeSet<Baseline> = ours.map(|target| target.config.baseline).collect();
    match (
        baselines.contains(&Baseline::Common),
        baselines.contains(&Baseline::Shipped),
    ) {
        (false, true) => "as each version ships them",
        (true, true) => "common baseline, or as each version ships them",
        (_, false) => "common baseline",
    }
}

/// The use of a target, one text each.
fn manner(target: &Target) -> BTreeSet<String> {
    let protocol = match target.protocol {
        Protocol::Prepared => "prepared statements",
        Protocol::Text => "text statements",
    };
    let transport = match target.transport {
        Transport::Socket => None,
        Transport::Tcp => Some("over TCP".to_owned()),
        Transport::Network => Some("over the network, from another host".to_owned()),
    };
    let preloaded = target.preload.iter();
    let preloaded = preloaded.map(|library| format!("{library} preloaded"));
    [protocol.to_owned(), format!("{} tables", target.engine)]
        .into_iter()
        .chain(transport)
        .chain(preloaded)
        .collect()
}

/// The settings that an experiment asks of a target's server, one text each.
fn asked(config: &Config) -> BTreeSet<String> {
    // The baseline is in front of them.
    let Config {
        baseline: _,
        intents,
        raw,
    } = config;
    let intents = intents
        .iter()
        .map(|(name, value)| format!("{name} = {value}"));
    let raw = raw.iter().map(|(name, value)| format!("--{name}={value}"));
    intents.chain(raw).collect()
}

fn list(items: &BTreeSet<String>) -> String {
    let items: Vec<&str> = items.iter().map(String::as_str).collect();
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use prony_model::{Finding, FindingState, HostProperty};

    use super::*;

    #[test]
    fn a_host_in_a_line() {
        let line = |facts: &str| {
            host_line(&HostRow {
                recorded_at: Timestamp::UNIX_EPOCH,
                facts_json: facts.to_owned(),
                findings: Vec::new(),
                host_name: None,
            })
        };
        assert_eq!(line(r#"{"cpus": 2, "turbo": null}"#), "2 processors");
        assert_eq!(
            line(r#"{"cpus": 24, "sockets": 1, "cores": 12, "threads": 24, "turbo": false}"#),
            "12 cores, 24 threads, turbo off"
        );
        assert_eq!(
            line(r#"{"cpus": 4, "sockets": 2, "cores": 8, "threads": 8, "turbo": null}"#),
            "2 sockets, 8 cores, 8 threads, 4 processors usable, turbo unknown"
        );
    }

    #[test]
    fn bad_findings_of_every_host_are_shown_once() {
        let host = |findings: &[Finding]| HostRow {
            recorded_at: Timestamp::UNIX_EPOCH,
            facts_json: "{}".into(),
            findings: findings.to_vec(),
            host_name: None,
        };
        let bad = Finding::new(HostProperty::Quota, FindingState::Bad, "half a processor");
        let doubtful = Finding::new(HostProperty::Swap, FindingState::Doubtful, "1 GiB used");
        assert_eq!(
            host_check(&[host(&[]), host(std::slice::from_ref(&doubtful))]),
            None
        );
        let text = host_check(&[host(&[bad.clone(), doubtful]), host(&[bad])]).unwrap();
        assert!(
            text.starts_with("bad: processor quota: half a processor; `prony"),
            "{text}"
        );
    }
}
