//! Runs Python code in documents, with the package, the stand-in for PyTorch and the program under test.

use super::documents;
use super::workshop::{Workshop, has_python};

/// Defines the names that blocks and spans use. pandas, Polars, IPython and pytest are mocks, because they may not be
/// installed. tests/python tests them.
const PRELUDE: &str = r#"
import sys, unittest.mock
for module in ("pandas", "polars", "IPython", "IPython.display", "pytest"):
    sys.modules[module] = unittest.mock.MagicMock()
import memscape, memscape.integrations, torch

views, view = [], memscape.view
def kept(*paths, **options):
    views.append(view(*paths, **options))
    return views[-1]
memscape.view = kept

model = torch.nn.Module(weight=torch.empty(1024))
optimizer = torch.optim.Adam(tensor for _, tensor in model.named_parameters())
loader, folder, FILE = range(3), "folder", "FILE"
def train():
    torch.empty(1024)
def train_step(batch):
    torch.empty(1024 + batch)
    optimizer.step()
"#;

/// Stops the servers that a block started.
const EPILOGUE: &str = "
for shown in views:
    shown.close()
";

/// Runs a Python program. Returns its error output if it fails.
fn run(workshop: &Workshop, program: &str) -> Option<String> {
    let mut python = workshop.command("python3");
    python.args(["-c", program]);
    let output = workshop.output(python, "");
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn python_in_documents_runs() {
    if !has_python() {
        return;
    }
    let workshop = Workshop::new("python");
    let mut count = 0;
    for document in documents() {
        for block in document.blocks.iter().filter(|block| block.language == "python") {
            count += 1;
            let error = run(&workshop, &format!("{PRELUDE}\n{}\n{EPILOGUE}", block.text));
            assert!(error.is_none(), "{}:{}: {}", document.name, block.line, error.unwrap());
        }
        // Calls in code spans of prose and tables.
        let calls = document.spans.iter().filter(|span| {
            ["memscape.", "rec.", "s."].iter().any(|start| span.text.starts_with(start)) && span.text.contains('(')
        });
        let calls: Vec<&str> = calls.map(|span| &*span.text).collect();
        if !calls.is_empty() {
            count += calls.len();
            let program = format!(
                "{PRELUDE}\nrec = memscape.start(folder)\ns = memscape.open(FILE)\n{}\n{EPILOGUE}",
                calls.join("\n")
            );
            let error = run(&workshop, &program);
            assert!(error.is_none(), "{}: {calls:?}: {}", document.name, error.unwrap());
        }
    }
    assert!(count >= 8, "{count} Python snippets were run");
}
