//! A synthetic snapshot that a worker opens before the user has chosen a file. It makes the browser compile and
//! optimise the code that opens snapshots and answers queries.
//!
//! The bytes match what Python's pickler writes for a plain training loop on one device. The page never shows this
//! snapshot.

/// Number of allocation slots. The first [`PERSISTENT`] are allocated once and stay live, like a model's weights. The
/// others are allocated and freed in each step.
const ALLOCATIONS: u32 = 24;
/// Number of allocations that are made in the first step and never freed.
const PERSISTENT: u32 = 6;
/// Distance between the addresses of two allocation slots, in bytes.
const ADDRESS_STRIDE: u64 = 4 << 20;
/// Start address of the only segment.
const START: u64 = 0x7f00_0000_0000;
/// Number of training steps in each chunk.
const STEPS_AT_ONCE: u32 = 8;

/// Frames of all stacks, innermost first: function, file and line. Each stack contains some of these frames.
const FRAMES: [(&str, &str, u32); 8] = [
    ("c10::cuda::CUDACachingAllocator::malloc(unsigned long)", "??", 0),
    ("at::native::empty_cuda(c10::ArrayRef<long>)", "??", 0),
    ("_engine_run_backward", "/site-packages/torch/autograd/graph.py", 829),
    ("forward", "/site-packages/torch/nn/modules/linear.py", 125),
    ("_call_impl", "/site-packages/torch/nn/modules/module.py", 1762),
    ("forward", "model.py", 40),
    ("train_step", "train.py", 59),
    ("main", "train.py", 112),
];

/// Generates the synthetic snapshot in chunks of a few kilobytes.
pub struct SyntheticSnapshot {
    steps: u32,
    step: u32,
    now_us: u64,
    /// Strings that were already written, with their memo indices.
    texts: Vec<(&'static str, u32)>,
    /// Frames that were already written: index in [`FRAMES`], offset of the line number, and memo index.
    frames: Vec<(usize, u32, u32)>,
    memo: u32,
    out: Vec<u8>,
}

impl SyntheticSnapshot {
    /// Creates a snapshot of `steps` training steps with about 70 events each.
    pub fn new(steps: u32) -> SyntheticSnapshot {
        let (texts, frames, out) = Default::default();
        SyntheticSnapshot { steps, step: 0, now_us: 1_700_000_000_000_000, texts, frames, memo: 0, out }
    }

    fn write_header(&mut self) {
        self.out.extend_from_slice(&[0x80, 4]);
        self.open_container(b'}');
        self.text("segments");
        self.open_container(b']');
        let size = ADDRESS_STRIDE * u64::from(ALLOCATIONS + PERSISTENT);
        let numbers = [
            ("device", 0),
            ("address", START),
            ("total_size", size),
            ("allocated_size", u64::from(PERSISTENT) * ADDRESS_STRIDE),
            ("active_size", u64::from(PERSISTENT) * ADDRESS_STRIDE),
            ("stream", 0),
        ];
        self.open_container(b'}');
        numbers.into_iter().for_each(|(key, number)| self.entry(key, number));
        self.text("segment_type");
        self.text("large");
        self.text("blocks");
        self.open_container(b']');
        for slot in 0..=PERSISTENT {
            let is_kept = slot < PERSISTENT;
            let blocks = if is_kept { 1 } else { ALLOCATIONS };
            self.open_container(b'}');
            self.entry("address", START + u64::from(slot) * ADDRESS_STRIDE);
            self.entry("size", u64::from(blocks) * ADDRESS_STRIDE);
            self.entry("requested_size", if is_kept { requested(slot) } else { 0 });
            self.text("state");
            self.text(if is_kept { "active_allocated" } else { "inactive" });
            self.close_container(b'u');
        }
        // Close the blocks, the segment and the segments.
        [b'e', b'u', b'e'].into_iter().for_each(|code| self.close_container(code));
        self.text("device_traces");
        self.open_container(b']');
        self.open_container(b']');
    }

