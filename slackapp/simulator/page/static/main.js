// The page: it holds what is looked at and by whom, and draws it anew whenever
// the store has heard something.

import { h, icon, keep, put } from "./dom.js";
import * as wire from "./wire.js";
import { Store } from "./store.js";
import { tell } from "./fates.js";
import { avatar, clock, hue, message, notice } from "./messages.js";
import { brief, status, statusSig, threadState, tick } from "./status.js";
import { Composer } from "./composer.js";
import { guide } from "./guide.js";
import { Window } from "./window.js";

const $ = (id) => document.getElementById(id);

const view = {
  me: null,
  place: null,
  threads: new Map(), // place -> the root that is open there
  editing: null,
  home: false, // the home tab is looked at
  read: new Map(), // direct messages -> ts of the last that was read there
  seen: new Map(), // person -> number of private notices seen
};
let store;
let rootBox;
let threadBox;
let dialog;

const root = () => view.threads.get(view.place) ?? null;
const ui = {
  get me() { return view.me; },
  get editing() { return view.editing; },
  name: (id) => (id === store.bot.user_id ? store.people.get(id)?.handle ?? id : store.name(id)),
  edit: (m) => { view.editing = m.ts; draw(); document.querySelector(".editor textarea")?.focus(); },
  cancel: () => { view.editing = null; draw(); },
  save: async (m, text) => {
    if (text && text !== m.text) await attempt(() => wire.edit(view.me, m.channel, m.ts, text));
    ui.cancel();
  },
  remove: (m) => attempt(() => wire.remove(m.channel, m.ts)),
  sign: (m, off) => attempt(() => wire.react(view.me, m.channel, m.ts, "octagonal_sign", off)),
  press: (m, action, ticked) => attempt(() => wire.click(view.me, m.channel, m.ts, action, ticked)),
};

async function attempt(act) {
  try {
    await act();
  } catch (err) {
    fail(err.message);
  }
}

function fail(text) {
  $("failure").textContent = text;
  $("failure").hidden = !text;
}

function announce(text) {
  $("announce").textContent = text;
}

// become makes the one before the screen another person.
function become(user) {
  if (!store.people.has(user)) return;
  const inDM = store.channels.get(view.place)?.kind === "im";
  view.me = user;
  view.editing = null;
  view.home = false;
  const places = store.places(user);
  if (!places.some((c) => c.id === view.place)) view.place = (inDM && places.find((c) => c.kind === "im") || places[0]).id;
  for (const input of $("people").querySelectorAll("input")) input.checked = input.value === user;
  document.documentElement.dataset.me = hue(store, user);
  announce(`You are ${store.name(user)}`);
  draw();
}

function go(place) {
  view.place = place;
  view.editing = null;
  $("frame").dataset.shows = "list";
  draw();
}

function open(ts) {
  view.threads.set(view.place, ts);
  view.editing = null;
  $("frame").dataset.shows = "thread";
  draw();
  const scroll = $("replies-scroll");
  scroll.scrollTop = scroll.scrollHeight;
  threadBox.box.focus({ preventScroll: true });
}

function close() {
  const was = root();
  view.threads.delete(view.place);
  $("frame").dataset.shows = "list";
  draw();
  ($("roots").querySelector(`[data-ts="${was}"] .open`) ?? rootBox.box).focus();
}

// --- drawing

let due = false;
function draw() {
  drawPeople();
  drawPlaces();
  drawList();
  drawThread();
  drawWindow();
  guide($("steps"), store, prepare);
  document.title = `${store.name(view.me)} · Reeve playground`;
}
function drawSoon() {
  if (due) return;
  due = true;
  setTimeout(() => {
    due = false;
    draw();
  }, 16);
}

