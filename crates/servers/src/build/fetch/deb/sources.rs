//! The package sources of this machine: which mirror it uses, and which keys it trusts.
//!
//! Formats: sources.list(5), both styles. Read directly, because apt itself tells about a mirror
//! only after its index was fetched once.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::catalogue::DebOrigin;

/// A Debian mirror as the machine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mirror {
    uri: String,
    /// The value of `Signed-By`, continuation lines included; without it apt trusts the keys of
    /// the system.
    signed_by: Option<String>,
    suites: Vec<String>,
    components: Vec<String>,
}

/// The mirrors that may have `suite`, the most likely first. `places` is what `apt-config shell`
/// says of where the sources are.
pub(super) fn mirrors(places: &str, suite: &str) -> Vec<Mirror> {
    let mut found: Vec<Mirror> = Vec::new();
    for path in files(places) {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let mirrors = if path.extension().is_some_and(|end| end == "sources") {
            from_stanzas(&text)
        } else {
            text.lines().filter_map(from_line).collect()
        };
        for mirror in mirrors {
            let known = found.iter().any(|one| one.uri == mirror.uri);
            if mirror.may_have(suite) && !known {
                found.push(mirror);
            }
        }
    }
    found.sort_by_key(|mirror| !mirror.suites.iter().any(|one| one == suite));
    found
}

/// The files that hold package sources.
fn files(places: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in places.lines() {
        let Some((name, value)) = line.split_once('=') else {
            continue;
        };
        let path = Path::new(value.trim_matches('\''));
        if name == "LIST" {
            files.push(path.to_owned());
        } else if let Ok(entries) = fs::read_dir(path) {
            let mut parts: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
            parts.retain(|part| {
                let extension = part.extension().and_then(|extension| extension.to_str());
                matches!(extension, Some("list" | "sources"))
            });
            parts.sort();
            files.extend(parts);
        }
    }
    files
}

impl Mirror {
    /// True where it is worth asking for `suite`: it names the suite, or it is a whole Debian
    /// archive, whose address ends in `debian` by custom. Archives of security updates hold
    /// nothing else.
    fn may_have(&self, suite: &str) -> bool {
        let main = self.components.iter().any(|component| component == "main");
        let named = self.suites.iter().any(|one| one == suite);
        let last = self.uri.trim_end_matches('/').rsplit('/').next();
        main && (named || matches!(last, Some("debian" | "debian.list")))
    }

    /// The source for one release and architecture, in the style of stanzas.
    pub(super) fn stanza(&self, origin: &DebOrigin) -> String {
        let signed_by = self.signed_by.as_ref();
        let signed_by = signed_by.map_or(String::new(), |keys| format!("Signed-By: {keys}\n"));
        format!(
            "Types: deb\nURIs: {}\nSuites: {}\nComponents: main\nArchitectures: {}\n{signed_by}",
            self.uri, origin.suite, origin.architecture
        )
    }
}

/// Reads the style of stanzas: fields with continuation lines, blank lines between stanzas.
fn from_stanzas(text: &str) -> Vec<Mirror> {
    let mut mirrors = Vec::new();
    let text: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    for stanza in text.split(|line| line.trim().is_empty()) {
        let field = |name: &str| {
            let at = stanza.iter().position(|line| {
                line.split_once(':')
                    .is_some_and(|(field, _)| field.eq_ignore_ascii_case(name))
            })?;
            let mut value = stanza[at].split_once(':')?.1.trim().to_owned();
            let more = stanza[at + 1..].iter();
            for line in more.take_while(|line| line.starts_with([' ', '\t'])) {
                value.push('\n');
                value.push_str(line);
            }
            Some(value)
        };
        let words = |name: &str| -> Vec<String> {
            let value = field(name).unwrap_or_default();
            value.split_whitespace().map(str::to_owned).collect()
        };
        let disabled = field("Enabled").is_some_and(|value| value.eq_ignore_ascii_case("no"));
        if disabled || !words("Types").iter().any(|kind| kind == "deb") {
            continue;
        }
        mirrors.extend(words("URIs").into_iter().map(|uri| Mirror {
            uri,
            signed_by: field("Signed-By"),
            suites: words("Suites"),
            components: words("Components"),
        }));
    }
    mirrors
}

