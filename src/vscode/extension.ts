// VS Code extension: passes the bytes of PyTorch memory snapshots to the page of memscape, with the messages of
// www/docs/embedding.md. Everything else is the page.
import * as vscode from "vscode";

const VIEW_TYPE = "memscape.snapshot";
const SNAPSHOT_NAME = /\.(pickle|pkl)(\.(gz|zst|zip))?$/;
/** Keys of a snapshot, one of which must occur in this number of bytes at its start. */
const KEYS = ["segments", "device_traces", "total_size"], START_BYTES = 1 << 16;
/** Maximum number of files of a folder: that of the page. */
const MAX_FILES = 4096;

/**
 * Script and style before the page, and so before its content security policy. The extension's messages are sent on by
 * the page's own window, which the page trusts, once it listens. The page's events go back to the extension. The system's
 * theme is that of VS Code, which is a class of the body, while the user has not chosen one in the page.
 */
const BRIDGE = `<script>{
  const vscode = acquireVsCodeApi();
  let waiting, given, ping = setInterval(() => postMessage("PING", origin), 50);
  addEventListener("message", event => {
    const { source, data } = event;
    if (source !== window) {
      event.stopImmediatePropagation();
      if (ping) waiting = data; else postMessage(data, origin);
    } else if (data === "PONG" && ping) {
      if (waiting) postMessage(waiting, origin);
      ping = waiting = clearInterval(ping);
    } else if (data?.memscape?.event) vscode.postMessage(data.memscape);
  }, true);
  const media = matchMedia, system = new EventTarget(), { dataset } = document.documentElement;
  matchMedia = query => query.includes("prefers-color-scheme") ? system : media(query);
  const follow = () => {
    system.matches = /vscode-(dark|high-contrast(?!-light))/.test(document.body.className);
    const theme = system.matches ? "dark" : "light";
    if (dataset.theme === theme || (dataset.theme ?? given) !== given) return;
    dataset.theme = given = theme;
    system.dispatchEvent(new Event("change"));
  };
  addEventListener("DOMContentLoaded", follow);
  new MutationObserver(follow).observe(document, { subtree: true, attributeFilter: ["class", "data-theme"] });
}</script><style>#welcome { display: none !important; } body { padding: 0; }</style>`;

class Viewer implements vscode.CustomReadonlyEditorProvider {
  private page?: Promise<string>;

  constructor(private readonly context: vscode.ExtensionContext) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose() {} };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, panel: vscode.WebviewPanel): Promise<void> {
    const bytes = await vscode.workspace.fs.readFile(uri);
    if (await isSnapshot(bytes)) return this.show(panel, [uri], [bytes]);
    // An editor can be closed once it is shown.
    panel.webview.options = { enableScripts: true };
    panel.webview.onDidReceiveMessage(() => {
      panel.dispose();
      void vscode.commands.executeCommand("vscode.openWith", uri, "default");
      void vscode.window.showWarningMessage(`${nameOf(uri)} is not a PyTorch memory snapshot.`);
    });
    panel.webview.html = "<script>acquireVsCodeApi().postMessage({})</script>";
  }

  /** Shows files in a tab of their own: two are compared, more are ranks. */
  async open(title: string, uris: vscode.Uri[]): Promise<void> {
    const options = { enableScripts: true, retainContextWhenHidden: true };
    const panel = vscode.window.createWebviewPanel("memscape.files", title, vscode.ViewColumn.Active, options);
    await this.show(panel, uris, await Promise.all(uris.map(uri => vscode.workspace.fs.readFile(uri))));
  }

  private async show({ webview }: vscode.WebviewPanel, uris: vscode.Uri[], files: Uint8Array[]): Promise<void> {
    const key = ["view", ...uris].join(" ");
    webview.options = { enableScripts: true };
    webview.onDidReceiveMessage(({ event, view }) => {
      if (event === "view") void this.context.workspaceState.update(key, view);
    });
    this.page ??= this.readPage();
    webview.html = await this.page;
    const buffers = files.map((buffer, index) => ({ buffer, fileName: nameOf(uris[index]) }));
    // VS Code shows the page only once the editor is resolved, and the message arrives after that: not awaited.
    void webview.postMessage({ memscape: { buffers, view: this.context.workspaceState.get(key) } });
  }

  private async readPage(): Promise<string> {
    const page = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(this.context.extensionUri, "memscape.html"));
    return new TextDecoder().decode(page).replace("<head>", () => `<head>${BRIDGE}`);
  }
}

