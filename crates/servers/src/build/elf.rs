//! The header of a program file: the processor that it is made for, and the
//! loader that it wants.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{
    EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, FileHeader32, FileHeader64,
    Machine,
};
use object::read::elf::{FileHeader, ProgramHeader};
use object::read::{FileKind, ReadCache, Result as ReadResult};

/// A program in the executable and linkable format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elf {
    /// The kind of processor.
    pub(crate) machine: Machine,
    /// The dynamic loader that it names; a static program names none.
    pub(crate) interpreter: Option<PathBuf>,
}

impl Elf {
    /// Reads the headers; `None` if the file is of another kind, such as a script.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let file = ReadCache::new(File::open(path)?);
        Ok(match FileKind::parse(&file) {
            Ok(FileKind::Elf32) => Self::parse::<FileHeader32<Endianness>>(&file).ok(),
            Ok(FileKind::Elf64) => Self::parse::<FileHeader64<Endianness>>(&file).ok(),
            _ => None,
        })
    }

    fn parse<H: FileHeader<Endian = Endianness>>(file: &ReadCache<File>) -> ReadResult<Self> {
        let header = H::parse(file)?;
        let endian = header.endian()?;
        // Programs that are damaged further on are known by their processors all the same.
        let segments = header.program_headers(endian, file).unwrap_or_default();
        let interpreter = segments
            .iter()
            .find_map(|segment| segment.interpreter(endian, file).ok().flatten());
        Ok(Self {
            machine: header.e_machine(endian),
            interpreter: interpreter.map(|path| OsStr::from_bytes(path).into()),
        })
    }

    /// True where a processor of the kind `arch`, as [`std::env::consts::ARCH`] calls it, runs it.
    pub(crate) fn runs_on(&self, arch: &str) -> bool {
        match arch {
            "x86_64" => matches!(self.machine, EM_X86_64 | EM_386),
            "aarch64" => self.machine == EM_AARCH64,
            // Unknown here: the attempt will tell.
            _ => true,
        }
    }

    /// The processor that it is made for, in words.
    pub(crate) fn processor(&self) -> String {
        let name = match self.machine {
            EM_X86_64 => "x86-64",
            EM_386 => "32-bit x86",
            EM_AARCH64 => "64-bit ARM",
            EM_ARM => "32-bit ARM",
            EM_RISCV => "RISC-V",
            EM_PPC64 => "64-bit POWER",
            EM_S390 => "IBM Z",
            other => return format!("a processor with the number {}", other.0),
        };
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Option<Elf> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        Elf::read(file.path()).unwrap()
    }

    /// A 64-bit header for a machine, with one program header that names a loader.
    fn program(machine: Machine) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..7].copy_from_slice(b"\x7fELF\x02\x01\x01");
        bytes[18..20].copy_from_slice(&machine.0.to_le_bytes());
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 1;
        bytes[64] = 3;
        bytes[72] = 64 + 56;
        bytes[96] = 8;
        bytes.extend_from_slice(b"/lib/ld\0");
        bytes
    }

    #[test]
    fn headers_tell_processor_and_loader() {
        let elf = of(&program(EM_X86_64)).unwrap();
        assert_eq!(elf.interpreter, Some("/lib/ld".into()));
        assert!(elf.runs_on("x86_64") && !elf.runs_on("aarch64"));
        let arm = of(&program(EM_AARCH64)).unwrap();
        assert!(arm.runs_on("aarch64") && !arm.runs_on("x86_64"));
        assert_eq!(arm.processor(), "64-bit ARM");
        assert_eq!(of(&program(EM_386)).unwrap().machine, EM_386);
    }

    #[test]
    fn the_other_end_first() {
        let mut bytes = program(Machine(0));
        bytes[5] = 2;
        bytes[18..20].copy_from_slice(&22u16.to_be_bytes());
        let elf = of(&bytes).unwrap();
        assert_eq!(elf.processor(), "IBM Z");
        assert!(!elf.runs_on("x86_64"));
    }

    #[test]
    fn other_files_and_damage() {
        assert_eq!(of(b""), None);
        assert_eq!(of(b"#!/bin/sh\n"), None);
        assert_eq!(of(&program(EM_X86_64)[..40]), None);
        let cut = of(&program(EM_X86_64)[..100]).unwrap();
        assert_eq!(cut.interpreter, None);
        let mut long = program(EM_X86_64);
        long[100] = 1;
        assert_eq!(of(&long).unwrap().interpreter, None);
    }

    #[test]
    fn this_very_program_runs_here() {
        let elf = Elf::read(&std::env::current_exe().unwrap())
            .unwrap()
            .unwrap();
        assert!(elf.runs_on(std::env::consts::ARCH));
    }
}
