//! The tools of the server. Each maps to a command and a subset of its arguments.
//!
//! To add a tool, add an entry to [`ALL`]. [`Parameter::kind`] says how a value becomes an argument of the command.

use serde_json::{Map, Value, json};

/// A tool that agents can call.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Command that answers the tool call.
    pub(super) command: &'static str,
    /// Description for the agent: what the tool answers, and how to use the answer.
    pub(super) about: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Link parameters of the page's view that shows the same. Empty if there is none.
    pub(super) view: &'static str,
}

/// A parameter of a tool.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) about: &'static str,
}

/// Conversion of a parameter to an argument of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `--flag=TEXT`.
    Text(&'static str),
    /// `--flag=NUMBER`.
    Number(&'static str),
    /// `--flag`, if the value is true.
    Flag(&'static str),
    /// `--flag=TEXT` for each text of a list.
    Texts(&'static str),
    /// A positional argument.
    Positional,
    /// A required positional argument.
    Statement,
    /// Another snapshot, as a required positional argument.
    File,
    /// Maximum number of rows, `--top`.
    Rows,
}

impl Kind {
    /// Returns true if the parameter is required.
    pub(super) fn is_required(self) -> bool {
        matches!(self, Kind::File | Kind::Statement)
    }
}

/// Maximum number of rows of one call. Longer answers would be cut anyway.
pub(super) const MOST_ROWS: u64 = 200;

const AT: Parameter = Parameter {
    name: "at",
    kind: Kind::Text("--at"),
    about: "Moment: an event number from another answer, peak, reserved-peak, oom, end, or a time such as 1.25s",
};
const DEVICE: Parameter = Parameter {
    name: "device",
    kind: Kind::Number("--device"),
    about: "Device ordinal, -1 for host memory. If omitted: the device that ran out of memory, else the one with the highest peak",
};
const ROWS: Parameter =
    Parameter { name: "rows", kind: Kind::Rows, about: "Rows of each table, at most 200. If omitted: 10" };
const CAPACITY: Parameter = Parameter {
    name: "capacity",
    kind: Kind::Text("--capacity"),
    about: "GPU memory, such as 80GiB. If omitted: what the snapshot records",
};
const PRESETS: Parameter = Parameter {
    name: "presets",
    kind: Kind::Texts("--preset"),
    about: "Common changes, such as batch=2, fsdp=8, checkpoint",
};

/// All tools except [`FILES`].
pub(super) const ALL: &[Tool] = &[
    Tool {
        name: "summary",
        command: "summary",
        about: "Peak, reserved and live bytes of each device, warnings, allocator settings, and what the recorder says: reason, step, rank, \
                capacity, memory outside the allocator.",
        parameters: &[],
        view: "",
    },
    Tool {
        name: "insights",
        command: "insights",
        about: "What stands out, as statements with a fix where there is one. Without a topic: the statements of all insights, the right \
                first question. With a topic: that insight with its tables. For an out-of-memory error ask for topic oom, which says why, \
                and then for topic savings, which says what lowers the peak and by how much.",
        parameters: &[
            Parameter {
                name: "topic",
                kind: Kind::Text("--topic"),
                about: "oom, savings, peak, leaks, fragmentation, settings, steps, modules, categories or pools",
            },
            AT,
            DEVICE,
            ROWS,
        ],
        view: "tab=why",
    },
    Tool {
        name: "savings",
        command: "savings",
        about: "What would lower the peak, by how many bytes, largest first: what to change in the program.",
        parameters: &[DEVICE, ROWS],
        view: "tab=why&topic=savings",
    },
    Tool {
        name: "call_tree",
        command: "live",
        about: "What is live at a moment, by the code that allocated it.",
        parameters: &[
            AT,
            Parameter {
                name: "by",
                kind: Kind::Text("--by"),
                about: "tree (from callers to callees), call-site, function or file. If omitted: call-site",
            },
            Parameter { name: "inverted", kind: Kind::Flag("--inverted"), about: "Tree from callees to callers" },
            DEVICE,
            ROWS,
        ],
        view: "tab=tree",
    },
    Tool {
        name: "find",
        command: "allocations",
        about: "Allocations that match a search, largest first, with number, size, events and call site, and name, kind, shape and dtype \
                of the tensor where a recorder wrote them.",
        parameters: &[
            Parameter {
                name: "query",
                kind: Kind::Positional,
                about: "train.py:23 (a frame or a tensor's name), /regular expression/, @train.py (call site), @category activation, \
                        #12 (number), 0x7f89b4000000 (address), >=1MiB, freed, never-freed; joined by &. If omitted: all",
            },
            AT,
            DEVICE,
            ROWS,
        ],
        view: "tab=table",
    },
    Tool {
        name: "events",
        command: "events",
        about: "Events of the allocator, in order.",
        parameters: &[
            Parameter { name: "from", kind: Kind::Text("--from"), about: "First event: a number, a time, peak, oom" },
            Parameter { name: "to", kind: Kind::Text("--to"), about: "Last event, inclusive" },
            Parameter {
                name: "action",
                kind: Kind::Text("--action"),
                about: "Comma-separated: alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map, segment_unmap, oom",
            },
            Parameter { name: "filter", kind: Kind::Text("--filter"), about: "A search, as of find" },
            DEVICE,
            ROWS,
        ],
        view: "tab=events",
    },
    Tool {
        name: "segments",
        command: "segments",
        about: "Reserved memory at a moment: segments, what is free where, which call sites pin it.",
        parameters: &[
            AT,
            Parameter {
                name: "request",
                kind: Kind::Text("--request"),
                about: "Bytes, such as 64MiB: where a request of so many would be placed",
            },
            DEVICE,
            ROWS,
        ],
        view: "tab=memory",
    },
    Tool {
        name: "diff",
        command: "diff",
        about: "Two snapshots: what is larger in the other one, by how much, and why.",
        parameters: &[
            Parameter { name: "other", kind: Kind::File, about: "The snapshot to compare with" },
            Parameter { name: "at", kind: Kind::Text("--at-a"), about: "Moment of the first. If omitted: its peak" },
            Parameter {
                name: "at_other",
                kind: Kind::Text("--at-b"),
                about: "Moment of the other. If omitted: its peak",
            },
            ROWS,
        ],
        view: "",
    },
    Tool {
        name: RANKS,
        command: "ranks",
        about: "The snapshots of many ranks in a folder: which differ, in what, and which ran out of memory first.",
        parameters: &[
            Parameter {
                name: "explain",
                kind: Kind::Number("--explain"),
                about: "A rank: why it differs from its group",
            },
            ROWS,
        ],
        view: "",
    },
    Tool {
        name: "whatif",
        command: "whatif",
        about: "Simulates PyTorch's caching allocator: what would have been reserved under other settings. Without settings some ten \
                are tried. It first says what it reproduces of the recording.",
        parameters: &[
            Parameter {
                name: "settings",
                kind: Kind::Texts("--set"),
                about: "Lines as for PYTORCH_CUDA_ALLOC_CONF, such as expandable_segments:True",
            },
            CAPACITY,
            PRESETS,
            DEVICE,
        ],
        view: "tab=why&topic=settings",
    },
    Tool {
        name: "plan",
        command: "plan",
        about: "The peak with other sizes: a larger batch, sharding, smaller dtypes; and the largest batch that fits.",
        parameters: &[
            Parameter {
                name: "factors",
                kind: Kind::Texts("--set"),
                about: "Factors on groups, such as activations=2x or \"optimizer state=/8\"",
            },
            PRESETS,
            CAPACITY,
            DEVICE,
        ],
        view: "tab=why&topic=savings",
    },
    Tool {
        name: "sql",
        command: "sql",
        about: "Any other question, as a SELECT statement of SQLite. Tables: allocation, event, stack, frame, segment, block, annotation, \
                curve, step, meta; live_at(when), tree(when), between(from, to), where a moment is 'peak', 'oom', 'end' or an event's \
                number. Functions: human(bytes), site(stack), frame_match(stack, 'regex'). SELECT * FROM allocation LIMIT 1 shows a table's columns.",
        parameters: &[Parameter {
            name: "query",
            kind: Kind::Statement,
            about: "One SELECT statement, such as SELECT category, sum(requested_bytes) FROM live_at('peak') GROUP BY 1",
        }],
        view: "",
    },
];

/// Name of the tool that lists snapshots.
pub(super) const FILES: &str = "files";
/// Description of the tool [`FILES`].
pub(super) const ABOUT_FILES: &str =
    "Snapshots that can be read, newest first. Their names are the argument file of the other tools.";
/// Name of the tool that compares ranks. Its file argument is a folder.
pub(super) const RANKS: &str = "ranks";

impl Tool {
    /// Returns the tool with the given name.
    pub(super) fn named(name: &str) -> Option<&'static Tool> {
        ALL.iter().find(|tool| tool.name == name)
    }

    /// Returns the JSON Schema of the arguments.
    pub(super) fn schema(&self) -> Map<String, Value> {
        let mut properties = Map::new();
        let about = if self.name == RANKS { "Folder with the snapshots" } else { "Snapshot" };
        let file =
            json!({"type": "string", "description": format!("{about}. If omitted: what the server was started with")});
        properties.insert("file".to_owned(), file);
        for parameter in self.parameters {
            let described = match parameter.kind {
                Kind::Text(_) | Kind::Positional | Kind::Statement | Kind::File => json!({"type": "string"}),
                Kind::Number(_) => json!({"type": "integer"}),
                Kind::Rows => json!({"type": "integer", "minimum": 1, "maximum": MOST_ROWS}),
                Kind::Flag(_) => json!({"type": "boolean"}),
                Kind::Texts(_) => json!({"type": "array", "items": {"type": "string"}, "maxItems": MOST_TEXTS}),
            };
            let described = crate::output::with(described, json!({"description": parameter.about}));
            properties.insert(parameter.name.to_owned(), described);
        }
        let required: Vec<&str> =
            self.parameters.iter().filter(|it| it.kind.is_required()).map(|parameter| parameter.name).collect();
        let schema =
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        schema.as_object().cloned().unwrap_or_default()
    }
}

/// Maximum number of texts in a list.
pub(super) const MOST_TEXTS: usize = 20;
