//! `memscape segments`: the allocator's segments and blocks at the cursor.

use super::allocations::largest;
use super::common_args::{AtArg, OutputArgs, SnapshotArgs, TracePosition, parse_bytes};
use super::open_snapshot::{OpenSnapshot, ask_device};
use super::output::{more_rows_line, printable, to_pretty_json, with_fields};
use super::segments_json::{self, Sites, bars_of, block_state, blocks_of, hex};
use super::table::{Table, columns};
use super::terminal::wrap_to_terminal;
use base::units::{Bytes, Moment, group_digits, moment_text, percent, pluralize};
use clap::Args;
use protocol::{
    MemoryFilter, MomentFacts, NO_STACK, PieceKind, Scope, SegmentSort, SegmentsFit, SegmentsPage, SegmentsPiece,
    SegmentsQuestion, SegmentsSums, pool_name,
};
use serde_json::json;

/// Arguments of `memscape segments`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Segments {
    #[command(flatten)]
    pub(crate) source: SnapshotArgs,
    #[command(flatten)]
    pub(crate) at: AtArg,
    /// Only segments of this memory pool
    #[arg(long, value_name = "A,B", value_parser = parse_pool)]
    pub(crate) pool: Option<(u64, u64)>,
    /// Only segments of this stream, decimal or 0x...
    #[arg(long, value_name = "N", value_parser = parse_stream)]
    pub(crate) stream: Option<u64>,
    /// Also show where a request of this size would be placed
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    pub(crate) request: Option<u64>,
    /// Also list the blocks of each segment
    #[arg(long)]
    pub(crate) blocks: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn parse_pool(text: &str) -> Result<(u64, u64), &'static str> {
    let numbers = text.split_once(',').map(|(first, second)| (first.trim().parse(), second.trim().parse()));
    let Some((Ok(first), Ok(second))) = numbers else { return Err("expected a pool such as 0,1") };
    Ok((first, second))
}

fn parse_stream(text: &str) -> Result<u64, String> {
    let read = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    read.map_err(|error| error.to_string())
}

/// Runs `memscape segments` and returns its output.
///
/// # Errors
/// Returns an error message if the file cannot be read or the cursor position does not exist.
pub(crate) fn segments(terms: &Segments) -> Result<String, String> {
    let mut snapshot = OpenSnapshot::open(&terms.source)?;
    let facts = snapshot.facts_at(terms.at.when.unwrap_or(TracePosition::Peak))?;
    let page = fetch_page(&mut snapshot, terms, facts.moment).ok_or("the segments could not be listed")?;
    if page.groups.is_empty() && (terms.pool, terms.stream) != (None, None) {
        return Err("no segment of that pool and stream at this moment".to_owned());
    }
    let wants_sites = terms.output.json || terms.blocks;
    let sites = if wants_sites { sites(&mut snapshot, facts.moment) } else { Some(Sites::new()) };
    let sites = sites.ok_or("the allocations could not be listed")?;
    if terms.output.json {
        let fields = json!({
            "event": Moment(facts.moment).event_or_minus_one(),
            "time_us": facts.time_us,
            "request_bytes": terms.request,
        });
        return Ok(to_pretty_json(&with_fields(
            snapshot.document(fields),
            segments_json::fields(&page, &sites, &snapshot.summary.pools),
        )));
    }
    Ok(as_text(&snapshot, terms, &facts, &page, &sites))
}

/// Fetches all segments and blocks, in several requests, since the engine returns a limited number of rows at a time.
fn fetch_page(snapshot: &mut OpenSnapshot, terms: &Segments, moment: u32) -> Option<SegmentsPage> {
    let mut ask = |first| {
        let question = SegmentsQuestion {
            moment,
            filter: MemoryFilter { pool: terms.pool, stream: terms.stream, address: None },
            sort: SegmentSort::Address,
            colouring: Default::default(),
            width_px: 0,
            bytes_per_px: 0.0,
            fit_rows: 0,
            rows: [first, u32::MAX],
            reveal: None,
            request: terms.request,
        };
        ask_device!(snapshot, State(question)).map(|page| *page)
    };
    let mut whole = ask(0)?;
    while let Some(last) = whole.bars.last().map(|bar| bar.row).filter(|last| last + 1 < whole.rows) {
        let mut next = ask(last + 1)?;
        if next.bars.is_empty() {
            break;
        }
        let known = whole.pieces.len() as u32;
        next.bars.iter_mut().for_each(|bar| bar.pieces = bar.pieces.map(|piece| piece + known));
        whole.bars.append(&mut next.bars);
        whole.pieces.append(&mut next.pieces);
    }
    Some(whole)
}

fn sites(snapshot: &mut OpenSnapshot, moment: u32) -> Option<Sites> {
    let table = largest(snapshot, "", Scope::At(moment), u32::MAX)?;
    Some(table.rows.into_iter().map(|row| (row.allocation, row.call_site)).collect())
}

/// Formats the name of a group of segments, such as `default pool, stream 0x7f`.
fn group_name(snapshot: &OpenSnapshot, pool: Option<(u64, u64)>, stream: Option<u64>) -> String {
    let pool = pool.map(|pool| printable(&pool_name(&snapshot.summary.pools, pool)));
    let pool = pool.unwrap_or_else(|| "pool not recorded".to_owned());
    match stream {
        None => pool + ", stream not recorded",
        Some(0) => pool + ", default stream",
        Some(stream) => format!("{pool}, stream {stream:#x}"),
    }
}

