// The simulator's endpoints. The key stands in the page's own address.

const key = new URLSearchParams(location.search).get("key") ?? "";

export class WireError extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

async function call(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: { "X-Sim-Key": key, ...(body && { "Content-Type": "application/json" }) },
      body: body && JSON.stringify(body),
    });
  } catch {
    throw new WireError(0, "The playground does not answer. Is it still running?");
  }
  const text = await answer.text();
  let value = null;
  try {
    value = JSON.parse(text);
  } catch { /* a plain error */ }
  if (!answer.ok) throw new WireError(answer.status, value?.error ?? text.trim());
  return value;
}

export const state = () => call("GET", "/sim/state");
export const say = (user, channel, text, thread) =>
  call("POST", "/sim/say", { user, channel, text, typed: true, ...(thread && { thread_ts: thread }) });
export const edit = (user, channel, ts, text) => call("POST", "/sim/edit", { user, channel, ts, text, typed: true });
export const remove = (channel, ts) => call("POST", "/sim/delete", { channel, ts });
export const react = (user, channel, ts, name, off) => call("POST", "/sim/react", { user, channel, ts, name, remove: off });
export const click = (user, channel, ts, action_id, ticked) => call("POST", "/sim/click", { user, channel, ts, action_id, ticked });
export const clickHome = (user, action_id) => call("POST", "/sim/click", { user, action_id, home: true });
export const home = (user) => call("POST", "/sim/home", { user, tab: "home" });
export const submit = (user, view_id, values) => call("POST", "/sim/submit", { user, view_id, values });
export const close = (user, view_id) => call("POST", "/sim/close", { user, view_id });

// pace is what the demo model's pace is, or null where it cannot be set.
export async function pace() {
  try {
    return await call("GET", "/play/pace");
  } catch {
    return null;
  }
}
export const setPace = (ms) => call("POST", "/play/pace", { ms });

// watch reads the log of events from its beginning and goes on as it grows.
// heard(event) is called for each, live(bool) when the stream comes or goes.
export function watch(heard, live) {
  const source = new EventSource("/sim/events?since=0&key=" + encodeURIComponent(key));
  source.onopen = () => live(true);
  source.onerror = () => live(false);
  source.onmessage = (e) => heard(JSON.parse(e.data));
  return source;
}
