//! The files that come with Prony.

use std::fs;
use std::path::Path;

use prony_model::{Dataset, Effect, Family, Piece, Schema, SqlTemplate, Workload};

use super::{World, rendered};
use crate::{
    Assumptions, embedded_definitions, embedded_presets, embedded_workloads, parse_experiment,
    parse_preset, parse_workloads, predicted_ms,
};

/// Text of every TOML file of a folder at the top of the project, by name.
pub(super) fn files(folder: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(folder);
    let mut files: Vec<_> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{folder}");
    files
}

/// The blocks of TOML in a document.
fn examples(document: &str) -> Vec<&str> {
    document
        .split("```toml\n")
        .skip(1)
        .map(|rest| rest.split_once("```").unwrap().0)
        .collect()
}

#[test]
fn documented_examples_are_right() {
    let experiment = include_str!("../../../../docs/formats/experiment.md");
    let plan = World::new()
        .parse(examples(experiment)[0])
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    assert_eq!(plan.steps.len(), 5);
    let workload = include_str!("../../../../docs/formats/workload.md");
    let workloads = parse_workloads("workload.md", examples(workload)[0])
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    assert_eq!(workloads[0].statements.len(), 2);
    let head = examples(workload)[0]
        .split_once("[[workload.statement]]")
        .unwrap()
        .0;
    let more = format!(
        "{}{}",
        head.replace("parameters.range = 100\n", ""),
        examples(workload)[1]
    );
    parse_workloads("workload.md", &more)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
}

/// The table of `docs/workloads.md`.
#[test]
fn documented_workloads_are_the_built_in_ones() {
    let documented: Vec<_> = include_str!("../../../../docs/workloads.md")
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| workload"))
        .collect();
    let table: Vec<_> = embedded_workloads()
        .unwrap()
        .iter()
        .map(|workload| {
            let parameters: Vec<_> = workload
                .parameters
                .iter()
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            format!(
                "| {} | {} | {} | {} | {} |",
                workload.name,
                workload.group.name(),
                workload.effect.name(),
                parameters.join(", "),
                workload.description
            )
        })
        .collect();
    assert_eq!(documented, table);
}

/// The names of the targets of an example that leaves out everything else.
fn names_of_targets(example: &str) -> Vec<String> {
    let text = format!(
        "name = \"x\"\nblocks = 1\n{example}\n[dataset]\nrows = 1000\n\
         [sequence]\ntime = \"1s\"\n[[step]]\nworkload = \"point-query\"\n"
    );
    let plan = World::new()
        .parse(&text)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    plan.targets.into_iter().map(|target| target.name).collect()
}

#[test]
fn documented_targets_are_right() {
    let document = include_str!("../../../../docs/formats/experiment.md");
    let documented: Vec<_> = examples(document)[1..]
        .iter()
        .filter(|example| example.contains("[[target]]"))
        .map(|example| names_of_targets(example))
        .collect();
    let with = |build: &str| ["off", "on"].map(|value| format!("mysql-{build}-binlog-{value}"));
    let by_build = [with("5.7.22"), with("8.0.31")].concat();
    assert_eq!(
        documented,
        [
            ["mysql-5.7.22"].map(str::to_owned).to_vec(),
            [
                "prepared-performance_schema-off",
                "text-performance_schema-off",
                "prepared-performance_schema-on",
                "text-performance_schema-on",
            ]
            .map(str::to_owned)
            .to_vec(),
            by_build.clone(),
            by_build,
            ["mysql-8.0.31", "production-copy"]
                .map(str::to_owned)
                .to_vec(),
        ]
    );
}

/// The documented sequences and profiles, in an experiment with nothing else of the kind.
#[test]
fn documented_sequences_are_right() {
    let experiment = include_str!("../../../../docs/formats/experiment.md");
    let example = |part: &str| {
        let found = examples(experiment)
            .into_iter()
            .find(|e| e.starts_with(part));
        found.unwrap_or_else(|| panic!("{part}"))
    };
    let start = "name = \"x\"\nblocks = 2\nbase = \"mysql-8.0.31\"\n[dataset]\nrows = 20_000\n\
                 [[target]]\nbuild = \"mysql-8.0.31\"\n";
    let steps = "[sequence]\ntime = \"1s\"\n[[step]]\nworkload = \"point-query\"\n[[step]]\n\
                 workload = \"range-notcovered-pk\"\nparameters.range = 10\n";
    let settle = example("[[step]]\nsettle");
    let (first, second) = steps.rsplit_once("[[step]]").unwrap();
    let world = World {
        presets: embedded_presets().unwrap(),
        ..World::new()
    };
    for sequence in [
        format!("{steps}{}", example("[[section]]")),
        format!("{first}{settle}[[step]]{second}"),
        example("[sequence]").to_owned(),
    ] {
        for profile in [None, Some("small")] {
            let text = format!("{start}{sequence}\n{}", example("[profile.small]"));
            let plan = parse_experiment("x.toml", &text, profile, &world.knowledge())
                .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
            assert_eq!(plan.blocks(), if profile.is_some() { 1 } else { 2 });
        }
    }
}