function drawPeople() {
  for (const p of store.personas()) {
    let label = document.querySelector(`#people [data-person="${p.id}"]`);
    if (!label) {
      const n = store.personas().indexOf(p) + 1;
      const input = h("input", { type: "radio", name: "me", value: p.id, on: { change: () => become(p.id) }, ...(n <= 9 && { "aria-keyshortcuts": `Alt+${n}` }) });
      label = h("label", { class: "person", data: { person: p.id } }, input, avatar(store, p.id),
        h("span", { class: "name" }, p.name), h("span", { class: "news" }), n <= 9 && h("kbd", { "aria-hidden": "true" }, String(n)));
      $("people").append(label);
    }
    const total = store.ephemerals.filter((e) => e.user === p.id).length;
    if (p.id === view.me) view.seen.set(p.id, total);
    const fresh = total - (view.seen.get(p.id) ?? 0);
    put(label.querySelector(".news"), fresh > 0 && [h("span", { "aria-hidden": "true" }, String(fresh)),
      h("span", { class: "unseen" }, `, ${fresh} private ${fresh > 1 ? "notices" : "notice"}`)]);
    label.querySelector("input").checked = p.id === view.me;
  }
}

function drawPlaces() {
  keep($("places"), store.places(view.me).map((c) => ({
    key: c.id, sig: `${c.id === view.place} ${fresh(c)}`,
    build: () => h("li", {}, h("button", { type: "button", data: { focus: c.id, place: c.id }, "aria-current": c.id === view.place ? "page" : null, on: { click: () => go(c.id) } },
      icon(c.kind === "im" ? "message" : c.kind === "group" ? "lock" : "hash"),
      store.placeName(c), c.kind === "im" && h("span", { class: "kind" }, "direct message"),
      fresh(c) > 0 && h("span", { class: "fresh" }, `${fresh(c)} new`))),
  })));
}

// fresh is how many messages of the bot's are new in one's own direct messages.
function fresh(c) {
  if (c.kind !== "im") return 0;
  const roots = store.roots(c.id).filter((m) => m.user === store.bot.user_id);
  if (c.id === view.place) view.read.set(c.id, roots.at(-1)?.ts ?? "");
  return roots.filter((m) => m.ts > (view.read.get(c.id) ?? "")).length;
}

function drawList() {
  const c = store.channels.get(view.place);
  const direct = c.kind === "im";
  put($("place-title"), icon(direct ? "message" : c.kind === "group" ? "lock" : "hash"), store.placeName(c));
  $("place-topic").textContent = direct ? `Between ${store.name(view.me)} and the bot` : c.members.filter((u) => !store.people.get(u)?.is_bot).map((u) => store.name(u)).join(", ");
  $("home").hidden = !direct;
  const roots = store.roots(c.id);
  const items = roots.map((m) => {
    const s = threadState(store, c.id, m.ts);
    const replies = store.thread(c.id, m.ts).length - 1;
    const isOpen = m.ts === root();
    return {
      key: m.ts,
      sig: JSON.stringify([m, fateSig(m), statusSig(s), replies, isOpen, mine(m)]),
      build: () => {
        const li = message(store, ui, m, { summary: summary(m, s, replies, isOpen) });
        if (isOpen) li.dataset.open = "yes";
        return li;
      },
    };
  });
  items.push(...privateItems(c.id, ""));
  items.sort((a, b) => (a.key < b.key ? -1 : 1));
  stick($("roots-scroll"), () => keep($("roots"), items));
  $("roots-empty").hidden = items.length > 0;
  put($("roots-empty"), h("p", {}, direct ? "Nothing here yet. Write to the bot: here no mention is needed." : "Nothing here yet. Mention the bot, and it answers in your message’s thread."));
  rootBox.show({ store, me: view.me, place: c.id, hint: direct ? `write to ${store.placeName(c)}` : `write in #${store.placeName(c)}` });
}

function summary(m, s, replies, isOpen) {
  return h("p", { class: "summary" },
    h("button", { type: "button", class: "open", data: { focus: "open" }, "aria-expanded": String(isOpen), on: { click: () => open(m.ts) } },
      replies === 0 ? "Thread" : replies === 1 ? "1 reply" : `${replies} replies`,
      h("span", { class: "unseen" }, ` below ${store.name(m.user ?? "")}’s message of ${clock(m.ts)}`)),
    brief(store, s));
}

