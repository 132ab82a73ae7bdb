//! Keys: the properties by which cells are chosen and arranged.

use prony_model::{Aspect, Plan};

use crate::analysis::Analysis;
use crate::analysis::sections;
use crate::error::ViewError;
use crate::views::cell::CellId;
use crate::words::plural;

/// A property of cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Key {
    /// The name of the step, with that of the group beside it.
    Step,
    /// The workload of the clients.
    Workload,
    /// The section of the report.
    Section,
    /// The phase of the sequence.
    Phase,
    /// The number of clients of the step's own group.
    Clients,
    /// The name of the target.
    Target,
    /// The server's family.
    Family,
    /// The server's version in the catalogue.
    Version,
    /// A thing in which targets can differ.
    Aspect(Aspect),
}

/// The start of the names of settings.
const CONFIG: &str = "config.";

impl Key {
    /// The server build.
    pub(crate) const BUILD: Self = Self::Aspect(Aspect::Build);

    /// Reads the name of a key.
    ///
    /// # Errors
    /// If no cell of the run has such a property.
    pub(crate) fn read(written: &str, plan: &Plan) -> Result<Self, ViewError> {
        let known = Self::known(plan);
        let found = known.iter().find(|key| key.name() == written);
        found.cloned().ok_or_else(|| ViewError::Key {
            written: written.to_owned(),
            known: known.iter().map(Self::name).collect(),
        })
    }

    /// All keys of a run.
    fn known(plan: &Plan) -> Vec<Self> {
        let mut keys = vec![
            Self::Step,
            Self::Workload,
            Self::Section,
            Self::Phase,
            Self::Clients,
            Self::Target,
            Self::Family,
            Self::Version,
        ];
        let aspects = [
            Aspect::Build,
            Aspect::Engine,
            Aspect::Protocol,
            Aspect::Transport,
            Aspect::Server,
            Aspect::Preload,
            Aspect::Baseline,
            Aspect::Collect,
            Aspect::Placement,
        ];
        keys.extend(aspects.map(Self::Aspect));
        let configs = || plan.targets.iter().map(|target| &target.config);
        let intents = configs().flat_map(|config| config.intents.keys().cloned());
        let options = configs().flat_map(|config| config.raw.keys().cloned());
        let settings = intents
            .map(Aspect::Intent)
            .chain(options.map(Aspect::Option));
        for key in settings.map(Self::Aspect) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        let name = match self {
            Self::Step => "step",
            Self::Workload => "workload",
            Self::Section => "section",
            Self::Phase => "phase",
            Self::Clients => "clients",
            Self::Target => "target",
            Self::Family => "family",
            Self::Version => "version",
            Self::Aspect(Aspect::Intent(name) | Aspect::Option(name)) => {
                return format!("{CONFIG}{name}");
            }
            Self::Aspect(aspect) => return aspect.to_string(),
        };
        name.to_owned()
    }

    /// The value of a cell; empty where it has none.
    pub(crate) fn value(&self, analysis: &Analysis<'_>, cell: CellId) -> String {
        let plan = analysis.plan;
        let step = &plan.steps[cell.group.step];
        let target = &plan.targets[cell.target];
        match self {
            Self::Step => cell.group.named(plan, &step.name),
            Self::Workload => cell.group.of(plan).workload.name.clone(),
            Self::Section => {
                let title = sections::title(&analysis.sections, cell.group.step);
                title.unwrap_or_default().to_owned()
            }
            Self::Phase => step
                .phase
                .map_or_else(String::new, |phase| phase.to_string()),
            Self::Clients => step.own().clients.to_string(),
            Self::Target => target.name.clone(),
            Self::Family => target.build.family.to_string(),
            Self::Version => target.build.version.to_string(),
            Self::Aspect(aspect) => target.aspect(aspect),
        }
    }

    /// A value in the heading of a table or column; empty where there is nothing to say.
    pub(crate) fn heading(&self, value: &str) -> String {
        match self {
            Self::Clients => value.parse().map_or_else(
                |_| value.to_owned(),
                |clients: u64| plural(clients, "client"),
            ),
            Self::Aspect(Aspect::Intent(name) | Aspect::Option(name)) => format!("{name} {value}"),
            _ => value.to_owned(),
        }
    }
}
