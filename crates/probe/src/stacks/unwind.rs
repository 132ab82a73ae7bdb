//! The programs and libraries in a server's memory, and unwinding by their tables.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use framehop::x86_64::{CacheX86_64, UnwindRegsX86_64, UnwinderX86_64};
use framehop::{ExplicitModuleSectionInfo, MayAllocateDuringUnwind, Module, Unwinder};
use object::elf::PF_X;
use object::{Object, ObjectSection, ObjectSegment, ReadCache, ReadRef, SegmentFlags};

use super::Frame;
use crate::root::Root;

/// Most frames of a stack.
const FRAMES_MOST: usize = 500;
/// The kernel's own library in every process.
const VDSO: &str = "[vdso]";

/// The memory of a server, as far as it holds code.
pub(super) struct Memory {
    unwinder: UnwinderX86_64<Vec<u8>, MayAllocateDuringUnwind>,
    cache: CacheX86_64<MayAllocateDuringUnwind>,
    /// In the order of their addresses.
    ranges: Vec<Mapped>,
    pub(super) objects: Vec<String>,
}

/// Code of a file in memory.
struct Mapped {
    range: Range<u64>,
    object: u32,
    /// What its addresses in memory are more than those in the file.
    bias: u64,
}

/// A line of `/proc/PID/maps`.
#[derive(Debug, PartialEq)]
struct Mapping<'a> {
    range: Range<u64>,
    is_code: bool,
    offset: u64,
    path: &'a str,
}

impl Memory {
    /// Reads which files are in the memory of a process, and their tables.
    pub(super) fn read(root: &Root, pid: u32) -> Self {
        let text = root.read(format!("proc/{pid}/maps")).unwrap_or_default();
        let mut memory = Self {
            unwinder: UnwinderX86_64::new(),
            cache: CacheX86_64::new(),
            ranges: Vec::new(),
            objects: Vec::new(),
        };
        let mappings: Vec<Mapping<'_>> = text.lines().filter_map(mapping).collect();
        for code in mappings.iter().filter(|mapping| mapping.is_code) {
            if code.path == VDSO {
                memory.add_vdso(root, code);
            } else if let Ok(file) = File::open(code.path) {
                memory.add(code, &ReadCache::new(file));
            }
        }
        memory.ranges.sort_by_key(|mapped| mapped.range.start);
        memory
    }

    /// All 64-bit processes have the same, and this one may read its own.
    fn add_vdso(&mut self, root: &Root, there: &Mapping<'_>) {
        let own = root.read("proc/self/maps").unwrap_or_default();
        let here = own.lines().filter_map(mapping).find(|it| it.path == VDSO);
        let bytes = here.and_then(|here| {
            let length = usize::try_from(here.range.end - here.range.start).ok()?;
            let mut bytes = vec![0; length];
            let mut memory = File::open("/proc/self/mem").ok()?;
            memory.seek(SeekFrom::Start(here.range.start)).ok()?;
            memory.read_exact(&mut bytes).ok()?;
            Some(bytes)
        });
        if let Some(bytes) = bytes {
            self.add(there, bytes.as_slice());
        }
    }