#[test]
fn the_documented_preset_is_right() {
    let document = include_str!("../../../../docs/formats/sequence.md");
    let workloads = embedded_workloads().unwrap();
    let preset = parse_preset("sequence.md", examples(document)[0], &workloads)
        .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
    let steps: Vec<_> = preset.steps().collect();
    let expected = [
        "point-query.warm",
        "point-query.pre",
        "update-index",
        "point-query",
    ];
    assert_eq!(steps, expected);
    for preset in embedded_presets().unwrap() {
        assert!(document.contains(&format!("| `{}` |", preset.name())));
    }
}

/// The rows of the table of matrices: what it writes, and the names that it promises.
#[test]
fn documented_matrices_are_right() {
    let document = include_str!("../../../../docs/formats/experiment.md");
    let mut rows = 0;
    for line in document.lines() {
        let cells: Vec<_> = line.split(" | ").collect();
        let [_, matrix, names] = cells.as_slice() else {
            continue;
        };
        let Some((matrix, _)) = matrix.strip_prefix('`').and_then(|m| m.split_once('`')) else {
            continue;
        };
        if !matrix.starts_with('{') {
            continue;
        }
        let promised: Vec<_> = names.split('`').skip(1).step_by(2).collect();
        let first = promised[0];
        let target = format!(
            "base = \"{first}\"\n[[target]]\nbuild = \"mysql-8.0.31\"\nmatrix = {matrix}\n"
        );
        assert_eq!(names_of_targets(&target), promised, "{matrix}");
        rows += 1;
    }
    assert_eq!(rows, 14);
}

#[test]
fn the_quickstart_takes_less_than_ten_minutes() {
    let world = World::new();
    let text = include_str!("../../../../experiments/quickstart.toml");
    let plan = world.parse(text).unwrap();
    let steps: Vec<_> = plan.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        steps,
        [
            "point-query",
            "range-notcovered-pk",
            "read-only",
            "scan",
            "update-nonindex",
            "insert",
            "update-index",
            "delete",
        ]
    );
    assert!(predicted_ms(&plan, &Assumptions::default()) < 10 * 60_000);
}

#[test]
fn every_workload_file_is_embedded() {
    let mut in_folder = Vec::new();
    for (name, text) in files("workloads") {
        let workloads = parse_workloads(&name, &text)
            .unwrap_or_else(|invalid| panic!("{}", rendered(&invalid)));
        in_folder.extend(workloads);
    }
    let mut embedded = embedded_workloads().unwrap();
    let by_name = |a: &Workload, b: &Workload| a.name.cmp(&b.name);
    in_folder.sort_by(by_name);
    embedded.sort_by(by_name);
    assert_eq!(in_folder, embedded);
    assert!(embedded.windows(2).all(|pair| pair[0].name != pair[1].name));
}

/// The text that is shown of a workload defines this workload and no other.
#[test]
fn definitions_are_parts_of_their_files() {
    let definitions = embedded_definitions().unwrap();
    let whole: Vec<String> = files("workloads")
        .into_iter()
        .map(|(_, text)| text)
        .collect();
    for definition in &definitions {
        let read = parse_workloads("part.toml", &definition.text).unwrap();
        assert_eq!(read, std::slice::from_ref(&definition.workload));
        let text = definition.text.as_str();
        assert!(whole.iter().any(|file| file.contains(text)), "{text}");
    }
    let mut definitions = definitions.iter();
    let classic = definitions
        .find(|definition| definition.workload.name == "oltp-classic")
        .unwrap();
    assert!(
        classic.text.starts_with("# As sysbench 0.4"),
        "{}",
        classic.text
    );
}

/// The workloads promise answers for data that no step has shrunk yet. How many rows have the same
/// `k` is chance.
#[test]
fn every_statement_says_what_it_expects() {
    for workload in embedded_workloads().unwrap() {
        for statement in workload.statements {
            let known = statement.expect.rows.is_some()
                || statement.expect.affected.is_some()
                || statement.expect_rows.is_some()
                || statement.expect_affected.is_some();
            let mut texts = statement.sql.texts();
            let by_k = texts.any(|sql| sql.to_string().contains("WHERE k "));
            assert!(known != by_k, "{} {}", workload.name, statement.name);
        }
    }
}

/// Work can be counted in the tables afterwards: a workload that leaves more or fewer rows says
/// so, all others put back what they remove.
#[test]
fn changes_of_rows_are_those_of_the_effect() {
    for workload in embedded_workloads().unwrap() {
        let rows: i64 = workload.statements.iter().map(|s| s.change.rows).sum();
        let expected = match workload.effect {
            Effect::None | Effect::Rewrite => 0,
            Effect::Grow => 1,
            Effect::Shrink => -1,
        };
        assert_eq!(rows, expected, "{}", workload.name);
    }
}

