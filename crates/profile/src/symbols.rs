//! Functions of programs and libraries that have no symbols: their beginnings, from the tables for unwinding
//! stacks, which every 64-bit program has.

use gimli::{BaseAddresses, CieOrFde, EhFrame, NativeEndian, UnwindSection};
use object::{Object, ObjectSection};

/// Places of the functions of an object, by address in its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extents {
    /// Begin and end of each, in this order.
    places: Vec<(u64, u64)>,
}

impl Extents {
    /// Reads the section `.eh_frame` of a file; `None` if it has none that can be read, as programs for
    /// 32 bits that compilers before the year 2000 made.
    pub fn read(file: &[u8]) -> Option<Self> {
        let file = object::File::parse(file).ok()?;
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
        let extents = Extents::read(&program).unwrap();
        assert!(extents.places.len() > 100, "{}", extents.places.len());
        assert_eq!(Extents::read(b"#!/bin/sh"), None);
    }
}
