use prony_model::{Engine, IntentKind};

use super::*;

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
    AddError::Libraries {
        path: "mysql.tar.xz".into(),
        program: "bin/mysqld".into(),
        missing: vec!["libaio.so.1".into(), "GLIBC_2.43".into()],
        archive,
    }
}

#[test]
fn every_error_reads_well_after_failed_to() {
    let (path, program) = (PathBuf::from("mysql"), PathBuf::from("bin/mysqld"));
    let errors = [
        io_error().into(),
        AddError::NoServer { path: path.clone() },
        AddError::NoProgram {
            path: path.clone(),
            program: program.clone(),
        },
        AddError::Processor {
            path: path.clone(),
            program: program.clone(),
            made_for: "IBM Z".into(),
        },
        libraries(false),
        libraries(true),
        AddError::Run {
            source: io::ErrorKind::PermissionDenied.into(),
        },
        AddError::Silent { seconds: 60 },
        AddError::Version {
            path: path.clone(),
            program,
            said: "Segmentation fault".into(),
        },
        AddError::NoBootstrap { path },
        AddError::Exists { id: "mine".into() },
        AddError::FileExists {
            file: "mine.toml".into(),
        },
        CatalogueError::Entry {
            reason: "the id is none".into(),
        }
        .into(),
        FetchError::Unknown { id: "mine".into() }.into(),
        FetchError::Io(io_error()).into(),
        UnpackError::Missing {
            archive: "x.tar".into(),
            part: "bin".into(),
        }
        .into(),
        render_error().into(),
        InstanceError::Ports { tried: 100 }.into(),
        AddError::NoEngines {
            found: vec!["CSV".into()],
        },
        VerifyError::Render(render_error()).into(),
        VerifyError::OtherEngine {
            build: "mine".into(),
            engine: Engine::Innodb,
            found: "MyISAM".into(),
            log_tail: String::new(),
        }
        .into(),
    ];
    let lines = errors.map(|error: AddError| format!("failed to {error}"));
    let processor = std::env::consts::ARCH;
    let text = lines.join("\n").replace(processor, "PROCESSOR");
    insta::assert_snapshot!("errors", text);
}
