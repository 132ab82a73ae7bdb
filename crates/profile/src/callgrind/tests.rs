//! Small files in the form of valgrind 3.19, and damaged ones.

use proptest::prelude::*;

use super::*;

/// Functions of a program and of a library, as valgrind writes them for one thread.
const GOOD: &str = "\
# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  /bin/server --option=1
part: 1
thread: 2

desc: Trigger: dump

positions: line
events: Ir
summary: 30


ob=(1) /bin/server
fl=(1) ???
fn=(7) leaf'middle'main
0 5
cob=(2) /lib/libc.so.6
cfi=(2) ???
cfn=(9) malloc'leaf'middle'main
calls=3 0 
0 12
0 7

fn=(4) middle'main
0 1
cfn=(7)
calls=2 0 
0 24
0 2

ob=(2)
fl=(2)
fn=(9)
0 12

ob=(1)
fl=(1)
fn=(1) main
0 4
cfn=(4)
calls=1 0 
0 27

totals: 31
";

/// A file with these lines, which add up to the total.
fn file(lines: &str, total: u64) -> String {
    format!("positions: line\nevents: Ir\n\nob=(1) /bin/x\nfl=(1) ???\n{lines}\ntotals: {total}\n")
}

fn read_all(files: &[&str]) -> Profile {
    let files: Vec<Vec<u8>> = files.iter().map(|file| file.as_bytes().to_vec()).collect();
    Profile::from_callgrind(&files).unwrap()
}

/// Counts of the first thread by chain of callers: `x:main > libc.so.6:malloc 5`.
fn chains(file: &str) -> Vec<String> {
    let profile = read_all(&[file]);
    let mut paths: Vec<String> = Vec::new();
    let mut chains = Vec::new();
    for call in profile.threads()[0].calls() {
        let function = &profile.functions()[call.function as usize];
        let shown = format!("{}:{}", profile.object(function), function.symbol);
        let path = match call.parent {
            Some(parent) => format!("{} > {shown}", paths[parent as usize]),
            None => shown,
        };
        if call.own > 0 {
            chains.push(format!("{path} {}", call.own));
        }
        paths.push(path);
    }
    chains.sort();
    chains
}

fn error(file: &str) -> String {
    let error = Profile::from_callgrind(&[file.as_bytes().to_vec()]).unwrap_err();
    error.to_string()
}

#[test]
fn chains_of_callers_become_a_tree() {
    let expected = [
        "server:main 4",
        "server:main > server:middle 3",
        "server:main > server:middle > server:leaf 12",
        "server:main > server:middle > server:leaf > libc.so.6:malloc 12",
    ];
    assert_eq!(chains(GOOD), expected);
    assert_eq!(read_all(&[GOOD]).total(), 31);
}

#[test]
fn costs_of_calls_are_not_the_callers() {
    let lines = "fn=(1) f\n1 3\ncfn=(2) g'f\ncalls=2 7\n+1 100\n+1 4\nfn=(2)\n7 100\n";
    assert_eq!(chains(&file(lines, 107)), ["x:f 7", "x:f > x:g 100"]);
}

#[test]
fn positions_may_be_relative() {
    let lines = "fn=(1) f\n12 3\n+3 5\n-2 1\n* 7\n";
    assert_eq!(chains(&file(lines, 16)), ["x:f 16"]);
}

#[test]
fn positions_may_be_addresses_and_lines() {
    let text =
        "positions: instr line\nevents: Ir\nfn=(1) f\n0x10 12 3\n+4 * 5\n* +1 7\ntotals: 15\n";
    assert_eq!(chains(text), [":f 15"]);
}

#[test]
fn counts_of_zero_may_be_missing() {
    let lines = "fn=(1) f\n12\n+1\n13 2\nfn=(2) g\n7\n";
    assert_eq!(chains(&file(lines, 2)), ["x:f 2"]);
}

#[test]
fn further_events_are_left_out() {
    let text = "positions: line\nevents: Ir Bc\nfn=(1) f\n1 3 100\n2 4\ntotals: 7 100\n";
    assert_eq!(chains(text), [":f 7"]);
}

#[test]
fn inlined_code_belongs_to_its_function() {
    let lines = "fn=(1) f\n1 3\nfi=(2) inline.h\n9 4\nfe=(1)\n2 5\n";
    assert_eq!(chains(&file(lines, 12)), ["x:f 12"]);
}

#[test]
fn recursion_is_counted_in_one_place() {
    let lines = "fn=(1) f'main\n0 1\nfn=(2) f'2'main\n0 2\nfn=(3) f'3'main\n0 4\n\
                 fn=(4) g'f'main\n0 8\nfn=(5) g'2'f'main\n0 16\nfn=(6) f'g'f'main\n0 32\n";
    let expected = [
        "x:main > x:f 7",
        "x:main > x:f > x:g 24",
        "x:main > x:f > x:g > x:f 32",
    ];
    assert_eq!(chains(&file(lines, 63)), expected);
}

#[test]
fn callers_have_objects_of_their_own() {
    let lines = "fn=(1) compare'qsort'sort'main\n0 1\n\
                 fn=(2) sort'main\ncob=(2) /lib/libc.so.6\ncfn=(3) qsort'sort'main\n\
                 calls=1 0\n0 3\nob=(2)\nfn=(3)\n0 2\n";
    let expected = [
        "x:main > x:sort > libc.so.6:qsort 2",
        "x:main > x:sort > libc.so.6:qsort > x:compare 1",
    ];
    assert_eq!(chains(&file(lines, 3)), expected);
}

