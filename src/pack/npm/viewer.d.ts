/** Bytes of a snapshot file. */
export type Bytes = ArrayBuffer | Uint8Array | Blob;

/** Snapshots to show: one, two to compare, or one per rank. */
export interface Message {
  buffers: (Bytes | { buffer: Bytes; fileName?: string })[];
  /** Name of the run. */
  title?: string;
  /** Link to the run in your page; `{view}` is replaced by the view when the user copies the link. */
  url?: string;
  /** View to show, from an event `view`. */
  view?: string;
}

/** `detail` of the events `ready`, `error` and `view`. */
export interface ViewerEvent {
  event: "ready" | "error" | "view";
  /** Cause of an `error`. */
  message?: string;
  /** The shown view, for the attribute `view`. */
  view?: string;
}

/**
 * `<memscape-viewer src="run.pickle">`. Attributes: `src` (addresses of snapshots, separated by spaces), `view`, `tab`
 * (the view that is shown first), `page` (address of the page, if it is not beside the script).
 */
export class MemscapeViewer extends HTMLElement {
  /** Shows snapshots that have no address. */
  show(message: Message): void;
  addEventListener(type: "ready" | "view", listener: (event: CustomEvent<ViewerEvent>) => void): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}

declare global {
  interface HTMLElementTagNameMap {
    "memscape-viewer": MemscapeViewer;
  }
}
