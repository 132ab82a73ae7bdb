//! Reading fields from the front of a packet. Integers are little-endian.
//!
//! Types: <https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_data_types.html>

use crate::WireError;

/// Remaining bytes of a packet, and its name for error messages.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    packet: &'static str,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(payload: &'a [u8], packet: &'static str) -> Self {
        Self {
            rest: payload,
            packet,
        }
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    const fn truncated(&self) -> WireError {
        WireError::Truncated {
            packet: self.packet,
        }
    }

    /// The error for a byte that can't stand here.
    pub(crate) const fn unexpected(&self, byte: u8) -> WireError {
        WireError::UnexpectedByte {
            packet: self.packet,
            byte,
        }
    }

    /// Fails unless every byte was read.
    pub(crate) const fn finish(&self) -> Result<(), WireError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(WireError::Overlong {
                packet: self.packet,
            })
        }
    }

    /// `string<EOF>`: everything that is left.
    pub(crate) const fn take_rest(&mut self) -> &'a [u8] {
        let rest = self.rest;
        self.rest = &[];
        rest
    }

    /// `string[n]`.
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let parts = self.rest.split_at_checked(count);
        let (taken, rest) = parts.ok_or(self.truncated())?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let parts = self.rest.split_first_chunk::<N>();
        let (taken, rest) = parts.ok_or(self.truncated())?;
        self.rest = rest;
        Ok(*taken)
    }

    /// `int<1>`.
    pub(crate) fn u8(&mut self) -> Result<u8, WireError> {
        self.take_array().map(u8::from_le_bytes)
    }

    /// `int<2>`.
    pub(crate) fn u16(&mut self) -> Result<u16, WireError> {
        self.take_array().map(u16::from_le_bytes)
    }

    /// `int<4>`.
    pub(crate) fn u32(&mut self) -> Result<u32, WireError> {
        self.take_array().map(u32::from_le_bytes)
    }

    /// `string<NUL>`, without its NUL.
    pub(crate) fn nul_terminated(&mut self) -> Result<&'a [u8], WireError> {
        let end = self.rest.iter().position(|byte| *byte == 0);
        let text = self.take(end.ok_or(self.truncated())?)?;
        self.take(1)?;
        Ok(text)
    }

    /// `int<lenenc>`.
    pub(crate) fn lenenc(&mut self) -> Result<u64, WireError> {
        match self.u8()? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.u16().map(u64::from),
            0xfd => {
                let [a, b, c] = self.take_array()?;
                Ok(u64::from(u32::from_le_bytes([a, b, c, 0])))
            }
            0xfe => self.take_array().map(u64::from_le_bytes),
            byte => Err(self.unexpected(byte)),
        }
    }

    /// `string<lenenc>`.
    pub(crate) fn lenenc_bytes(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.lenenc()?;
        // A length beyond the address space is beyond the packet too.
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    /// `string<lenenc>`, or 0xfb for SQL NULL.
    pub(crate) fn lenenc_bytes_or_null(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        if self.rest.first() == Some(&0xfb) {
            self.take(1)?;
            return Ok(None);
        }
        self.lenenc_bytes().map(Some)
    }
}

/// Appends an `int<lenenc>`.
pub(crate) fn put_lenenc(out: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A length-encoded integer reads back as written and leaves nothing.
        #[test]
        fn lenenc_round_trip(value in prop_oneof![0..0x200_u64, 0..0x200_0000_u64, any::<u64>()]) {
            let mut bytes = Vec::new();
            put_lenenc(&mut bytes, value);
            let mut cursor = Cursor::new(&bytes, "test");
            prop_assert_eq!(cursor.lenenc(), Ok(value));
            prop_assert_eq!(cursor.finish(), Ok(()));
            for end in 0..bytes.len() {
                prop_assert!(Cursor::new(&bytes[..end], "test").lenenc().is_err());
            }
        }
    }

    #[test]
    fn marker_bytes_are_no_integers() {
        for byte in [0xfb, 0xff] {
            assert_eq!(
                Cursor::new(&[byte], "test").lenenc(),
                Err(WireError::UnexpectedByte {
                    packet: "test",
                    byte
                })
            );
        }
    }
}
