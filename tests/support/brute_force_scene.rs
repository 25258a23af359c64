//! Brute-force checks of scenes, column by column and block by block.

use super::history::{History, is_highlighted, paint};
use memscape::replay::AllocationId;
use memscape::timeline::scene::{BAND, CONTINUED, FADED, PENDING};
use memscape::timeline::{Axis, Quad, QuadIdentity, Scene, View};
use std::ops::Range;

/// A live block of a stack.
#[derive(Clone, Copy, Debug)]
struct Block {
    id: u32,
    lowest: u64,
    size: u64,
}

/// Compares a scene with its history. Panics with the column of the first difference.
pub(crate) fn check(history: &History, scene: &Scene) {
    let columns = column_moments(history, &scene.view);
    assert_eq!(scene.columns.moment.len(), columns.len(), "columns");
    assert_eq!(scene.columns.edge_px.len(), columns.len() + 1);
    let mut hidden = vec![(0u32, 0u64); columns.len()];
    let shown = &scene.columns.moment;
    for &(allocated_at, freed_at, size) in &history.spans {
        let first = columns.iter().position(|moments| allocated_at < moments.end && freed_at > moments.start);
        if let Some(first) =
            first.filter(|_| size > 0 && !shown.iter().any(|moment| (allocated_at..freed_at).contains(moment)))
        {
            hidden[first] = (hidden[first].0 + 1, hidden[first].1.max(size));
        }
    }
    for (column, moments) in columns.iter().enumerate() {
        let range = moments.start as usize..moments.end as usize;
        let highest = *history.requested[range.clone()].iter().max().unwrap();
        let first = moments.start + history.requested[range.clone()].iter().position(|&t| t == highest).unwrap() as u32;
        let reserved = *history.reserved[range].iter().max().unwrap();
        let table = &scene.columns;
        assert_eq!((table.moment[column], table.moments[column]), (first, moments.len() as u32), "column {column}");
        assert_eq!((table.total[column], table.reserved[column]), (highest as u64, reserved as u64), "column {column}");
        assert_eq!(table.pending[column] as i64, history.pending[first as usize], "column {column}");
        assert_eq!((table.hidden[column], table.hidden_largest[column]), hidden[column], "hidden in {column}");
        check_column(history, scene, column);
    }
    assert_eq!(scene.quads.len(), scene.identities.len());
    for quad in &scene.quads {
        assert!(quad.x.iter().all(|&x| scene.columns.edge_px.contains(&i32::from(x))), "{quad:?} ends inside a column");
    }
}

/// Returns the moments of each column of the view.
fn column_moments(history: &History, view: &View) -> Vec<Range<u32>> {
    let all = 0..history.moments();
    let scale = view.x_per_px;
    if view.axis == Axis::Time {
        return timed_moments(history, view);
    }
    if scale <= 1.0 {
        let edge = |moment: u32| (f64::from(moment) / scale).round() as i64 - view.left_px;
        let inside = |moment: &u32| edge(*moment) < i64::from(view.width_px) && edge(*moment + 1) > 0;
        return all.filter(inside).map(|moment| moment..moment + 1).collect();
    }
    let pixel = |at: i64| {
        let (left, right) = (at as f64 * scale, (at + 1) as f64 * scale);
        let overlaps = |moment: &u32| f64::from(*moment) < right && f64::from(*moment + 1) > left;
        let first = all.clone().find(overlaps)?;
        Some(first..all.clone().rev().find(overlaps)? + 1)
    };
    (view.left_px..view.left_px + i64::from(view.width_px)).filter_map(pixel).collect()
}

/// Like [`column_moments`] on the time axis. A column has the moments that begin in it and the one that continues into
/// it.
fn timed_moments(history: &History, view: &View) -> Vec<Range<u32>> {
    let Some(span) = history.elapsed.last() else { return Vec::new() };
    let margin = (span / 64).max(1);
    let begins = |moment: u32| if moment == 0 { 0 } else { margin + history.elapsed[moment as usize - 1] };
    let ends = |moment: u32| {
        if moment + 1 == history.moments() { span + 2 * margin } else { begins(moment + 1) }
    };
    let pixel = |at: i64| {
        let (left, right) = (at as f64 * view.x_per_px, (at + 1) as f64 * view.x_per_px);
        let holds = |moment: &u32| {
            let (begins, ends) = (begins(*moment) as f64, ends(*moment) as f64);
            (left..right).contains(&begins) || (begins < left && ends > left)
        };
        let first = (0..history.moments()).find(holds)?;
        Some(first..(0..history.moments()).rev().find(holds)? + 1)
    };
    (view.left_px.max(0)..view.left_px + i64::from(view.width_px)).filter_map(pixel).collect()
}