/// True for the name of a column of a table of the schema.
fn is_column(schema: Schema, word: &str) -> bool {
    let further = schema.further.iter().flat_map(|table| &table.columns);
    let mut columns = schema.columns.iter().chain(further);
    columns.any(|column| column.name == word)
}

/// SQL that all families of servers understand.
const COMMON: [&str; 34] = [
    "SELECT", "DISTINCT", "SUM", "COUNT", "LENGTH", "FROM", "WHERE", "BETWEEN", "AND", "IN",
    "ORDER", "BY", "LIMIT", ">=", "INSERT", "INTO", "VALUES", "UPDATE", "SET", "DELETE", "*", "=",
    "<", "NOW", "JOIN", "LEFT", "ON", "GROUP", "DESC", "LIKE", "IS", "NULL", ">", "<=",
];
/// SQL on whole tables that all families understand.
const COMMON_ON_TABLES: [&str; 8] = [
    "ALTER", "TABLE", "ADD", "DROP", "COLUMN", "INTEGER", "NOT", "DEFAULT",
];

/// Words of a family's own.
const fn own_words(family: Family) -> &'static [&'static str] {
    match family {
        Family::Mysql | Family::Mariadb => &["INDEX", "OPTIMIZE", "CHECK", "ANALYZE", "CALL"],
        Family::Postgresql => &["CREATE", "INDEX", "VACUUM", "FULL", "ANALYZE", "ARRAY"],
    }
}

/// The words of a statement, without texts in quotes and numbers. Names of tables are `sbtest1`.
fn words(sql: &SqlTemplate) -> Vec<String> {
    let text: String = sql
        .pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Table | Piece::Further(_) | Piece::Procedure(_) => "sbtest1",
            Piece::Param(_) | Piece::List(_) | Piece::Rows => " 1 ",
        })
        .collect();
    text.split([' ', ',', '(', ')', '+', '-', '.', ';', '[', ']'])
        .filter(|word| !word.starts_with('\'') && word.len() > 1 || *word == "=")
        .filter(|word| !word.bytes().all(|c| c.is_ascii_digit()))
        .map(ToOwned::to_owned)
        .collect()
}

/// Every family gets SQL that it understands: a word that is not here is looked up in the manuals
/// first, and in that of the family where it is its own.
#[test]
fn statements_are_sql_of_every_family() {
    // Names that statements give.
    let is_new = |word: &str| word == "extra" || word.contains("by_");
    for workload in embedded_workloads().unwrap() {
        for (family, statement) in Family::ALL
            .into_iter()
            .flat_map(|family| workload.statements.iter().map(move |s| (family, s)))
        {
            let Some(sql) = statement.sql.of(family) else {
                let place = (workload.name.as_str(), family);
                assert_eq!(place, ("ddl-check", Family::Postgresql));
                continue;
            };
            let is_common = statement.sql.texts().count() == 1 && workload.name != "ddl-check";
            for word in words(sql) {
                let word = word.as_str();
                let known = word == "sbtest1"
                    || COMMON.contains(&word)
                    || COMMON_ON_TABLES.contains(&word)
                    || is_column(workload.schema, word)
                    || !is_common && (own_words(family).contains(&word) || is_new(word))
                    || workload.goes_through_tables() && is_new(word);
                assert!(
                    known,
                    "`{word}` in {} {}, {family}",
                    workload.name, statement.name
                );
            }
        }
    }
}

/// Procedures and conditions of the schemas are for every family, too.
#[test]
fn schemas_have_sql_for_every_family() {
    for schema in Schema::all_built_in() {
        for family in Family::ALL {
            assert_eq!(schema.without_sql(family), None, "{}", schema.name());
        }
    }
}

/// A text of random digits has the width of the column it goes into: `c` 119, `pad` 59.
#[test]
fn random_texts_fill_their_columns() {
    use prony_model::Generator::Digits;
    for workload in embedded_workloads().unwrap() {
        for param in workload
            .statements
            .iter()
            .flat_map(|statement| &statement.params)
        {
            // Those of sysbench 0.4 have no digits.
            if let Digits(pattern) = &param.generator
                && workload.schema != Schema::SBTEST_04
            {
                let groups = if param.name == "c" { 10 } else { 5 };
                let expected = vec!["#".repeat(11); groups].join("-");
                assert_eq!(*pattern, expected, "{} {}", workload.name, param.name);
            }
        }
    }
}

/// One row is the least that a dataset can have; workloads without ranges run on it.
#[test]
fn single_rows_are_enough_where_no_range_is_read() {
    let dataset = Dataset::sbtest(1, 1, 1);
    let text = super::RIGHT
        .replace("tables = 2", &format!("tables = {}", dataset.tables))
        .replace("rows = 10_000", &format!("rows = {}", dataset.rows))
        .replace(
            "workload = \"read-only\"\nparameters.range = 10",
            "workload = \"delete\"",
        );
    assert_eq!(World::new().parse(&text).unwrap().dataset, dataset);
}
