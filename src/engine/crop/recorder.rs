//! Writes the data that a recorder added to the file.

use super::range::Range;
use super::tables::TableWriter;
use history::recorder::{CROP_KEY, Token, Tokens};
use history::writing::ValueWriter;
use std::io;

/// Maximum nesting depth that is written. The pickle reader keeps fewer levels than this.
const MAX_DEPTH: u32 = 12;

/// Flag for each tensor in the file's list: true if it is written. `None` writes all tensors.
struct TensorFilter(Option<Vec<bool>>);

impl TensorFilter {
    fn contains(&self, index: usize) -> bool {
        self.0.as_ref().is_none_or(|wanted| wanted.get(index).copied().unwrap_or(false))
    }
}

impl TableWriter<'_> {
    /// Writes all data of the recorder.
    pub(super) fn write_recorder(&self, out: &mut dyn ValueWriter) -> io::Result<()> {
        self.write_recorder_keys(out, &TensorFilter(None))
    }

    /// Writes the recorder data that also applies to ranges. Only tensors that are live both after a range and at the
    /// end of the file are included.
    pub(super) fn write_recorder_for_ranges(&self, out: &mut dyn ValueWriter, ranges: &[Range<'_>]) -> io::Result<()> {
        let recorder = &self.file.snapshot.recorder;
        let count = recorder.tensors.iter().filter_map(|tensor| tensor.index).max().map_or(0, |index| index + 1);
        let mut wanted = vec![false; count as usize];
        for range in ranges.iter().filter(|_| !recorder.tensors.is_empty()) {
            let (history, allocations) = (range.history, &range.history.allocations);
            for id in history.end_allocations().filter(|&id| allocations.allocated_at(id).0 <= range.to) {
                if allocations.is_unexplained(id) {
                    continue;
                }
                let found = recorder.tensors_at(history.device, allocations.address(id), allocations.size(id));
                for index in found.iter().filter_map(|tensor| tensor.index) {
                    wanted.get_mut(index as usize).into_iter().for_each(|slot| *slot = true);
                }
            }
        }
        self.write_recorder_keys(out, &TensorFilter(Some(wanted)))
    }

    fn write_recorder_keys(&self, out: &mut dyn ValueWriter, wanted: &TensorFilter) -> io::Result<()> {
        let mut tokens = self.file.snapshot.recorder.tree.tokens(0);
        if tokens.next() != Some(Token::Dict) {
            return Ok(());
        }
        let is_whole = wanted.0.is_none();
        while let Some((key, token)) = tokens.next_pair() {
            match (key, token) {
                (b"memscape", Token::Dict) => {
                    out.text(key)?;
                    write_memscape_dict(out, &mut tokens, wanted)?;
                }
                // A crop has its own key of this name. Shapes by address are left out, because addresses may have been
                // reused.
                (key, token) if !is_whole && (key == CROP_KEY.as_bytes() || key == b"shape_data") => {
                    tokens.skip_value(token);
                }
                (key, token) => {
                    out.text(key)?;
                    write_value(out, token, &mut tokens, 0)?;
                }
            }
        }
        Ok(())
    }
}

fn write_memscape_dict(out: &mut dyn ValueWriter, tokens: &mut Tokens<'_>, wanted: &TensorFilter) -> io::Result<()> {
    out.dict()?;
    while let Some((key, token)) = tokens.next_pair() {
        if token == Token::None {
            continue;
        }
        out.text(key)?;
        if (key, token) != (b"tensors", Token::List) {
            write_value(out, token, tokens, 1)?;
            continue;
        }
        let mut list = out.list()?;
        let mut index = 0;
        while let Some(token) = tokens.next_item() {
            if wanted.contains(index) {
                out.item(&mut list)?;
                write_value(out, token, tokens, 2)?;
            } else {
                tokens.skip_value(token);
            }
            index += 1;
        }
        out.end_list(list)?;
    }
    out.end_dict()
}

fn write_value(out: &mut dyn ValueWriter, token: Token<'_>, tokens: &mut Tokens<'_>, depth: u32) -> io::Result<()> {
    match token {
        Token::List | Token::Dict if depth >= MAX_DEPTH => {
            tokens.skip_rest();
            out.text(b"")
        }
        Token::List => {
            let mut list = out.list()?;
            while let Some(token) = tokens.next_item() {
                out.item(&mut list)?;
                write_value(out, token, tokens, depth + 1)?;
            }
            out.end_list(list)
        }
        Token::Dict => {
            out.dict()?;
            // The writers do not support `None`, so such entries are left out.
            while let Some((key, token)) = tokens.next_pair() {
                if token == Token::None {
                    continue;
                }
                out.text(key)?;
                write_value(out, token, tokens, depth + 1)?;
            }
            out.end_dict()
        }
        Token::Bool(value) => out.bool(value),
        Token::Int(value) => out.int(value.into()),
        Token::Float(value) => out.float(value),
        Token::Text(text) => out.text(text),
        Token::None | Token::End => out.text(b""),
    }
}
