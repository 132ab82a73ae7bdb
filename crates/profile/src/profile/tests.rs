use std::io::Write;

use flate2::write::GzEncoder as GzWriter;
use proptest::prelude::*;

use super::*;

/// A thread: the index of each call's caller, its object, its symbol and its own count.
type Calls<'a> = &'a [(Option<u32>, &'a str, &'a str, u64)];

fn profile(threads: &[Calls<'_>]) -> Profile {
    let mut builder = Builder::default();
    for calls in threads {
        let mut thread = Thread::default();
        for &(parent, object, symbol, own) in *calls {
            let function = builder.function(object, symbol);
            let call = thread.call(parent, function);
            thread.count(call, own);
        }
        builder.add(thread);
    }
    builder.profile()
}

/// The calls of the first thread in the form of [`Calls`].
fn calls(profile: &Profile) -> Vec<(Option<u32>, &str, &str, u64)> {
    let calls = profile.threads[0].calls.iter();
    calls
        .map(|call| {
            let function = &profile.functions[call.function as usize];
            let object = &profile.objects[function.object as usize];
            let (object, symbol) = (object.as_str(), function.symbol.as_str());
            (call.parent, object, symbol, call.own)
        })
        .collect()
}

/// Functions of `/bin/x` from 0x100 to 0x180 and from 0x200 to 0x280.
fn extents() -> HashMap<String, Extents> {
    let places = vec![(0x100, 0x180), (0x200, 0x280)];
    HashMap::from([("/bin/x".to_owned(), Extents::of(places))])
}

fn compressed(json: &str) -> Vec<u8> {
    let mut writer = GzWriter::new(Vec::new(), Compression::default());
    writer.write_all(json.as_bytes()).unwrap();
    writer.finish().unwrap()
}

fn small() -> Profile {
    profile(&[
        &[
            (None, "/bin/x", "main", 1),
            (Some(0), "/lib/libc.so.6", "malloc", 2),
        ],
        &[(None, "/bin/x", "flush", 4)],
    ])
}

#[test]
fn an_encoded_profile_is_decoded() {
    let profile = small();
    let decoded = Profile::decode(&profile.encode().unwrap()).unwrap();
    assert_eq!(decoded, profile);
    assert_eq!(decoded.total(), 7);
}

#[test]
fn other_bytes_are_no_profile() {
    for bytes in [&b""[..], b"{}", b"\x1f\x8b\x08"] {
        let error = Profile::decode(bytes).unwrap_err().to_string();
        assert!(error.starts_with("decompress the profile: "), "{error}");
    }
    for json in ["", "{}", "[]", "{\"objects\":[1]}"] {
        let error = Profile::decode(&compressed(json)).unwrap_err().to_string();
        assert!(error.starts_with("read the profile: "), "{error}");
    }
}

#[test]
fn a_profile_that_is_cut_is_refused() {
    let bytes = small().encode().unwrap();
    for end in 0..bytes.len() {
        assert!(Profile::decode(&bytes[..end]).is_err(), "{end}");
    }
}

#[test]
fn indices_that_lead_nowhere_are_refused() {
    let right = r#"{"objects":["x"],"functions":[{"object":0,"symbol":"f"}],
        "threads":[{"calls":[{"parent":null,"function":0,"own":1}]}]}"#;
    assert_eq!(Profile::decode(&compressed(right)).unwrap().total(), 1);
    for (part, wrong, reason) in [
        ("\"object\":0", "\"object\":1", "a function has no object"),
        ("\"function\":0", "\"function\":1", "a call has no function"),
        ("null", "0", "a call stands before its caller"),
        ("null", "7", "a call stands before its caller"),
    ] {
        let wrong = compressed(&right.replace(part, wrong));
        let error = Profile::decode(&wrong).unwrap_err();
        assert_eq!(error.to_string(), format!("read the profile: {reason}"));
    }
}

#[test]
fn addresses_are_replaced_by_starts() {
    let before = profile(&[&[
        (None, "/bin/x", "main", 1),
        (Some(0), "/bin/x", "0x0000000000000110", 2),
        (Some(0), "/bin/x", "0x000000000000017f", 4),
        (Some(0), "/bin/x", "0x00000200", 8),
    ]]);
    let after = before.with_starts(&extents());
    let expected = [
        (None, "/bin/x", "main", 1),
        (Some(0), "/bin/x", "+0x100", 6),
        (Some(0), "/bin/x", "+0x200", 8),
    ];
    assert_eq!(calls(&after), expected);
    assert_eq!(after.with_starts(&extents()), after);
}

#[test]
fn blocks_of_one_function_become_one_node() {
    let before = profile(&[&[
        (None, "/bin/x", "0x100", 1),
        (Some(0), "/bin/x", "0x120", 2),
        (Some(1), "/bin/x", "0x140", 4),
        (Some(2), "/bin/x", "leaf", 8),
        (Some(1), "/bin/x", "leaf", 16),
    ]]);
    let expected = [
        (None, "/bin/x", "+0x100", 7),
        (Some(0), "/bin/x", "leaf", 24),
    ];
    assert_eq!(calls(&before.with_starts(&extents())), expected);
}

#[test]
fn calls_by_way_of_another_function_stay_apart() {
    let before = profile(&[&[
        (None, "/bin/x", "0x100", 1),
        (Some(0), "/bin/x", "0x200", 2),
        (Some(1), "/bin/x", "0x120", 4),
    ]]);
    let expected = [
        (None, "/bin/x", "+0x100", 1),
        (Some(0), "/bin/x", "+0x200", 2),
        (Some(1), "/bin/x", "+0x100", 4),
    ];
    assert_eq!(calls(&before.with_starts(&extents())), expected);
}

