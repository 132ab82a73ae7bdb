//! `docs/settings.md`: differences between neighbouring versions after the common baseline is
//! applied, as real servers report them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use serde::Deserialize;

use crate::cargo;

/// One build of every series, oldest first; only builds of one line are neighbours.
const LINES: [&[&str]; 2] = [
    &[
        "mysql-4.1.13",
        "mysql-5.0.21",
        "mysql-5.5.34",
        "mysql-5.6.24",
        "mysql-5.7.29",
        "mysql-8.0.31",
        "mysql-9.7",
    ],
    &[
        "mariadb-10.1.23",
        "mariadb-10.2.11",
        "mariadb-10.5",
        "mariadb-10.11",
        "mariadb-11.4.5",
        "mariadb-11.8",
    ],
];

const INTRODUCTION: &str = "\
# What still differs between neighbouring versions

Every server below runs InnoDB with the [common baseline](../catalog/README.md) and nothing else.
Made from real servers by `cargo xtask settings`; the tables follow from what
`prony plan --effective --format json` says of each pair.

**Known to matter** are the variables in [`catalog/variables.toml`](../catalog/variables.toml): a run
whose targets have different values for one of them stops before anything is loaded, unless its
experiment allows it. The memory allocator is a property of a build: it is shown, and stops nothing.
Variables that exist in one of the two only are listed below the tables. Asked values that a server
rounds are \"adjusted\". In the folded lists, those known to matter stand in bold.
";

#[derive(Deserialize)]
struct Answer {
    differences: Vec<Difference>,
}

#[derive(Deserialize)]
struct Difference {
    variable: String,
    kind: String,
    matters: Option<String>,
    stops: bool,
    /// In the older and in the newer version.
    values: [Option<String>; 2],
}

/// Writes the page again.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let prony = cargo::build(root, "--package prony")?.join("debug/prony");
    let mut page = INTRODUCTION.to_owned();
    for line in LINES {
        for [older, newer] in line.array_windows() {
            println!("{older} and {newer}");
            section(&mut page, older, newer, &ask(&prony, older, newer)?);
        }
    }
    let path = root.join("docs/settings.md");
    fs::write(&path, page).map_err(|error| format!("failed to write {}: {error}", path.display()))
}

fn ask(prony: &Path, older: &str, newer: &str) -> Result<Vec<Difference>, String> {
    let experiment = format!(
        "name = \"pair\"\nbase = \"{older}\"\nblocks = 1\n[dataset]\nrows = 1\n\
         [[target]]\nbuild = \"{older}\"\n[[target]]\nbuild = \"{newer}\"\n\
         [[step]]\nworkload = \"point-query\"\ntime = \"1s\"\n"
    );
    let path = env::temp_dir().join(format!("prony-settings-{}.toml", std::process::id()));
    fs::write(&path, experiment)
        .map_err(|error| format!("failed to write {}: {error}", path.display()))?;
    let output = Command::new(prony)
        .arg("plan")
        .arg(&path)
        .args(["--effective", "--format", "json"])
        .output()
        .map_err(|error| format!("failed to run {}: {error}", prony.display()));
    // The file is no longer needed; a failed removal is harmless.
    let _ = fs::remove_file(&path);
    let output = output?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice::<Answer>(&output.stdout)
        .map(|answer| answer.differences)
        .map_err(|error| format!("failed to read the plan of {older} and {newer}: {error}"))
}

fn section(page: &mut String, older: &str, newer: &str, differences: &[Difference]) {
    let (only, valued): (Vec<_>, Vec<_>) = differences
        .iter()
        .partition(|difference| difference.kind == "only-in-some");
    let (known, others): (Vec<&Difference>, Vec<_>) = valued
        .into_iter()
        .partition(|difference| difference.matters.is_some());
    let stopping = known.iter().filter(|difference| difference.stops).count();
    // Writing to a String cannot fail.
    let _ = writeln!(page, "\n## {older} and {newer}\n");
    let _ = match known.len() {
        0 => writeln!(page, "No variable known to matter has different values.\n"),
        some => writeln!(
            page,
            "Known to matter: {some} with different values, of which {stopping} would stop a run.\n"
        ),
    };
    table(page, older, newer, &known);
    if !others.is_empty() {
        let _ = writeln!(page, "Others with different values: {}.\n", others.len());
    }
    table(page, older, newer, &others);
    for (index, name) in [older, newer].into_iter().enumerate() {
        let names: Vec<_> = only
            .iter()
            .filter(|difference| difference.values[index].is_some())
            .map(|difference| match difference.matters {
                Some(_) => format!("**`{}`**", difference.variable),
                None => format!("`{}`", difference.variable),
            })
            .collect();
        if !names.is_empty() {
            let _ = writeln!(
                page,
                "<details><summary>Only in {name}: {}</summary>\n\n{}\n\n</details>\n",
                names.len(),
                names.join(", ")
            );
        }
    }
}

fn table(page: &mut String, older: &str, newer: &str, rows: &[&Difference]) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "| variable | {older} | {newer} | how |\n|---|---|---|---|"
    );
    for row in rows {
        let [older, newer] = row.values.each_ref().map(|value| match value.as_deref() {
            None => String::new(),
            Some("") => "(empty)".to_owned(),
            Some(value) => format!("`{}`", value.replace('|', "\\|")),
        });
        let (variable, how) = (&row.variable, row.kind.replace('-', " "));
        let _ = writeln!(page, "| `{variable}` | {older} | {newer} | {how} |");
    }
    page.push('\n');
}
