//! Metadata that a user attached to allocations with `torch.cuda.memory._set_memory_metadata`. Parses its JSON object
//! into keys and texts, and finds the category in a name.
//!
//! ```text
//! {"pool": "kv cache", "name": "layer 3", "step": 7}      (pool, kv cache) (name, layer 3) (step, 7)
//! cut_cross_entropy::linear.gradient                      the category gradient
//! ```

/// Maximum number of entries. Larger objects are treated as data rather than labels.
const MAX_ENTRIES: usize = 64;

/// Maximum number of characters of metadata that is shown in a list.
const MAX_SHORT: usize = 200;

/// Returns the first 200 characters of metadata on one line. Control characters are replaced by spaces.
pub fn short(text: &str) -> String {
    let is_long = text.chars().nth(MAX_SHORT).is_some();
    let letters = text.chars().take(MAX_SHORT).map(|letter| if letter.is_control() { ' ' } else { letter });
    letters.chain(is_long.then_some('…')).collect()
}

/// Returns the keys and values of a JSON object, or `None` if the text is not a JSON object. Values other than strings
/// are returned as JSON text.
pub fn entries(text: &str) -> Option<Vec<(String, String)>> {
    let mut rest = text.trim().strip_prefix('{')?.trim_start();
    let mut entries = Vec::new();
    if let Some(end) = rest.strip_prefix('}') {
        return end.is_empty().then_some(entries);
    }
    loop {
        let (key, after) = string(rest)?;
        let (value, after) = value(after.trim_start().strip_prefix(':')?.trim_start())?;
        entries.push((key, value));
        rest = after.trim_start();
        match rest.strip_prefix(',') {
            Some(next) if entries.len() < MAX_ENTRIES => rest = next.trim_start(),
            Some(_) => return None,
            None => return rest.strip_prefix('}')?.is_empty().then_some(entries),
        }
    }
}

/// Returns the value of a key in a JSON object. Values other than strings are returned as JSON text.
pub fn value_of(text: &str, key: &str) -> Option<String> {
    // A quick check first, because most texts do not contain the key.
    let may_have = text.contains(key);
    let entries = may_have.then(|| entries(text)).flatten()?;
    entries.into_iter().rev().find(|(known, value)| known == key && !value.is_empty()).map(|(_, value)| value)
}

/// Returns the category in the suffix of a name, in torch.profiler's terms: `gradient` for
/// `cut_cross_entropy::linear.gradient`.
pub fn category(name: &str) -> Option<&'static str> {
    let role = name.rsplit(['.', ':', '/']).next()?.trim();
    Some(match role.to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "parameter" | "parameters" | "param" | "weight" => "parameter",
        "gradient" | "gradients" | "grad" => "gradient",
        "optimizer_state" | "optimizer" => "optimizer_state",
        "activation" | "activations" => "activation",
        "temporary" | "temp" | "workspace" | "scratch" => "temporary",
        "input" | "inputs" => "input",
        _ => return None,
    })
}

/// Parses a JSON string at the start of a text. Returns the decoded string and the remaining text.
fn string(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut read = String::new();
    let mut letters = body.char_indices();
    loop {
        match letters.next()? {
            (end, '"') => return Some((read, body.get(end + 1..)?)),
            (_, '\\') => read.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                'b' | 'f' => ' ',
                'u' => {
                    let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                    // Surrogate pairs are rare in names and not decoded.
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?).unwrap_or('\u{fffd}')
                }
                plain => plain,
            }),
            (_, letter) => read.push(letter),
        }
    }
}

/// Parses a JSON value at the start of a text. Returns the value as text, and the remaining text.
fn value(text: &str) -> Option<(String, &str)> {
    if text.starts_with('"') {
        return string(text);
    }
    let (mut depth, mut rest) = (0u32, text);
    loop {
        let letter = rest.chars().next()?;
        match letter {
            '"' => {
                rest = string(rest)?.1;
                continue;
            }
            ',' | '}' if depth == 0 => break,
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        rest = rest.get(letter.len_utf8()..)?;
    }
    let value = text.get(..text.len() - rest.len())?.trim();
    (!value.is_empty()).then(|| (value.to_owned(), rest))
}

#[cfg(test)]
#[path = "../../tests/units/analysis/metadata.rs"]
mod tests;
