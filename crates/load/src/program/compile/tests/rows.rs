//! Statements of several rows, texts of other lengths, and the marks of tables.

use prony_model::RowList;

use super::*;

fn letters(lengths: &str) -> Generator {
    Generator::Letters {
        lengths: lengths.parse().unwrap(),
        random: Thousandths(500),
    }
}

/// A statement of `range / 50`, which is 2, rows.
fn of_rows(protocol: Protocol, sql: &str, row: &str, params: &[(&str, Generator)]) -> DriveTask {
    let mut task = task(protocol, sql, params);
    task.groups.own_mut().workload.statements[0].row = Some(RowList {
        sql: row.parse().unwrap(),
        count: "range / 50".parse().unwrap(),
    });
    task
}

#[test]
fn each_row_has_its_values_and_the_statement_has_one_of_the_others() {
    let sequential = draw_by(Distribution::Sequential, "1", "rows", None);
    let task = of_rows(
        Protocol::Text,
        "INSERT INTO {table} /* {a} */ VALUES {row:list}",
        "({a}, {s}, {b}, {c})",
        &[
            ("a", draw("1", "1000000")),
            ("s", sequential),
            ("b", derived("a + s")),
            ("c", digits("#####")),
        ],
    );
    for (text, first) in texts(&task, 3).into_iter().zip([1, 3, 5]) {
        let [1, a, .., c1, a2, s2, b2, c2] = numbers(&text)[..] else {
            panic!("{text}");
        };
        let (b, second) = (a + first, first + 1);
        assert_eq!(
            text,
            format!(
                "INSERT INTO sbtest1 /* {a} */ VALUES ({a}, {first}, {b}, '{c1:05}'),({a2}, {s2}, \
                 {b2}, '{c2:05}')"
            )
        );
        assert_eq!((a2, s2, b2), (a, second, a + second));
        assert_ne!(c1, c2);
    }
}

#[test]
fn rows_are_prepared_with_all_their_places() {
    let task = of_rows(
        Protocol::Prepared,
        "INSERT INTO {table} VALUES {row:list}",
        "({n}, NOW(), {c})",
        &[("n", draw("1", "9")), ("c", letters("0..9"))],
    );
    let program = compile_task(&task).unwrap();
    let Encoding::Prepared(prepared) = &program.statements[0].encoding else {
        panic!("prepared");
    };
    assert_eq!(
        prepared.sql[0],
        "INSERT INTO sbtest1 VALUES (?, NOW(), ?),(?, NOW(), ?)"
    );
    assert_eq!(prepared.params(), 4);
}

/// A request is made anew where its texts have other lengths, and nothing is left of the last one.
#[test]
fn texts_of_other_lengths_are_sent_whole() {
    let params = [("c", letters("0..300")), ("n", draw("1", "9"))];
    let task = task(Protocol::Prepared, "SELECT {c}, {n}", &params);
    let program = compile_task(&task).unwrap();
    let (mut values, statement) = (program.new_values(), &program.statements[0]);
    let Encoding::Prepared(prepared) = &statement.encoding else {
        panic!("prepared");
    };
    let mut choices = Choices::new(&program, 0);
    let (mut request, mut id) = (Request::new(Wire::Mysql), PreparedId::new(7));
    for turn in 0..200 {
        choices.choose(&program, statement, 0, &mut values[0]);
        request.execute(0, &prepared.execution, &mut id, &values[0]);
        let text = &values[0].texts[0];
        let (_, same) = text.split_at(text.len() / 2);
        assert!(same.iter().all(|byte| *byte == b'a'));
        let length = match u8::try_from(text.len()) {
            Ok(length @ ..251) => vec![length],
            _ => [
                vec![0xfc],
                u16::try_from(text.len()).unwrap().to_le_bytes().to_vec(),
            ]
            .concat(),
        };
        let number = values[0].integers[0].to_le_bytes();
        let bytes = request.bytes();
        // Header, command, statement, flags, iterations, bitmap, and types at first.
        let head = 4 + 1 + 4 + 1 + 4 + 1 + 1 + if turn == 0 { 4 } else { 0 };
        assert_eq!(bytes[head..], [&length, &text[..], &number].concat());
        let size = u32::try_from(bytes.len() - 4).unwrap().to_le_bytes();
        assert_eq!(bytes[..3], size[..3]);
    }
}

