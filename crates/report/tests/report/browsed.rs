//! Pages as a browser shows them.

use std::path::Path;

use prony_report::{Format, render};
use serde_json::json;

use crate::browser::{Browser, View, axe};
use crate::page::{full, named_so, odd};
use crate::sample::Sample;

/// Finds what no page may have, as a list of sentences.
const PROBE: &str = include_str!("probe.js");

/// Opens everything that is folded.
const UNFOLD: &str = "document.querySelectorAll('details').forEach(d => d.open = true)";

fn write(folder: &Path, sample: &Sample) -> std::path::PathBuf {
    let file = folder.join("report.html");
    std::fs::write(&file, render(&sample.store, Format::Html).unwrap()).unwrap();
    file
}

/// Asserts that a page is complete and readable as it opens.
fn assert_readable(browser: &mut Browser, file: &Path, view: View) {
    browser.open(file, view);
    let requests = browser.requests();
    assert_eq!(requests.len(), 1, "{view:?}: {requests:?}");
    assert_eq!(browser.value(PROBE), json!([]), "{view:?}");
    let messages = browser.messages();
    assert!(messages.is_empty(), "{view:?}: {messages:?}");
}

/// Every combination of width, theme and scripts.
fn views() -> impl Iterator<Item = View> {
    (0..8).map(|index| View {
        width: if index & 1 == 0 { 1200 } else { 390 },
        dark: index & 2 > 0,
        script: index & 4 == 0,
    })
}

#[test]
fn pages_are_readable_everywhere() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), &full(6, &[1, 2], 5));
    for view in views() {
        assert_readable(&mut browser, &file, view);
        browser.value(UNFOLD);
        assert_eq!(browser.value(PROBE), json!([]), "unfolded, {view:?}");
        if view.script
            && let Ok(pictures) = std::env::var("PRONY_PICTURES")
        {
            let theme = if view.dark { "dark" } else { "light" };
            let name = format!("page-{}-{theme}.png", view.width);
            browser.picture(&Path::new(&pictures).join(name));
        }
    }
    let text = "<b>x</b> \u{202e}abc שלום 漢字 e\u{301}🦀 & a-word-of-eighty-letters-";
    let text = format!("{text}{}", "donaudampfschiff".repeat(5));
    for sample in odd().iter().chain([&named_so(&text)]) {
        let file = write(folder.path(), sample);
        let narrow = View {
            width: 390,
            dark: false,
            script: true,
        };
        assert_readable(&mut browser, &file, narrow);
    }
}

#[test]
fn the_map_is_filtered_sorted_and_linked() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), &full(3, &[1, 2], 5));
    let view = View {
        width: 1200,
        dark: false,
        script: true,
    };
    browser.open(&file, view);
    let shown = "[...document.querySelectorAll('table.map tr.step')]\
                 .filter(r => r.checkVisibility()).map(r => r.dataset.step + r.dataset.clients)";
    let filter = "(() => { const f = document.getElementById('f-step'); f.value = 'point';\
                  f.dispatchEvent(new Event('input')); })()";
    browser.value(filter);
    assert_eq!(
        browser.value(shown),
        json!(["point-query1", "point-query2"])
    );
    assert_eq!(browser.value("location.hash"), json!("#?f=point"));
    // Without scripts, the choice of figures works, and a cell leads to its details.
    browser.open(
        &file,
        View {
            script: false,
            ..view
        },
    );
    let figures = "[...document.querySelectorAll('table.map .fig')]\
                   .filter(f => f.checkVisibility()).map(f => f.className.split(' ')[1])";
    let kinds = |browser: &mut Browser| {
        let mut kinds: Vec<String> = serde_json::from_value(browser.value(figures)).unwrap();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert!(kinds(&mut browser).contains(&"rel".to_owned()));
    browser.value("document.getElementById('mode-abs').checked = true");
    assert_eq!(kinds(&mut browser), ["abs"]);
}

#[test]
fn pages_are_accessible() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), &full(2, &[1], 5));
    let axe = axe();
    for dark in [false, true] {
        let view = View {
            width: if dark { 390 } else { 1200 },
            dark,
            script: true,
        };
        browser.open(&file, view);
        browser.value(UNFOLD);
        browser.value(&format!("{axe}; 0"));
        let violations = browser.value(
            "axe.run().then(found => found.violations.map(of => of.id + ': ' +\
             of.nodes.slice(0, 3).map(node => node.html.slice(0, 150) + ' ' +\
             node.failureSummary.slice(0, 200)).join(' | ')))",
        );
        assert_eq!(violations, json!([]), "{view:?}");
    }
}