fn check_column(history: &History, scene: &Scene, column: usize) {
    let moment = scene.columns.moment[column];
    let mut height = 0;
    let mut stack = Vec::new();
    for &id in &history.order {
        let (allocated_at, freed_at, size) = history.spans[id as usize];
        if (allocated_at..freed_at).contains(&moment) && size > 0 {
            stack.push(Block { id, lowest: height, size });
            height += size;
        }
    }
    let row = |bytes: u64| scene.view.row_from_bytes(bytes).clamp(0, i64::from(scene.view.height_px)) as i16;
    let rows = |block: &Block| [row(block.lowest), row(block.lowest + block.size)];
    let theta = (f64::from(scene.band_px) * scene.view.bytes_per_px).ceil() as u64;
    let left = scene.columns.edge_px[column];
    let mut pieces: Vec<(&Quad, &QuadIdentity)> = scene.quads.iter().zip(&scene.identities).collect();
    pieces.retain(|(quad, _)| i32::from(quad.x[0]) <= left && left < i32::from(quad.x[1]));
    pieces.sort_by_key(|(quad, _)| quad.y[0]);

    // The quads tile the stack: they do not overlap, and the topmost one ends at the column's maximum.
    let mut reached = row(0);
    for (quad, _) in &pieces {
        assert_eq!(quad.y[0], reached, "column {column}: gap or overlap at {quad:?}");
        assert!(quad.y[1] > quad.y[0], "column {column}: no height: {quad:?}");
        reached = quad.y[1];
    }
    assert_eq!(reached, row(height), "silhouette of column {column}");

    // Each quad has the blocks that its identity lists.
    for (quad, identity) in &pieces {
        let starts_here = i32::from(quad.x[0]) == left;
        if identity.count == 1 {
            let block = stack.iter().find(|block| block.id == identity.first).expect("a quad of a dead block");
            assert_eq!((identity.first, quad.y, identity.requested()), (identity.last, rows(block), block.size));
            let (allocated_at, freed_at, _) = history.spans[block.id as usize];
            let before = column.checked_sub(1).map(|before| scene.columns.moment[before]);
            let continued = before.is_some_and(|before| (allocated_at..freed_at).contains(&before));
            let is_pending = history.requested_at[block.id as usize] <= moment;
            assert_eq!(quad.paint & PENDING != 0, is_pending, "column {column}: {quad:?}");
            let kind = if continued { CONTINUED } else { 0 } | if is_pending { PENDING } else { 0 };
            let expected = u32::from(paint(AllocationId(block.id)).0) | kind | faded_mark(history, &[*block]);
            assert!(!starts_here || quad.paint == expected, "column {column}: {quad:?}");
        } else if starts_here {
            let place = |id: u32| stack.iter().position(|block| block.id == id).expect("a band of dead blocks");
            let members = || stack[place(identity.first)..=place(identity.last)].iter();
            let bytes: u64 = members().map(|block| block.size).sum();
            let (first, last) = (members().next().unwrap(), members().next_back().unwrap());
            assert_eq!((first.id, last.id), (identity.first, identity.last), "column {column}");
            assert_eq!((members().count(), bytes), (identity.count as usize, identity.requested()), "column {column}");
            assert_eq!(quad.y, [row(first.lowest), row(last.lowest + last.size)], "column {column}");
            assert!(members().all(|block| block.size < theta), "column {column}: a block of at least θ in a band");
            assert!(bytes < 2 * theta, "column {column}: a band of more than 2 θ");
            let largest = members().rev().max_by_key(|block| block.size).unwrap();
            let members: Vec<Block> = members().copied().collect();
            let expected = u32::from(paint(AllocationId(largest.id)).0) | BAND | faded_mark(history, &members);
            assert_eq!(quad.paint, expected, "column {column}");
        } else {
            let at_an_edge = |y: i16| y == row(height) || stack.iter().any(|block| row(block.lowest) == y);
            assert!(quad.y.iter().all(|&y| at_an_edge(y)), "column {column}: {quad:?} is not bounded by blocks");
        }
    }
    for block in stack.iter().filter(|block| block.size >= theta && rows(block)[0] < rows(block)[1]) {
        assert!(
            pieces.iter().any(|(_, it)| (it.first, it.last) == (block.id, block.id)),
            "{block:?} has no quad of its own"
        );
    }
    // Thin neighbors are joined until they reach θ. The lowest quad of a window may be cut off from its neighbors.
    for pair in pieces.windows(2) {
        let ((quad, lower), (_, upper)) = (pair[0], pair[1]);
        let thin = i32::from(quad.x[0]) == left && quad.y[0] > 0 && lower.requested() < theta;
        assert!(
            !thin || (upper.count == 1 && upper.requested() >= theta),
            "column {column}: {lower:?} {upper:?} unjoined"
        );
    }
}

/// Returns [`FADED`] if none of the blocks is highlighted.
fn faded_mark(history: &History, members: &[Block]) -> u32 {
    let any = members.iter().any(|block| is_highlighted(AllocationId(block.id)));
    if history.highlight && !any { FADED } else { 0 }
}
