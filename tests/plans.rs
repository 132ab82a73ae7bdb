//! The experiments that come with Prony, planned against the built-in catalogue.
#![allow(
    clippy::unwrap_used,
    reason = "this is test code, outside of functions marked as tests"
)]

mod support;

use support::{EXAMPLE, PRONY, finish, prony, workspace, write};

#[test]
fn every_experiment_of_the_project_can_be_planned() {
    let folder = tempfile::tempdir().unwrap();
    let [experiments, target] = ["experiments", "target"].map(|name| folder.path().join(name));
    std::fs::create_dir(&experiments).unwrap();
    std::fs::create_dir(&target).unwrap();
    // A plan reads no more of a library than its digest.
    for library in ["slow-1.so", "slow-5.so"] {
        std::os::unix::fs::symlink(PRONY, target.join(library)).unwrap();
    }
    let mut planned = 0;
    for entry in std::fs::read_dir(workspace().join("experiments")).unwrap() {
        let entry = entry.unwrap();
        let path = experiments.join(entry.file_name());
        std::fs::copy(entry.path(), &path).unwrap();
        let finished = finish(prony(folder.path(), &["plan", path.to_str().unwrap()])).exits(0);
        assert!(
            finished.stdout.contains("Predicted time: about "),
            "{}",
            path.display()
        );
        planned += 1;
    }
    assert!(planned >= 3);
}

#[test]
fn a_plan_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/quickstart.toml");
    let plan = finish(prony(folder.path(), &["plan", path.to_str().unwrap()]))
        .exits(0)
        .stdout;
    for build in ["mysql-5.0.21", "mysql-5.7.22", "mysql-9.7"] {
        assert!(plan.contains(build), "{build}");
    }
    // Nothing was started or made.
    assert!(!folder.path().join("runs").exists());
}

/// A catalogue entry of the user's for a build that nothing fetches.
fn entry(id: &str, version: &str) -> String {
    format!(
        "[[build]]\nid = \"{id}\"\nfamily = \"mysql\"\nversion = \"{version}\"\n\
         version_text = \"{version}\"\nengines = [\"innodb\", \"myisam\", \"memory\", \"rocksdb\"]\n\
         engine_options = {{ rocksdb = [\"plugin-load-add=ha_rocksdb.so\"] }}\n\
         allocators = \"allocators-debian-12-amd64\"\nprogram = \"bin/mysqld\"\n\
         bootstrap = {{ template = \"data\" }}\n[[build.source]]\nfrom.path = \"/opt/none\"\n"
    )
}

/// The builds that the studies measured and the catalogue lacks, each with a version that it can be.
const MEASURED: [(&str, &[(&str, &str)]); 5] = [
    (
        "myisam-2017",
        &[
            ("mysql-5.0.96", "5.0.96"),
            ("mysql-5.1.72", "5.1.72"),
            ("mysql-5.5.51", "5.5.51"),
            ("mysql-5.6.35", "5.6.35"),
            ("mysql-5.7.17", "5.7.17"),
            ("mysql-8.0.1", "8.0.1"),
            ("mysql-8.0.2", "8.0.2"),
            ("mysql-8.0.3", "8.0.3"),
        ],
    ),
    (
        "heap-updates-2014",
        &[
            ("mysql-5.0.85", "5.0.85"),
            ("mysql-5.1", "5.1.73"),
            ("mysql-5.7.5", "5.7.5"),
        ],
    ),
    (
        "myrocks-2021",
        &[("fbmysql-5.6.35", "5.6.35"), ("fbmysql-8.0.17", "8.0.17")],
    ),
    (
        "shootout-2011",
        &[
            ("mysql-5.1", "5.1.73"),
            ("mysql-5.1-plugin", "5.1.73"),
            ("mysql-5.6.2", "5.6.2"),
            ("percona-server-5.5", "5.5.62"),
        ],
    ),
    (
        "pk-lookup-2016",
        &[
            ("mysql-5.6-without-ps", "5.6.29"),
            ("mysql-5.7-without-ps", "5.7.11"),
        ],
    ),
];

#[test]
fn studies_take_the_builds_that_were_measured() {
    for (study, builds) in MEASURED {
        let folder = tempfile::tempdir().unwrap();
        let file = workspace().join(format!("experiments/{study}.toml"));
        let own = folder.path().to_str().unwrap();
        let arguments = ["plan", file.to_str().unwrap(), "--catalog", own];
        let plan = || finish(prony(folder.path(), &arguments)).exits(0).stdout;
        let without = plan();
        let line = without
            .lines()
            .find(|line| line.contains("not on this machine: left out"));
        assert!(builds.iter().all(|(id, _)| line.unwrap().contains(id)));
        let entries = builds.iter().map(|(id, version)| entry(id, version));
        write(folder.path(), "own.toml", &entries.collect::<String>());
        let whole = plan();
        assert!(!whole.contains("left out"), "{study}");
        for (id, _) in builds {
            assert!(whole.contains(&format!(" {id}")), "{study}: {id}");
        }
    }
}

