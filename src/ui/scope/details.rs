//! Text of the details panel for the selected allocation: facts, stack, and a version for the clipboard.

use crate::text::summary::{Fact, ordinal_name};
use base::units::{Bytes, duration_us, group_digits, pluralize};
use protocol::category::category_label;
use protocol::{Details, FrameText, Origin, REASON_RECORDER, TENSOR_SEPARATOR, default_pool_name};

/// Contents of the details panel, which describes the selected allocation.
#[derive(Clone, Debug, PartialEq)]
pub struct DetailsView {
    /// Requested bytes, with three significant digits: `38.1 MiB`.
    pub title: String,
    /// Call site, if known: `train.py:233 step`.
    pub call_site: Option<String>,
    /// Warning shown above the facts, for example that the allocation was made before recording.
    pub warning: Option<&'static str>,
    /// The most important facts: tensor, category and lifetime.
    pub summary: Vec<Fact>,
    /// All facts, in the order of the panel.
    pub facts: Vec<Fact>,
    /// Heading of the stack. Says whether it belongs to the allocation or the free, and how many frames it has.
    pub stack_title: String,
    pub frames: Vec<FrameView>,
    /// Frames of the forward operation's stack, if recorded.
    pub forward: Vec<String>,
}

/// A stack frame, as displayed in the details panel.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameView {
    pub name: String,
    /// `file:line`, or empty if the frame names no file.
    pub location: String,
    /// File and line as recorded, not shortened.
    pub source: [String; 2],
    pub kind: FrameKind,
    /// True if the frame is folded: it matches a rule for internal frames.
    pub is_internal: bool,
    /// Additional lines about the `torch.fx` node that the frame was generated from.
    pub notes: Vec<String>,
}

/// Origin of a frame's code: the user's own Python code, other Python code, or native code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    User,
    Library,
    Native,
}

impl FrameView {
    fn new(frame: &FrameText) -> FrameView {
        // PyTorch writes "??" (or nothing) and line 0 for C++ frames without debug information.
        let unnamed = matches!(frame.filename.as_str(), "" | "??" | "none");
        let native = unnamed || !(frame.filename.ends_with(".py") || frame.filename.starts_with('<'));
        let kind = match (frame.is_user_code, native) {
            (true, _) => FrameKind::User,
            (false, true) => FrameKind::Native,
            (false, false) => FrameKind::Library,
        };
        let location = match frame.line.as_str() {
            _ if unnamed => String::new(),
            "0" => frame.filename.clone(),
            line => format!("{}:{line}", frame.filename),
        };
        let notes = frame.fx.iter().map(|(key, text)| format!("{key}: {text}")).collect();
        let source = [frame.filename.clone(), frame.line.clone()];
        FrameView { name: frame.name.clone(), location, source, kind, is_internal: frame.is_internal, notes }
    }

    /// Formats the frame as one line for the clipboard.
    fn line(&self) -> String {
        if self.location.is_empty() { self.name.clone() } else { format!("{}  {}", self.name, self.location) }
    }
}

/// A frame, or a run of internal frames that is collapsed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Run<'a> {
    /// A frame that is always shown. Stands for consecutive equal frames, as in recursion.
    Shown(&'a FrameView),
    /// Consecutive internal frames, collapsed until the user expands them.
    Internal(&'a [FrameView]),
}

impl DetailsView {
    /// Returns the stack, innermost frame first, with consecutive internal frames collapsed.
    pub fn runs(&self) -> Vec<Run<'_>> {
        let runs = self.frames.chunk_by(|a, b| a.is_internal && b.is_internal || a == b);
        runs.filter_map(|run| match run.first()? {
            first if first.is_internal => Some(Run::Internal(run)),
            first => Some(Run::Shown(first)),
        })
        .collect()
    }
}

/// Formats bytes with three significant digits, followed by the exact number.
pub(crate) fn bytes(value: u64) -> String {
    if value < 1024 { format!("{value} B") } else { format!("{} · {} B", Bytes(value), group_digits(value)) }
}

/// Formats a stream handle, where 0 is the default stream.
pub(crate) fn stream_name(stream: u64) -> String {
    if stream == 0 { "0 (default)".to_owned() } else { format!("0x{stream:x}") }
}

/// Formats a pool id, where `(0, 0)` is the default pool.
pub(crate) fn pool_fact(pool: (u64, u64)) -> String {
    if pool == (0, 0) { "default".to_owned() } else { default_pool_name(pool) }
}

fn event_and_time(event: Option<u32>, us: Option<i64>, otherwise: &str) -> String {
    match (event, us.and_then(time_of_day)) {
        (Some(event), Some(clock)) => format!("event {} · {clock}", group_digits(event.into())),
        (Some(event), None) => format!("event {}", group_digits(event.into())),
        (None, _) => otherwise.to_owned(),
    }
}