    /// Adds the code of a file. One that is none has places in memory only.
    fn add<'data>(&mut self, code: &Mapping<'_>, data: impl ReadRef<'data>) {
        let Ok(file) = object::File::parse(data) else {
            return;
        };
        // The segment of code that the mapping shows a part of. Its neighbours may have a part of its pages.
        let is_code =
            |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags & PF_X == PF_X);
        let mut segments = file.segments().filter(|it| is_code(it.flags()));
        let bias = segments.find_map(|segment| {
            let (offset, size) = segment.file_range();
            let shown = (offset & !0xfff)..offset.saturating_add(size);
            let first = segment.address().wrapping_sub(offset);
            let at = first.wrapping_add(code.offset);
            shown
                .contains(&code.offset)
                .then(|| code.range.start.wrapping_sub(at))
        });
        let Some(bias) = bias else {
            return;
        };
        let known = self.objects.iter().position(|path| path == code.path);
        let index = known.unwrap_or_else(|| {
            self.objects.push(code.path.to_owned());
            self.objects.len() - 1
        });
        self.ranges.push(Mapped {
            range: code.range.clone(),
            object: u32::try_from(index).unwrap_or(u32::MAX),
            bias,
        });
        let section = |name: &str| {
            let section = file.section_by_name(name)?;
            let data = section.uncompressed_data().ok()?.into_owned();
            Some((section.address()..section.address() + section.size(), data))
        };
        let (table, index) = (section(".eh_frame"), section(".eh_frame_hdr"));
        let sections = ExplicitModuleSectionInfo {
            text_svma: section(".text").map(|(range, _)| range),
            got_svma: section(".got").map(|(range, _)| range),
            eh_frame_svma: table.as_ref().map(|(range, _)| range.clone()),
            eh_frame: table.map(|(_, data)| data),
            eh_frame_hdr_svma: index.as_ref().map(|(range, _)| range.clone()),
            eh_frame_hdr: index.map(|(_, data)| data),
            ..ExplicitModuleSectionInfo::default()
        };
        let (path, range) = (code.path.to_owned(), code.range.clone());
        self.unwinder
            .add_module(Module::new(path, range, bias, sections));
    }

    /// The place of an address in memory.
    pub(super) fn frame(&self, address: u64) -> Frame {
        let after = self.ranges.partition_point(|it| it.range.start <= address);
        let mapped = self.ranges[..after].last();
        match mapped.filter(|mapped| mapped.range.contains(&address)) {
            Some(mapped) => Frame {
                object: Some(mapped.object),
                address: address.wrapping_sub(mapped.bias),
            },
            None => Frame {
                object: None,
                address,
            },
        }
    }

    /// Follows a stack from its registers and a copy of its top. Returns `true` if it was followed to its
    /// end.
    pub(super) fn unwind(
        &mut self,
        [bp, sp, ip]: [u64; 3],
        stack: &[u8],
        frames: &mut Vec<Frame>,
    ) -> bool {
        let mut read = |address: u64| {
            let at = address.checked_sub(sp).ok_or(())?;
            let at = usize::try_from(at).map_err(|_| ())?;
            let word = at.checked_add(8).and_then(|end| stack.get(at..end));
            let word: [u8; 8] = word.and_then(|it| it.try_into().ok()).ok_or(())?;
            Ok(u64::from_le_bytes(word))
        };
        let registers = UnwindRegsX86_64::new(ip, sp, bp);
        let mut found = Vec::new();
        let mut outer = self
            .unwinder
            .iter_frames(ip, registers, &mut self.cache, &mut read);
        let is_whole = loop {
            match outer.next() {
                Ok(Some(frame)) if found.len() < FRAMES_MOST => {
                    found.push(frame.address_for_lookup());
                }
                Ok(None) => break true,
                Ok(Some(_)) | Err(_) => break false,
            }
        };
        frames.extend(found.into_iter().map(|address| self.frame(address)));
        is_whole
    }
}

/// Reads a line such as `7f00-7f80 r-xp 00001000 08:01 42   /usr/lib/libc.so.6`, proc(5).
fn mapping(line: &str) -> Option<Mapping<'_>> {
    let number = |digits| u64::from_str_radix(digits, 16).ok();
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let rights = words.next()?;
    let offset = number(words.next()?)?;
    let path = words.nth(2)?.trim_start();
    // The kernel's name for a file that was replaced since.
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    Some(Mapping {
        range: number(start)?..number(end)?,
        is_code: rights.contains('x') && (path.starts_with('/') || path == VDSO),
        offset,
        path,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_maps() {
        let line = "55d0c0a00000-55d0c0b00000 r-xp 00042000 08:01 42                 /opt/my server/mysqld";
        let expected = Mapping {
            range: 0x55d0_c0a0_0000..0x55d0_c0b0_0000,
            is_code: true,
            offset: 0x42000,
            path: "/opt/my server/mysqld",
        };
        assert_eq!(mapping(line), Some(expected));
        let data = mapping("7f00-7f80 rw-p 00000000 00:00 0 ").unwrap();
        assert!(!data.is_code && data.path.is_empty());
        assert_eq!(mapping("nothing"), None);
    }
}
