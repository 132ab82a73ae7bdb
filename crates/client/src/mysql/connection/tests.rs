//! Against fake servers: each is a thread that plays one side of one conversation.

use std::thread;

use prony_model::{ErrorCode, Family};

use super::*;
use crate::testing::{NATIVE, OK, Peer, connect, connect_over_tcp, open};

fn definition(peer: &mut Peer) {
    peer.say(b"\x03def\0\0\0\x01k\x01k\x0c\x08\0\x0b\0\0\0\x03\0\0\0\0\0");
}

#[test]
fn refusals_keep_the_servers_words() {
    for (greets, packet, expected) in [
        (false, &b"\xff\x10\x04Too many connections"[..], 1040),
        (false, b"\xff\x6a\x04#HY000Host is not allowed", 1130),
        (true, b"\xff\x15\x04#28000Access denied", 1045),
    ] {
        let (connection, server) = connect("", move |mut peer| {
            if greets {
                peer.greet(NATIVE);
                peer.hear();
            }
            peer.say(packet);
        });
        match connection.unwrap_err() {
            ClientError::Server { code, .. } if !greets => {
                assert_eq!(code, ErrorCode::from(expected));
            }
            error @ ClientError::Login { code, .. } if greets => {
                assert_eq!(code, ErrorCode::from(expected));
                let shown = error.to_string();
                for word in [
                    "`prony`",
                    "/s ",
                    "mysql_native_password",
                    "Access denied",
                    "check",
                ] {
                    assert!(shown.contains(word), "{shown}");
                }
            }
            error => panic!("{error}"),
        }
        server.join().unwrap();
    }
}

#[test]
fn silence_and_hanging_up_while_connecting() {
    let (connection, server) = connect("", |peer| {
        thread::sleep(Duration::from_millis(700));
        drop(peer);
    });
    assert!(matches!(
        connection.unwrap_err(),
        ClientError::Timeout { .. }
    ));
    server.join().unwrap();
    let (connection, server) = connect("", drop);
    assert!(matches!(connection.unwrap_err(), ClientError::Closed));
    server.join().unwrap();
}

#[test]
fn nobody_listens() {
    let login = Login {
        family: Family::Mysql,
        user: "u".into(),
        password: "secret".into(),
        database: None,
        tls: prony_model::Tls::Off,
    };
    let address = Address::Unix("/nowhere/at/all.sock".into());
    let error = Connection::connect(&address, &login, Duration::from_secs(1)).unwrap_err();
    assert!(matches!(error, ClientError::Connect { .. }));
    assert!(error.to_string().contains("/nowhere/at/all.sock"));
}

#[test]
fn tcp_sends_at_once() {
    let (connection, server) = connect_over_tcp("secret", |mut peer| {
        peer.accept();
        peer.hear();
        peer.say(OK);
    });
    let mut connection = connection.unwrap();
    connection.query("DO 1").unwrap();
    let stream = connection.into_stream().unwrap();
    assert!(rustix::net::sockopt::tcp_nodelay(stream.socket()).unwrap());
    server.join().unwrap();
}

#[test]
fn rows_nulls_and_counts() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(peer.hear(), b"\x03SELECT 1");
        peer.say(&[1]);
        definition(&mut peer);
        peer.say(&[0xfe, 0, 0, 2, 0]);
        peer.say(b"\x02ab");
        peer.say(b"\xfb");
        peer.say(&[0xfe, 1, 0, 2, 0]);
        peer.hear();
        peer.say(&[0, 3, 7, 2, 0, 1, 0]);
    });
    let answer = connection.query("SELECT 1").unwrap();
    assert_eq!(answer.columns, ["k"]);
    assert_eq!(answer.rows, [[Some("ab".to_owned())], [None]]);
    assert_eq!(answer.warnings, 1);
    let answer = connection.query("UPDATE t SET k = 1").unwrap();
    assert_eq!(
        (answer.affected, answer.last_insert_id, answer.warnings),
        (3, 7, 1)
    );
    server.join().unwrap();
}

#[test]
fn the_last_of_several_results_counts() {
    let (mut connection, server) = open(|mut peer| {
        peer.hear();
        peer.say(&[1]);
        definition(&mut peer);
        peer.say(&[0xfe, 0, 0, 2, 0]);
        peer.say(&[0xfe, 0, 0, 10, 0]);
        peer.say(&[0, 5, 0, 2, 0, 0, 0]);
    });
    assert_eq!(connection.query("CALL p()").unwrap().affected, 5);
    server.join().unwrap();
}

#[test]
fn prepares() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(peer.hear(), b"\x16SELECT k FROM t WHERE id = ?");
        peer.say(b"\0\x09\0\0\0\x01\0\x01\0\0\0\0");
        definition(&mut peer);
        peer.say(&[0xfe, 0, 0, 2, 0]);
        definition(&mut peer);
        peer.say(&[0xfe, 0, 0, 2, 0]);
        peer.hear();
        peer.say(b"\0\x0a\0\0\0\0\0\0\0\0\0\0");
        peer.hear();
        peer.say(b"\xff\x0f\x05#HY000not supported");
    });
    let prepared = connection.prepare("SELECT k FROM t WHERE id = ?").unwrap();
    assert_eq!((prepared.id, prepared.params, prepared.columns), (9, 1, 1));
    assert_eq!(connection.prepare("DO 1").unwrap().id, 10);
    assert!(
        matches!(connection.prepare("BEGIN"), Err(ClientError::Server { code, .. }) if code.as_str() == "1295")
    );
    server.join().unwrap();
}

