//! `memscape mcp`: offers the commands of `memscape ask` to agents, as tools of the Model Context Protocol.
//!
//! ```text
//! client ⇄ stdio ⇄ lines ⇄ rmcp ⇄ Server ─▶ thread with the open file: tool arguments → command line → JSON → bounded
//! ```
//! The server only reads snapshots and writes no files. Standard output carries only the protocol.

mod arguments;
mod files;
mod length_limit;
mod messages;
mod tool_call;
mod tools;
mod transport;

use super::ask::CommandRunner;
use super::cancellation::{self, CancelFlag};
use super::kept_file;
use clap::Args;
use files::AllowedFiles;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use tokio::sync::oneshot;
use tools::{FILES, FILES_DESCRIPTION, Tool};

const INSTRUCTIONS: &str = "memscape reads PyTorch GPU memory snapshots. Why did it run out of memory, and what to change: insights with topic \
oom, then savings, then whatif or plan to check a change. live_bytes is what the program requested and holds, reserved_bytes what PyTorch took \
from the driver: never add them. event numbers are moments (at), numbers of allocations are found with find(query=\"#12\"). Answers are cut to \
some 20,000 bytes; cut says what is missing. link is the part behind the address of the page that shows the same: memscape serve FILE prints \
the address.";

/// Arguments of `memscape mcp`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Mcp {
    /// Default snapshot, or a folder of snapshots; files outside the folder are not read
    #[arg(value_name = "FILE|FOLDER")]
    pub(crate) path: Option<PathBuf>,
}

/// A tool call, sent to the thread that has the file open.
struct ToolCall {
    name: String,
    arguments: Map<String, Value>,
    reply: oneshot::Sender<Result<Value, String>>,
    cancelled: CancelFlag,
}

struct Server {
    calls: mpsc::Sender<ToolCall>,
}

impl Mcp {
    /// Serves requests until standard input ends.
    ///
    /// # Errors
    /// Returns an error message if the path cannot be read or I/O fails.
    pub(crate) fn run(&self, answerer: CommandRunner) -> Result<(), String> {
        let files = AllowedFiles::new(self.path.as_deref())?;
        let (calls, asked) = mpsc::channel::<ToolCall>();
        // The open file belongs to one thread, which answers one tool call at a time.
        std::thread::spawn(move || {
            for ToolCall { name, arguments, reply, cancelled } in asked {
                let answer = cancelled.run_with(|| {
                    cancellation::check()?;
                    tool_call::run_tool(&name, &arguments, &files, answerer)
                });
                if cancelled.is_set() {
                    // The engine may still be working on the cancelled tool call.
                    kept_file::close();
                }
                // A cancelled request has no receiver.
                let _ = reply.send(answer);
            }
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let served = runtime.block_on(async {
            let service = Server { calls }.serve(transport::stdio()).await.map_err(|error| error.to_string())?;
            service.waiting().await.map(drop).map_err(|error| error.to_string())
        });
        // A read of standard input may still be blocking.
        runtime.shutdown_background();
        served
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("memscape", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if page.is_some_and(|page| page.cursor.is_some()) {
            return Err(ErrorData::invalid_params("unknown cursor: all tools are on the first page", None));
        }
        let tool = |name: &'static str, about: &'static str, schema: Map<String, Value>| {
            rmcp::model::Tool::new(name, about, Arc::new(schema))
                .with_annotations(ToolAnnotations::new().read_only(true))
        };
        let none = json!({"type": "object", "properties": {}}).as_object().cloned().unwrap_or_default();
        let files = tool(FILES, FILES_DESCRIPTION, none);
        let others = tools::TOOLS.iter().map(|it| tool(it.name, it.description, it.schema()));
        Ok(ListToolsResult::with_all_items([files].into_iter().chain(others).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != FILES && Tool::by_name(&request.name).is_none() {
            let name: String = request.name.chars().take(100).collect();
            let names: Vec<&str> = [FILES].into_iter().chain(tools::TOOLS.iter().map(|it| it.name)).collect();
            let error = format!("no tool {name} [possible values: {}]", names.join(", "));
            return Err(ErrorData::invalid_params(error, None));
        }
        let (reply, mut answer) = oneshot::channel();
        let cancelled = CancelFlag::default();
        let arguments = request.arguments.unwrap_or_default();
        let question = ToolCall { name: request.name.into_owned(), arguments, reply, cancelled: cancelled.clone() };
        let gone = || ErrorData::internal_error("the thread that reads snapshots has ended", None);
        self.calls.send(question).map_err(|_| gone())?;
        let answer = tokio::select! {
            answer = &mut answer => answer,
            () = context.ct.cancelled() => {
                cancelled.set();
                answer.await
            }
        };
        // Errors are returned as results, so that the agent can read them and ask differently.
        Ok(CallToolResponse::from(match answer.map_err(|_| gone())? {
            Ok(answer) => CallToolResult::success(vec![ContentBlock::text(answer.to_string())]),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
        }))
    }
}
