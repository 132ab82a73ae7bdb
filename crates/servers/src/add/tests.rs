use prony_model::BuildFacts;

use super::*;
use crate::build::catalogue::{Origin, Part, Source};
use crate::testing::Stage;

/// The start of a program for 64-bit ARM.
fn foreign_program() -> Vec<u8> {
    let mut bytes = vec![0; 64];
    bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
    bytes[18] = 183;
    bytes
}

/// Tries to add what is at `name` on the stage; returns the message.
fn refused(stage: &Stage, name: &str) -> String {
    let catalogue = Catalogue::embedded().unwrap();
    let stop = StopFlag::default();
    let adder = Adder {
        roots: &stage.roots,
        catalogue: &catalogue,
        launcher: &stage.launcher,
        stop: &stop,
    };
    let (path, folder) = (stage.path(name), stage.path("own"));
    let new = NewServer {
        path: &path,
        id: None,
        catalogue: &folder,
    };
    let error = adder.add(&new, &mut |_| ()).unwrap_err();
    for folder in [stage.roots.builds(), stage.roots.downloads(), folder] {
        let left = fs::read_dir(&folder).into_iter().flatten().count();
        assert_eq!(left, 0, "{}", folder.display());
    }
    stage.redact(&error.to_string())
}

#[test]
fn what_is_no_server_for_this_machine_is_refused() {
    let stage = Stage::with_clients(&[]);
    stage.write("empty/readme", "no server");
    stage.write("script/bin/mysqld", "#!/bin/sh\n");
    stage.write("foreign/bin/mysqld", foreign_program());
    stage.write("text.tar.gz", "no archive");
    for (name, expected) in [
        (
            "none",
            "find STAGE/none: No such file or directory (os error 2)",
        ),
        (
            "empty",
            "find a server in STAGE/empty: it has no mariadbd or mysqld in bin, sbin, libexec, \
          usr/sbin, usr/libexec or at its top; name the folder that such a folder lies in",
        ),
        (
            "script",
            "use bin/mysqld of STAGE/script: it is no program but a script or a text; name the \
          folder of an unpacked server",
        ),
        (
            "foreign",
            "use bin/mysqld of STAGE/foreign: it is made for 64-bit ARM, and this machine is \
          x86_64; get the build for this machine",
        ),
        (
            "text.tar.gz",
            "unpack STAGE/text.tar.gz: it is neither zip, jar, tar, tar.gz, tar.bz2 nor tar.xz: unpack \
          it and name the folder, or get it as one of these",
        ),
    ] {
        assert_eq!(refused(&stage, name), expected);
    }
}

#[test]
fn archives_that_are_damaged_or_lead_elsewhere_are_refused() {
    let stage = Stage::with_clients(&[]);
    let entry = |name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        // Not by set_path, which refuses what is wanted here.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        header.set_cksum();
        let mut builder = tar::Builder::new(Vec::new());
        builder.append(&header, bytes).unwrap();
        builder.into_inner().unwrap()
    };
    stage.write("outside.tar", entry("../../evil", b"x"));
    let whole = entry("server/bin/mysqld", &foreign_program());
    stage.write("foreign.tar", &whole);
    stage.write("cut.tar", &whole[..530]);
    for (name, expected) in [
        (
            "outside.tar",
            "unpack STAGE/outside.tar: its entry `../../evil` leads out of the folder: the \
          archive is refused",
        ),
        (
            "foreign.tar",
            "use bin/mysqld of STAGE/foreign.tar: it is made for 64-bit ARM, and this machine \
          is x86_64; get the build for this machine",
        ),
        (
            "cut.tar",
            "unpack STAGE/cut.tar: unexpected EOF during skip: it is damaged or was cut short; \
             download it again",
        ),
    ] {
        assert_eq!(refused(&stage, name), expected);
    }
    assert!(!stage.path("evil").exists());
}