#[test]
fn optional_builds_take_part_where_the_catalogue_has_them() {
    let folder = tempfile::tempdir().unwrap();
    let optional = "[[target]]\nbuild = \"mine-5.1.72\"\noptional = true\n\n[sequence]";
    let experiment = EXAMPLE.replace("[sequence]", optional);
    write(folder.path(), "example.toml", &experiment);
    let own = folder.path().join("own");
    std::fs::create_dir(&own).unwrap();
    let plan = || {
        let arguments = ["plan", "example.toml", "--catalog", own.to_str().unwrap()];
        finish(prony(folder.path(), &arguments)).exits(0).stdout
    };
    let absent = plan();
    assert!(absent.contains("Targets (1):"));
    assert!(absent.contains(
        "  mine-5.1.72 is not on this machine: left out; add a build with `prony servers add FOLDER --id \
         mine-5.1.72`\n"
    ));
    write(&own, "mine.toml", &entry("mine-5.1.72", "5.1.72"));
    let present = plan();
    assert!(present.contains("Targets (2):"));
    assert!(!present.contains("left out"));
}

#[test]
fn a_plan_shows_what_all_targets_share() {
    let folder = tempfile::tempdir().unwrap();
    for (experiment, words) in [
        (
            "myisam-lineage",
            &[
                "transport socket, baseline common\n",
                "at the baseline: ",
                "allocator built",
            ][..],
        ),
        (
            "shipped-settings",
            &[
                "transport socket\n",
                "asked for: buffer_pool 512M\n",
                "baseline shipped",
            ][..],
        ),
    ] {
        let path = workspace().join(format!("experiments/{experiment}.toml"));
        let plan = finish(prony(folder.path(), &["plan", path.to_str().unwrap()])).exits(0);
        for words in words {
            assert!(plan.stdout.contains(words), "{words}\n{}", plan.stdout);
        }
    }
}

#[test]
fn a_raw_option_that_meets_an_intent_is_shown_with_both_lines() {
    let folder = tempfile::tempdir().unwrap();
    let both = "build = \"mysql-5.7.22\"\nconfig = { buffer_pool = \"1G\" }\n\
                options = { innodb-buffer-pool-size = \"2G\" }\n";
    let text = EXAMPLE.replace("build = \"mysql-5.7.22\"\n", both);
    write(folder.path(), "both.toml", &text);
    finish(prony(folder.path(), &["plan", "both.toml"]))
        .exits(3)
        .says(&[
            "`innodb_buffer_pool_size` sets what the intent `buffer_pool` sets",
            "asked for here",
            "and here",
        ]);
}

/// The profile `small` of the studies, against the catalogue itself.
#[test]
fn studies_can_be_planned_small() {
    let folder = tempfile::tempdir().unwrap();
    for (name, preset) in [
        ("heap-updates-2014", "heap-2014"),
        ("myisam-2017", "smalldatum-2017"),
        ("myrocks-2021", "smalldatum-2021"),
        ("pk-lookup-2016", "pk-lookup-2016"),
        ("shootout-2011", "shootout-2011"),
    ] {
        let path = workspace().join(format!("experiments/{name}.toml"));
        let args = ["plan", path.to_str().unwrap(), "--profile", "small"];
        let plan = finish(prony(folder.path(), &args)).exits(0).stdout;
        assert!(plan.contains("With the profile small."), "{plan}");
        assert!(plan.contains(&format!("sequence {preset}")), "{plan}");
        // A host with counters of the processor counts besides.
        let minutes = if counts(&plan) { 3..12 } else { 3..8 };
        assert!(
            minutes
                .map(|minutes| format!("Predicted time: about {minutes} min"))
                .any(|predicted| plan.contains(&predicted)),
            "{plan}"
        );
    }
}

#[test]
fn a_plan_says_what_its_sequence_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/myrocks-2021.toml");
    let plan = finish(prony(folder.path(), &["plan", path.to_str().unwrap()]))
        .exits(0)
        .stdout;
    for line in [
        "    point-query.warm, 1 client: 3 min after 5 s of warm-up, for warming only",
        "  settle: 2 min at least, 20 min at most",
        "  reads after the writes:",
        "    read-only.range10, 1, 2 and 3 clients: 3 min after 5 s of warm-up",
        "  Delete and insert: delete, insert",
    ] {
        assert!(plan.lines().any(|found| found == line), "{line}\n{plan}");
    }
}

