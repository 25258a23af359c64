//! Leaves private texts out of a decoded snapshot.

use foldhash::fast::RandomState;
use hashbrown::HashMap;
use history::python_path::{below_packages, from_standard_library};
use history::recorder::{CROP_KEY, Token, Tokens, ValueTree, parse_recorder};
use history::snapshot::Snapshot;
use history::snapshot::rewrite::{Replacement, TextUse};
use protocol::LeaveOut;

/// Packages whose names are public. Paths below `site-packages` are kept for these, so that internal frames are still
/// recognized.
const PUBLIC_PACKAGES: [&str; 24] = [
    "accelerate",
    "apex",
    "bitsandbytes",
    "deepspeed",
    "diffusers",
    "flash_attn",
    "lightning",
    "megatron",
    "memscape",
    "numpy",
    "peft",
    "pytorch_lightning",
    "ray",
    "sglang",
    "timm",
    "torch",
    "torchaudio",
    "torchtitan",
    "torchvision",
    "transformer_engine",
    "transformers",
    "triton",
    "trl",
    "vllm",
];

/// Beginnings of annotations that PyTorch writes, which insights recognize.
const PUBLIC_ANNOTATIONS: [&str; 9] = [
    "ProfilerStep#",
    "Optimizer.",
    "## forward",
    "## backward",
    "## optimizer",
    "## Call",
    "FSDP::",
    "DistributedDataParallel.",
    "Torch-Compiled Region",
];

/// Fields of the recorder's key that numbers and views depend on. They contain no text of the program.
const KEPT_FIELDS: [&[u8]; 14] = [
    b"schema",
    b"version",
    b"reason",
    b"time_us",
    b"step",
    b"torch",
    b"rank",
    b"local_rank",
    b"world",
    b"oom",
    b"total_memory",
    b"devices",
    b"steps",
    b"tensors",
];

/// Reasons for saving that the recorder gives. Others are texts of the program.
const PUBLIC_REASONS: [&[u8]; 8] = [b"step", b"peak", b"growth", b"oom", b"signal", b"error", b"exit", b"manual"];

/// Fields of a tensor that are kept without its name.
const KEPT_TENSOR_FIELDS: [&[u8]; 7] = [b"addr", b"bytes", b"device", b"kind", b"shape", b"dtype", b"offset"];

/// Removes the texts of these kinds from a snapshot. Call this before its events are replayed.
pub(crate) fn leave_out(snapshot: &mut Snapshot, what: LeaveOut) {
    let mut names: HashMap<Vec<u8>, usize, RandomState> = HashMap::default();
    snapshot.rewrite_texts(&mut |usage, text| match usage {
        TextUse::File if what.paths => Replacement::Text(public_path(text)),
        TextUse::FxKey | TextUse::FxValue if what.paths || what.source => Replacement::Removed,
        TextUse::Traceback if what.paths || what.source => Replacement::Text(traceback_line(text, what)),
        TextUse::Annotation if what.annotations && !is_public_annotation(text) => {
            let number = names.len() + 1;
            let number = *names.entry(text.to_vec()).or_insert(number);
            Replacement::Text(format!("annotation {number}").into_bytes())
        }
        TextUse::UserMetadata if what.metadata => Replacement::Removed,
        _ => Replacement::Unchanged,
    });
    snapshot.recorder = parse_recorder(without_private(&snapshot.recorder.tree, what));
}

fn is_public_annotation(name: &[u8]) -> bool {
    PUBLIC_ANNOTATIONS.iter().any(|public| name.starts_with(public.as_bytes()))
}

/// Returns a path whose private folders are replaced by a hash: the path from `lib/python3` or `site-packages` on for
/// Python and public packages, else the hash of the folders and the file name.
fn public_path(path: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(path).replace('\\', "/");
    if let Some(package) = below_packages(&text) {
        let name = package.split(['/', '.']).next().unwrap_or_default();
        if PUBLIC_PACKAGES.contains(&name) {
            return ["/site-packages/", package].concat().into_bytes();
        }
    } else if let Some(rest) = from_standard_library(&text) {
        return rest.as_bytes().to_vec();
    }
    match text.rsplit_once('/') {
        Some((folder, file)) => format!("{}/{file}", folder_hash(folder)).into_bytes(),
        None => text.into_bytes(),
    }
}

/// Returns 8 hexadecimal digits that are equal for equal folders, so that two snapshots of a program still match.
fn folder_hash(folder: &str) -> String {
    blake3::hash(folder.as_bytes()).to_hex().chars().take(8).collect()
}

