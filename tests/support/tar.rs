//! Writes tar archives.

/// Writes a tar archive. A name longer than 100 bytes is written in the given style.
pub(crate) fn tar(members: &[(&str, &[u8])], is_pax: bool) -> Vec<u8> {
    let mut file = Vec::new();
    let mut add = |name: &[u8], kind: u8, bytes: &[u8]| {
        let mut header = [0u8; 512];
        header[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[156] = kind;
        header[257..263].copy_from_slice(b"ustar\0");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
        file.extend_from_slice(&header);
        file.extend_from_slice(bytes);
        file.resize(file.len().next_multiple_of(512), 0);
    };
    for (name, bytes) in members {
        if name.len() > 100 {
            let record = format!(" path={name}\n");
            let length = record.len() + 3;
            let (kind, meta) = if is_pax { (b'x', format!("{length}{record}")) } else { (b'L', format!("{name}\0")) };
            add(b"meta", kind, meta.as_bytes());
        }
        add(name.as_bytes(), b'0', bytes);
    }
    file.resize(file.len() + 1024, 0);
    file
}
