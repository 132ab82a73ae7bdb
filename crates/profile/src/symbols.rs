//! Functions of programs and libraries: their names, and the beginnings of those that have no symbols, from the
//! tables for unwinding stacks, which every 64-bit program has.

use gimli::{BaseAddresses, CieOrFde, EhFrame, NativeEndian, UnwindSection};
use object::{Object, ObjectSection, ObjectSymbol, ReadRef, SymbolKind};

/// The beginning of the symbol of a function without one.
pub(crate) const START: &str = "+0x";

/// Places of the functions of an object, by address in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extents {
    /// Begin and end of each, in this order.
    places: Vec<(u64, u64)>,
}

impl Extents {
    /// Reads the section `.eh_frame` of a file; `None` if it has none that can be read, as programs for
    /// 32 bits that compilers before the year 2000 made.
    pub fn read<'data>(file: impl ReadRef<'data>) -> Option<Self> {
        Self::of_object(&object::File::parse(file).ok()?)
    }

    fn of_object<'data>(file: &object::File<'data, impl ReadRef<'data>>) -> Option<Self> {
        let section = file.section_by_name(".eh_frame")?;
        let mut frames = EhFrame::new(section.data().ok()?, NativeEndian);
        frames.set_address_size(if file.is_64() { 8 } else { 4 });
        let address = |name| file.section_by_name(name).map_or(0, |s| s.address());
        let bases = BaseAddresses::default()
            .set_eh_frame(section.address())
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut places = Vec::new();
        let mut entries = frames.entries(&bases);
        while let Ok(Some(entry)) = entries.next() {
            let CieOrFde::Fde(entry) = entry else {
                continue;
            };
            if let Ok(entry) = entry.parse(EhFrame::cie_from_offset) {
                let begin = entry.initial_address();
                places.push((begin, begin.saturating_add(entry.len())));
            }
        }
        places.sort_unstable();
        (!places.is_empty()).then_some(Self { places })
    }

    /// Begins and ends, in this order.
    #[cfg(test)]
    pub(crate) fn of(places: Vec<(u64, u64)>) -> Self {
        Self { places }
    }

    /// The beginning of the function that an address belongs to.
    pub(crate) fn start(&self, at: u64) -> Option<u64> {
        let after = self.places.partition_point(|(begin, _)| *begin <= at);
        let (begin, end) = self.places[..after].last()?;
        (at < *end).then_some(*begin)
    }
}

/// The functions of a program or library, by address in its file.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    /// Begin, end and symbol of each, by its begin.
    named: Vec<(u64, u64, String)>,
    extents: Extents,
    /// Hexadecimal digits that the linker gave to this build of the file.
    build_id: Option<String>,
}

impl Symbols {
    /// Reads the functions of a file; none where it is no program or library.
    pub fn read<'data>(file: impl ReadRef<'data>) -> Self {
        let Ok(file) = object::File::parse(file) else {
            return Self::default();
        };
        let build_id = file.build_id().ok().flatten();
        let mut symbols = Self {
            named: named(&file),
            extents: Extents::of_object(&file).unwrap_or_default(),
            build_id: build_id.map(hexadecimal),
        };
        symbols.named.sort();
        symbols
    }

    /// Adds the names that a file of debug symbols of the same build has.
    pub fn add_names<'data>(&mut self, debug_file: impl ReadRef<'data>) {
        if let Ok(file) = object::File::parse(debug_file) {
            self.named.extend(named(&file));
            self.named.sort();
        }
    }

    /// Hexadecimal digits that name this build of the file, if the linker gave any: the name of its file of
    /// debug symbols.
    pub fn build_id(&self) -> Option<&str> {
        self.build_id.as_deref()
    }

    /// The symbol of the function that an address belongs to; for one without, `+0x` and its start in
    /// hexadecimal digits; nothing where the start is unknown too.
    pub fn name(&self, at: u64) -> String {
        let after = self.named.partition_point(|(begin, ..)| *begin <= at);
        // Several names may begin in one place, and a label without a size may stand within a function.
        let before = self.named[..after].iter().rev().take(8);
        let around = before
            .into_iter()
            .find(|(_, end, _)| at < *end)
            .map(|(_, _, name)| name.clone());
        around.unwrap_or_else(|| {
            let start = self.extents.start(at);
            start.map_or_else(String::new, |start| format!("{START}{start:x}"))
        })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

fn named<'data>(file: &object::File<'data, impl ReadRef<'data>>) -> Vec<(u64, u64, String)> {
    let all = file.symbols().chain(file.dynamic_symbols());
    let functions = all.filter(|it| it.kind() == SymbolKind::Text && it.is_definition());
    functions
        .filter_map(|it| {
            let name = it.name().ok()?.to_owned();
            (it.size() > 0).then(|| (it.address(), it.address().saturating_add(it.size()), name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_belongs_to_the_function_around_it() {
        let extents = Extents::of(vec![(0x100, 0x180), (0x200, 0x210)]);
        for (at, start) in [
            (0xff, None),
            (0x100, Some(0x100)),
            (0x17f, Some(0x100)),
            (0x180, None),
            (0x20f, Some(0x200)),
            (0x210, None),
        ] {
            assert_eq!(extents.start(at), start, "{at:#x}");
        }
    }

    #[test]
    fn this_program_has_functions() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let extents = Extents::read(program.as_slice()).unwrap();
        assert!(extents.places.len() > 100, "{}", extents.places.len());
        assert_eq!(Extents::read(b"#!/bin/sh".as_slice()), None);
    }

    #[test]
    fn functions_have_their_symbols_or_their_starts() {
        let symbols = Symbols {
            named: vec![
                (0x100, 0x180, "f".to_owned()),
                (0x140, 0x140, "label".to_owned()),
            ],
            extents: Extents::of(vec![(0x100, 0x180), (0x200, 0x210)]),
            build_id: None,
        };
        for (at, name) in [(0x100, "f"), (0x17f, "f"), (0x204, "+0x200"), (0x300, "")] {
            assert_eq!(symbols.name(at), name, "{at:#x}");
        }
    }

    #[test]
    fn this_program_has_names() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let symbols = Symbols::read(program.as_slice());
        let is_main = |(_, _, name): &&(u64, u64, String)| name == "main";
        let (begin, ..) = symbols.named.iter().find(is_main).unwrap();
        assert_eq!(symbols.name(*begin), "main");
        assert_eq!(symbols.name(*begin + 1), "main");
        assert!(Symbols::read(b"#!/bin/sh".as_slice()).named.is_empty());
    }
}
