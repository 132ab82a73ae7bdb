use super::*;

#[test]
fn dropped_folders_vanish_and_published_ones_stay() {
    let root = tempfile::tempdir().unwrap();
    let dropped = OwnedFolder::create(root.path(), "a-").unwrap();
    let path = dropped.path().to_owned();
    fs::create_dir(path.join("sub")).unwrap();
    fs::write(path.join("sub/file"), "x").unwrap();
    assert_eq!(read_mark(&path), Mark::Owner(Owner::current().unwrap()));
    drop(dropped);
    assert!(!path.exists());

    let kept = OwnedFolder::create(root.path(), "a-").unwrap();
    fs::write(kept.path().join("file"), "x").unwrap();
    let end = root.path().join("end");
    kept.publish(&end).unwrap();
    assert!(end.join("file").is_file());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn only_folders_of_dead_owners_are_removed() {
    let dead_owner = Owner {
        start_ticks: 1,
        ..Owner::current().unwrap()
    };
    let root = tempfile::tempdir().unwrap();
    let alive = OwnedFolder::create(root.path(), STAGING).unwrap();
    let dead = root.path().join(".staging-dead");
    fs::create_dir_all(dead.join("sub")).unwrap();
    mark(&dead, &dead_owner).unwrap();
    let other = root.path().join("other");
    fs::create_dir(&other).unwrap();
    mark(&other, &dead_owner).unwrap();
    let unmarked = root.path().join(".staging-unmarked");
    fs::create_dir_all(unmarked.join("sub")).unwrap();
    let fresh = root.path().join(".staging-fresh");
    fs::create_dir(&fresh).unwrap();
    let forgotten = root.path().join(".staging-forgotten");
    fs::create_dir(&forgotten).unwrap();
    let future = root.path().join(".staging-future");
    fs::create_dir(&future).unwrap();
    fs::write(future.join(MARK), "a form of tomorrow\n").unwrap();
    let cut_short = root.path().join(".staging-cut-short");
    fs::create_dir(&cut_short).unwrap();
    fs::write(cut_short.join(MARK), "12").unwrap();
    for old in [&forgotten, &cut_short, &future] {
        let yesterday = std::time::SystemTime::now() - Duration::from_hours(24);
        fs::File::open(old)
            .and_then(|folder| folder.set_modified(yesterday))
            .unwrap();
    }
    let abandoned = remove_abandoned(root.path(), STAGING).unwrap();
    assert_eq!(abandoned.removed, [cut_short, dead, forgotten]);
    assert_eq!(abandoned.elsewhere, []);
    assert!(future.exists());
    assert!(fresh.exists());
    assert!(alive.path().exists() && other.exists() && unmarked.exists());
    assert_eq!(
        remove_abandoned(&root.path().join("none"), "").unwrap(),
        Abandoned::default()
    );
}

#[test]
fn folders_of_other_hosts_and_containers_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let folder = OwnedFolder::create(root.path(), "").unwrap();
    let owner = Owner::current().unwrap();
    let elsewhere = Abandoned {
        removed: Vec::new(),
        elsewhere: vec![(folder.path().to_owned(), owner)],
    };
    let here = Site::here();
    for other in [
        Site {
            namespace: here.namespace + 1,
            ..here.clone()
        },
        Site {
            machine: "another".into(),
            boot: "another".into(),
            ..here.clone()
        },
    ] {
        let seen = remove_abandoned_from(&other, root.path(), "").unwrap();
        assert_eq!(seen, elsewhere, "{other:?}");
    }
    assert!(folder.path().exists());
}

#[test]
fn folders_of_an_earlier_boot_are_removed() {
    let root = tempfile::tempdir().unwrap();
    let folder = OwnedFolder::create(root.path(), "").unwrap();
    let before = Site {
        namespace: 0xEFFF_FFFC,
        boot: "before".into(),
        machine: "machine".into(),
        host: "web1".into(),
    };
    let now = Site {
        boot: "now".into(),
        ..before.clone()
    };
    let owner = Owner {
        site: Some(before),
        ..Owner::current().unwrap()
    };
    mark(folder.path(), &owner).unwrap();
    let abandoned = remove_abandoned_from(&now, root.path(), "").unwrap();
    assert_eq!(abandoned.removed, [folder.path()]);
}

#[test]
fn a_name_that_is_taken_is_not_shared() {
    let root = tempfile::tempdir().unwrap();
    let pid = std::process::id();
    let next = NEXT.load(Ordering::Relaxed);
    // Other tests take numbers meanwhile; some of these are left for this one.
    for number in next..next + 50 {
        fs::create_dir(root.path().join(format!("x-{pid}-{number}"))).unwrap();
    }
    let folder = OwnedFolder::create(root.path(), "x-").unwrap();
    assert!(folder.path().join(MARK).is_file());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 51);
}

#[test]
fn a_folder_that_cannot_be_marked_is_not_left() {
    let root = tempfile::tempdir().unwrap();
    let full = |folder: &Path, _: &Owner| {
        fs::write(folder.join(MARK), "").unwrap();
        Err(rustix::io::Errno::NOSPC).at("write", &folder.join(MARK))
    };
    let error = OwnedFolder::create_with(root.path(), "x-", full).unwrap_err();
    assert!(error.to_string().contains(MARK), "{error}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn only_marked_folders_retire() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("x");
    fs::create_dir_all(folder.join("sub")).unwrap();
    assert!(!retire(&folder).unwrap());
    mark(&folder, &Owner::current().unwrap()).unwrap();
    assert!(retire(&folder).unwrap());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_without_the_mark_is_not_emptied() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("precious"), "x").unwrap();
    assert!(!remove_marked(root.path()).unwrap());
    assert!(root.path().join("precious").exists());
}