/// Rewrites a line of a traceback: `File "PATH", line N, in FUNCTION`, or a line of source code.
fn traceback_line(line: &[u8], what: LeaveOut) -> Vec<u8> {
    let text = String::from_utf8_lossy(line);
    // An entry may hold the line and its source code.
    let (place, source) = text.split_once('\n').unwrap_or((&text, ""));
    let source = if what.source || source.is_empty() { String::new() } else { ["\n", source].concat() };
    let Some((before, rest)) = place.split_once("File \"") else {
        return if what.source { Vec::new() } else { line.to_vec() };
    };
    let Some((path, after)) = rest.split_once('"') else { return Vec::new() };
    let path =
        if what.paths { String::from_utf8_lossy(&public_path(path.as_bytes())).into_owned() } else { path.to_owned() };
    [before, "File \"", &path, "\"", after, &source].concat().into_bytes()
}

/// Copies the recorder's values without the private ones, and adds the list `left_out`, which says what is missing.
fn without_private(tree: &ValueTree, what: LeaveOut) -> ValueTree {
    let (mut kept, mut tokens) = (ValueTree::default(), tree.tokens(0));
    kept.put(Token::Dict);
    kept.put(Token::Text(b"memscape"));
    kept.put(Token::Dict);
    kept.put(Token::Text(b"left_out"));
    kept.put(Token::List);
    what.names().for_each(|name| kept.put(Token::Text(name.as_bytes())));
    kept.put(Token::End);
    let mut others = ValueTree::default();
    if tokens.next() == Some(Token::Dict) {
        while let Some((key, value)) = tokens.next_pair() {
            match (key, value) {
                (b"memscape", Token::Dict) => {
                    while let Some((key, value)) = tokens.next_pair() {
                        copy_field(&mut kept, key, value, &mut tokens, what);
                    }
                }
                (b"source_code", _) if what.source || what.paths => tokens.skip_value(value),
                // The marker of a crop names the original file.
                (key, Token::Dict) if key == CROP_KEY.as_bytes() && what.paths => {
                    others.put(Token::Text(key));
                    copy_entries(&mut others, &mut tokens, |key| key != b"source");
                }
                (key, value) => {
                    others.put(Token::Text(key));
                    copy_value(&mut others, value, &mut tokens);
                }
            }
        }
    }
    kept.put(Token::End);
    kept.extend(others.bytes());
    kept.put(Token::End);
    kept
}

/// Copies one field of the key `memscape`, unless it is left out.
fn copy_field(kept: &mut ValueTree, key: &[u8], value: Token<'_>, tokens: &mut Tokens<'_>, what: LeaveOut) {
    let is_left_out = key == b"left_out"
        || key == b"host" && what.host
        || key == b"source" && (what.source || what.paths)
        || what.recorder && !KEPT_FIELDS.contains(&key)
        || what.recorder
            && key == b"reason"
            && !matches!(value, Token::Text(reason) if PUBLIC_REASONS.contains(&reason));
    match value {
        _ if is_left_out => tokens.skip_value(value),
        Token::List if key == b"tensors" && what.metadata => {
            kept.put(Token::Text(key));
            kept.put(Token::List);
            while let Some(item) = tokens.next_item() {
                match item {
                    Token::Dict => copy_entries(kept, tokens, |key| KEPT_TENSOR_FIELDS.contains(&key)),
                    other => copy_value(kept, other, tokens),
                }
            }
            kept.put(Token::End);
        }
        _ => {
            kept.put(Token::Text(key));
            copy_value(kept, value, tokens);
        }
    }
}

/// Copies the entries with these keys of a dict whose start was read.
fn copy_entries(kept: &mut ValueTree, tokens: &mut Tokens<'_>, is_kept: impl Fn(&[u8]) -> bool) {
    kept.put(Token::Dict);
    while let Some((key, value)) = tokens.next_pair() {
        if is_kept(key) {
            kept.put(Token::Text(key));
            copy_value(kept, value, tokens);
        } else {
            tokens.skip_value(value);
        }
    }
    kept.put(Token::End);
}

/// Copies a value whose first token was read.
fn copy_value(kept: &mut ValueTree, value: Token<'_>, tokens: &mut Tokens<'_>) {
    kept.put(value);
    let mut depth = u32::from(matches!(value, Token::List | Token::Dict));
    while depth > 0 {
        let Some(token) = tokens.next() else { return };
        match token {
            Token::List | Token::Dict => depth += 1,
            Token::End => depth -= 1,
            _ => {}
        }
        kept.put(token);
    }
}

#[cfg(test)]
#[path = "../../tests/units/intake/private.rs"]
mod tests;