/// Formats microseconds since 1970 as a time of day in UTC. `None` for negative values.
pub(crate) fn time_of_day(us: i64) -> Option<String> {
    let us = u64::try_from(us).ok()?;
    let (seconds, micros) = (us / 1_000_000 % 86_400, us % 1_000_000);
    Some(format!("{:02}:{:02}:{:02}.{micros:06} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60))
}

/// Builds the contents of the details panel.
pub fn view(details: &Details) -> DetailsView {
    let frames: Vec<FrameView> = details.frames.iter().map(FrameView::new).collect();
    let owner = if details.is_free_stack { "Stack of the free" } else { "Stack" };
    let stack_title = match frames.len() {
        0 => "No stack recorded".to_owned(),
        count => format!("{owner} · {}, innermost first", pluralize(count as u64, "frame")),
    };
    let call_site = frames.iter().find(|frame| frame.kind == FrameKind::User).map(|frame| {
        let location = frame.location.rsplit(['/', '\\']).next().unwrap_or(&frame.location);
        format!("{location} {}", frame.name).trim().to_owned()
    });
    let warning = match details.origin {
        Origin::Recorded => None,
        Origin::FreedOnly => Some("Allocated before recording. The stack shown is the one that freed it."),
        Origin::Static => Some("Allocated before recording, and never freed."),
        Origin::Unexplained => Some("Bytes allocated before recording that nothing in the snapshot accounts for."),
    };
    DetailsView {
        title: Bytes(details.requested).to_string(),
        call_site,
        warning,
        summary: summary_facts(details),
        facts: facts(details),
        stack_title,
        frames,
        forward: details.forward_frames.clone(),
    }
}

/// Returns the most important facts, shown above the stack.
fn summary_facts(details: &Details) -> Vec<Fact> {
    let name = details.tensors.first().and_then(|tensor| tensor.split(TENSOR_SEPARATOR).next());
    let tensor = name.map(|name| ("Tensor", name.to_owned()));
    let category = details.category.as_ref().map(|category| ("Category", category_label(&category.name).to_owned()));
    let until = |event: u32| ["from before recording to event ", &group_digits(event.into())].concat();
    let open = || details.freed_event.map_or_else(|| "never freed".to_owned(), until);
    let lifetime = lifetime(details).unwrap_or_else(open);
    let lines = tensor.into_iter().chain(category).chain([("Lifetime", lifetime)]);
    lines.map(|(label, value)| Fact { label: label.to_owned(), value }).collect()
}

fn facts(details: &Details) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut fact = |label: &str, value: String| facts.push(Fact { label: label.to_owned(), value });
    for tensor in &details.tensors {
        fact("Tensor", tensor.clone());
    }
    if let Some(holder) = &details.held_by {
        fact("Held by", holder.clone());
    }
    fact("Requested", bytes(details.requested));
    if details.origin != Origin::Unexplained {
        let derived = if details.is_rounded_estimated { "≥ " } else { "" };
        fact("Allocated (rounded)", format!("{derived}{}", bytes(details.rounded)));
    }
    if let Some(address) = details.address {
        fact("Address", format!("0x{address:x}"));
    }
    if let Some(category) = &details.category {
        let basis = match category.rule {
            _ if category.reason == REASON_RECORDER => [" · ", REASON_RECORDER].concat(),
            Some(rule) => format!(" · rule {rule}: {}", category.reason),
            None => String::new(),
        };
        fact("Category", [category_label(&category.name), &basis].concat());
    }
    fact("Allocated at", event_and_time(details.allocated_event, details.allocated_us, "before recording"));
    if details.free_requested_event.is_some() && details.free_requested_event != details.freed_event {
        fact("Free requested at", event_and_time(details.free_requested_event, None, ""));
    }
    fact("Freed at", event_and_time(details.freed_event, details.freed_us, "never freed"));
    if let Some(lifetime) = lifetime(details) {
        fact("Lifetime", lifetime);
    }
    let total = u64::try_from(details.live_after).unwrap_or(0);
    fact(if details.allocated_event.is_some() { "Live after" } else { "Live at the start" }, bytes(total));
    if let Some(stream) = details.stream {
        fact("Stream", stream_name(stream));
    }
    if let Some(pool) = details.pool {
        fact("Pool", pool_fact(pool));
    }
    if let Some(context) = &details.compile_context {
        fact("Compiled region", context.clone());
    }
    for (label, text) in &details.metadata {
        fact(label, text.clone());
    }
    if !details.annotations.is_empty() {
        fact("Annotations", details.annotations.join(" › "));
    }
    fact(
        "Allocation",
        format!("#{} on {}", group_digits(details.allocation.into()), ordinal_name(details.backend, details.device)),
    );
    facts
}

fn lifetime(details: &Details) -> Option<String> {
    let events = u64::from(details.freed_event?.checked_sub(details.allocated_event?)?);
    let time = details.lifetime_us.map(duration_us);
    let events = pluralize(events, "event");
    Some(time.map_or(events.clone(), |time| format!("{events} · {time}")))
}

/// Formats all details as text for the clipboard.
pub fn text(details: &Details) -> String {
    let view = view(details);
    let mut lines: Vec<String> = view.facts.iter().map(|fact| format!("{}: {}", fact.label, fact.value)).collect();
    lines.push(format!("{}:", view.stack_title));
    for frame in &view.frames {
        let marker = if frame.kind == FrameKind::User { "▸ " } else { "  " };
        lines.push(format!("{marker}{}", frame.line()));
        lines.extend(frame.notes.iter().map(|note| format!("    {note}")));
    }
    if !view.forward.is_empty() {
        lines.push("Forward:".to_owned());
        lines.extend(view.forward.iter().map(|line| format!("  {}", line.trim_end())));
    }
    lines.join("\n")
}

#[cfg(test)]
#[path = "../../../tests/units/ui/details.rs"]
mod tests;
