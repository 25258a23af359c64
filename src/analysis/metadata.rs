//! Metadata that a user attached to allocations: the JSON object that `torch.cuda.memory._set_memory_metadata` writes of a dict → keys and
//! texts; and what a text says of the category of an allocation.
//!
//! ```text
//! {"pool": "kv cache", "name": "layer 3", "step": 7}      (pool, kv cache) (name, layer 3) (step, 7)
//! cut_cross_entropy::linear.gradient                      the category gradient
//! ```

/// Entries of an object that are read; more than that is data, not labels.
const MOST_ENTRIES: usize = 64;

/// Key and text of each entry of a JSON object, values that are no strings as they are written; `None` where the text is no object.
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
            Some(next) if entries.len() < MOST_ENTRIES => rest = next.trim_start(),
            Some(_) => return None,
            None => return rest.strip_prefix('}')?.is_empty().then_some(entries),
        }
    }
}

/// The text that an object has for a key.
pub fn value_of(text: &str, key: &str) -> Option<String> {
    // Most texts are no objects, or have no such key: those are not read.
    let may_have = text.contains(key);
    let entries = may_have.then(|| entries(text)).flatten()?;
    entries.into_iter().rev().find(|(known, value)| known == key && !value.is_empty()).map(|(_, value)| value)
}

/// The category that a name ends with, as torch.profiler calls it: `cut_cross_entropy::linear.gradient` is a gradient.
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

/// A JSON string at the beginning of a text, and what follows it.
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
                    // Halves of a pair stand for a letter that hardly any name has.
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?).unwrap_or('\u{fffd}')
                }
                plain => plain,
            }),
            (_, letter) => read.push(letter),
        }
    }
}

/// A value at the beginning of a text, as text, and what follows it.
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
