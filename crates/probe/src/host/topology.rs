//! Cores and packages of processors.

use crate::root::Root;

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
    let lowest = |names: [&str; 2]| {
        names.iter().find_map(|name| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/{name}");
            lowest_of(&root.read(path).ok()?)
        })
    };
    ProcessorPlace {
        cpu,
        core: lowest(["core_cpus_list", "thread_siblings_list"]).unwrap_or(cpu),
        package: lowest(["package_cpus_list", "core_siblings_list"]).unwrap_or(0),
    }
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