function drawThread() {
  const ts = root();
  const c = store.channels.get(view.place);
  const there = ts && c.messages.has(ts);
  $("replies-empty").hidden = !!there;
  for (const id of ["say-thread", "status", "stop", "thread-topic"]) $(id).hidden = !there;
  if (!there) {
    put($("replies-empty"), h("p", {}, "Open a thread, or write a message to begin one. What becomes of each message is shown below it, as it happens."));
    keep($("replies"), []);
    return;
  }
  $("thread-topic").textContent = `begun by ${store.name(c.messages.get(ts).user ?? "")}`;
  const s = threadState(store, c.id, ts);
  const sig = statusSig(s) + ts;
  if ($("status").sig !== sig) {
    $("status").sig = sig;
    put($("status"), status(store, s));
    $("status").dataset.state = s.running ? "running" : "idle";
    tick($("status"));
  }
  $("stop").disabled = false;
  $("stop").setAttribute("aria-label", `Say stop in this thread, as ${store.name(view.me)}`);
  const items = store.thread(c.id, ts).map((m) => ({
    key: m.ts, sig: JSON.stringify([m, fateSig(m), mine(m)]),
    build: () => message(store, ui, m, { root: m.ts === ts }),
  }));
  items.push(...privateItems(c.id, ts));
  items.sort((a, b) => (a.key < b.key ? -1 : 1));
  stick($("replies-scroll"), () => keep($("replies"), items));
  threadBox.show({ store, me: view.me, place: c.id, hint: "reply in this thread" });
}

// drawWindow shows what the bot has opened for the one before the screen, or his
// home tab.
function drawWindow() {
  const open = store.windowOf(view.me);
  const home = !open && view.home;
  dialog.show(open ?? (home ? store.homes.get(view.me) ?? null : null), ui.name, home);
}

const acts = {
  submit: (v, values) => attempt(() => wire.submit(view.me, v.id, values)),
  close: (v) => {
    if (!view.home || store.windows.has(v.id)) return attempt(() => wire.close(view.me, v.id));
    view.home = false;
    draw();
  },
  press: (action) => attempt(() => wire.clickHome(view.me, action)),
};

const mine = (m) => (m.user === view.me && view.editing === m.ts ? "edits" : view.me);

function privateItems(channel, thread) {
  return store.notices(view.me, channel, thread).map((e) => ({ key: e.ts, sig: view.me, build: () => notice(store, ui, e) }));
}

function fateSig(m) {
  const f = store.fates.of(m.channel, m.ts);
  return f && [tell(store.fates, f, (id) => store.name(id)), f.again, f.note];
}

// stick keeps the end of a list in sight when it was.
function stick(scroll, change) {
  const atEnd = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 60;
  change();
  if (atEnd) scroll.scrollTop = scroll.scrollHeight;
}

// --- acts

async function sayRoot(text) {
  const { ts } = await wire.say(view.me, view.place, text);
  await arrived(view.place, ts);
  open(ts);
}

async function sayThread(text) {
  await wire.say(view.me, view.place, text, root());
  const scroll = $("replies-scroll");
  scroll.scrollTop = scroll.scrollHeight;
}

// arrived waits until the stream has brought a message.
const awaited = new Map();
function arrived(channel, ts) {
  if (store.channels.get(channel)?.messages.has(ts)) return Promise.resolve();
  return new Promise((resolve) => awaited.set(ts, resolve));
}

// prepare fills the box that a step of the guide is about.
function prepare(person, step) {
  if (!store.places(person).some((c) => c.id === view.place) || store.channels.get(view.place).kind === "im") go(store.places(person)[0].id);
  become(person);
  if (!step.root) {
    const roots = store.roots(view.place);
    const busy = roots.findLast((m) => threadState(store, view.place, m.ts).running) ?? roots.at(-1);
    const current = root() && threadState(store, view.place, root()).running ? root() : busy?.ts ?? root();
    if (current) open(current);
  } else {
    $("frame").dataset.shows = "list";
  }
  const box = !step.root && root() ? threadBox : rootBox;
  box.fill(step.text, step);
}

