use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};

use flate2::Compression;
use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// A tar archive; names are written as they are, however bad. A target makes a link.
fn tar_of(entries: &[(&str, &str, Option<&str>)]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content, link) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        if let Some(target) = link {
            header.set_entry_type(EntryType::Symlink);
            header.as_old_mut().linkname[..target.len()].copy_from_slice(target.as_bytes());
        }
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip_of(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(io::Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn part(path: &str, to: &str, unpack: Option<Vec<Part>>) -> Part {
    Part {
        path: path.into(),
        to: to.into(),
        unpack,
    }
}

/// Unpacks `bytes` with `parts`, leaving out `drop`.
fn unpack(
    bytes: &[u8],
    parts: &[Part],
    drop: &[&str],
) -> (TempDir, Result<Vec<String>, UnpackError>) {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    fs::write(&archive, bytes).unwrap();
    let root = folder.path().join("root");
    let scratch = folder.path().join("scratch");
    fs::create_dir(&root).unwrap();
    fs::create_dir(&scratch).unwrap();
    let drop: Vec<String> = drop.iter().map(|pattern| (*pattern).to_owned()).collect();
    let result = Unpacking {
        root: &root,
        scratch: &scratch,
        drop: &drop,
        stop: &StopFlag::default(),
    }
    .file(&archive, parts);
    (folder, result)
}

/// Every file below the root, sorted.
fn files(folder: &TempDir) -> Vec<String> {
    fn walk(at: &Path, root: &Path, found: &mut Vec<String>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                walk(&path, root, found);
            } else {
                found.push(path.strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    let root = folder.path().join("root");
    let mut found = Vec::new();
    walk(&root, &root, &mut found);
    found.sort();
    found
}

#[test]
fn every_kind_of_archive() {
    let tar = tar_of(&[
        ("./bin/server", "x", None),
        ("bin/link", "", Some("server")),
    ]);
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&tar).unwrap();
    let mut xz = XzEncoder::new(Vec::new(), 1);
    xz.write_all(&tar).unwrap();
    for bytes in [tar, gz.finish().unwrap(), xz.finish().unwrap()] {
        let (folder, result) = unpack(&bytes, &[], &[]);
        assert!(result.unwrap().is_empty());
        assert_eq!(files(&folder), ["bin/link", "bin/server"]);
        let through = fs::read(folder.path().join("root/bin/link")).unwrap();
        assert_eq!(through, b"x");
    }
}

#[test]
fn zips_get_their_executable_bits_back() {
    let zip = zip_of(&[
        ("bin/mysqld", b"\x7fELF and so on"),
        ("bin/script", b"#!/bin/sh\n"),
        ("share/text", b"text"),
        ("share/empty", b""),
    ]);
    let (folder, result) = unpack(&zip, &[], &[]);
    result.unwrap();
    let mode = |name: &str| {
        let path = folder.path().join("root").join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("bin/mysqld"), 0o755);
    assert_eq!(mode("bin/script"), 0o755);
    assert_eq!(mode("share/text"), 0o644);
    assert_eq!(mode("share/empty"), 0o644);
}

#[test]
fn a_full_disk_is_no_damage_of_the_archive() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    let inner = tar_of(&[("bin/mysqld", "x", None)]);
    fs::write(&archive, zip_of(&[("inner.tar", &inner)])).unwrap();
    symlink("/dev/full", folder.path().join("nested-0")).unwrap();
    let unpacking = Unpacking {
        root: &folder.path().join("root"),
        scratch: folder.path(),
        drop: &[],
        stop: &StopFlag::default(),
    };
    let nested = part("inner.tar", "", Some(vec![part("bin", "bin", None)]));
    let error = unpacking.file(&archive, &[nested]).unwrap_err();
    let message = error.to_string();
    assert!(matches!(error, UnpackError::Io(_)), "{message}");
    assert!(message.contains("nested-0: No space left"), "{message}");
    assert!(message.contains("make room there"), "{message}");
}

#[test]
fn only_the_wanted_parts_and_nested_archives() {
    let inner = zip_of(&[("data/mysql/user.frm", b"f"), ("META-INF/x", b"m")]);
    let tar = tar_of(&[
        ("share/english/errmsg.sys", "e", None),
        ("share/a.a", "l", None),
    ]);
    let outer = zip_of(&[
        ("5/Linux/mysqld", b"\x7fELF"),
        ("5/Mac/mysqld", b"no"),
        ("5/data.jar", &inner),
        ("5/all.tar", &tar),
    ]);
    let parts = [
        part("5/Linux/mysqld", "bin", None),
        part("5/data.jar", "", Some(vec![part("data", "template", None)])),
        part("5/all.tar", "deep", Some(vec![])),
    ];
    let (folder, result) = unpack(&outer, &parts, &["deep/share/*.a"]);
    assert!(result.unwrap().is_empty());
    assert_eq!(
        files(&folder),
        [
            "bin/mysqld",
            "deep/share/english/errmsg.sys",
            "template/mysql/user.frm"
        ]
    );
}

#[test]
fn missing_parts_are_told() {
    let zip = zip_of(&[("a", b"1")]);
    let (_folder, result) = unpack(&zip, &[part("a", "", None), part("b", "", None)], &[]);
    assert_eq!(result.unwrap(), ["b"]);
    let outer = zip_of(&[("inner", &zip)]);
    let wanted = part("inner", "", Some(vec![part("c", "", None)]));
    let (_folder, result) = unpack(&outer, &[wanted], &[]);
    assert!(matches!(result, Err(UnpackError::Missing { part, .. }) if part == "c"));
}

#[test]
fn nothing_leaves_the_folder() {
    let outside = tempfile::tempdir().unwrap();
    let absolute = outside.path().join("x").display().to_string();
    let bad: &[&[(&str, &str, Option<&str>)]] = &[
        &[("../x", "1", None)],
        &[("a/../../x", "1", None)],
        &[(&absolute, "1", None)],
        &[("link", "", Some("/etc"))],
        &[("a/link", "", Some("../.."))],
        &[
            ("a/b/up", "", Some("../..")),
            ("esc", "", Some("a/b/up/../x")),
        ],
        &[("link", "", Some("a")), ("link/x", "1", None)],
    ];
    for entries in bad {
        let (folder, result) = unpack(&tar_of(entries), &[], &[]);
        let refused = matches!(result, Err(UnpackError::Escape { .. }));
        assert!(refused, "{entries:?}: {result:?}");
        assert!(!folder.path().join("x").exists());
    }
    let (_folder, result) = unpack(&zip_of(&[("../x", b"1")]), &[], &[]);
    assert!(
        matches!(result, Err(UnpackError::Escape { .. })),
        "{result:?}"
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn another_name_of_a_link_does_not_leave_the_folder() {
    let archive = |name: &str| {
        let mut builder = tar::Builder::new(Vec::new());
        for (kind, name, target) in [
            (EntryType::Symlink, "a/b/link", "../x"),
            (EntryType::Link, name, "a/b/link"),
        ] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(0);
            builder.append_link(&mut header, name, target).unwrap();
        }
        builder.into_inner().unwrap()
    };
    let (_folder, result) = unpack(&archive("other"), &[], &[]);
    assert!(
        matches!(result, Err(UnpackError::Escape { .. })),
        "{result:?}"
    );
    let (folder, result) = unpack(&archive("c/other"), &[], &[]);
    result.unwrap();
    assert_eq!(files(&folder), ["a/b/link", "c/other"]);
}

#[test]
fn archives_are_read_to_their_ends() {
    let tar = tar_of(&[("a", &"noise".repeat(999), None)]);
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&tar).unwrap();
    let gz = gz.finish().unwrap();
    let mut flipped = gz.clone();
    // RFC 1952 section 2.3.1: the checksum is in front of the last four bytes.
    flipped[gz.len() - 8] ^= 1;
    let mut xz = XzEncoder::new(Vec::new(), 1);
    xz.write_all(&tar).unwrap();
    let xz = xz.finish().unwrap();
    // One entry is one header and ten blocks.
    for bytes in [
        &tar[..11 * 512],
        &flipped,
        &gz[..gz.len() - 1],
        &xz[..xz.len() - 1],
    ] {
        let (_folder, result) = unpack(bytes, &[], &[]);
        assert!(
            matches!(&result, Err(UnpackError::Format { reason, .. }) if reason.contains("download it again")),
            "{result:?}"
        );
    }
}

#[test]
fn archives_in_several_pieces_are_whole() {
    let tar = tar_of(&[("a", &"noise".repeat(999), None), ("b", "1", None)]);
    let (first, second) = tar.split_at(1000);
    let gz = [first, second].map(|piece| {
        let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
        gz.write_all(piece).unwrap();
        gz.finish().unwrap()
    });
    let xz = [first, second].map(|piece| {
        let mut xz = XzEncoder::new(Vec::new(), 1);
        xz.write_all(piece).unwrap();
        xz.finish().unwrap()
    });
    for bytes in [gz.concat(), xz.concat()] {
        let (folder, result) = unpack(&bytes, &[], &[]);
        result.unwrap();
        assert_eq!(files(&folder), ["a", "b"]);
    }
}

#[test]
fn a_link_that_is_left_out_harms_nobody() {
    let tar = tar_of(&[("bin/lib", "", Some("/tmp/x")), ("bin/mysqld", "1", None)]);
    let (folder, result) = unpack(&tar, &[], &["bin/lib*"]);
    result.unwrap();
    assert_eq!(files(&folder), ["bin/mysqld"]);
}

#[test]
fn damaged_and_unknown_archives_are_refused() {
    let zip = zip_of(&[("a", &[7; 4000])]);
    let mut gz = GzEncoder::new(Vec::new(), Compression::fast());
    gz.write_all(&tar_of(&[("a", &"noise".repeat(999), None)]))
        .unwrap();
    let gz = gz.finish().unwrap();
    for bytes in [
        &zip[..zip.len() - 30],
        &gz[..gz.len() / 2],
        b"plain text",
        b"",
    ] {
        let (_folder, result) = unpack(bytes, &[], &[]);
        assert!(
            matches!(result, Err(UnpackError::Format { .. })),
            "{result:?}"
        );
    }
}

#[test]
fn stopping_is_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    fs::write(&archive, zip_of(&[("a", b"1")])).unwrap();
    let stop = StopFlag::default();
    stop.request();
    let result = Unpacking {
        root: folder.path(),
        scratch: folder.path(),
        drop: &[],
        stop: &stop,
    }
    .file(&archive, &[]);
    assert!(matches!(result, Err(UnpackError::Stopped)));
}