#[test]
fn functions_with_symbols_are_left_alone() {
    let before = profile(&[&[
        (None, "/bin/x", "f", 1),
        (Some(0), "/bin/x", "f", 2),
        (Some(1), "/bin/x", "0xylem", 4),
        (Some(2), "/bin/x", "0x", 8),
    ]]);
    assert_eq!(before.with_starts(&extents()), before);
    assert_eq!(before.objects_without_symbols().count(), 0);
}

#[test]
fn code_outside_of_all_extents_is_nameless() {
    let before = profile(&[&[
        (None, "/bin/x", "0x0ff", 1),
        (Some(0), "/bin/x", "0x180", 2),
        (Some(1), "/bin/x", "0x300", 4),
        (Some(2), "/bin/x", "0x100", 8),
    ]]);
    let expected = [(None, "/bin/x", "", 7), (Some(0), "/bin/x", "+0x100", 8)];
    assert_eq!(calls(&before.with_starts(&extents())), expected);
}

#[test]
fn an_object_without_extents_is_one_function() {
    let before = profile(&[&[
        (None, "/bin/x", "main", 1),
        (Some(0), "???", "0x100", 2),
        (Some(1), "???", "0x200", 4),
        (Some(0), "???", "0x300", 8),
        (Some(0), "/lib/y", "0x300", 16),
    ]]);
    let expected = [
        (None, "/bin/x", "main", 1),
        (Some(0), "???", "", 14),
        (Some(0), "/lib/y", "", 16),
    ];
    assert_eq!(calls(&before.with_starts(&extents())), expected);
    let objects: Vec<_> = before.objects_without_symbols().collect();
    assert_eq!(objects, ["???", "/lib/y"]);
}

#[test]
fn stubs_of_the_linker_have_one_name() {
    let before = profile(&[&[
        (None, "/bin/x", "0x0000000000000110 [PLT]", 1),
        (None, "/bin/x", "0x0000000000000120 [PLT]", 2),
    ]]);
    let after = before.with_starts(&extents());
    assert_eq!(calls(&after), [(None, "/bin/x", "[PLT]", 3)]);
}

#[test]
fn threads_without_work_are_left_out() {
    let profile = profile(&[&[(None, "/bin/x", "main", 0)], &[]]);
    assert_eq!(profile.threads, []);
    assert_eq!(profile.total(), 0);
}

#[test]
fn sums_beyond_64_bits_do_not_overflow() {
    let most = (None, "/bin/x", "main", u64::MAX);
    let profile = profile(&[&[most, most], &[most]]);
    assert_eq!(profile.total(), u64::MAX);
}

/// Profiles of some threads, whose functions have symbols or addresses in three objects.
fn any_profile() -> impl Strategy<Value = Profile> {
    let symbol = prop_oneof![
        prop::sample::select(vec!["main", "f", "0x110 [PLT]", "", "+0x100"])
            .prop_map(str::to_owned),
        (0x80_u64..0x300).prop_map(|at| format!("0x{at:016x}")),
    ];
    let object = prop::sample::select(vec!["/bin/x", "/lib/y", "???"]);
    let call = (any::<prop::sample::Index>(), object, symbol, 0..1_000_u64);
    let threads = prop::collection::vec(prop::collection::vec(call, 0..40), 0..4);
    threads.prop_map(|threads| {
        let mut builder = Builder::default();
        for calls in threads {
            let mut thread = Thread::default();
            for (parent, object, symbol, own) in calls {
                let function = builder.function(object, &symbol);
                // The first choice is no caller.
                let parent = parent.index(thread.calls.len() + 1);
                let parent = u32::try_from(parent).unwrap().checked_sub(1);
                let call = thread.call(parent, function);
                thread.count(call, own);
            }
            builder.add(thread);
        }
        builder.profile()
    })
}

proptest! {
    #[test]
    fn starts_keep_the_sum_of_each_thread(before in any_profile()) {
        let after = before.with_starts(&extents());
        let totals = |profile: &Profile| -> Vec<u64> {
            profile.threads.iter().map(Thread::total).collect()
        };
        prop_assert_eq!(totals(&after), totals(&before));
        prop_assert_eq!(after.objects_without_symbols().count(), 0);
        prop_assert_eq!(after.with_starts(&extents()), after);
    }

    #[test]
    fn starts_leave_no_function_in_itself(before in any_profile()) {
        let after = before.with_starts(&extents());
        for thread in &after.threads {
            for call in &thread.calls {
                let function = &after.functions[call.function as usize];
                let caller = call.parent.map(|parent| thread.calls[parent as usize].function);
                let is_own = caller == Some(call.function);
                prop_assert!(!is_own || !is_unnamed(&function.symbol));
            }
        }
    }

    #[test]
    fn any_profile_is_decoded_as_it_was(profile in any_profile()) {
        let decoded = Profile::decode(&profile.encode().unwrap()).unwrap();
        prop_assert_eq!(decoded, profile);
    }

    #[test]
    fn damaged_profiles_are_decoded_or_refused(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        bytes in prop::collection::vec(any::<u8>(), 0..100),
    ) {
        let json = serde_json::to_string(&small()).unwrap();
        let mut damaged = json.into_bytes();
        let at = at.index(damaged.len());
        damaged[at] = byte;
        let damaged = compressed(&String::from_utf8_lossy(&damaged));
        if let Ok(profile) = Profile::decode(&damaged) {
            profile.with_starts(&extents()).total();
        }
        prop_assert!(Profile::decode(&bytes).is_err());
    }
}
