//! Path of a rejected value in the data, such as `device_traces[0][17].size`.
//!
//! The parser keeps no state for paths. After an error, the path is reconstructed from the stack.

use super::builder::Builder;
use super::open::{Kind, OpenContainer};
use super::stack::Stack;

/// Length of a path in bytes after which deeper levels are omitted. Only malicious files are nested that deeply.
const MAX_PATH: usize = 120;

/// Returns the path of the value at `position` of the stack. `index` is the `index` of the
/// [`Fault`](super::fault::Fault).
#[cold]
pub(super) fn path<B: Builder>(stack: &Stack<B>, position: usize, index: Option<u64>) -> String {
    let end = position.min(stack.values.len());
    let mut ancestors: Vec<(u32, &OpenContainer)> = Vec::new();
    for position in 0..end {
        let Some(number) = stack.open_at(position) else { continue };
        let Some(open) = stack.open.get(number).filter(|open| open.position == position) else { continue };
        while ancestors.pop_if(|(_, above)| !contains(stack, above, position, Some(open.kind))).is_some() {}
        ancestors.push((number, open));
    }
    while ancestors.pop_if(|(_, above)| !contains(stack, above, end, None)).is_some() {}

    let mut path = String::new();
    for (level, &(number, open)) in ancestors.iter().enumerate() {
        if path.len() > MAX_PATH {
            path.push('…');
            break;
        }
        let child = ancestors.get(level + 1).map_or(end, |(_, below)| below.position);
        let offset = child - open.position - 1;
        match open.kind {
            Kind::List => {
                let on_the_stack = || stack.item_count(number).saturating_add(offset as u64);
                let index = if child == end { index.unwrap_or_else(on_the_stack) } else { on_the_stack() };
                path.push_str(&format!("[{index}]"));
            }
            // A value in the position of a key has no key yet.
            Kind::Dict if offset.is_multiple_of(2) => {}
            Kind::Dict => {
                // If the nesting was misjudged, a list may be in the position of a key.
                let key = stack.values.get(child - 1).filter(|&&key| stack.builder.open_slot(key).is_none());
                let key = key.and_then(|&key| stack.builder.key_text(key));
                let dot = if path.is_empty() { "" } else { "." };
                path.push_str(&format!("{dot}{}", key.as_deref().unwrap_or("?")));
            }
        }
    }
    path
}

/// Returns whether the value at position `child` belongs to the open container `above`. Otherwise, `above` already has
/// all its values, and both belong to the same parent.
///
/// A batch that starts directly above the container contains its values. Without such a batch, a list that waits for
/// APPEND and a complete list have the same state. The result is then a guess: a container that waits for values is
/// still empty, all values of a list have the same kind, and a container cannot be a key.
fn contains<B: Builder>(stack: &Stack<B>, above: &OpenContainer, child: usize, kind: Option<Kind>) -> bool {
    let batch = stack.marks.partition_point(|mark| mark.at <= above.position);
    if stack.marks.get(batch).is_some_and(|mark| mark.at == above.position + 1) {
        return true;
    }
    let reach = match above.kind {
        Kind::List => 1,
        Kind::Dict => 2,
    };
    if child - above.position > reach {
        return false;
    }
    let Some(start) = batch.checked_sub(1).and_then(|last| stack.marks.get(last)).map(|mark| mark.at) else {
        return true;
    };
    let around = start.checked_sub(1).and_then(|owner| stack.open_at(owner)).and_then(|number| stack.open.get(number));
    match around.map(|open| open.kind) {
        Some(Kind::Dict) if kind.is_some() && (child - start).is_multiple_of(2) => true,
        Some(Kind::Dict) => !above.changed,
        Some(Kind::List) | None => !above.changed && kind != Some(above.kind),
    }
}