/// Reads a line in the style of lines: `deb [options] uri suite component...`.
fn from_line(line: &str) -> Option<Mirror> {
    let line = line.split('#').next()?.trim();
    let mut rest = line
        .strip_prefix("deb")?
        .strip_prefix([' ', '\t'])?
        .trim_start();
    let mut signed_by = None;
    if let Some(bracket) = rest.strip_prefix('[') {
        let (options, after) = bracket.split_once(']')?;
        signed_by = options
            .split_whitespace()
            .find_map(|option| option.strip_prefix("signed-by="))
            .map(|keys| keys.replace(',', " "));
        rest = after;
    }
    let mut words = rest.split_whitespace().map(str::to_owned);
    Some(Mirror {
        uri: words.next()?,
        signed_by,
        suites: vec![words.next()?],
        components: words.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STANZAS: &str = "\
# A comment.
Types: deb deb-src
URIs: https://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /keys/debian.gpg

Types: deb
URIs: https://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 key

Enabled: no
Types: deb
URIs: https://other.example/debian
Suites: sid
Components: main
";

    const LINES: &str = "\
deb [arch=amd64 signed-by=/keys/a.gpg,/keys/b.gpg] https://mirror.example/debian/ sid main
deb-src https://mirror.example/debian/ sid main
# deb https://commented.example/debian sid main
deb https://tool.example/apt stable tool
deb https://flat.example/debian ./
";

    fn places(sources: &str, lines: &str) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let parts = folder.path().join("parts");
        fs::create_dir(&parts).unwrap();
        fs::write(parts.join("x.sources"), sources).unwrap();
        fs::write(parts.join("y.disabled"), STANZAS).unwrap();
        let list = folder.path().join("sources.list");
        fs::write(&list, lines).unwrap();
        let text = format!("LIST='{}'\nPARTS='{}/'\n", list.display(), parts.display());
        (folder, text)
    }

    #[test]
    fn whole_archives_are_found_in_both_styles() {
        let (_folder, text) = places(STANZAS, LINES);
        let uris = |suite| -> Vec<String> {
            let mirrors = mirrors(&text, suite).into_iter();
            mirrors.map(|mirror| mirror.uri).collect()
        };
        let (list, parts) = (
            "https://mirror.example/debian/",
            "https://mirror.example/debian",
        );
        assert_eq!(uris("sid"), [list, parts]);
        assert_eq!(uris("bookworm"), [parts, list]);
        assert_eq!(
            uris("bookworm-security")[0],
            "https://mirror.example/debian-security"
        );
    }

    #[test]
    fn keys_are_carried_over() {
        let (_folder, text) = places(STANZAS, LINES);
        let origin = DebOrigin {
            suite: "sid".into(),
            architecture: "i386".into(),
            packages: vec![],
            dependencies: crate::build::catalogue::Dependencies::None,
            without: vec![],
        };
        let sid = mirrors(&text, "sid");
        assert_eq!(
            sid[0].stanza(&origin),
            "Types: deb\nURIs: https://mirror.example/debian/\nSuites: sid\nComponents: main\n\
             Architectures: i386\nSigned-By: /keys/a.gpg /keys/b.gpg\n"
        );
        let security = mirrors(&text, "bookworm-security");
        let block = "Signed-By: \n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n key\n";
        assert!(security[0].stanza(&origin).ends_with(block));
    }

    #[test]
    fn a_machine_without_debian_sources_has_none() {
        let (_folder, text) = places("", "deb https://archive.example/ubuntu noble main\n");
        assert!(mirrors(&text, "bookworm").is_empty());
    }
}
