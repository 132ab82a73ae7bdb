use super::*;

fn site() -> Site {
    Site {
        namespace: INITIAL_NAMESPACE,
        boot: "b1".into(),
        machine: "m1".into(),
        host: "web1".into(),
    }
}

/// This process, or one that is gone, as somebody at `site` would have marked it.
fn owner(alive: bool, site: Option<Site>) -> Owner {
    let this = Owner::current().unwrap();
    Owner {
        start_ticks: this.start_ticks + u64::from(!alive),
        site,
        ..this
    }
}

#[test]
fn this_process_lives_and_round_trips() {
    let owner = Owner::current().unwrap();
    assert_eq!(owner.state(&Site::here()), OwnerState::Alive);
    assert_eq!(owner.to_string().parse(), Ok(owner.clone()));
    let impostor = Owner {
        start_ticks: owner.start_ticks + 1,
        ..owner
    };
    assert_eq!(impostor.state(&Site::here()), OwnerState::Dead);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn owners_are_judged_only_where_their_numbers_mean_something() {
    use OwnerState::{Alive, Dead, Elsewhere};
    let here = site();
    let inner = Site {
        namespace: 4_026_532_000,
        ..site()
    };
    let with = |change: fn(&mut Site)| {
        let mut site = site();
        change(&mut site);
        site
    };
    let other_boot = with(|site| site.boot = "b2".into());
    let other_machine = with(|site| site.machine = "m2".into());
    let copied_machine = with(|site| {
        site.boot = "b2".into();
        site.host = "web2".into();
    });
    let contained_boot = Site {
        boot: "b2".into(),
        ..inner.clone()
    };
    let nameless = with(|site| {
        site.boot.clear();
        site.machine.clear();
    });
    for (name, from, marked, if_alive, if_dead) in [
        ("the same place", &here, Some(&here), Alive, Dead),
        ("the same container", &inner, Some(&inner), Alive, Dead),
        (
            "a container, from its host",
            &here,
            Some(&inner),
            Elsewhere,
            Elsewhere,
        ),
        (
            "the host, from a container",
            &inner,
            Some(&here),
            Elsewhere,
            Elsewhere,
        ),
        (
            "another boot of this machine",
            &here,
            Some(&other_boot),
            Dead,
            Dead,
        ),
        (
            "another machine",
            &here,
            Some(&other_machine),
            Elsewhere,
            Elsewhere,
        ),
        (
            "a copy of this machine",
            &here,
            Some(&copied_machine),
            Elsewhere,
            Elsewhere,
        ),
        (
            "a container of another boot",
            &here,
            Some(&contained_boot),
            Elsewhere,
            Elsewhere,
        ),
        (
            "another boot, from a container",
            &inner,
            Some(&other_boot),
            Elsewhere,
            Elsewhere,
        ),
        (
            "a host that tells nothing",
            &nameless,
            Some(&nameless),
            Elsewhere,
            Elsewhere,
        ),
        ("an old mark", &here, None, Alive, Dead),
        (
            "an old mark, from a container",
            &inner,
            None,
            Elsewhere,
            Elsewhere,
        ),
    ] {
        let state = |alive| owner(alive, marked.cloned()).state(from);
        assert_eq!((state(true), state(false)), (if_alive, if_dead), "{name}");
    }
}

#[test]
fn commands_with_brackets_do_not_confuse() {
    let fields = "1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 777 0";
    assert_eq!(living_since(&format!("9 (a) b) S {fields}")), Some(777));
    assert_eq!(living_since(&format!("9 (a) Z {fields}")), None);
    assert_eq!(living_since("9"), None);
}

#[test]
fn marks_are_read_in_both_forms_and_others_refused() {
    let marked: Owner = "7:9/4026531836/b1/m1/web1".parse().unwrap();
    assert_eq!(
        (marked.pid, marked.start_ticks, marked.site),
        (7, 9, Some(site()))
    );
    assert_eq!("7:9".parse::<Owner>().unwrap().site, None);
    for bad in [
        "",
        "1",
        "a:b",
        "1:",
        "-1:2",
        "1:2/",
        "1:2/3/b",
        "1:2/x/b/m/h",
        "1:2/3/b/m/h/",
    ] {
        assert!(bad.parse::<Owner>().is_err(), "{bad}");
    }
}