#[test]
fn versions_as_programs_say_them() {
    for (said, family, version, text) in [
        (
            "/x/mysqld  Ver 8.0.31 for Linux on x86_64 (MySQL Community Server - GPL)\n",
            Family::Mysql,
            Version::new(8, 0, 31),
            "8.0.31",
        ),
        (
            "warning\nmariadbd  Ver 11.8.6-MariaDB-0+deb13u1 from Debian for debian-linux-gnu on x86_64\n",
            Family::Mariadb,
            Version::new(11, 8, 6),
            "11.8.6-MariaDB-0+deb13u1 from Debian",
        ),
        (
            "mysqld  Ver 5.0.21-max-log for pc-linux-gnu on i686\n",
            Family::Mysql,
            Version::new(5, 0, 21),
            "5.0.21-max",
        ),
    ] {
        assert_eq!(said_version(said), Some((family, version, text)));
    }
    for bad in ["Segmentation fault", "mysqld  Ver unknown"] {
        assert_eq!(said_version(bad), None);
    }
}

#[test]
fn what_is_written_reads_as_what_was_found() {
    let part = Part {
        path: "mysql-8.4.5".into(),
        to: String::new(),
        unpack: None,
    };
    let source = Source {
        from: Origin::Archive("/a \"b\"/x.tar.gz".into()),
        sha256: Some("0".repeat(64)),
        size: Some(7),
        part: vec![part],
        drop: Vec::new(),
    };
    let mut entry = skeleton(Path::new("bin/mysqld"));
    entry.id = "mine".into();
    entry.version = Version::new(8, 4, 5);
    entry.version_text = "8.4.5".into();
    entry.engines = vec![Engine::Innodb, Engine::Rocksdb];
    entry.engine_options = BTreeMap::from([(Engine::Rocksdb, vec!["plugin-load-add=r.so".into()])]);
    entry.lacks = vec!["tls".into()];
    entry.loader = Some("lib/ld.so".into());
    entry.libraries = vec!["lib".into()];
    entry.support = vec!["debian-12-amd64".into()];
    entry.allocators = Some("allocators-debian-12-amd64".into());
    entry.bootstrap = Bootstrap::Sql(vec!["share/a.sql".into(), "share/b.sql".into()]);
    entry.shutdown = Shutdown::Command;
    entry.locations = BTreeMap::from([("basedir".into(), ".".into())]);
    entry.source = vec![source];
    let written = text::text(&entry, "Added.").unwrap();
    insta::assert_snapshot!("entry", written);

    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine.toml"), written).unwrap();
    let catalogue = Catalogue::embedded().unwrap();
    let catalogue = catalogue.with_user_dir(folder.path()).unwrap();
    let read = catalogue.get("mine").unwrap();
    entry.position = read.position.clone();
    assert_eq!(*read, entry);
    let facts: BuildFacts = read.facts();
    assert_eq!(facts.engines, entry.engines);
}

#[test]
fn names_that_are_taken_or_impossible_are_refused() {
    let stage = Stage::with_clients(&[]);
    let catalogue = Catalogue::embedded().unwrap();
    let stop = StopFlag::default();
    let adder = Adder {
        roots: &stage.roots,
        catalogue: &catalogue,
        launcher: &stage.launcher,
        stop: &stop,
    };
    let said = (Family::Mysql, Version::new(5, 7, 22));
    let path = stage.path("x");
    let new = |id| NewServer {
        path: &path,
        id,
        catalogue: &path,
    };
    let error = adder.id(&new(None), said.0, said.1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "add a build `mysql-5.7.22`: the catalogue has one of this name; give it another by --id"
    );
    assert_eq!(
        adder.id(&new(Some("mine")), said.0, said.1).unwrap(),
        "mine"
    );
    let mut entry = skeleton(Path::new("bin/mysqld"));
    entry.id = "../mine".into();
    entry.source = vec![Source {
        from: Origin::Path(path.clone()),
        sha256: None,
        size: None,
        part: Vec::new(),
        drop: Vec::new(),
    }];
    let error = catalogue.with_entry(entry).unwrap_err();
    assert!(
        error.to_string().contains("the id `../mine` must be"),
        "{error}"
    );
}

#[test]
fn entries_are_written_whole_and_replace_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own/mine-8.4.toml");
    write(&file, "one").unwrap();
    let error = write(&file, "two").unwrap_err().to_string();
    assert!(error.contains("mine-8.4.toml: it exists"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
    let own = file.parent().unwrap();
    assert_eq!(fs::read_dir(own).unwrap().count(), 1);
}