function nameOf(uri: vscode.Uri): string {
  return uri.path.split("/").pop() ?? "";
}

/** Returns whether a file may be a snapshot. A pickle of another program is left to other editors. */
async function isSnapshot(bytes: Uint8Array): Promise<boolean> {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await inflateStart(bytes);
  const isPickle = bytes[0] === 0x80 && bytes[1] >= 2 && bytes[1] <= 5;
  const isArchive = (bytes[0] === 0x28 && bytes[1] === 0xb5) || (bytes[0] === 0x50 && bytes[1] === 0x4b);
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, START_BYTES));
  return isArchive || (isPickle && KEYS.some(key => start.includes(key)));
}

/** Decompresses the start of a gzip file. Returns what could be decompressed. */
async function inflateStart(bytes: Uint8Array): Promise<Uint8Array> {
  const start = new Uint8Array(START_BYTES);
  let length = 0;
  try {
    const gzipped = new Blob([bytes.slice(0, START_BYTES)]).stream();
    const reader = gzipped.pipeThrough(new DecompressionStream("gzip")).getReader();
    while (length < START_BYTES) {
      const { value, done } = await reader.read();
      if (done) break;
      start.set(value.subarray(0, START_BYTES - length), length);
      length += value.length;
    }
  } catch { /* The compressed bytes end early. */ }
  return start.subarray(0, Math.min(length, START_BYTES));
}

async function snapshotsIn(folder: vscode.Uri): Promise<vscode.Uri[]> {
  const entries = await vscode.workspace.fs.readDirectory(folder);
  const names = entries.map(([name]) => name).filter(name => SNAPSHOT_NAME.test(name)).sort().slice(0, MAX_FILES);
  return names.map(name => vscode.Uri.joinPath(folder, name));
}

export function activate(context: vscode.ExtensionContext): void {
  const viewer = new Viewer(context);
  const command = (name: string, run: (uri?: vscode.Uri) => unknown) =>
    context.subscriptions.push(vscode.commands.registerCommand(`memscape.${name}`, run));
  const openWith = (uri: vscode.Uri | undefined, column: vscode.ViewColumn) =>
    uri && vscode.commands.executeCommand("vscode.openWith", uri, VIEW_TYPE, column);
  context.subscriptions.push(
    vscode.window.registerCustomEditorProvider(VIEW_TYPE, viewer, { webviewOptions: { retainContextWhenHidden: true } }),
  );
  command("open", uri => openWith(uri, vscode.ViewColumn.Active));
  command("beside", uri => openWith(uri, vscode.ViewColumn.Beside));
  command("compare", async () => {
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
    if (!(tab instanceof vscode.TabInputCustom)) return;
    const others = await vscode.window.showOpenDialog({ openLabel: "Compare", title: `Compare ${nameOf(tab.uri)} with` });
    if (others) await viewer.open(`${nameOf(tab.uri)} ↔ ${nameOf(others[0])}`, [tab.uri, others[0]]);
  });
  command("ranks", async uri => {
    const folder = uri ?? (await vscode.window.showOpenDialog({ canSelectFolders: true, canSelectFiles: false }))?.[0];
    const files = folder ? await snapshotsIn(folder) : [];
    if (files.length > 0 && folder) return viewer.open(nameOf(folder), files);
    if (folder) vscode.window.showWarningMessage(`${nameOf(folder)} has no snapshot.`);
  });
}