/// Formats bytes rounded and exactly, such as `62.0 MiB (65,011,712 B)`.
fn exact_bytes(bytes: u64) -> String {
    format!("{} ({} B)", Bytes(bytes), group_digits(bytes))
}

fn sums_text(sums: &SegmentsSums) -> String {
    format!(
        "reserved {} in {}\n  live {} in {}, awaiting free {}, allocated (rounded) ≥ {}\n  free (cached) ≤ {} in {}, largest ≤ {}\n",
        exact_bytes(sums.reserved),
        pluralize(sums.segments.into(), "segment"),
        exact_bytes(sums.requested),
        pluralize(sums.blocks.into(), "block"),
        exact_bytes(sums.awaiting_free),
        exact_bytes(sums.rounded),
        exact_bytes(sums.free),
        pluralize(sums.free_blocks.into(), "free block"),
        exact_bytes(sums.largest_free),
    )
}

/// Columns of the table of segments, with their minimum widths.
const COLUMNS: [(&str, usize); 7] = [
    ("address", 18),
    ("reserved", 10),
    ("bytes", 19),
    ("≤ free", 10),
    ("share", 8),
    ("blocks", 7),
    ("free blocks", 11),
];

fn as_text(
    snapshot: &OpenSnapshot,
    terms: &Segments,
    facts: &MomentFacts,
    page: &SegmentsPage,
    sites: &Sites,
) -> String {
    let is_peak = if facts.moment == snapshot.peak() { ", the peak" } else { "" };
    let mut text = format!("{}: {}{is_peak}\n  ", snapshot.heading(), moment_text(facts.moment));
    text.push_str(&sums_text(&page.total));
    if page.outside_mapped.count > 0 {
        let (bytes, count) =
            (exact_bytes(page.outside_mapped.bytes), pluralize(page.outside_mapped.count.into(), "allocation"));
        text.push_str(&format!("  {bytes} live in {count} are outside the recorded segments\n"));
    }
    page.fits.iter().for_each(|fit| text.push_str(&fit_text(snapshot, terms, fit)));
    for (place, group) in page.groups.iter().enumerate() {
        let size = if group.small { "small" } else { "large" };
        let expandable = if group.expandable { ", expandable" } else { "" };
        let name = group_name(snapshot, group.pool, group.stream);
        text.push_str(&format!("\n{name}, {size} blocks{expandable}:\n  {}", sums_text(&group.sums)));
        let bars: Vec<_> = bars_of(page, place).take(terms.output.top as usize).collect();
        let mut segments = Table::new(2, columns(COLUMNS, []));
        let mut blocks = Table::new(4, columns([18, 13, 19, 19].map(|min| ("", min)), [""]));
        for bar in &bars {
            let sums = &bar.sums;
            segments.push([
                hex(bar.segment),
                Bytes(sums.reserved).to_string(),
                group_digits(sums.reserved),
                Bytes(sums.free).to_string(),
                percent(sums.free, sums.reserved),
                group_digits(sums.blocks.into()),
                group_digits(sums.free_blocks.into()),
            ]);
            if terms.blocks {
                blocks_of(page, bar).iter().for_each(|piece| blocks.push(block_cells(piece, sites)));
            }
        }
        // The blocks of a segment are printed below it.
        let (segments, blocks) = (segments.texts(), blocks.texts());
        let mut blocks = blocks.iter().skip(1);
        text.push_str(segments.first().map_or("", String::as_str));
        for (bar, segment) in bars.iter().zip(segments.iter().skip(1)) {
            text.push_str(segment);
            blocks.by_ref().take(blocks_of(page, bar).len()).for_each(|block| text.push_str(block));
        }
        text.push_str(&more_rows_line(group.sums.segments.saturating_sub(terms.output.top)));
    }
    wrap_to_terminal(&(text + &snapshot.other_devices_line()))
}

/// Returns the cells of a block: address, state, requested bytes, block size and call site.
fn block_cells(piece: &SegmentsPiece, sites: &Sites) -> [String; 5] {
    let (bytes, sign, site) = match (piece.kind, piece.recorded) {
        (PieceKind::Free | PieceKind::Rounding, _) => (piece.rounded, "≤", ""),
        (_, recorded) => {
            let site = sites.get(&piece.allocation).map_or("", String::as_str);
            let site = if site.is_empty() { NO_STACK } else { site };
            (piece.requested, if recorded { "=" } else { "≥" }, site)
        }
    };
    let rounded = format!("{sign} {}", group_digits(piece.rounded));
    [
        hex(piece.address),
        block_state(piece).replace('_', " "),
        if block_state(piece) == "free" { String::new() } else { group_digits(bytes) },
        rounded,
        site.to_owned(),
    ]
}

fn fit_text(snapshot: &OpenSnapshot, terms: &Segments, fit: &SegmentsFit) -> String {
    let (asked, name) = (terms.request.unwrap_or(0), group_name(snapshot, fit.pool, fit.stream));
    let begin = format!("  request of {}, rounded {}, in the {name}:", exact_bytes(asked), exact_bytes(fit.rounded));
    match fit.block {
        Some((address, bytes)) => {
            format!("{begin} may fit into the free block at {}, ≤ {}\n", hex(address), exact_bytes(bytes))
        }
        None => format!(
            "{begin} needs {}{} from the driver; free ≤ {}, largest block ≤ {}\n",
            if fit.extends_segment { "≥ " } else { "" },
            exact_bytes(fit.new_segment),
            exact_bytes(fit.free),
            exact_bytes(fit.largest_free)
        ),
    }
}
