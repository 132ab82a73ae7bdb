//! The header of a program file: the processor that it is made for, and the
//! loader that it wants.
//!
//! Layout: `elf(5)`, System V ABI chapter 4 and 5.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::read_up_to;

const MAGIC: [u8; 4] = *b"\x7fELF";
const CLASS_64: u8 = 2;
const LITTLE_ENDIAN: u8 = 1;
const PT_INTERP: u64 = 3;
/// Paths of loaders are short; a longer one is damage.
const INTERPRETER_MAX: u64 = 4096;

const EM_386: u16 = 3;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// A program in the executable and linkable format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Elf {
    machine: u16,
    /// The dynamic loader that it names; a static program names none.
    pub(crate) interpreter: Option<PathBuf>,
}

impl Elf {
    /// Reads the headers; `None` if the file is of another kind, such as a script.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Self>> {
        let mut file = File::open(path)?;
        let mut header = [0; 64];
        let length = read_up_to(&mut file, &mut header)?;
        if length < header.len() || header[..4] != MAGIC {
            return Ok(None);
        }
        let machine = u16::from_le_bytes([header[18], header[19]]);
        if header[5] != LITTLE_ENDIAN {
            // No processor that Prony runs on; the number is all that is needed for the message.
            return Ok(Some(Self {
                machine: machine.swap_bytes(),
                interpreter: None,
            }));
        }
        let interpreter = interpreter(&mut file, &header)?;
        Ok(Some(Self {
            machine,
            interpreter,
        }))
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

    /// True for a program for 32-bit x86.
    pub(crate) fn is_i386(&self) -> bool {
        self.machine == EM_386
    }

    /// True for a program for 64-bit x86.
    pub(crate) fn is_x86_64(&self) -> bool {
        self.machine == EM_X86_64
    }

    /// The processor that it is made for, in words.
    pub(crate) fn processor(&self) -> String {
        match self.machine {
            EM_X86_64 => "x86-64".to_owned(),
            EM_386 => "32-bit x86".to_owned(),
            EM_AARCH64 => "64-bit ARM".to_owned(),
            40 => "32-bit ARM".to_owned(),
            243 => "RISC-V".to_owned(),
            21 => "64-bit POWER".to_owned(),
            22 => "IBM Z".to_owned(),
            other => format!("a processor with the number {other}"),
        }
    }
}

/// Little-endian number of the bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Finds the program header of the interpreter and reads the path that it points at.
fn interpreter(file: &mut File, header: &[u8; 64]) -> io::Result<Option<PathBuf>> {
    let wide = header[4] == CLASS_64;
    let (table, entry_size, count) = if wide {
        (&header[32..40], &header[54..56], &header[56..58])
    } else {
        (&header[28..32], &header[42..44], &header[44..46])
    };
    let (table, entry_size, count) = (number(table), number(entry_size), number(count));
    let mut entry = [0; 56];
    let used = if wide { 56 } else { 32 };
    for index in 0..count {
        file.seek(SeekFrom::Start(
            table.saturating_add(index.saturating_mul(entry_size)),
        ))?;
        if read_up_to(file, &mut entry[..used])? < used {
            return Ok(None);
        }
        if number(&entry[..4]) != PT_INTERP {
            continue;
        }
        let (offset, size) = if wide {
            (number(&entry[8..16]), number(&entry[32..40]))
        } else {
            (number(&entry[4..8]), number(&entry[16..20]))
        };
        if size > INTERPRETER_MAX {
            return Ok(None);
        }
        file.seek(SeekFrom::Start(offset))?;
        let mut path = Vec::new();
        file.take(size).read_to_end(&mut path)?;
        let end = path.iter().position(|byte| *byte == 0);
        path.truncate(end.unwrap_or(path.len()));
        return Ok(Some(PathBuf::from(OsStr::from_bytes(&path))));
    }
    Ok(None)
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
    fn program(machine: u16) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
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
        assert!(elf.is_x86_64() && !arm.is_x86_64() && !arm.is_i386());
        assert!(arm.runs_on("aarch64") && !arm.runs_on("x86_64"));
        assert_eq!(arm.processor(), "64-bit ARM");
        assert!(of(&program(EM_386)).unwrap().is_i386());
    }

    #[test]
    fn the_other_end_first() {
        let mut bytes = program(0);
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
        assert_eq!(of(&program(62)[..40]), None);
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
