//! The tools of the MCP server. Each corresponds to a command with a subset of its arguments.
//!
//! To add a tool, add an entry to [`TOOLS`]. [`Parameter::kind`] defines how a value is converted to an argument of the
//! command.

use ParameterKind::{File, Flag, Number, Positional, Rows, Statement, Text, Texts};
use protocol::Topic;
use serde_json::{Map, Value, json};

/// A tool that agents can call.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Command that the tool runs.
    pub(super) command: &'static str,
    /// Description for the agent: the contents of the response, and how to use them.
    pub(super) description: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Link parameters that open the same data in the page. Empty if no view shows it.
    pub(super) link_params: &'static str,
}

/// A parameter of a tool.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: ParameterKind,
    /// Description for the agent. `{topics}` stands for the names of all insights.
    pub(super) description: &'static str,
}

const fn parameter(name: &'static str, kind: ParameterKind, description: &'static str) -> Parameter {
    Parameter { name, kind, description }
}

/// Conversion of a tool's parameter to an argument of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterKind {
    /// `--flag=TEXT`.
    Text(&'static str),
    /// `--flag=NUMBER`.
    Number(&'static str),
    /// `--flag`, if the value is true.
    Flag(&'static str),
    /// `--flag=TEXT` for each element of a list.
    Texts(&'static str),
    /// A positional argument.
    Positional,
    /// A required positional argument.
    Statement,
    /// Path of another snapshot, as a required positional argument.
    File,
    /// `--top`, the maximum number of rows.
    Rows,
}

impl ParameterKind {
    /// Returns true if the parameter is required.
    pub(super) fn is_required(self) -> bool {
        matches!(self, File | Statement)
    }
}

/// Maximum number of rows that an agent may request. More rows would exceed the length limit.
pub(super) const MAX_ROWS: u64 = 200;

const AT: Parameter = parameter(
    "at",
    Text("--at"),
    "Moment: an event number from another answer, peak, reserved-peak, oom, end, or a time such as 1.25s",
);
const DEVICE: Parameter = parameter(
    "device",
    Number("--device"),
    "Device ordinal, -1 for host memory. If omitted: the device that ran out of memory, else the one with the highest peak",
);
const ROWS: Parameter = parameter("rows", Rows, "Rows of each table, at most 200. If omitted: 10");
const CAPACITY: Parameter =
    parameter("capacity", Text("--capacity"), "GPU memory, such as 80GiB. If omitted: what the snapshot records");
const PRESETS: Parameter =
    parameter("presets", Texts("--preset"), "Common changes, such as batch=2, fsdp=8, checkpoint");

/// All tools except [`FILES`].
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "summary",
        command: "summary",
        description: "Peak, reserved and live bytes of each device, warnings, allocator settings, and what the recorder says: reason, step, rank, \
                capacity, memory outside the allocator.",
        parameters: &[],
        link_params: "",
    },
    Tool {
        name: "insights",
        command: "insights",
        description: "What stands out, as statements with a fix where there is one. Without a topic: the statements of all insights, the right \
                first question. With a topic: that insight with its tables. For an out-of-memory error ask for topic oom, which says why, \
                and then for topic savings, which says what lowers the peak and by how much.",
        parameters: &[parameter("topic", Text("--topic"), "{topics}"), AT, DEVICE, ROWS],
        link_params: "tab=why",
    },
    Tool {
        name: "savings",
        command: "savings",
        description: "What would lower the peak, by how many bytes, largest first: what to change in the program.",
        parameters: &[DEVICE, ROWS],
        link_params: "tab=why&topic=savings",
    },
    Tool {
        name: "call_tree",
        command: "live",
        description: "What is live at a moment, by the code that allocated it.",
        parameters: &[
            AT,
            parameter(
                "by",
                Text("--by"),
                "tree (from callers to callees), call-site, function or file. If omitted: call-site",
            ),
            parameter("inverted", Flag("--inverted"), "Tree from callees to callers"),
            DEVICE,
            ROWS,
        ],
        link_params: "tab=tree",
    },
    Tool {
        name: "find",
        command: "allocations",
        description: "Allocations that match a search, largest first, with number, size, events and call site, and name, kind, shape and dtype \
                of the tensor where a recorder wrote them.",
        parameters: &[
            parameter(
                "query",
                Positional,
                "train.py:23 (a frame or a tensor's name), /regular expression/, @train.py (call site), @category activation, \
                        @metadata text, stream:0, #12 (number), 0x7f89b4000000 (address), >=1MiB, freed, never-freed; joined by &. If omitted: all",
            ),
            AT,
            DEVICE,
            ROWS,
        ],
        link_params: "tab=table",
    },
    Tool {
        name: "events",
        command: "events",
        description: "Events of the allocator, in order.",
        parameters: &[
            parameter("from", Text("--from"), "First event: a number, a time, peak, oom"),
            parameter("to", Text("--to"), "Last event, inclusive"),
            parameter(
                "action",
                Text("--action"),
                "Comma-separated: alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, segment_unmap, oom",
            ),
            parameter("filter", Text("--filter"), "A search, as of find"),
            DEVICE,
            ROWS,
        ],
        link_params: "tab=events",
    },
    Tool {
        name: "segments",
        command: "segments",
        description: "Reserved memory at a moment: segments, what is free where, which call sites pin it.",
        parameters: &[
            AT,
            parameter("request", Text("--request"), "Size of a request, such as 64MiB: where it would be placed"),
            DEVICE,
            ROWS,
        ],
        link_params: "tab=memory",
    },
    Tool {
        name: "diff",
        command: "diff",
        description: "Two snapshots: what is larger in the other one, by how much, and why.",
        parameters: &[
            parameter("other", File, "The snapshot to compare with"),
            parameter("at", Text("--at-a"), "Moment of the first. If omitted: its peak"),
            parameter("at_other", Text("--at-b"), "Moment of the other. If omitted: its peak"),
            ROWS,
        ],
        link_params: "",
    },
    Tool {
        name: RANKS,
        command: "ranks",
        description: "The snapshots of many ranks in a folder: which differ, in what, and which ran out of memory first.",
        parameters: &[parameter("explain", Number("--explain"), "A rank: why it differs from its group"), ROWS],
        link_params: "",
    },
    Tool {
        name: "whatif",
        command: "whatif",
        description: "Simulates PyTorch's caching allocator: what would have been reserved under other settings. Without settings some ten \
                are tried. It first says what it reproduces of the recording.",
        parameters: &[
            parameter(
                "settings",
                Texts("--set"),
                "Lines as for PYTORCH_CUDA_ALLOC_CONF, such as expandable_segments:True",
            ),
            parameter(
                "programs",
                Texts("--program"),
                "Changed programs to simulate: one-stream, no-record-stream, preallocate=2GiB, empty-cache (at step ends); a \
                    comma joins changes",
            ),
            CAPACITY,
            PRESETS,
            DEVICE,
        ],
        link_params: "tab=why&topic=settings",
    },
    Tool {
        name: "plan",
        command: "plan",
        description: "The peak with other sizes: a larger batch, sharding, smaller dtypes; and the largest batch that fits.",
        parameters: &[
            parameter("factors", Texts("--set"), "Factors on groups, such as activations=2x or \"optimizer state=/8\""),
            PRESETS,
            CAPACITY,
            DEVICE,
        ],
        link_params: "tab=why&topic=savings",
    },
    Tool {
        name: "sql",
        command: "sql",
        description: "Any other question, as a SELECT statement of SQLite. Tables: allocation, event, stack, frame, segment, block, annotation, \
                curve, step, meta; live_at(when), tree(when), between(from, to), where a moment is 'peak', 'oom', 'end' or an event's \
                number. Functions: human(bytes), site(stack), frame_match(stack, 'regex'). SELECT * FROM allocation LIMIT 1 shows a table's columns.",
        parameters: &[parameter(
            "query",
            Statement,
            "One SELECT statement, such as SELECT category, sum(requested_bytes) FROM live_at('peak') GROUP BY 1",
        )],
        link_params: "",
    },
];

/// Name of the tool that lists snapshots.
pub(super) const FILES: &str = "files";
/// Description of the tool [`FILES`].
pub(super) const FILES_DESCRIPTION: &str =
    "Snapshots that can be read, newest first. Their names are the argument file of the other tools.";
/// Name of the tool that compares ranks. Its file parameter names a folder.
pub(super) const RANKS: &str = "ranks";

impl Tool {
    /// Returns the tool with the given name.
    pub(super) fn by_name(name: &str) -> Option<&'static Tool> {
        TOOLS.iter().find(|tool| tool.name == name)
    }

    /// Returns the JSON Schema of the arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        let topics = Topic::ALL.map(Topic::name).join(", ");
        let about = if self.name == RANKS { "Folder with the snapshots" } else { "Snapshot" };
        let file =
            json!({"type": "string", "description": format!("{about}. If omitted: what the server was started with")});
        properties.insert("file".to_owned(), file);
        for parameter in self.parameters {
            let described = match parameter.kind {
                Text(_) | Positional | Statement | File => json!({"type": "string"}),
                Number(_) => json!({"type": "integer"}),
                Rows => json!({"type": "integer", "minimum": 1, "maximum": MAX_ROWS}),
                Flag(_) => json!({"type": "boolean"}),
                Texts(_) => json!({"type": "array", "items": {"type": "string"}, "maxItems": MAX_TEXTS}),
            };
            let description = parameter.description.replace("{topics}", &topics);
            let described = crate::output::with_fields(described, json!({"description": description}));
            properties.insert(parameter.name.to_owned(), described);
        }
        let required: Vec<&str> =
            self.parameters.iter().filter(|it| it.kind.is_required()).map(|parameter| parameter.name).collect();
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        schema.as_object().cloned().unwrap_or_default()
    }
}

/// Maximum number of elements in a list parameter.
pub(super) const MAX_TEXTS: usize = 20;
