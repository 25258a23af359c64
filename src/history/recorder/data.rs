//! The tables of what a recorder adds.

use super::tree::{Token, Tree};

/// Keys at the top of a snapshot that are kept here.
pub const KEYS: [&str; 4] = ["memscape", "source_code", "shape_data", CROP];
/// A file with this key is a part of another.
pub const CROP: &str = "memscape_crop";

/// What was recorded beside events and segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    pub tree: Tree,
    /// Dotted key and text of all that is neither a tensor nor a step nor source: `rank`, `devices.0.name`.
    pub facts: Vec<(String, String)>,
    /// The tensors that were live at the end, by device and address.
    pub tensors: Vec<Tensor>,
    /// Steps: number, begin and end, in µs since 1970.
    pub steps: Vec<[i64; 3]>,
    /// Source files: where path and text stand.
    pub(super) sources: Vec<[u32; 2]>,
    /// Whether the snapshot is a part of another, which these facts are about.
    pub is_crop: bool,
}

/// A tensor, as it was when the snapshot was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub device: i64,
    /// Address and bytes of its storage.
    pub address: u64,
    /// See `address`.
    pub bytes: u64,
    /// Which it is in the list of the file; those of `shape_data` have no place.
    pub place: Option<u32>,
    /// Where its name, kind, dtype and shape stand; 0 where they are missing.
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) dtype: u32,
    pub(super) shape: u32,
}

/// Bytes by which the allocator rounds up: what an allocation may be larger than its tensor's storage where requested bytes are unknown.
const ROUNDING: u64 = 512;

impl Recorded {
    /// The text of a fact.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == key).map(|(_, text)| &**text)
    }

    /// The facts that are about the process, and what devices are called: at most some hundred.
    pub fn of_process(&self) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        for fact in &self.facts {
            let is_of_device = fact.0.starts_with("devices.") && !fact.0.ends_with(".name");
            if facts.len() < MOST_OF_PROCESS && !is_of_device {
                facts.push(fact.clone());
            }
        }
        facts
    }

    /// A fact about a device.
    #[inline(never)]
    pub fn of_device(&self, device: i64, key: &str) -> Option<&str> {
        let device = device.to_string();
        let of = self.facts.iter().find_map(|(known, text)| {
            known.strip_suffix(".device").filter(|known| known.starts_with("devices.") && *text == device)
        })?;
        self.fact(&[of, ".", key].concat())
    }

    /// The tensors in an allocation that is live at the end: those of its address that have its size.
    #[inline(never)]
    pub fn tensors_at(&self, device: i64, address: u64, requested: u64) -> &[Tensor] {
        let of = (device, address);
        let mut from = self.tensors.partition_point(|tensor| (tensor.device, tensor.address) < of);
        let fits = |at: usize| {
            let tensor = self.tensors.get(at).filter(|tensor| (tensor.device, tensor.address) == of)?;
            Some(requested.checked_sub(tensor.bytes).is_some_and(|more| more < ROUNDING))
        };
        while fits(from) == Some(false) {
            from += 1;
        }
        let mut to = from;
        while fits(to) == Some(true) {
            to += 1;
        }
        self.tensors.get(from..to).unwrap_or_default()
    }

    /// What a tensor is called: the path of its parameter.
    pub fn name(&self, tensor: &Tensor) -> String {
        self.text(tensor.name)
    }

    /// `parameter`, `gradient`, `optimizer_state:exp_avg`.
    pub fn kind(&self, tensor: &Tensor) -> String {
        self.text(tensor.kind)
    }

    /// The kind without what it is called within an optimizer.
    pub fn category(&self, tensor: &Tensor) -> &[u8] {
        self.tree.text(tensor.kind).split(|&byte| byte == b':').next().unwrap_or_default()
    }

    /// `bfloat16`.
    pub fn dtype(&self, tensor: &Tensor) -> String {
        self.text(tensor.dtype)
    }

    /// `[4096, 1024]`.
    pub fn shape(&self, tensor: &Tensor) -> String {
        let mut tokens = self.tree.tokens(tensor.shape);
        if tokens.next() != Some(Token::List) {
            return String::new();
        }
        let mut text = "[".to_owned();
        while let Some(Token::Int(length)) = tokens.item() {
            if text.len() > LONGEST {
                break;
            }
            if text.len() > 1 {
                text.push_str(", ");
            }
            text.push_str(&length.to_string());
        }
        text + "]"
    }

    fn text(&self, at: u32) -> String {
        clipped(self.tree.text(at))
    }

    /// The text of a source file; `None` where it was not recorded.
    pub fn source(&self, path: &[u8]) -> Option<&[u8]> {
        let found = self.sources.iter().find(|[known, _]| self.tree.text(*known) == path);
        found.map(|&[_, text]| self.tree.text(text))
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let facts: usize = self.facts.iter().map(|(key, text)| key.capacity() + text.capacity() + 48).sum();
        self.tree.heap_bytes() + facts + self.tensors.capacity() * size_of::<Tensor>()
    }
}

/// Facts about a process that are handed on: the recorder writes some thirty.
const MOST_OF_PROCESS: usize = 300;
/// Characters of a name, a kind, a shape.
const LONGEST: usize = 500;

/// The beginning of a text for people, on one line: a file's control characters could command a terminal.
pub(super) fn clipped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(4 * LONGEST)).unwrap_or_default());
    text.chars().take(LONGEST).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