#[test]
fn texts_are_made_of_numbers() {
    let text = Generator::Numbered {
        text: "u'{number:4}-".parse().unwrap(),
        number: "n + 1".parse().unwrap(),
    };
    let time = Generator::DateTime {
        since: "2024-02-28 23:59:59".parse().unwrap(),
        seconds: "n - n + 1".parse().unwrap(),
    };
    let task = task(
        Protocol::Text,
        "SELECT {u}, {t}, {n}",
        &[("n", draw("1", "20000")), ("u", text), ("t", time)],
    );
    for text in texts(&task, 50) {
        let n = numbers(&text)[7];
        let u = (n + 1) % 10_000;
        assert_eq!(
            text,
            format!("SELECT 'u''{u:04}-', '2024-02-29 00:00:00', {n}")
        );
    }
}

#[test]
fn rows_need_a_number_and_holes_their_values() {
    let sql = "INSERT INTO {table} VALUES {row:list}";
    let params = [("n", draw("1", "9"))];
    let mut none = of_rows(Protocol::Text, sql, "({n})", &params);
    none.groups.own_mut().parameters.insert("range".into(), 49);
    let source = |task: &DriveTask| compile_task(task).unwrap_err().source;
    assert_eq!(source(&none), CompileError::Rows(0));
    let unknown = of_rows(Protocol::Text, sql, "({m})", &params);
    assert_eq!(source(&unknown), CompileError::NoParam("m".into()));
}

/// The marks are those of the table that is chosen, and move by the rows that statements change.
#[test]
fn marks_move_with_the_rows_of_their_table() {
    let latest = Distribution::Zipfian {
        exponent: Thousandths(990),
        hot: Hot::Highest,
    };
    let params = [
        ("any", draw("lowest_key", "highest_key")),
        (
            "new",
            draw_by(latest, "highest_key - 4", "highest_key", None),
        ),
        ("next", derived("highest_key + 1")),
    ];
    let mut task = task(
        Protocol::Text,
        "SELECT {any}, {new}, {next} FROM {table}",
        &params,
    );
    task.groups.own_mut().workload.statements[0].change.rows = -1;
    let marks = Arc::new(Marks::new([[11, 20], [1, 0]]));
    let program = Program::compile(Family::Mysql, &task, 0, Some(&marks)).unwrap();
    let mut values = program.new_values();
    let mut draw = |client| {
        let mut choices = Choices::new(&program, client);
        choices.choose(&program, &program.statements[0], 0, &mut values[0]);
        let [_, _, any, new, next] = values[0].integers[..] else {
            panic!("two marks and three numbers");
        };
        (any, new, next)
    };
    for _ in 0..50 {
        let (any, new, next) = draw(0);
        assert!((11..=20).contains(&any) && (16..=20).contains(&new));
        assert_eq!(next, 21);
    }
    // The other table has no rows.
    assert_eq!(draw(1).0, 1);
    program.note_change(0, 0, 9);
    assert_eq!((draw(0).0, marks.of(0)), (20, [20, 20]));
}

/// A statement that goes through the tables does so over all clients together.
#[test]
fn each_table_has_its_turn() {
    let mut task = task(Protocol::Text, "OPTIMIZE TABLE {table}", &[]);
    task.dataset.tables = 5;
    let own = task.groups.own_mut();
    own.clients = 2;
    own.workload.statements[0].table = TableChoice::Each;
    let program = compile_task(&task).unwrap();
    let mut values = program.new_values();
    let mut tables = |client, operations| -> Vec<usize> {
        let mut choices = Choices::new(&program, client);
        let statement = &program.statements[0];
        let turns = (0..operations).map(|_| {
            choices.begin_operation();
            choices.choose(&program, statement, 0, &mut values[0]);
            choices.table()
        });
        turns.collect()
    };
    assert_eq!((tables(0, 3), tables(1, 2)), (vec![0, 2, 4], vec![1, 3]));
}
