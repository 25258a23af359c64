// Answers for the page's own files while there is no network. `./run build` writes the list: each file of the build with its hash.
// A build is kept whole or not at all, under the hash of its list, and takes the place of the one before as a whole. Whatever is not in
// the list goes to the network as if this script were not there: no snapshot ever passes through it, but for a file that another program
// shares with the page, which is handed on and not kept.
const BUILD = "memscape-{BUILD}";
const FILES = new Map({FILES});

// "./" stands for index.html: hosts redirect its name, and no redirection can answer a navigation.
const nameOf = (url) => {
  const { origin, pathname } = new URL(url);
  const scope = new URL(registration.scope);
  if (origin !== scope.origin || !pathname.startsWith(scope.pathname)) return "";
  return "./" + pathname.slice(scope.pathname.length).replace(/^index\.html$/, "");
};

const keep = async () => {
  const cache = await caches.open(BUILD);
  // One that is not what the list says is an error: then the build before stays, until all of this one can be had.
  for (const [name, integrity] of FILES) await cache.add(new Request(name, { integrity, cache: "no-cache" }));
};

const clear = async () => {
  for (const name of await caches.keys()) if (name.startsWith("memscape-") && name !== BUILD) await caches.delete(name);
};

let shared = [];
const share = async (request) => {
  shared = (await request.formData()).getAll("snapshot").filter((file) => file instanceof File);
  return Response.redirect("./?shared", 303);
};

const answer = async (request, name) => {
  // A newer build waits for the pages of this one: a reload of the last of them is where it begins. Chromium may never answer a
  // navigation that arrives while the newer build takes over, so the page loads again a second later.
  if (request.mode === "navigate" && registration.waiting && (await clients.matchAll()).length < 2) {
    registration.waiting.postMessage("begin");
    return new Response("", { headers: { Refresh: "1" } });
  }
  return (await (await caches.open(BUILD)).match(name)) ?? fetch(request);
};

addEventListener("install", (event) => event.waitUntil(keep()));
addEventListener("activate", (event) => event.waitUntil(clear()));
addEventListener("message", (event) => {
  if (event.data === "begin") skipWaiting();
  if (event.data === "shared") event.source.postMessage(shared.splice(0));
});
addEventListener("fetch", (event) => {
  const { request } = event;
  const name = nameOf(request.url);
  if (request.method === "POST" && name === "./" && new URL(request.url).search === "?share") event.respondWith(share(request));
  else if (request.method === "GET" && FILES.has(name)) event.respondWith(answer(request, name));
});
