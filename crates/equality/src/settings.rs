//! Requested and effective settings of each target.

use std::collections::BTreeSet;

use prony_model::OptionOrigin;

use crate::item::Item;
use crate::subject::{Prepared, Subject};
use crate::table::Table;

/// One variable that at least one target was given, or an intent that no variable shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The intent that it renders; `None` for settings that are the same for every experiment, and
    /// for raw options.
    pub intent: Option<String>,
    /// The variable as in [`crate::Difference::variable`]; `None` where no variable shows what was
    /// asked.
    pub variable: Option<String>,
    /// Origin of the setting: a raw option goes before an intent, an intent before the baseline.
    pub origin: OptionOrigin,
    /// One for each subject.
    pub cells: Vec<SettingCell>,
    /// `true` if the servers ended up with different values, as far as they have the variable.
    pub differs: bool,
}

/// One setting of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingCell {
    /// Value given to the server, or, if no variable shows it, the value that the experiment
    /// requested. `None` if the server was given none: the value is its own default.
    pub asked: Option<String>,
    /// The effective value; `None` where the variable does not exist.
    pub got: Option<String>,
    /// `true` if the server took another value than the requested one.
    pub adjusted: bool,
}

impl Table {
    /// Everything that was asked of at least one target, raw options first, then what the
    /// experiment asked by intents, then the common baseline; each by name.
    pub(crate) fn settings(&self, subjects: &[Subject<'_>]) -> Vec<Setting> {
        let prepared = self.prepare(subjects);
        let mut items = self.items(&prepared);
        items.retain(|item| item.asked.iter().any(Option::is_some));
        let settings = items.iter().map(|item| self.setting(item, &prepared));
        let mut settings: Vec<Setting> = settings.collect();
        let shown = settings.iter().filter_map(|setting| setting.intent.clone());
        let shown: BTreeSet<String> = shown.collect();
        settings.extend(unseen(subjects, &shown));
        settings.sort_by(|a, b| a.rank().cmp(&b.rank()));
        settings
    }

    fn setting(&self, item: &Item<'_, '_>, prepared: &[Prepared<'_>]) -> Setting {
        let intent = item.intents().first().copied();
        let cells = item.asked.iter().zip(&item.values);
        let cells = cells.map(|(asked, got)| SettingCell {
            asked: asked.clone(),
            got: got.clone(),
            adjusted: self.adjusted(item.row, asked.as_deref(), got.as_deref()),
        });
        let groups = self.groups(item.row, &item.values);
        let distinct: BTreeSet<usize> = groups.into_iter().flatten().collect();
        let mut options = item.options.iter().flatten();
        let is_asked = |intent| {
            prepared
                .iter()
                .any(|p| p.subject.intents.contains_key(intent))
        };
        Setting {
            origin: if options.any(|asked| asked.option.origin == OptionOrigin::Raw) {
                OptionOrigin::Raw
            } else if intent.is_some_and(is_asked) {
                OptionOrigin::Intent
            } else {
                OptionOrigin::Baseline
            },
            intent: intent.map(str::to_owned),
            variable: Some(item.variable.clone()),
            cells: cells.collect(),
            differs: distinct.len() > 1,
        }
    }
}

impl Setting {
    /// Its place among others.
    pub(crate) fn rank(&self) -> (u8, Option<&str>, Option<&str>) {
        let origin = match self.origin {
            OptionOrigin::Raw => 0,
            OptionOrigin::Intent => 1,
            OptionOrigin::Baseline => 2,
        };
        (origin, self.intent.as_deref(), self.variable.as_deref())
    }
}

/// The intents that were asked for and that no variable shows.
fn unseen(subjects: &[Subject<'_>], shown: &BTreeSet<String>) -> Vec<Setting> {
    let asked: BTreeSet<&String> = subjects
        .iter()
        .flat_map(|subject| subject.intents.keys())
        .filter(|intent| !shown.contains(*intent))
        .collect();
    let setting = |intent: &String| {
        let cells = subjects.iter().map(|subject| SettingCell {
            asked: subject.intents.get(intent).map(ToString::to_string),
            got: None,
            adjusted: false,
        });
        let cells: Vec<SettingCell> = cells.collect();
        Setting {
            intent: Some(intent.clone()),
            variable: None,
            origin: OptionOrigin::Intent,
            differs: cells.iter().any(|cell| cell.asked != cells[0].asked),
            cells,
        }
    };
    asked.into_iter().map(setting).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use prony_model::{Baseline, Engine, IntentValue, RenderedOption};

    use super::*;

    const TABLE: &str = "
        [[variable]]
        names = ['size * files', 'capacity']
        why = 'w'
        intent = 'redo_log'
    ";

    /// Intents, options and variables of a server.
    struct Server(
        BTreeMap<String, IntentValue>,
        Vec<RenderedOption>,
        BTreeMap<String, String>,
    );

    fn server(
        intents: &[(&str, u64)],
        options: &[(&str, OptionOrigin)],
        variables: &[(&str, &str)],
    ) -> Server {
        let intent = |&(name, value): &(&str, u64)| (name.to_owned(), IntentValue::Bytes(value));
        let option =
            |&(text, origin): &(&str, OptionOrigin)| RenderedOption::new(text, origin, None, "");
        let own = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Server(
            intents.iter().map(intent).collect(),
            options.iter().map(option).collect(),
            variables.iter().map(own).collect(),
        )
    }

    fn settings(servers: &[Server]) -> Vec<Setting> {
        let subjects: Vec<Subject<'_>> = servers
            .iter()
            .map(|Server(intents, options, variables)| Subject {
                name: "s",
                external: false,
                baseline: Baseline::Common,
                engine: Engine::Innodb,
                intents,
                options,
                variables,
            })
            .collect();
        Table::parse("t.toml", TABLE).unwrap().settings(&subjects)
    }

    fn got(asked: Option<&str>, got: Option<&str>, adjusted: bool) -> SettingCell {
        SettingCell {
            asked: asked.map(str::to_owned),
            got: got.map(str::to_owned),
            adjusted,
        }
    }

    #[test]
    fn one_setting_whatever_its_names() {
        let baseline = OptionOrigin::Baseline;
        let found = settings(&[
            server(
                &[],
                &[("size=4M", baseline), ("files=2", baseline)],
                &[("size", "4194304"), ("files", "2")],
            ),
            server(
                &[("redo_log", 5 << 20)],
                &[("capacity=5M", OptionOrigin::Intent)],
                &[("capacity", "8388608")],
            ),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].intent.as_deref(), Some("redo_log"));
        assert_eq!(found[0].origin, OptionOrigin::Intent);
        assert!(!found[0].differs, "the second server rounded up");
        let expected = [
            got(Some("8388608"), Some("8388608"), false),
            got(Some("5M"), Some("8388608"), true),
        ];
        assert_eq!(found[0].cells, expected);
    }

    #[test]
    fn raw_options_come_first_and_unseen_intents_are_not_lost() {
        let found = settings(&[
            server(
                &[("huge_pages", 1)],
                &[
                    ("skip-anything", OptionOrigin::Baseline),
                    ("a=1", OptionOrigin::Baseline),
                    ("z=1", OptionOrigin::Raw),
                ],
                &[("a", "1"), ("z", "1"), ("other", "1")],
            ),
            server(&[], &[], &[("a", "1"), ("other", "2")]),
        ]);
        let order: Vec<(OptionOrigin, Option<&str>, bool)> = found
            .iter()
            .map(|s| {
                (
                    s.origin,
                    s.variable.as_deref().or(s.intent.as_deref()),
                    s.differs,
                )
            })
            .collect();
        let expected = [
            (OptionOrigin::Raw, Some("z"), false),
            (OptionOrigin::Intent, Some("huge_pages"), true),
            (OptionOrigin::Baseline, Some("a"), false),
        ];
        assert_eq!(order, expected);
        assert_eq!(found[2].cells[1], got(None, Some("1"), false));
    }
}
