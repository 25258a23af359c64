//! Replaces the texts of a decoded snapshot.

use super::contents::Snapshot;
use super::frames::{Frame, Frames};
use super::labels::{LabelTable, Labels};
use super::stacks::Stacks;
use super::strings::{StringId, Strings};
use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Use of a text in a snapshot. The same text can have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextUse {
    /// Function name of a frame.
    Function,
    /// File name of a frame.
    File,
    /// Key of an FX field of a frame.
    FxKey,
    /// Value of an FX field of a frame.
    FxValue,
    /// Line of the traceback of a forward op.
    Traceback,
    /// Name of an annotation.
    Annotation,
    /// Metadata that the user attached to an event.
    UserMetadata,
    /// Other label of an event: compiled region, PyTorch's own metadata, category of `torch.profiler`.
    OtherLabel,
}

/// Replacement of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replacement {
    Unchanged,
    Text(Vec<u8>),
    /// The field is removed. Equal to an empty text where a field is required.
    Removed,
}

impl Snapshot {
    /// Replaces every text by the result of `replace`, which is called once for each text and use. The tables of
    /// frames, labels and stacks keep their rows and ids. Texts that are no longer used are dropped.
    ///
    /// Call this before the events are replayed, because histories refer to the names of annotations.
    pub fn rewrite_texts(&mut self, replace: &mut dyn FnMut(TextUse, &[u8]) -> Replacement) {
        let mut texts = Texts {
            old: std::mem::take(&mut self.strings),
            new: Strings::default(),
            known: HashMap::default(),
            replace,
        };
        let frames = (0..self.frames.len() as u32).map(|id| {
            let frame = self.frames.frame(super::FrameId(id));
            let fx = frame.fx.iter().filter_map(|&(key, value)| {
                Some((texts.replaced(TextUse::FxKey, key)?, texts.replaced(TextUse::FxValue, value)?))
            });
            let fx = fx.collect();
            let name = texts.required(TextUse::Function, frame.name);
            Frame { name, filename: texts.required(TextUse::File, frame.filename), line: frame.line, fx }
        });
        self.frames = Frames::from_rows(frames.collect());
        let labels = self.labels.rows().iter().map(|row| {
            let mut other = |id: Option<StringId>| texts.replaced(TextUse::OtherLabel, id?);
            let (compile_context, internal_metadata) = (other(row.compile_context), other(row.internal_metadata));
            let category = other(row.category);
            let user_metadata = row.user_metadata.and_then(|id| texts.replaced(TextUse::UserMetadata, id));
            Labels { compile_context, internal_metadata, category, user_metadata, ..*row }
        });
        self.labels = LabelTable::from_rows(labels.collect());
        self.lines = Stacks::with_frames(&self.lines, |line| texts.required(TextUse::Traceback, StringId(line)).0);
        for mark in &mut self.marks {
            mark.name = texts.required(TextUse::Annotation, mark.name);
        }
        for step in &mut self.steps {
            step.name = texts.required(TextUse::Annotation, step.name);
        }
        self.strings = texts.new;
    }
}

struct Texts<'a> {
    old: Strings,
    new: Strings,
    known: HashMap<(TextUse, StringId), Option<StringId>, RandomState>,
    replace: &'a mut dyn FnMut(TextUse, &[u8]) -> Replacement,
}

impl Texts<'_> {
    /// Returns the id of the new text, or `None` if it is removed.
    fn replaced(&mut self, usage: TextUse, id: StringId) -> Option<StringId> {
        let Texts { old, new, known, replace } = self;
        *known.entry((usage, id)).or_insert_with(|| match replace(usage, old.bytes(id)) {
            Replacement::Unchanged => new.intern(old.bytes(id)),
            Replacement::Text(text) => new.intern(&text),
            Replacement::Removed => None,
        })
    }

    fn required(&mut self, usage: TextUse, id: StringId) -> StringId {
        self.replaced(usage, id).or_else(|| self.new.intern(b"")).unwrap_or(StringId(0))
    }
}
