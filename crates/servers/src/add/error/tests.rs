use prony_model::IntentKind;

use super::*;
use crate::instance::ServerFailure;

fn io_error() -> IoError {
    IoError {
        action: "read",
        path: "x.tar".into(),
        source: io::ErrorKind::NotFound.into(),
    }
}

fn render_error() -> RenderError {
    RenderError::Kind {
        intent: "redo_log".into(),
        kind: IntentKind::Bytes,
    }
}

fn libraries(archive: bool) -> AddError {
    let missing = ["libaio.so.1".to_owned(), "GLIBC_2.43".to_owned()];
    let (path, program) = (Path::new("mysql.tar.xz"), Path::new("bin/mysqld"));
    AddError::libraries(path, program, &missing, archive)
}

#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn every_error_reads_well_after_failed_to() {
    let (path, program) = (PathBuf::from("mysql"), PathBuf::from("bin/mysqld"));
    let errors: [(AddError, &str); 21] = [
        (io_error().into(), "read x.tar: entity not found"),
        (
            AddError::NoServer(path.clone()),
            "find a server in mysql: it has no mariadbd or mysqld in bin, sbin, libexec, \
             usr/sbin, usr/libexec or at its top; name the folder that such a folder lies \
             in",
        ),
        (
            AddError::no_program(&path, &program),
            "use bin/mysqld of mysql: it is no program but a script or a text; name the \
             folder of an unpacked server",
        ),
        (
            AddError::processor(&path, &program, "IBM Z"),
            "use bin/mysqld of mysql: it is made for IBM Z, and this machine is PROCESSOR; \
             get the build for this machine",
        ),
        (
            libraries(false),
            "load bin/mysqld of mysql.tar.xz: there is no libaio.so.1, no GLIBC_2.43; \
             install what has it, or put it into a folder `lib` beside the server's other \
             folders",
        ),
        (
            libraries(true),
            "load bin/mysqld of mysql.tar.xz: there is no libaio.so.1, no GLIBC_2.43; \
             install what has it, or unpack the archive, put it into a folder `lib` beside \
             the server's other folders, and add the unpacked folder",
        ),
        (
            AddError::Run(io::ErrorKind::PermissionDenied.into()),
            "run the server program: permission denied",
        ),
        (
            AddError::Silent(60),
            "ask the server program what it is: it did not come to an end in 60 s; start it \
             by hand with --version to see why",
        ),
        (
            AddError::Version {
                path: path.clone(),
                program,
                said: "Segmentation fault".into(),
            },
            "ask bin/mysqld of mysql for its version: it answered `Segmentation fault`; run \
             it by hand with --version, or write its catalogue entry yourself",
        ),
        (
            AddError::NoBootstrap(path),
            "find out how mysql makes a data directory: it does not know \
             --initialize-insecure, and has neither a script mysql_system_tables.sql nor a \
             data directory with mysql/user.frm; add the files that its release has beside \
             it",
        ),
        (
            AddError::Exists("mine".into()),
            "add a build `mine`: the catalogue has one of this name; give it another by \
             --id",
        ),
        (
            AddError::FileExists("mine.toml".into()),
            "write mine.toml: it exists; remove it, or give the build another name by --id",
        ),
        (
            CatalogueError::Entry("the id is none".into()).into(),
            "make a catalogue entry: the id is none",
        ),
        (
            FetchError::Unknown("mine".into()).into(),
            "get the files of the server: there is no build `mine` in the catalogue",
        ),
        (
            FetchError::Io(io_error()).into(),
            "get the files of the server: read x.tar: entity not found",
        ),
        (
            UnpackError::Missing {
                archive: "x.tar".into(),
                part: "bin".into(),
            }
            .into(),
            "unpack x.tar: it holds no `bin`",
        ),
        (
            render_error().into(),
            "configure the server: the intent `redo_log` takes a size",
        ),
        (
            InstanceError::Ports {
                host: std::net::Ipv4Addr::LOCALHOST.into(),
            }
            .into(),
            "find a free port on 127.0.0.1: 100 in a row of 20000 to 31999 can't be listened on; end \
             what listens there, and make sure that 127.0.0.1 is an address of this host",
        ),
        (
            AddError::NoEngines(vec!["CSV".into()]),
            "find an engine of the server that Prony knows: it has CSV; get a build with \
             InnoDB or MyISAM",
        ),
        (
            VerifyError::Render(render_error()).into(),
            "configure the server: the intent `redo_log` takes a size",
        ),
        (
            VerifyError::Server(ServerFailure {
                task: "verify mine with engine innodb".into(),
                reason: "a row reads ``, expected `1:one,2:zwei`".into(),
                log_tail: String::new(),
            })
            .into(),
            "verify mine with engine innodb: a row reads ``, expected `1:one,2:zwei`",
        ),
    ];
    for (error, expected) in errors {
        let text = error
            .to_string()
            .replace(std::env::consts::ARCH, "PROCESSOR");
        assert_eq!(text, expected);
    }
}
