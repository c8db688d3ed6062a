// Talks to the desk's own Python side and to nobody else.

const KEPT = "desk-token";
const ONCE = "once=";  // a code of one use, where others could read the link

let refusal = null;  // why the code was not taken

async function takeToken() {
  // In the fragment, which no browser sends; out of the address at once; kept for reloads of this tab alone.
  const given = location.hash.slice(1);
  if (given !== "" && given !== "place") {
    history.replaceState(null, "", location.pathname);
    const got = given.startsWith(ONCE) ? await exchange(given.slice(ONCE.length)) : given;
    if (got !== null) sessionStorage.setItem(KEPT, got);
  }
  return sessionStorage.getItem(KEPT) ?? "";
}

async function exchange(code) {
  try {
    const response = await fetch("/token", { method: "POST", body: JSON.stringify({ code }) });
    if (response.ok) return (await response.json()).token;
    refusal = await response.text();
  } catch {
    refusal = null;  // nobody there; that is told when the watch begins
  }
  return null;
}

const token = await takeToken();
const headers = { authorization: `Bearer ${token}` };

const NOBODY_THERE = "The program behind this desk does not answer. What you typed is still here.";

export class Said extends Error {}   // a sentence for the person
export class Locked extends Said {}  // not our link
export class Lost extends Said {}    // nobody there

async function call(path, options = {}) {
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...headers, ...options.headers } });
  } catch {
    throw new Lost(NOBODY_THERE);
  }
  if (response.status === 403) throw new Locked(refusal ?? await response.text());
  if (!response.ok) throw new Said((await response.json()).said);
  return response;
}

export const get = async (path) => (await call(path)).json();

export async function post(path, body, { keepalive = false } = {}) {
  const response = await call(path, {
    method: "POST",
    keepalive,
    body: JSON.stringify(body ?? {}),
    headers: { "content-type": "application/json" },
  });
  return response.json();
}

export async function* watch() {
  // Not EventSource: that cannot carry the token, except in the address.
  const response = await call("/events");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read().catch(() => ({ done: true }));
      if (done) throw new Lost(NOBODY_THERE);  // one that is over says so before, and is left then
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const line of lines) if (line !== "") yield JSON.parse(line);
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
