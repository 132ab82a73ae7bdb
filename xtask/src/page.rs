//! Pictures of pages.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo;

const BROWSER: &str = "chromium-headless-shell";
/// Pixels of a picture: a wide window, down to the first step of the quickstart's page.
const SIZE: &str = "--window-size=1200,1560";

/// Writes pictures of a page in both themes and two widths to `target/pages`, as its test in a browser
/// sees it; with the arguments `PAGE.html OUT.png` one picture of the top of that page.
pub(crate) fn pictures(root: &Path, arguments: impl Iterator<Item = String>) -> Result<(), String> {
    match &arguments.collect::<Vec<_>>()[..] {
        [] => of_tests(root),
        [page, out] => of_page(Path::new(page), Path::new(out)),
        _ => Err("usage: cargo xtask page [PAGE.html OUT.png]".to_owned()),
    }
}

fn of_tests(root: &Path) -> Result<(), String> {
    let folder = root.join("target/pages");
    fs::create_dir_all(&folder).map_err(|error| format!("make {}: {error}", folder.display()))?;
    let test = "test --package prony-report --test report pages_are_readable_everywhere";
    let variables = [
        ("PRONY_PICTURES", folder.as_os_str()),
        ("PRONY_LIVE_TESTS", "require".as_ref()),
    ];
    cargo::run("page", cargo::command(test).envs(variables))?;
    println!("the pictures are in {}", folder.display());
    Ok(())
}

fn of_page(page: &Path, out: &Path) -> Result<(), String> {
    let page =
        fs::canonicalize(page).map_err(|error| format!("open {}: {error}", page.display()))?;
    let mut screenshot = std::ffi::OsString::from("--screenshot=");
    screenshot.push(out);
    // The page is our own and may request nothing, so that root needs no sandbox around it.
    let status = Command::new(BROWSER)
        .args(["--headless", "--no-sandbox", "--hide-scrollbars", SIZE])
        .arg(screenshot)
        .arg(&page)
        .status()
        .map_err(|error| {
            format!("start {BROWSER}: {error}; install it, in Debian the package of that name")
        })?;
    if status.success() && out.is_file() {
        return Ok(());
    }
    Err(format!("{BROWSER} wrote no picture of {}", page.display()))
}
