//! Bounds and words of the conditions.

use prony_model::{Groups, Length, Moment, Spacing, StepSamples};
use prony_testkit as testkit;

use super::*;

const OPEN: Pace = Pace::Open {
    rate: Thousandths(500_000),
    spacing: Spacing::Poisson,
};

/// Nothing is known of a step on a host with two processors.
const NO_FACTS: StepFacts<'static> = StepFacts {
    thread_use: &[],
    schedules: &[],
    stolen: None,
    client_host: None,
    cpus: 2,
    placement: None,
    usable: None,
};

fn schedule(response_ns: u64, error_ns: u64) -> Schedule {
    Schedule {
        planned: 10_000,
        backlog: 0,
        left: 0,
        response: testkit::histogram(&[(response_ns, 1000)]),
        error: testkit::histogram(&[(error_ns, 1000)]),
    }
}

fn sample(at_ns: u64, steal_ns: u64) -> Sample {
    Sample {
        moment: Moment::Start,
        at_ns,
        took_ns: 0,
        values: [(STEAL, steal_ns)].into(),
        gaps: Vec::new(),
    }
}

fn used(cpu_ns: u64, run_queue_ns: Option<u64>) -> ThreadUse {
    ThreadUse {
        wall_ns: 1000,
        cpu_ns,
        run_queue_ns,
    }
}

/// A step of one second with the same clients in each of its groups.
fn step(groups: usize, clients: u32, pace: Pace) -> Step {
    let mut group = testkit::group(testkit::workload("w"), clients);
    group.pace = pace;
    Step {
        groups: Groups::try_from(vec![group; groups]).unwrap(),
        length: Length::Time { ms: 1_000 },
        ..testkit::step("s", clients)
    }
}

