// The state of a thread: whose turn runs, by whose authority, who waits.

import { h, icon } from "./dom.js";
import { avatar } from "./messages.js";

const ends = { done: "answered", stopped: "stopped", failed: "given up", abandoned: "abandoned", withdrawn: "taken back" };
const ended = (t, name) => t.state === "parked" ? `${name} is asked in direct messages` : `${name}’s turn was ${ends[t.state] ?? t.state}`;
const short = (turn) => turn.id.slice(-6);

// threadState says it in data: {running, last, queue, told}.
export function threadState(store, channel, root) {
  const conversation = store.conversation(channel, root);
  const running = store.fates.running(conversation);
  return { conversation, running, last: store.fates.last(conversation), queue: store.fates.queue(conversation) };
}

export function statusSig(s) {
  return JSON.stringify([s.running, s.last, s.queue]);
}

// status is the lines at the head of a thread.
export function status(store, s) {
  const name = (id) => store.name(id);
  const out = [];
  if (s.running) {
    const t = s.running;
    out.push(h("p", { class: "turn running", data: { turn: t.id } },
      h("span", { class: "pulse", "aria-hidden": "true" }),
      h("span", {}, h("b", {}, `Working for ${name(t.actor)}`),
        t.stop ? ` · ${name(t.stop.author)} stops it` : "",
        t.attempt > 1 ? ` · attempt ${t.attempt}` : ""),
      h("span", { class: "elapsed", "aria-hidden": "true", data: { since: t.began } }),
      h("span", { class: "id", title: t.id }, "turn ", h("code", {}, short(t)))));
    out.push(h("p", { class: "authority" },
      `Acts on ${name(t.actor)}’s authority alone. `,
      t.told.length > 0 && h("span", {}, `What ${list(t.told.map(name))} added is information.`)));
  } else if (s.last) {
    const t = s.last;
    out.push(h("p", { class: "turn", data: { turn: t.id } }, h("span", { class: "still", "aria-hidden": "true" }),
      h("span", {}, h("b", {}, "Nothing runs"), " · " + ended(t, name(t.actor))),
      h("span", { class: "id", title: t.id }, "turn ", h("code", {}, short(t)))));
  } else {
    out.push(h("p", { class: "turn" }, h("span", { class: "still", "aria-hidden": "true" }), h("b", {}, "Nothing runs")));
  }
  if (s.queue.length > 0) {
    out.push(h("p", { class: "queue" }, h("span", {}, "Waiting"),
      h("span", { class: "chips" }, s.queue.map((q, n) =>
        h("span", { class: "chip", data: { waits: q.author } }, avatar(store, q.author), h("span", { class: "unseen" }, `${n + 1}.`),
          name(q.author), q.messages > 1 && ` · ${q.messages} messages`)))));
  }
  return out;
}

// brief is a thread's state in a few words, for the list.
export function brief(store, s) {
  if (s.running) {
    const waits = s.queue.map((q) => store.name(q.author));
    return h("span", { class: "brief running" }, h("span", { class: "pulse", "aria-hidden": "true" }),
      `Working for ${store.name(s.running.actor)}`, waits.length > 0 && h("span", { class: "muted" }, ` · ${list(waits)} wait${waits.length > 1 ? "" : "s"}`));
  }
  if (s.last) return h("span", { class: "brief muted" }, icon({ done: "check", parked: "wait" }[s.last.state] ?? "stop"), ended(s.last, store.name(s.last.actor)));
  return null;
}

function list(names) {
  const once = [...new Set(names)];
  return once.length < 2 ? once.join("") : once.slice(0, -1).join(", ") + " and " + once.at(-1);
}

// tick writes how long each running turn has run.
export function tick(root) {
  for (const el of root.querySelectorAll(".elapsed")) {
    const s = Math.max(0, Math.round((Date.now() - Number(el.dataset.since)) / 1000));
    el.textContent = s < 60 ? `${s} s` : `${Math.floor(s / 60)} min ${s % 60} s`;
  }
}
