//! Mounted file systems: `/proc/self/mountinfo`.

use std::path::{Path, PathBuf};

use crate::root::{ProbeError, Root};

/// One line of proc(5), mountinfo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Major and minor number of the device, as `8:1`.
    pub(crate) device: String,
    /// The folder of the file system that is mounted; another one than `/` in containers.
    pub(crate) root: PathBuf,
    /// Mount point.
    pub(crate) point: PathBuf,
    /// Such as `ext4`.
    pub(crate) kind: String,
    /// Mounted source, such as `/dev/sda1`.
    pub(crate) source: String,
    /// Options of the file system, such as `rw,cpuacct`.
    pub(crate) options: String,
}

impl Mount {
    fn parse(line: &str) -> Option<Self> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(2);
        let mut right = right.split(' ');
        Some(Self {
            device: left.next()?.to_owned(),
            root: PathBuf::from(plain(left.next()?)),
            point: PathBuf::from(plain(left.next()?)),
            kind: right.next()?.to_owned(),
            source: plain(right.next()?),
            options: right.next()?.to_owned(),
        })
    }

    /// Returns `true` if an option is set.
    pub(crate) fn has_option(&self, option: &str) -> bool {
        self.options.split(',').any(|other| other == option)
    }
}

/// All mounts, in the kernel's order: a later one hides an earlier one at the same place.
pub(crate) fn mounts(root: &Root) -> Result<Vec<Mount>, ProbeError> {
    let text = root.read("proc/self/mountinfo")?;
    Ok(parse(&text))
}

pub(crate) fn parse(text: &str) -> Vec<Mount> {
    text.lines().filter_map(Mount::parse).collect()
}

/// The mount that holds a path without symbolic links.
pub(crate) fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    mounts
        .iter()
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.components().count())
}

/// A path of mountinfo with its escaped blanks and backslashes (`\040`) as they are.
fn plain(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .into_iter()
    .fold(text.to_owned(), |text, (escaped, plain)| {
        text.replace(escaped, plain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard
31 27 8:17 / /my\\040data rw - xfs /dev/sdb1 rw
32 31 0:29 /ci/job /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
40 27 8:18 / / rw - ext4 /dev/sdc rw
odd line
";

    #[test]
    fn the_innermost_and_last_mount_holds_a_path() {
        let mounts = parse(TEXT);
        assert_eq!(mounts.len(), 5);
        let device = |path: &str| holding(&mounts, Path::new(path)).unwrap().device.clone();
        assert_eq!(device("/my data/run/1"), "8:17");
        assert_eq!(device("/my database"), "8:18");
        assert_eq!(device("/proc/1"), "0:21");
    }

    #[test]
    fn options_are_whole_words() {
        let mounts = parse(TEXT);
        assert!(mounts[3].has_option("cpuacct"));
        assert!(!mounts[3].has_option("acct"));
        assert_eq!(mounts[3].root, Path::new("/ci/job"));
    }
}