/// The words of all conditions of a placement, on a host with two processors.
fn of_placement(reading: &PlacementReading, usable: Option<&CpuSet>) -> Vec<String> {
    let facts = StepFacts {
        placement: Some(reading),
        usable,
        ..NO_FACTS
    };
    let found = conditions(&step(1, 1, Pace::default()), &facts);
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn threads_are_where_they_were_planned() {
    use prony_model::PlacementRule::{Apart, Sets, Together};
    let all = "0-1".parse().unwrap();
    let placed = |rule| testkit::placed(rule, "1", "0", "1");
    for reading in [placed(Together), placed(Apart), testkit::free(2)] {
        assert_eq!(of_placement(&reading, Some(&all)), [""; 0]);
    }
    // Servers that Prony did not start have no threads here.
    let mut external = placed(Sets);
    external.placement.processors = testkit::free(2).placement.processors;
    external.placement.processors.generator = Some("1".parse().unwrap());
    (external.sessions, external.background) = (Vec::new(), Vec::new());
    assert_eq!(of_placement(&external, Some(&all)), [""; 0]);

    let mut moved = placed(Together);
    moved.sessions.push(testkit::threads_on("0-1", 1));
    assert_eq!(
        of_placement(&moved, None),
        [
            "1 session thread of the server could use processors 0-1 instead of processor 1: the step \
          was not placed as planned"
        ]
    );
    // Roles without processors of their own are checked where it is known which there are.
    let mut free = testkit::free(2);
    free.generator = vec![testkit::threads_on("1", 2)];
    assert_eq!(of_placement(&free, None), [""; 0]);
    assert_eq!(of_placement(&free, Some(&all)).len(), 1);
}

#[test]
fn sessions_that_are_not_known_are_a_condition() {
    use prony_model::PlacementRule::Together;
    let mut reading = testkit::placed(Together, "1", "0", "1");
    reading.sessions.clear();
    assert_eq!(
        of_placement(&reading, None),
        [
            "the sessions of the server could not be told from its other threads: their placement is \
          unknown"
        ]
    );
    // Nothing is lost where all threads have the same processors.
    let mut shared = testkit::placed(Together, "0-1", "0-1", "0-1");
    shared.sessions.clear();
    assert_eq!(of_placement(&shared, None), [""; 0]);
}

#[test]
fn paired_threads_have_one_of_the_processors_each() {
    let of = |reading: &PlacementReading, clients| {
        let facts = StepFacts {
            placement: Some(reading),
            ..NO_FACTS
        };
        let found = conditions(&step(1, clients, Pace::default()), &facts);
        found.iter().map(Condition::code).collect::<Vec<_>>()
    };
    assert_eq!(of(&testkit::paired([2, 1]), 3), [""; 0]);
    // Idle sessions may have one of the processors too.
    assert_eq!(of(&testkit::paired([3, 2]), 3), [""; 0]);
    assert_eq!(of(&testkit::paired([3, 1]), 4), ["unpaired"]);
    let mut unbound = testkit::paired([2, 2]);
    unbound.generator = vec![testkit::threads_on("0-1", 2)];
    assert_eq!(of(&unbound, 4), ["unpaired"]);
    unbound.generator = vec![testkit::threads_on("0", 2)];
    assert_eq!(of(&unbound, 4), ["unpaired"]);
    let mut moved = testkit::paired([2, 2]);
    moved.sessions[1].cpus = "1-2".parse().unwrap();
    assert_eq!(of(&moved, 4), ["misplaced"]);
    let shown = Condition::Unpaired { clients: 1 }.to_string();
    assert!(
        shown.starts_with("the sessions of 1 client did not share"),
        "{shown}"
    );
}

/// The conditions of the generator's threads for this many clients of one group.
fn of_threads(thread_use: &[ThreadUse], clients: u32, pace: Pace) -> Vec<Condition> {
    let facts = StepFacts {
        thread_use,
        ..NO_FACTS
    };
    conditions(&step(1, clients, pace), &facts)
}

/// The conditions of one group of four clients that work at a rate.
fn of_one(schedule: &Schedule) -> Vec<Condition> {
    let facts = StepFacts {
        schedules: &[Some(schedule)],
        ..NO_FACTS
    };
    conditions(&step(1, 4, OPEN), &facts)
}

fn of_steal(start: &Sample, end: &Sample) -> Vec<Condition> {
    let facts = StepFacts {
        stolen: Stolen::between(start, end),
        ..NO_FACTS
    };
    conditions(&step(1, 4, OPEN), &facts)
}

#[test]
fn steal_is_a_share_of_all_processors() {
    let start = sample(1_000, 500);
    assert_eq!(of_steal(&start, &sample(101_000, 2_400)), []);
    let found = of_steal(&start, &sample(101_000, 4_500));
    assert_eq!(found, [Condition::Steal { share: 0.02 }]);
    assert_eq!((found[0].code(), found[0].group()), ("steal", None));
    assert_eq!(
        found[0].to_string(),
        "the hypervisor took 2.0 % of the machine's time away"
    );
}

#[test]
fn a_counter_that_ran_backwards_gives_no_condition() {
    assert_eq!(of_steal(&sample(1_000, 500), &sample(2_000, 400)), []);
    assert_eq!(of_steal(&sample(2_000, 0), &sample(1_000, 400)), []);
}

#[test]
fn the_busiest_and_the_most_delayed_thread_decide() {
    let idle = [used(899, Some(99)), used(5, None)];
    assert_eq!(of_threads(&idle, 1, Pace::default()), []);
    let strained = [used(10, Some(250)), used(951, None)];
    let found = of_threads(&strained, 1, Pace::default());
    let expected = [
        Condition::GeneratorBusy { share: 0.951 },
        Condition::GeneratorWaited { share: 0.25 },
    ];
    assert_eq!(found, expected);
    assert!(found[0].to_string().contains("95 %"), "{}", found[0]);
    assert!(found[1].to_string().contains("25 %"), "{}", found[1]);
}

#[test]
fn waiting_is_expected_of_many_clients_in_a_closed_loop() {
    let delayed = [used(10, Some(250))];
    assert_eq!(of_threads(&delayed, 2, Pace::default()), []);
    let found = of_threads(&delayed, 2, OPEN);
    assert_eq!(found, [Condition::GeneratorWaited { share: 0.25 }]);
}

#[test]
fn lateness_counts_where_it_is_long_and_a_part_of_the_response_time() {
    assert_eq!(of_one(&schedule(200_000, 900_000)), []);
    assert_eq!(of_one(&schedule(50_000_000, 2_000_000)), []);
    let found = of_one(&schedule(5_000_000, 2_000_000));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code(), "schedule-slipped");
    assert!(found[0].to_string().contains("2.0 ms"), "{}", found[0]);
}