#[test]
fn a_refused_statement_leaves_the_connection_usable() {
    let (mut connection, server) = open(|mut peer| {
        peer.hear();
        peer.say(b"\xff\x28\x04#42000syntax");
        peer.hear();
        peer.say(OK);
    });
    assert!(
        matches!(connection.query("SELEC"), Err(ClientError::Server { code, .. }) if code.as_str() == "1064")
    );
    connection.query("DO 1").unwrap();
    server.join().unwrap();
}

#[test]
fn a_broken_conversation_closes_the_connection() {
    let (mut connection, server) = open(|mut peer| {
        peer.hear();
        peer.sequence += 1;
        peer.say(OK);
    });
    assert!(matches!(
        connection.query("DO 1"),
        Err(ClientError::Protocol { .. })
    ));
    assert!(matches!(connection.query("DO 1"), Err(ClientError::Closed)));
    assert!(connection.into_stream().is_err());
    server.join().unwrap();
}

#[test]
fn long_rows_are_joined() {
    let size = prony_wire::PAYLOAD_MAX + 10;
    let (mut connection, server) = open(move |mut peer| {
        peer.hear();
        peer.say(&[1]);
        definition(&mut peer);
        peer.say(&[0xfe, 0, 0, 2, 0]);
        let mut row = vec![0xfe];
        row.extend_from_slice(&(size as u64).to_le_bytes());
        row.resize(row.len() + size, b'x');
        peer.say(&row);
        peer.say(&[0xfe, 0, 0, 2, 0]);
    });
    let answer = connection.query("SELECT REPEAT('x', 16777225)").unwrap();
    assert_eq!(answer.single().map(str::len), Some(size));
    server.join().unwrap();
}

#[test]
fn a_server_is_asked_to_stop() {
    let (connection, server) = connect("", |mut peer| {
        peer.accept();
        assert_eq!(peer.hear(), [8, 0]);
        peer.say(&[0xfe, 0, 0, 2, 0]);
    });
    connection.unwrap().shutdown().unwrap();
    server.join().unwrap();
    let (connection, server) = connect("", |mut peer| {
        peer.accept();
        peer.hear();
        peer.say(b"\xff\xcb\x04#42000Access denied; you need the SHUTDOWN privilege");
    });
    let error = connection.unwrap().shutdown().unwrap_err();
    assert!(
        matches!(error, ClientError::Server { code, .. } if code.as_str() == "1227"),
        "{error}"
    );
    server.join().unwrap();
}

#[test]
fn rows_are_sent_when_the_server_asks_for_them() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(
            peer.hear(),
            b"\x03LOAD DATA LOCAL INFILE 'rows' INTO TABLE t"
        );
        peer.say(b"\xfbrows");
        for expected in [&b"1\n2\n"[..], b"3\n", b""] {
            let before = peer.sequence;
            assert_eq!(peer.hear(), expected);
            assert_eq!(peer.sequence, before + 1);
        }
        peer.say(b"\0\x03\0\x02\0\0\0");
        // One that refuses is asked for the next statement as usual.
        peer.hear();
        peer.say(b"\xff\x7c\x04#42000not allowed");
        peer.hear();
        peer.say(OK);
    });
    let sql = "LOAD DATA LOCAL INFILE 'rows' INTO TABLE t";
    let mut parts = ["1\n2\n", "3\n"].into_iter();
    let answer = connection
        .load_rows(sql, &mut |rows| {
            rows.extend_from_slice(parts.next().unwrap_or_default().as_bytes());
        })
        .unwrap();
    assert_eq!(answer.affected, 3);
    let refused = connection.load_rows(sql, &mut |_| panic!("nobody asked"));
    assert!(matches!(refused, Err(ClientError::Server { code, .. }) if code.as_str() == "1148"));
    connection.query("DO 1").unwrap();
    server.join().unwrap();
}

#[test]
fn a_server_that_asks_for_rows_out_of_turn_gets_none() {
    let (mut connection, server) = open(|mut peer| {
        peer.hear();
        peer.say(b"\xfb/etc/passwd");
        assert!(peer.has_hung_up());
    });
    assert!(matches!(
        connection.query("SELECT 1"),
        Err(ClientError::Protocol { .. })
    ));
    drop(connection);
    server.join().unwrap();
}

#[test]
fn prepared_statements_are_executed_and_closed() {
    let (mut connection, server) = open(|mut peer| {
        assert_eq!(peer.hear(), b"\x16DELETE FROM t");
        peer.say(b"\0\x07\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(peer.hear(), b"\x17\x07\0\0\0\0\x01\0\0\0");
        peer.say(b"\0\x03\0\x02\0\0\0");
        // Nothing answers this, and the next request begins anew.
        assert_eq!(peer.hear(), b"\x19\x07\0\0\0");
        assert_eq!((peer.hear(), peer.sequence), (b"\x03DO 1".to_vec(), 1));
        peer.say(OK);
    });
    let statement = connection.prepare("DELETE FROM t").unwrap();
    let request = b"\x0a\0\0\0\x17\x07\0\0\0\0\x01\0\0\0";
    assert_eq!(connection.execute(request).unwrap().affected, 3);
    connection.close(statement).unwrap();
    connection.query("DO 1").unwrap();
    server.join().unwrap();
}
