//! Cores and packages of processors.

use std::collections::BTreeSet;

use crate::root::Root;

/// Files with the processors of a core, new and old.
const CORE: [&str; 2] = ["core_cpus_list", "thread_siblings_list"];

/// Files with the processors of a package, new and old.
const PACKAGE: [&str; 2] = ["package_cpus_list", "core_siblings_list"];

/// The place of a processor in the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessorPlace {
    /// Its number.
    pub cpu: u16,
    /// The lowest number of the processors of its core; its own where that is unknown.
    pub core: u16,
    /// The lowest number of the processors of its package; 0 where that is unknown.
    pub package: u16,
}

/// Reads the place of a processor. Source of the names: the kernel's documentation,
/// ABI/stable/sysfs-devices-system-cpu. Kernels before 5.3 have the second ones only.
pub fn processor_place(root: &Root, cpu: u16) -> ProcessorPlace {
    ProcessorPlace {
        cpu,
        core: lowest(root, cpu, CORE).unwrap_or(cpu),
        package: lowest(root, cpu, PACKAGE).unwrap_or(0),
    }
}

/// The same; `None` if core or package are unknown.
pub(super) fn known_place(root: &Root, cpu: u16) -> Option<ProcessorPlace> {
    Some(ProcessorPlace {
        cpu,
        core: lowest(root, cpu, CORE)?,
        package: lowest(root, cpu, PACKAGE)?,
    })
}

/// Number of different values of `part` among places; `None` if it does not fit.
pub(super) fn count(places: &[ProcessorPlace], part: fn(&ProcessorPlace) -> u16) -> Option<u32> {
    let different: BTreeSet<u16> = places.iter().map(part).collect();
    u32::try_from(different.len()).ok()
}

/// The lowest number in the first of these lists of a processor that is there.
fn lowest(root: &Root, cpu: u16, names: [&str; 2]) -> Option<u16> {
    names.iter().find_map(|name| {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        lowest_of(&root.read(path).ok()?)
    })
}

/// The lowest number of an ascending list such as `0-3,6`.
fn lowest_of(list: &str) -> Option<u16> {
    let digits = list.trim().split([',', '-']).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Machine;

    #[test]
    fn places_of_old_and_new_kernels() {
        let machine = Machine::new();
        let write = |file: &str, text: &str| {
            machine.write(&format!("sys/devices/system/cpu/{file}"), text);
        };
        write("cpu6/topology/core_cpus_list", "2,6\n");
        write("cpu6/topology/thread_siblings_list", "9\n");
        write("cpu6/topology/package_cpus_list", "0-3,4-7\n");
        write("cpu9/topology/thread_siblings_list", "8-9\n");
        write("cpu9/topology/core_siblings_list", "8-15\n");
        let place = |cpu| {
            let ProcessorPlace { core, package, .. } = processor_place(&machine.root(), cpu);
            (core, package)
        };
        assert_eq!(place(6), (2, 0));
        assert_eq!(place(9), (8, 8));
        assert_eq!(place(1), (1, 0));
    }
}
