//! How to record a snapshot, for the empty page.

/// What to run; shown and copied by the page.
pub const SNIPPET: &str = "\
import torch

torch.cuda.memory._record_memory_history(max_entries=100_000)
...  # the steps to look at
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")
torch.cuda.memory._record_memory_history(enabled=None)
";
