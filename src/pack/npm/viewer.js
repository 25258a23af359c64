// Custom element that shows PyTorch memory snapshots in a frame with the page of memscape. Types: viewer.d.ts.

const PAGE = new URL("./memscape.html", import.meta.url).href;

/** @param {string} address */
async function fetchFile(address) {
  const response = await fetch(new URL(address, document.baseURI));
  if (!response.ok) throw new Error(`${address}: the server answered with status ${response.status}.`);
  return { buffer: await response.arrayBuffer(), fileName: address.split(/[?#]/)[0].split("/").pop() };
}

export class MemscapeViewer extends HTMLElement {
  static observedAttributes = ["src"];
  #frame = document.createElement("iframe");
  /** @type {number | undefined} Timer that asks the page whether it listens. Messages before that are lost. */
  #ping;
  /** @type {import("./viewer.js").Message | undefined} */
  #message;

  /** @param {MessageEvent} message */
  #listen = ({ source, data }) => {
    if (source !== this.#frame.contentWindow) return;
    if (data === "PONG" && this.#ping) {
      this.#ping = void clearInterval(this.#ping);
      if (this.#message) this.show(this.#message);
    } else if (data?.memscape) this.dispatchEvent(new CustomEvent(data.memscape.event, { detail: data.memscape }));
  };

  connectedCallback() {
    const page = new URL(this.getAttribute("page") ?? PAGE, document.baseURI);
    page.search = `?embed&tab=${encodeURIComponent(this.getAttribute("tab") ?? "")}`;
    Object.assign(this.#frame, { src: page.href, title: "GPU memory", allow: "clipboard-write" });
    this.#frame.style.cssText = "display: block; width: 100%; height: 100%; border: 0";
    (this.shadowRoot ?? this.attachShadow({ mode: "open" })).replaceChildren(this.#frame);
    addEventListener("message", this.#listen);
    this.#ping = window.setInterval(() => this.#frame.contentWindow?.postMessage("PING", "*"), 100);
  }

  disconnectedCallback() {
    clearInterval(this.#ping);
    removeEventListener("message", this.#listen);
  }

  /** @param {string} _name @param {string | null} _before @param {string | null} src */
  async attributeChangedCallback(_name, _before, src) {
    const buffers = await Promise.all((src ?? "").split(/\s+/).filter(Boolean).map(fetchFile)).catch(({ message }) =>
      void this.dispatchEvent(new CustomEvent("error", { detail: { event: "error", message } })));
    // A later address replaces this one.
    if (buffers?.length && this.getAttribute("src") === src) this.show({ buffers, view: this.getAttribute("view") ?? "" });
  }

  /** @param {import("./viewer.js").Message} message */
  show(message) {
    this.#message = message;
    if (!this.isConnected || this.#ping) return;
    this.#frame.contentWindow?.postMessage({ memscape: { title: document.title, ...message } }, new URL(this.#frame.src).origin);
  }
}

customElements.define("memscape-viewer", MemscapeViewer);