#[test]
fn a_plan_says_at_which_pace_clients_work() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/readers-and-writers.toml");
    let args = ["plan", path.to_str().unwrap(), "--profile", "small"];
    let plan = finish(prony(folder.path(), &args)).exits(0).stdout;
    for line in [
        "  readers, 8 clients: 12 s after 1 s of warm-up",
        "    beside: writers, 2 clients, update-nonindex, 600 operations/s, arriving at random",
        "  lookups-at-a-rate, 16 clients: 12 s after 1 s of warm-up, ramp-up over 2 s, \
         1000 operations/s, arriving at random, reconnecting after 200 operations",
    ] {
        assert!(plan.lines().any(|found| found == line), "{line}\n{plan}");
    }
    // Two steps of 12 s with a rate, in a trial of each of the three targets.
    let added = "Servers that do not keep up with a rate can add up to 4 min 48 s in total.";
    assert!(plan.contains(added), "{plan}");
}

#[test]
fn a_plan_shows_the_placement_on_this_host() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = folder.path().join("placed.toml");
    let plan = |placement: &str| -> Vec<String> {
        let text = format!(
            "name = \"placed\"\nbase = \"mysql-8.0.31\"\nblocks = 1\n{placement}\n\
             [dataset]\nrows = 1000\n[sequence]\ntime = \"1s\"\n\
             [[step]]\nworkload = \"point-query\"\n\
             [[target]]\nbuild = \"mysql-8.0.31\"\n"
        );
        std::fs::write(&experiment, text).unwrap();
        let args = ["plan", experiment.to_str().unwrap()];
        let plan = finish(prony(folder.path(), &args)).exits(0).stdout;
        let lines = plan.lines().map(str::to_owned);
        let lines = lines.skip_while(|line| line != "Placement on this host:");
        lines.skip(1).take_while(|line| !line.is_empty()).collect()
    };
    assert_eq!(plan("placement = \"free\""), ["  all steps: free"]);
    let named = plan("placement = { sessions = \"0\", generator = \"0\" }");
    assert_eq!(named, ["  all steps: sets (sessions 0, generator 0)"]);
    // The rule depends on the host, the reason is always there.
    let [steps, default] = <[String; 2]>::try_from(plan("")).unwrap();
    assert!(steps.starts_with("  all steps: "), "{steps}");
    assert!(default.starts_with("  default: ") && default.contains(", because "));
}

/// Tells if a plan counts instructions, which by default depends on the host.
fn counts(plan: &str) -> bool {
    let counts = plan.contains("Instructions are counted by ");
    assert_ne!(counts, plan.contains("No instructions are counted: "));
    counts
}

#[test]
fn a_plan_says_what_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = folder.path().join("counted.toml");
    let plan = |says: &str| {
        let text = format!(
            "name = \"counted\"\nbase = \"a\"\nblocks = 2\naa = false\nclients = [1]\n{says}\n\
             [dataset]\nrows = 1000\n[sequence]\ntime = \"1s\"\n\
             [[step]]\nworkload = \"point-query\"\n\
             [[target]]\nname = \"a\"\nbuild = \"mysql-8.0.31\"\n\
             [[target]]\nname = \"b\"\nbuild = \"mysql-8.0.31\"\n\
             [defaults]\ncollect = {{ status = false }}\n"
        );
        std::fs::write(&experiment, text).unwrap();
        let args = ["plan", experiment.to_str().unwrap()];
        finish(prony(folder.path(), &args)).exits(0).stdout
    };
    let counted = plan(
        "[counting]\nwith = \"valgrind\"\nblocks = 1\noperations = 500\n\
         [canary]\nbound = \"7.5 %\"\nexclude = true",
    );
    for line in [
        "Collected: system, cgroup, auto counters, every 1s",
        "Trials in order (6 in 2 blocks):",
        "Instructions are counted by valgrind in 1 block: 500 operations of each step, the same for \
         all targets.",
        "Timed trials whose canary is off by more than 7.5 % (wake-ups 37.5 %) are excluded and run \
         again, at most 3 times each.",
        "2 cells, each measured 2 times. Predicted time: about 2 min 48 s, after the server builds \
         have been fetched.",
    ] {
        assert!(
            counted.lines().any(|found| found == line),
            "{line}\n{counted}"
        );
    }
    let line = |plan: &str, start: &str| -> String {
        let mut lines = plan.lines();
        lines
            .find(|line| line.starts_with(start))
            .unwrap()
            .to_owned()
    };
    let without = plan("counting = \"off\"");
    assert!(
        !without.contains("ounted:") && !without.contains("counting"),
        "{without}"
    );
    let (timed, counting) = line(&counted, "  block 1: ")
        .split_once("; then counting: ")
        .map(|(timed, counting)| (timed.to_owned(), counting.to_owned()))
        .unwrap();
    assert_eq!(timed, line(&without, "  block 1: "));
    assert!(["a, b", "b, a"].contains(&counting.as_str()), "{counting}");
    assert_eq!(line(&counted, "  block 2: "), line(&without, "  block 2: "));
}

