//! Tables of the data that recorders add to a snapshot.

use super::observed::Observed;
use super::tree::{Token, ValueTree};
use base::heap::HeapBytes;

/// Top-level keys of a snapshot under which recorders store data.
pub const RECORDER_KEYS: [&str; 4] = ["memscape", "source_code", "shape_data", CROP_KEY];
/// Key that marks a file as an excerpt of another snapshot.
pub const CROP_KEY: &str = "memscape_crop";

/// Data that recorders stored in addition to events and segments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecorderData {
    /// All values as they are in the file.
    pub tree: ValueTree,
    /// All values other than tensors, steps and sources, as pairs of dotted key (`rank`, `devices.0.name`) and text.
    pub facts: Vec<(String, String)>,
    /// Tensors that were live when the snapshot was saved, sorted by device and address.
    pub tensors: Vec<Tensor>,
    /// Training steps, each as step number, start and end. Times are in µs since 1970.
    pub steps: Vec<[i64; 3]>,
    /// Source files, each as two positions in the tree: path and text.
    pub(super) sources: Vec<[u32; 2]>,
    /// Holders of tensors, paused memory, and samples over time.
    pub observed: Observed,
    /// True if the snapshot is an excerpt of another snapshot. The facts then describe the original snapshot.
    pub is_crop: bool,
}

/// Tensor that was live when the snapshot was saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub device: i64,
    /// Address of the tensor's storage.
    pub address: u64,
    /// Size of the tensor's storage, in bytes.
    pub bytes: u64,
    /// Index in the file's list of tensors, or `None` for tensors from `shape_data`.
    pub index: Option<u32>,
    // Positions of the texts in the tree. 0 if missing.
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) dtype: u32,
    pub(super) shape: u32,
}

/// Granularity of the allocator in bytes. If the requested size is unknown, an allocation may be larger than its
/// tensor's storage by less than this.
const BLOCK_ROUNDING: u64 = 512;

impl RecorderData {
    /// Returns the value of the fact with this dotted key, as text.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.facts.iter().find(|(known, _)| known == key).map(|(_, text)| &**text)
    }

    /// Returns the facts about the process and the names of the devices, at most 300 in all.
    pub fn process_facts(&self) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        for fact in &self.facts {
            let is_of_device = fact.0.starts_with("devices.") && !fact.0.ends_with(".name");
            if facts.len() < MAX_PROCESS_FACTS && !is_of_device {
                facts.push(fact.clone());
            }
        }
        facts
    }

    /// Returns the value of a fact about the device with ordinal `device`, as text. `key` is relative to the device,
    /// such as `name`.
    pub fn device_fact(&self, device: i64, key: &str) -> Option<&str> {
        let device = device.to_string();
        let prefix = self.facts.iter().find_map(|(known, text)| {
            known.strip_suffix(".device").filter(|known| known.starts_with("devices.") && *text == device)
        })?;
        self.fact(&[prefix, ".", key].concat())
    }

    /// Returns the tensors in an allocation that is live at the end: all tensors at its address whose size fits
    /// `requested` bytes.
    pub fn tensors_at(&self, device: i64, address: u64, requested: u64) -> &[Tensor] {
        let key = (device, address);
        let mut from = self.tensors.partition_point(|tensor| (tensor.device, tensor.address) < key);
        let fits = |index: usize| {
            let tensor = self.tensors.get(index).filter(|tensor| (tensor.device, tensor.address) == key)?;
            Some(requested.checked_sub(tensor.bytes).is_some_and(|more| more < BLOCK_ROUNDING))
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

    /// Returns the name of a tensor, which is the path of its parameter.
    pub fn name(&self, tensor: &Tensor) -> String {
        self.text(tensor.name)
    }

    /// Returns the kind of a tensor, such as `parameter`, `gradient` or `optimizer_state:exp_avg`.
    pub fn kind(&self, tensor: &Tensor) -> String {
        self.text(tensor.kind)
    }

    /// Returns the kind of a tensor up to the first colon. For `optimizer_state:exp_avg`, this is `optimizer_state`.
    pub fn category(&self, tensor: &Tensor) -> &[u8] {
        self.tree.text(tensor.kind).split(|&byte| byte == b':').next().unwrap_or_default()
    }

    /// Returns the element type of a tensor, such as `bfloat16`.
    pub fn dtype(&self, tensor: &Tensor) -> String {
        self.text(tensor.dtype)
    }

    /// Returns the shape of a tensor, such as `[4096, 1024]`.
    pub fn shape(&self, tensor: &Tensor) -> String {
        let mut tokens = self.tree.tokens(tensor.shape);
        if tokens.next() != Some(Token::List) {
            return String::new();
        }
        let mut text = "[".to_owned();
        while let Some(Token::Int(length)) = tokens.next_item() {
            if text.len() > MAX_TEXT_CHARS {
                break;
            }
            if text.len() > 1 {
                text.push_str(", ");
            }
            text.push_str(&length.to_string());
        }
        text + "]"
    }

    fn text(&self, position: u32) -> String {
        clipped(self.tree.text(position))
    }

    /// Returns the text of a source file, if it was recorded.
    pub fn source(&self, path: &[u8]) -> Option<&[u8]> {
        let found = self.sources.iter().find(|[known, _]| self.tree.text(*known) == path);
        found.map(|&[_, text]| self.tree.text(text))
    }

    pub fn heap_bytes(&self) -> usize {
        let facts: usize = self.facts.iter().map(|(key, text)| key.capacity() + text.capacity() + 48).sum();
        let Observed { holders, paused, samples, .. } = &self.observed;
        let observed = holders.heap_bytes() + paused.heap_bytes() + samples.heap_bytes();
        self.tree.heap_bytes() + facts + self.tensors.heap_bytes() + observed
    }
}

/// Maximum number of facts about a process that are returned. memscape's recorder writes about thirty facts.
const MAX_PROCESS_FACTS: usize = 300;
/// Maximum length of a name, kind or shape, in characters.
const MAX_TEXT_CHARS: usize = 500;

/// Returns the first [`MAX_TEXT_CHARS`] characters of a text for display. Control characters are replaced, because a
/// terminal could interpret them.
pub(super) fn clipped(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes.get(..bytes.len().min(4 * MAX_TEXT_CHARS)).unwrap_or_default());
    text.chars().take(MAX_TEXT_CHARS).map(|letter| if letter.is_control() { '\u{fffd}' } else { letter }).collect()
}