function heard(e) {
  const what = store.hear(e);
  if (!what) return;
  if (what === "message") {
    awaited.get(e.message.ts)?.();
    awaited.delete(e.message.ts);
    if (e.message.user === store.bot.user_id) announce(`${store.name(e.message.user)}: ${e.message.text.slice(0, 200)}`);
  }
  if (what === "private" && e.ephemeral.user === view.me) announce(`Private notice: ${e.ephemeral.text.slice(0, 200)}`);
  if (what === "fate" && e.seq > store.seq) {
    const f = store.fates.of(e.data.conversation.split(":")[1], e.data.ts);
    const told = f && tell(store.fates, f, (id) => store.name(id));
    if (told) announce(`${store.name(f.author)}’s message: ${told.word}. ${told.text}`);
  }
  drawSoon();
}

function keys(e) {
  if ($("window").open) return;
  const typing = e.target.matches?.("textarea, input:not([type=radio], [type=checkbox])");
  const digit = /^Digit([1-9])$/.exec(e.code);
  if (digit && (e.altKey || !typing) && !e.ctrlKey && !e.metaKey && !e.shiftKey) {
    const p = store.personas()[Number(digit[1]) - 1];
    if (!p) return;
    e.preventDefault();
    become(p.id);
  } else if (e.altKey && e.code === "KeyN") {
    e.preventDefault();
    $("frame").dataset.shows = "list";
    rootBox.box.focus();
  } else if (e.altKey && e.code === "KeyT") {
    e.preventDefault();
    if (!root()) return;
    $("frame").dataset.shows = "thread";
    threadBox.box.focus();
  } else if (e.key === "Escape" && !e.isComposing && root() && !view.editing) {
    close();
  }
}

async function pace() {
  const now = await wire.pace();
  if (!now) return;
  $("model").hidden = false;
  const demo = now.model === "demo";
  put($("model"), "Model ", h("b", {}, demo ? "demo script" : now.model));
  $("pace").hidden = !demo;
  const inputs = [...$("pace").querySelectorAll("input")];
  const nearest = Math.min(...inputs.map((i) => Math.abs(i.value - now.ms)));
  for (const input of inputs) {
    input.checked = Math.abs(input.value - now.ms) === nearest;
    input.addEventListener("change", () => attempt(() => wire.setPace(Number(input.value))));
  }
}

function live(is) {
  $("live").dataset.live = is ? "yes" : "no";
  $("live").textContent = is ? "Live" : "Not connected";
}

async function begin() {
  let state;
  try {
    state = await wire.state();
  } catch (err) {
    fail(err.status === 403 ? "This address is not complete. Open the one that reeve playground has printed: it carries a key." : err.message);
    return;
  }
  store = new Store(state);
  rootBox = new Composer($("say-root"), sayRoot);
  threadBox = new Composer($("say-thread"), sayThread);
  dialog = new Window($("window"), acts);
  $("home").addEventListener("click", () => {
    view.home = true;
    attempt(() => wire.home(view.me));
    draw();
  });
  put($("back"), icon("back"));
  put($("stop"), icon("stop"), "Stop");
  $("back").addEventListener("click", close);
  $("stop").addEventListener("click", () => attempt(() => wire.say(view.me, view.place, "stop", root())));
  $("keys").append("Keys: ", h("kbd", {}, "Alt"), "+", h("kbd", {}, "1"), "–", h("kbd", {}, String(store.personas().length)), " who you are, ",
    h("kbd", {}, "Alt"), "+", h("kbd", {}, "N"), " new message, ", h("kbd", {}, "Alt"), "+", h("kbd", {}, "T"), " thread, ", h("kbd", {}, "Esc"), " closes the thread.");
  if (matchMedia("(max-width: 700px)").matches) $("guide").open = false;
  become(store.personas()[0].id);
  document.addEventListener("keydown", keys);
  setInterval(() => tick(document), 1000);
  wire.watch(heard, live);
  await pace();
  document.documentElement.dataset.ready = "yes";
}

begin();