#[test]
fn a_plan_shows_the_twin_and_when_a_campaign_ends() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = folder.path().join("precise.toml");
    let text = "name = \"precise\"\nbase = \"mysql-5.7.22\"\nprecision = \"2.5 %\"\nbudget = \"1m\"\n\
                margin = \"1 %\"\ncounting = \"off\"\n[dataset]\nrows = 1000\n[sequence]\n\
                time = \"1s\"\n[[step]]\nworkload = \"point-query\"\n\
                [[target]]\nbuild = \"mysql-5.7.22\"\n[[target]]\nbuild = \"mysql-8.0.31\"\n";
    std::fs::write(&experiment, text).unwrap();
    let args = ["plan", experiment.to_str().unwrap()];
    let plan = finish(prony(folder.path(), &args)).exits(0).stdout;
    for line in [
        "  mysql-5.7.22: mysql-5.7.22, innodb  (base)",
        "  mysql-5.7.22-again: mysql-5.7.22, innodb  (the base again)",
        "  point-query, 1 client: 1 s after 1 s of warm-up, margin 1 %",
        "Trials in order (15 in 5 blocks):",
        "Blocks are added until all ratios of throughput are known to ±2.5 %, or the budget of \
         1 min is used up.",
        "The run looks at them after 5, 8, 12, 20, 30 and 50 blocks. The predicted time up to the \
         first look is longer.",
        "3 cells, each measured at least 5 times. Predicted time: about 2 min 12 s for these, and \
         22 s for each further block, after the server builds have been fetched.",
    ] {
        assert!(plan.lines().any(|found| found == line), "{line}\n{plan}");
    }
}

#[test]
fn a_plan_says_who_wants_counters_that_are_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/observer-effect.toml");
    let args = ["plan", path.to_str().unwrap(), "--profile", "small"];
    let plan = finish(prony(folder.path(), &args)).exits(0).stdout;
    for target in [
        "nothing: mysql-8.0.31, innodb, collect nothing  (base)",
        "status: mysql-8.0.31, innodb, collect status",
    ] {
        assert!(plan.contains(target), "{plan}");
    }
    let elsewhere = folder.path().join("auto.toml");
    let text = "name = \"x\"\nbase = \"mysql\"\nblocks = 1\n[dataset]\nrows = 1000\n[sequence]\n\
         time = \"1s\"\n[[step]]\nworkload = \"point-query\"\n[[target]]\nbuild = \"mysql-8.0.31\"\n";
    std::fs::write(&elsewhere, text).unwrap();
    let args = ["plan", elsewhere.to_str().unwrap()];
    let auto = finish(prony(folder.path(), &args)).exits(0).stdout;
    let wanted =
        "hardware wants the processor's counters, which can't be read here, and will fail: ";
    assert_eq!(plan.contains(wanted), !counts(&auto), "{plan}");
}

#[test]
fn unknown_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let path = workspace().join("experiments/myrocks-2021.toml");
    let args = ["plan", path.to_str().unwrap(), "--profile", "tiny"];
    finish(prony(folder.path(), &args))
        .exits(3)
        .says(&["no profile `tiny`", "known profiles: small"]);
}

#[test]
fn sequences_are_listed_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let list = finish(prony(folder.path(), &["sequences", "list"])).exits(0);
    for name in ["smalldatum-2017", "heap-2014", "shootout-2011"] {
        assert!(list.stdout.contains(name), "{name}");
    }
    let json = finish(prony(
        folder.path(),
        &["sequences", "list", "--format", "json"],
    ))
    .exits(0);
    assert!(json.stdout.starts_with('['), "{}", json.stdout);
    let shown = finish(prony(folder.path(), &["sequences", "show", "heap-2014"])).exits(0);
    let file = workspace().join("sequences/heap-2014.toml");
    assert_eq!(shown.stdout, std::fs::read_to_string(file).unwrap());
    finish(prony(folder.path(), &["sequences", "show", "heap-2015"]))
        .exits(2)
        .says(&["heap-2015", "did you mean `heap-2014`"]);
}