#[test]
fn backlogs_count_beyond_the_clients_and_one_in_a_hundred() {
    let mut late = schedule(1000, 1000);
    late.backlog = 100;
    assert_eq!(of_one(&late), []);
    late.backlog = 101;
    assert_eq!(of_one(&late)[0].code(), "backlog");
    assert!(of_one(&late)[0].to_string().ends_with("with 500/s"));
    late.left = 7;
    let found = of_one(&late);
    assert_eq!(found[1].code(), "operations-left");
    let words = found[1].to_string();
    assert!(words.starts_with("7 of 10000 ") && words.contains("within 10 s"));
    // As many as there are clients can always be under way.
    let mut few = schedule(1000, 1000);
    few.planned = 100;
    few.backlog = 4;
    assert_eq!(of_one(&few), []);
    few.backlog = 5;
    assert_eq!(of_one(&few).len(), 1);
}

#[test]
fn a_condition_names_the_group_whose_schedule_it_is_about() {
    let (kept, mut late) = (schedule(1000, 1000), schedule(1000, 1000));
    late.left = 1;
    let facts = StepFacts {
        schedules: &[Some(&kept), None, Some(&late)],
        ..NO_FACTS
    };
    let found = conditions(&step(3, 4, OPEN), &facts);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].group(), Some(2));
}

#[test]
fn a_closed_loop_has_no_backlog() {
    let mut thinking = schedule(1000, 1000);
    thinking.backlog = 5_000;
    let facts = StepFacts {
        schedules: &[Some(&thinking)],
        ..NO_FACTS
    };
    assert_eq!(conditions(&step(1, 4, Pace::default()), &facts), []);
}

#[test]
fn an_unreadable_histogram_gives_no_condition() {
    let broken = Schedule {
        error: vec![1, 2],
        ..schedule(1, 1)
    };
    assert_eq!(of_one(&broken), []);
}

/// The conditions of a host of clients with 4 processors after 10 s, whose counters began at 0.
fn of_client_host(counters: &[(&'static str, u64)]) -> Vec<Condition> {
    let end_of = |moment, at_ns, values: &[(&'static str, u64)]| Sample {
        moment,
        at_ns,
        values: values
            .iter()
            .map(|&(name, value)| (Counter::new(Source::Client, name), value))
            .collect(),
        ..sample(0, 0)
    };
    let begin: Vec<_> = counters.iter().map(|&(name, _)| (name, 0)).collect();
    let mut end = vec![("processors", 4)];
    end.extend(counters);
    let readings = StepSamples(vec![
        end_of(Moment::Start, 1_000, &begin),
        end_of(Moment::End, 10_000_001_000, &end),
    ]);
    let facts = StepFacts {
        client_host: ClientHostUse::of_step(&readings),
        ..NO_FACTS
    };
    conditions(&step(1, 4, Pace::default()), &facts)
}

#[test]
fn limits_of_the_clients_host_are_conditions() {
    const S: u64 = 1_000_000_000;
    let unstrained = [
        ("busy_ns", 31 * S),
        ("busiest_softirq_ns", 8 * S),
        ("steal_ns", 4 * S / 10),
        ("drops", 100),
        ("received_packets", 1_000_000),
        ("segments", 1_000_000),
        ("segments_sent_again", 100),
    ];
    assert_eq!(of_client_host(&unstrained), []);
    let strained = [
        ("busy_ns", 32 * S),
        ("busiest_softirq_ns", 9 * S),
        ("steal_ns", 2 * S),
        ("drops", 2_500),
        ("received_packets", 1_000_000),
        ("segments", 1_000_000),
        ("segments_sent_again", 1_500),
    ];
    let found = of_client_host(&strained);
    let codes: Vec<&str> = found.iter().map(Condition::code).collect();
    assert_eq!(
        codes,
        [
            "client-host-busy",
            "client-host-interrupts",
            "client-host-steal",
            "client-host-drops",
            "client-host-sent-again"
        ]
    );
    let words: Vec<String> = found.iter().map(ToString::to_string).collect();
    for (words, figure) in words
        .iter()
        .zip(["80 %", "90 %", "5.0 %", "0.25 %", "0.15 %"])
    {
        assert!(words.contains(figure), "{words}");
    }
    assert!(found.iter().all(|condition| condition.group().is_none()));
    // What is not known is no condition.
    assert_eq!(of_client_host(&[("segments_sent_again", 5)]), []);
}
