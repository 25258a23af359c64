//! A made-up snapshot, for a worker to open while nobody has given it one: so that by then the browser has compiled, and optimised,
//! the code that opens snapshots and answers questions about them.
//!
//! It is what Python's pickler writes of a plain training loop on one device. Nothing in it is shown to anybody.

/// Allocations of a step: the first of each step stay, as the model's would, the others are freed in the same step.
const ALLOCATIONS: u32 = 24;
/// Of which so many stay, of the first step.
const KEPT: u32 = 6;
/// Bytes between one address and the next.
const APART: u64 = 4 << 20;
/// Where the one segment begins.
const START: u64 = 0x7f00_0000_0000;
/// So many steps are written at a time.
const STEPS_AT_ONCE: u32 = 8;

/// Frames inside each other, innermost first, of which every stack has a part; `line` tells those apart that have the same function.
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

/// The snapshot, some kilobytes at a time.
pub struct MadeUp {
    steps: u32,
    step: u32,
    now_us: u64,
    /// Texts that were written before, and where the memo has them.
    texts: Vec<(&'static str, u32)>,
    /// Frames that were written before, by number and line.
    frames: Vec<(usize, u32, u32)>,
    memo: u32,
    out: Vec<u8>,
}

impl MadeUp {
    /// One of so many steps; each has some seventy events.
    pub fn new(steps: u32) -> MadeUp {
        let (texts, frames, out) = Default::default();
        MadeUp { steps, step: 0, now_us: 1_700_000_000_000_000, texts, frames, memo: 0, out }
    }

    fn begin(&mut self) {
        self.out.extend_from_slice(&[0x80, 4]);
        self.open(b'}');
        self.text("segments");
        self.open(b']');
        let size = APART * u64::from(ALLOCATIONS + KEPT);
        let numbers = [
            ("device", 0),
            ("address", START),
            ("total_size", size),
            ("allocated_size", u64::from(KEPT) * APART),
            ("active_size", u64::from(KEPT) * APART),
            ("stream", 0),
        ];
        self.open(b'}');
        numbers.into_iter().for_each(|(key, number)| self.entry(key, number));
        self.text("segment_type");
        self.text("large");
        self.text("blocks");
        self.open(b']');
        for place in 0..=KEPT {
            let is_kept = place < KEPT;
            let blocks = if is_kept { 1 } else { ALLOCATIONS };
            self.open(b'}');
            self.entry("address", START + u64::from(place) * APART);
            self.entry("size", u64::from(blocks) * APART);
            self.entry("requested_size", if is_kept { requested(place) } else { 0 });
            self.text("state");
            self.text(if is_kept { "active_allocated" } else { "inactive" });
            self.close(b'u');
        }
        // Blocks, segment, segments.
        [b'e', b'u', b'e'].into_iter().for_each(|code| self.close(code));
        self.text("device_traces");
        self.open(b']');
        self.open(b']');
    }

    fn train(&mut self) {
        let places = || (0..ALLOCATIONS).filter(|place| *place >= KEPT);
        if self.step == 0 {
            (0..KEPT).for_each(|place| self.event("alloc", place));
        }
        for place in places() {
            self.event("alloc", place);
        }
        for place in places() {
            self.event("free_requested", place);
            self.event("free_completed", place);
        }
        self.step += 1;
    }

    fn event(&mut self, action: &'static str, place: u32) {
        self.now_us += 7;
        self.open(b'}');
        self.text("action");
        self.text(action);
        self.entry("addr", START + u64::from(place) * APART);
        self.entry("size", requested(place));
        self.entry("stream", 0);
        self.entry("time_us", self.now_us);
        self.text("frames");
        self.open(b']');
        for number in 0..FRAMES.len() {
            let is_in = match number {
                2 => place % 3 == 2,
                3..=5 => place % 3 != 2,
                _ => true,
            };
            if is_in {
                self.frame(number, if number == 5 { place } else { 0 });
            }
        }
        self.close(b'e');
        self.close(b'u');
    }

    fn frame(&mut self, number: usize, further: u32) {
        if let Some((.., slot)) = self.frames.iter().find(|(of, by, _)| (*of, *by) == (number, further)) {
            return self.again(*slot);
        }
        let Some((name, file, line)) = FRAMES.get(number) else { return };
        self.frames.push((number, further, self.memo));
        self.open(b'}');
        self.text("name");
        self.text(name);
        self.text("filename");
        self.text(file);
        self.entry("line", u64::from(line + further));
        self.close(b'u');
    }

    fn entry(&mut self, key: &'static str, number: u64) {
        self.text(key);
        let (code, length) = match number {
            0..0x100 => (&b"K"[..], 1),
            0x100..0x1_0000 => (&b"M"[..], 2),
            0x1_0000..0x8000_0000 => (&b"J"[..], 4),
            // Signed, of eight bytes: no number here needs the ninth.
            _ => (&[0x8a, 8][..], 8),
        };
        self.out.extend_from_slice(code);
        self.out.extend(number.to_le_bytes().iter().take(length));
    }

    /// A text: in full, or where the memo has it.
    fn text(&mut self, text: &'static str) {
        if let Some((_, slot)) = self.texts.iter().find(|(known, _)| *known == text) {
            return self.again(*slot);
        }
        self.texts.push((text, self.memo));
        self.out.extend_from_slice(&[0x8c, text.len() as u8]);
        self.out.extend_from_slice(text.as_bytes());
        self.memoize();
    }

    fn again(&mut self, slot: u32) {
        let [low, rest @ ..] = slot.to_le_bytes();
        self.out.extend_from_slice(if rest == [0; 3] { b"h" } else { b"j" });
        self.out.push(low);
        if rest != [0; 3] {
            self.out.extend_from_slice(&rest);
        }
    }

    /// Opens a dict or a list, and begins to fill it.
    fn open(&mut self, code: u8) {
        self.out.push(code);
        self.memoize();
        self.out.push(b'(');
    }

    fn close(&mut self, code: u8) {
        self.out.push(code);
    }

    fn memoize(&mut self) {
        self.out.push(0x94);
        self.memo += 1;
    }
}

/// Bytes of an allocation.
fn requested(place: u32) -> u64 {
    u64::from(place + 1) * 163_840 - 96
}

impl Iterator for MadeUp {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        if self.step >= self.steps {
            return None;
        }
        if self.step == 0 {
            self.begin();
        }
        for _ in 0..STEPS_AT_ONCE {
            self.train();
        }
        if self.step >= self.steps {
            // Trace, traces, all.
            [b'e', b'e', b'u', b'.'].into_iter().for_each(|code| self.close(code));
        }
        Some(std::mem::take(&mut self.out))
    }
}