#[test]
fn the_object_of_a_call_holds_for_that_call() {
    let lines = "fn=(1) f\n0 1\ncob=(2) /lib/libc.so.6\ncfn=(2) g'f\ncalls=1 0\n0 2\n\
                 cfn=(3) h'f\ncalls=1 0\n0 4\nfn=(4) leaf'g'f\n0 8\nfn=(5) leaf'h'f\n0 16\n";
    let expected = [
        "x:f 1",
        "x:f > libc.so.6:g > x:leaf 8",
        "x:f > x:h > x:leaf 16",
    ];
    assert_eq!(chains(&file(lines, 25)), expected);
}

#[test]
fn callers_without_record_are_of_the_object_they_call() {
    assert_eq!(chains(&file("fn=(1) f'main\n0 1\n", 1)), ["x:main > x:f 1"]);
}

#[test]
fn names_may_have_no_number_or_begin_with_a_bracket() {
    let lines =
        "fn=(below main)\n0 1\nfn=(3) main'(below main)\n0 2\nfn=(4) (below main)'start\n0 4\n";
    let expected = [
        "x:(below main) 1",
        "x:(below main) > x:main 2",
        "x:start > x:(below main) 4",
    ];
    assert_eq!(chains(&file(lines, 7)), expected);
}

#[test]
fn addresses_in_place_of_symbols_are_kept() {
    let lines = "fn=(1) 0x000000000130a920'0x0000000000094af0'clone\n0 1\n\
                 fn=(2) 0x0000000000401000 [PLT]'clone\n0 2\n";
    let expected = [
        "x:clone > x:0x0000000000094af0 > x:0x000000000130a920 1",
        "x:clone > x:0x0000000000401000 [PLT] 2",
    ];
    assert_eq!(chains(&file(lines, 3)), expected);
    let profile = read_all(&[&file(lines, 3), GOOD]);
    let objects: Vec<_> = profile.objects_without_symbols().collect();
    assert_eq!(objects, ["/bin/x"]);
}

#[test]
fn threads_that_executed_nothing_are_left_out() {
    let idle = "positions: line\nevents: Ir\n\n\ntotals: 0\n";
    let profile = read_all(&[GOOD, idle, GOOD]);
    assert_eq!(profile.threads().len(), 2);
    assert_eq!(profile.total(), 62);
    assert_eq!(profile.functions().len(), 4);
}

#[test]
fn bytes_that_are_no_text_may_be_in_names() {
    let mut counts = file("fn=(1) f'main\n0 1\n", 1).into_bytes();
    let at = counts.iter().position(|byte| *byte == b'\'').unwrap();
    counts[at - 1] = 0xff;
    let profile = Profile::from_callgrind(&[counts]).unwrap();
    assert_eq!(profile.functions()[1].symbol, "\u{fffd}");
}

#[test]
fn faults_are_named_with_their_line() {
    for (lines, line, reason) in [
        ("fn=(9)", 6, "the number 9 has no name yet"),
        ("ob=(9)", 6, "the number 9 has no name yet"),
        ("fn=(1) f\ncob=(9)", 7, "the number 9 has no name yet"),
        ("fn=(1) f\ncfn=(9)", 7, "the number 9 has no name yet"),
        ("0 5", 6, "a count stands before the first function"),
        ("fn=(1) f\n0 x", 7, "instructions, found `x`"),
        ("fn=(1) f\n0 -1", 7, "instructions, found `-1`"),
        ("fn=(1) f\n0 1.5", 7, "instructions, found `1.5`"),
        ("totals:", 6, "instructions, found ``"),
        ("events: Cy Ir", 6, "the event `Ir`, found `Cy Ir`"),
        ("events:", 6, "the event `Ir`, found ``"),
        ("fn=(1) f\n0 4", 9, "up to 4, and `totals:` says 5"),
    ] {
        let error = error(&file(lines, 5));
        let place = format!("read the counts of callgrind, line {line}: ");
        assert!(error.starts_with(&place), "{lines}: {error}");
        assert!(error.ends_with(reason), "{lines}: {error}");
    }
}

#[test]
fn a_file_without_totals_is_damaged() {
    let text = "positions: line\nevents: Ir\nfn=(1) f\n0 5\n";
    let expected = "read the counts of callgrind, line 5: there is no line `totals:`";
    assert_eq!(error(text), expected);
    assert_eq!(error(""), expected.replace('5', "1"));
}

#[test]
fn counts_beyond_64_bits_are_an_error() {
    let lines = format!("fn=(1) f\n0 {0}\n0 {0}\nfn=(2) g\n0 {0}", u64::MAX);
    assert!(error(&file(&lines, 3)).contains("and `totals:` says 3"));
}

#[test]
fn a_file_that_is_cut_is_damaged() {
    // The line feed at the end is not missed.
    for end in 0..GOOD.len() - 1 {
        error(&GOOD[..end]);
    }
}

/// Reads bytes that may be refused, but must not cause a panic.
fn accept(counts: &[u8]) {
    if let Ok(profile) = Profile::from_callgrind(&[counts.to_vec()]) {
        profile.total();
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(counts in prop::collection::vec(any::<u8>(), 0..200)) {
        accept(&counts);
    }

    #[test]
    fn damaged_bytes_are_read_or_refused(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut counts = GOOD.as_bytes().to_vec();
        for (at, byte) in damage {
            let at = at.index(counts.len());
            counts[at] = byte;
        }
        accept(&counts);
    }

    #[test]
    fn shuffled_lines_are_read_or_refused(
        lines in prop::collection::vec(prop_oneof![
            prop::sample::select(GOOD.lines().map(str::to_owned).collect::<Vec<_>>()),
            "(fn|cfn|ob|cob|calls|totals:|positions:|events:|[0-9+*-])=?[ ()'0-9a-fx]{0,12}",
        ], 0..40),
    ) {
        accept(lines.join("\n").as_bytes());
    }
}
