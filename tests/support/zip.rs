//! Writes zip archives with the crate `zip`, and by hand for invalid or rare forms.

use flate2::{Compression, Crc, write::DeflateEncoder};
use std::io::{Cursor, Write};
use zip::write::{SimpleFileOptions, ZipWriter};

/// A member to write.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// 0 is stored and 8 is deflate. With any other method the bytes are stored as they are.
    pub(crate) method: u16,
    /// Unpacked length and checksum in the directory, if they should be wrong.
    pub(crate) length: Option<u32>,
    pub(crate) crc: Option<u32>,
    pub(crate) flags: u16,
}

pub(crate) fn member(name: &str, bytes: &[u8]) -> Member {
    Member { name: name.to_owned(), bytes: bytes.to_vec(), method: 8, length: None, crc: None, flags: 0 }
}

/// Writes a deflated archive with the crate `zip`.
pub(crate) fn zip_of(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Writes an archive by hand.
pub(crate) fn zip(members: &[Member]) -> Vec<u8> {
    let (mut file, directory) = members_and_directory(members, SizeWidth::Narrow);
    let offset = file.len() as u32;
    file.extend(&directory);
    file.extend(b"PK\x05\x06\0\0\0\0");
    file.extend([members.len() as u16; 2].map(u16::to_le_bytes).concat());
    file.extend([directory.len() as u32, offset].map(u32::to_le_bytes).concat());
    file.extend(b"\x07\0comment");
    file
}

/// Writes a zip64 archive, as for members of more than 4 GiB.
pub(crate) fn zip64(members: &[Member]) -> Vec<u8> {
    let (mut file, directory) = members_and_directory(members, SizeWidth::Wide);
    let offset = file.len() as u64;
    file.extend(&directory);
    let record = file.len() as u64;
    file.extend(b"PK\x06\x06\x2c\0\0\0\0\0\0\0\x2d\0\x2d\0\0\0\0\0\0\0\0\0");
    file.extend([members.len() as u64; 2].map(u64::to_le_bytes).concat());
    file.extend([directory.len() as u64, offset].map(u64::to_le_bytes).concat());
    file.extend(b"PK\x06\x07\0\0\0\0");
    file.extend(record.to_le_bytes());
    file.extend(b"\x01\0\0\0PK\x05\x06\0\0\0\0");
    file.extend([0xff; 12]);
    file.extend(b"\0\0");
    file
}

#[derive(Clone, Copy, PartialEq)]
enum SizeWidth {
    Narrow,
    Wide,
}

fn members_and_directory(members: &[Member], width: SizeWidth) -> (Vec<u8>, Vec<u8>) {
    let (mut file, mut directory) = (Vec::new(), Vec::new());
    for Member { name, bytes, method, length, crc, flags } in members {
        let packed = if *method == 8 { deflate(bytes) } else { bytes.clone() };
        let mut sum = Crc::new();
        sum.update(bytes);
        let crc = crc.unwrap_or(sum.sum());
        let length = length.unwrap_or(bytes.len() as u32);
        let offset = file.len() as u32;
        let wide: Vec<u8> =
            [length, packed.len() as u32, offset].iter().flat_map(|&it| u64::from(it).to_le_bytes()).collect();
        let extra =
            if width == SizeWidth::Wide { [b"\xfe\xca\x02\0ab\x01\0\x18\0", &wide[..]].concat() } else { Vec::new() };
        let number = |number: u32| if width == SizeWidth::Wide { [0xff; 4] } else { number.to_le_bytes() };
        let shared = |out: &mut Vec<u8>| {
            out.extend([45, *flags, *method, 0, 0].map(u16::to_le_bytes).concat());
            out.extend(crc.to_le_bytes());
            out.extend(number(packed.len() as u32));
            out.extend(number(length));
            out.extend([name.len() as u16, extra.len() as u16].map(u16::to_le_bytes).concat());
        };
        directory.extend(b"PK\x01\x02\x2d\0");
        shared(&mut directory);
        directory.extend([0; 10]);
        directory.extend(number(offset));
        file.extend(b"PK\x03\x04");
        shared(&mut file);
        for out in [&mut file, &mut directory] {
            out.extend(name.as_bytes());
            out.extend(&extra);
        }
        file.extend(&packed);
    }
    (file, directory)
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
