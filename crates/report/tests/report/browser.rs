//! A headless Chromium, driven by its debugging protocol over a pipe.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

/// Programs that will do, the leaner first.
const PROGRAMS: [&str; 2] = ["chromium-headless-shell", "chromium"];

/// A browser with one page. It ends with its value.
pub(crate) struct Browser {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    session: String,
    last: u64,
    events: VecDeque<Value>,
    _profile: tempfile::TempDir,
}

/// The conditions under which a page is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) width: u32,
    pub(crate) dark: bool,
    pub(crate) script: bool,
}

impl Browser {
    /// `None`, with the reason printed, if there is none and tests may do without.
    #[expect(clippy::print_stderr, reason = "a test that does not run says so")]
    pub(crate) fn start() -> Option<Self> {
        let choice = std::env::var("PRONY_LIVE_TESTS");
        if choice.as_deref() == Ok("skip") {
            eprintln!("skipped: PRONY_LIVE_TESTS=skip");
            return None;
        }
        let program = PROGRAMS.iter().find(|name| is_installed(name));
        let Some(program) = program else {
            let text = "install chromium-headless-shell or chromium to test pages in a browser";
            assert_ne!(choice.as_deref(), Ok("require"), "{text}");
            eprintln!("skipped: {text}");
            return None;
        };
        Some(Self::spawn(program))
    }

    fn spawn(program: &str) -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The protocol is on descriptors 3 and 4; the shell puts our pipes there.
        let mut child = Command::new("sh")
            .args([
                "-c",
                "exec \"$@\" 3<&0 4>&1 1>/dev/null 2>/dev/null",
                "sh",
                program,
            ])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
            ])
            .args([
                "--no-first-run",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut browser = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            session: String::new(),
            last: 0,
            events: VecDeque::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().unwrap().into();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, file: &Path, view: View) {
        let size = json!({"width": view.width, "height": 900, "deviceScaleFactor": 1,
            "mobile": view.width < 600});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let theme = if view.dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": theme}]});
        self.call("Emulation.setEmulatedMedia", &media);
        self.call(
            "Emulation.setScriptExecutionDisabled",
            &json!({"value": !view.script}),
        );
        self.events.clear();
        let url = format!("file://{}", file.display());
        self.call("Page.navigate", &json!({ "url": url }));
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            let message = self.message();
            self.events.push_back(message);
        }
    }

    /// The value of an expression in the page. It is computed even where the page runs no scripts.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let arguments =
            json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", &arguments);
        assert!(answer.get("exceptionDetails").is_none(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// Addresses that the page has asked for.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.events_named("Network.requestWillBeSent")
            .map(|event| event["params"]["request"]["url"].to_string())
            .collect()
    }

    /// Messages of the console, and uncaught exceptions.
    pub(crate) fn messages(&self) -> Vec<String> {
        let names = [
            "Log.entryAdded",
            "Runtime.exceptionThrown",
            "Runtime.consoleAPICalled",
        ];
        let messages = names.iter().flat_map(|name| self.events_named(name));
        messages.map(|event| event["params"].to_string()).collect()
    }

    /// Writes a picture of the whole page.
    pub(crate) fn picture(&mut self, file: &Path) {
        let arguments = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.call("Page.captureScreenshot", &arguments);
        let bytes = BASE64_STANDARD
            .decode(answer["data"].as_str().unwrap())
            .unwrap();
        std::fs::write(file, bytes).unwrap();
    }

    fn events_named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events
            .iter()
            .filter(move |event| event["method"] == name)
    }

    fn call(&mut self, method: &str, arguments: &Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": arguments});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.as_str().into();
        }
        let text = message.to_string() + "\0";
        self.input.write_all(text.as_bytes()).unwrap();
        loop {
            let mut answer = self.message();
            if answer["id"] == self.last {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }

    fn message(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_installed(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

/// The checker of accessibility, fetched into the build folder on first use.
pub(crate) fn axe() -> String {
    const VERSION: &str = "4.10.3";
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("axe");
    let file = folder.join("node_modules/axe-core/axe.min.js");
    if !file.is_file() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]);
        let status = npm.arg(&folder).arg(format!("axe-core@{VERSION}")).status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "npm can't fetch axe-core"
        );
    }
    std::fs::read_to_string(file).unwrap()
}