    fn write_step(&mut self) {
        let slots = || (0..ALLOCATIONS).filter(|slot| *slot >= PERSISTENT);
        if self.step == 0 {
            (0..PERSISTENT).for_each(|slot| self.event("alloc", slot));
        }
        for slot in slots() {
            self.event("alloc", slot);
        }
        for slot in slots() {
            self.event("free_requested", slot);
            self.event("free_completed", slot);
        }
        self.step += 1;
    }

    fn event(&mut self, action: &'static str, slot: u32) {
        self.now_us += 7;
        self.open_container(b'}');
        self.text("action");
        self.text(action);
        self.entry("addr", START + u64::from(slot) * ADDRESS_STRIDE);
        self.entry("size", requested(slot));
        self.entry("stream", 0);
        self.entry("time_us", self.now_us);
        self.text("frames");
        self.open_container(b']');
        for number in 0..FRAMES.len() {
            let is_in = match number {
                2 => slot % 3 == 2,
                3..=5 => slot % 3 != 2,
                _ => true,
            };
            if is_in {
                self.frame(number, if number == 5 { slot } else { 0 });
            }
        }
        self.close_container(b'e');
        self.close_container(b'u');
    }

    fn frame(&mut self, number: usize, line_offset: u32) {
        let key = (number, line_offset);
        if let Some((.., slot)) = self.frames.iter().find(|(frame, offset, _)| (*frame, *offset) == key) {
            return self.write_memo_get(*slot);
        }
        let Some((name, file, line)) = FRAMES.get(number) else { return };
        self.frames.push((number, line_offset, self.memo));
        self.open_container(b'}');
        self.text("name");
        self.text(name);
        self.text("filename");
        self.text(file);
        self.entry("line", u64::from(line + line_offset));
        self.close_container(b'u');
    }

    fn entry(&mut self, key: &'static str, number: u64) {
        self.text(key);
        let (code, length) = match number {
            0..0x100 => (&b"K"[..], 1),
            0x100..0x1_0000 => (&b"M"[..], 2),
            0x1_0000..0x8000_0000 => (&b"J"[..], 4),
            // `LONG1` with eight bytes, signed. No number here needs a ninth byte.
            _ => (&[0x8a, 8][..], 8),
        };
        self.out.extend_from_slice(code);
        self.out.extend(number.to_le_bytes().iter().take(length));
    }

    /// Writes a string. If it was written before, writes a memo reference instead.
    fn text(&mut self, text: &'static str) {
        if let Some((_, slot)) = self.texts.iter().find(|(known, _)| *known == text) {
            return self.write_memo_get(*slot);
        }
        self.texts.push((text, self.memo));
        self.out.extend_from_slice(&[0x8c, text.len() as u8]);
        self.out.extend_from_slice(text.as_bytes());
        self.memoize();
    }

    fn write_memo_get(&mut self, slot: u32) {
        let [low, rest @ ..] = slot.to_le_bytes();
        self.out.extend_from_slice(if rest == [0; 3] { b"h" } else { b"j" });
        self.out.push(low);
        if rest != [0; 3] {
            self.out.extend_from_slice(&rest);
        }
    }

    /// Writes the beginning of a dict or list, and of its items.
    fn open_container(&mut self, code: u8) {
        self.out.push(code);
        self.memoize();
        self.out.push(b'(');
    }

    fn close_container(&mut self, code: u8) {
        self.out.push(code);
    }

    fn memoize(&mut self) {
        self.out.push(0x94);
        self.memo += 1;
    }
}

/// Returns the requested bytes of the allocation in a slot.
fn requested(slot: u32) -> u64 {
    u64::from(slot + 1) * 163_840 - 96
}

impl Iterator for SyntheticSnapshot {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.step >= self.steps {
            return None;
        }
        if self.step == 0 {
            self.write_header();
        }
        for _ in 0..STEPS_AT_ONCE {
            self.write_step();
        }
        if self.step >= self.steps {
            // Close the trace, the list of traces and the snapshot.
            [b'e', b'e', b'u', b'.'].into_iter().for_each(|code| self.close_container(code));
        }
        Some(std::mem::take(&mut self.out))
    }
}
