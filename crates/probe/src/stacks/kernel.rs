//! Names of the kernel's functions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::root::Root;

/// First address of the kernel's half of the address space. Values above [`MARKS`] are no addresses.
const FIRST: u64 = 0xffff_8000_0000_0000;
/// Values from here on tell which part of a chain of callers follows (`PERF_CONTEXT_MAX`).
const MARKS: u64 = 0xffff_ffff_ffff_f001;
/// The name of whatever else brought a thread into the kernel.
const OTHER: &str = "other";

/// The kernel's functions.
pub(super) struct KernelNames {
    /// Address and name, in this order. Empty where the kernel keeps them secret.
    symbols: Vec<(u64, String)>,
    entries: HashMap<u64, Option<(Entry, Arc<str>)>>,
    other: Arc<str>,
}

/// The way into the kernel that a function tells of, the more telling ones first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Entry {
    /// A system call or an interruption.
    Named,
    /// The end of either, where another thread may get the processor.
    Leaving,
    /// Some system call.
    Call,
}

impl KernelNames {
    /// Reads `/proc/kallsyms`.
    pub(super) fn read(root: &Root) -> Self {
        let text = root.read("proc/kallsyms").unwrap_or_default();
        let mut symbols: Vec<(u64, String)> = text.lines().filter_map(symbol).collect();
        symbols.sort();
        Self {
            symbols,
            entries: HashMap::new(),
            other: OTHER.into(),
        }
    }

    /// The entry of the kernel that a chain of its functions, the innermost first, came by: the outermost
    /// that is a system call or an interruption, else what its functions tell. `None` for a chain without functions
    /// of the kernel.
    pub(super) fn entry(&mut self, chain: &[u64]) -> Option<Arc<str>> {
        let mut of_kernel = chain.iter().filter(|ip| (FIRST..MARKS).contains(*ip));
        let mut best: Option<(Entry, Arc<str>)> = None;
        of_kernel.clone().next()?;
        while let Some(ip) = of_kernel.next_back() {
            let symbols = &self.symbols;
            let found = self.entries.entry(*ip).or_insert_with(|| {
                let after = symbols.partition_point(|(address, _)| address <= ip);
                let (_, name) = symbols[..after].last()?;
                entry_name(name).map(|(entry, name)| (entry, Arc::from(name)))
            });
            if let Some((entry, name)) = found
                && best.as_ref().is_none_or(|(best, _)| *entry < *best)
            {
                best = Some((*entry, Arc::clone(name)));
            }
        }
        let best = best.map(|(_, name)| name);
        Some(best.unwrap_or_else(|| Arc::clone(&self.other)))
    }
}

fn symbol(line: &str) -> Option<(u64, String)> {
    let mut words = line.split_ascii_whitespace();
    let address = u64::from_str_radix(words.next()?, 16).ok()?;
    let is_code = words.next().is_some_and(|kind| "tTwW".contains(kind));
    (is_code && address >= FIRST).then(|| Some((address, words.next()?.to_owned())))?
}

/// The name of a system call, as in section 2 of the manual, or of an interruption, or what else a function tells;
/// `None` for other functions.
fn entry_name(symbol: &str) -> Option<(Entry, &str)> {
    let named = [
        "__x64_sys_",
        "__ia32_sys_",
        "__ia32_compat_sys_",
        "asm_exc_",
        "asm_sysvec_",
        "asm_",
    ];
    if let Some(name) = named.iter().find_map(|it| symbol.strip_prefix(it)) {
        return Some((Entry::Named, name));
    }
    match symbol {
        "ret_from_fork_asm" => Some((Entry::Named, "clone")),
        "exit_to_user_mode_loop" => Some((Entry::Leaving, "rescheduling")),
        "do_syscall_64" => Some((Entry::Call, "system call entry")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_entry_names_a_chain() {
        let names = [
            ("0", "__futex_wait"),
            ("1", "__x64_sys_futex"),
            ("2", "do_syscall_64"),
            ("3", "asm_sysvec_apic_timer_interrupt"),
            ("4", "finish_task_switch"),
            ("5", "exit_to_user_mode_loop"),
        ];
        let lines: Vec<String> = names
            .iter()
            .map(|(digit, name)| format!("ffffffff8100{digit}000 t {name}\n"))
            .collect();
        let text = lines.concat();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("proc")).unwrap();
        std::fs::write(folder.path().join("proc/kallsyms"), text).unwrap();
        let mut names = KernelNames::read(&Root::recorded(folder.path()));
        let at = |digit: u64| 0xffff_ffff_8100_0010 + (digit << 12);
        let mut entry = |chain: &[u64]| names.entry(chain).map(|name| name.to_string());
        assert_eq!(entry(&[at(0), at(1), at(2)]).as_deref(), Some("futex"));
        // An interruption of a system call is a part of it.
        let both = [at(4), at(3), at(0), at(1), at(2)];
        assert_eq!(entry(&both).as_deref(), Some("futex"));
        let interruption = entry(&[at(4), at(3), MARKS + 5]);
        assert_eq!(interruption.as_deref(), Some("apic_timer_interrupt"));
        let leaving = entry(&[at(4), at(5), at(2)]);
        assert_eq!(leaving.as_deref(), Some("rescheduling"));
        assert_eq!(entry(&[at(2)]).as_deref(), Some("system call entry"));
        assert_eq!(entry(&[at(4)]).as_deref(), Some(OTHER));
        assert_eq!(entry(&[MARKS + 5, 0x5555_5555_1234]), None);
        assert_eq!(entry(&[]), None);
    }
}
