//! Instructions for recording a snapshot, shown on the start page.

/// Python code that records a snapshot. The page displays it and can copy it.
pub const SNIPPET: &str = "\
import torch

torch.cuda.memory._record_memory_history(max_entries=100_000)
...  # the steps to look at
torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")
torch.cuda.memory._record_memory_history(enabled=None)
";
