// A message as it is shown: who, when, what, the reactions on it, and its fate.

import { h, icon } from "./dom.js";
import { content } from "./blocks.js";
import { reaction } from "./markup.js";
import { tell } from "./fates.js";

export const clock = (ts) => new Date(parseFloat(ts) * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

export function avatar(store, user, bot) {
  const name = bot ? "R" : store.name(user).slice(0, 1).toUpperCase();
  return h("span", { class: "avatar", "aria-hidden": "true", data: { who: bot ? "bot" : hue(store, user) } }, name);
}

// hue is which of the people's colours somebody has.
export function hue(store, user) {
  const at = store.personas().findIndex((p) => p.id === user);
  return at < 0 ? "other" : String(at % 3);
}

// message is the list item of one message. ui has me, editing, and the acts
// edit(m), save(m, text), cancel(), remove(m), sign(m, off), press(m, action,
// ticked).
export function message(store, ui, m, { root, summary } = {}) {
  const bot = m.user === store.bot.user_id;
  const name = (id) => store.name(id);
  const fate = store.fates.of(m.channel, m.ts);
  const gone = m.subtype === "tombstone";
  const who = gone ? "" : bot ? store.name(m.user) : m.username || name(m.user ?? "");
  const told = fate && tell(store.fates, fate, name);
  return h("li", { class: "message", data: { ts: m.ts, who, phase: told?.phase, root: root && "yes" } },
    gone ? h("span", { class: "avatar", "aria-hidden": "true" }) : avatar(store, m.user, bot),
    h("article", { "aria-label": gone ? "A deleted message" : `${who}, ${clock(m.ts)}` },
      !gone && h("p", { class: "by" },
        h("b", {}, who), bot && h("span", { class: "app" }, "bot"),
        h("time", { datetime: new Date(parseFloat(m.ts) * 1000).toISOString() }, clock(m.ts)),
        m.edited && h("span", { class: "edited" }, "edited")),
      ui.editing === m.ts ? editor(ui, m) : h("div", { class: gone ? "text gone" : "text" }, content(m, name, (action, ticked) => ui.press(m, action, ticked))),
      (fate || m.reactions?.length > 0) && h("div", { class: "below" }, fate && fateLine(store, fate, told, name), reactions(store, m)),
      summary,
      !gone && ui.editing !== m.ts && h("p", { class: "acts" },
        h("button", { type: "button", data: { focus: "sign" }, title: "Stop reaction", "aria-label": `React with a stop sign to ${who}’s message of ${clock(m.ts)}`, "aria-pressed": String(signed(ui, m)), on: { click: () => ui.sign(m, signed(ui, m)) } }, icon("stop")),
        m.user === ui.me && h("button", { type: "button", data: { focus: "edit" }, "aria-label": `Edit your message of ${clock(m.ts)}`, on: { click: () => ui.edit(m) } }, "Edit"),
        m.user === ui.me && h("button", { type: "button", data: { focus: "delete" }, "aria-label": `Delete your message of ${clock(m.ts)}`, on: { click: () => ui.remove(m) } }, "Delete"))));
}

const signed = (ui, m) => !!m.reactions?.some((r) => r.name === "octagonal_sign" && r.users.includes(ui.me));

function reactions(store, m) {
  if (!m.reactions?.length) return null;
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, m.reactions.map((r) => {
    const shown = reaction(r.name);
    const by = r.users.map((u) => store.name(u)).join(", ");
    return h("li", { data: { reaction: r.name }, title: `${shown.label}, by ${by}` },
      shown.icon ? icon(shown.icon) : h("span", { "aria-hidden": "true" }, shown.text),
      h("span", { class: "unseen" }, `${shown.label}, by ${by}`),
      r.users.length > 1 && h("span", { "aria-hidden": "true" }, String(r.users.length)));
  }));
}

function fateLine(store, fate, told, name) {
  const away = fate.conversation.split(":")[2];
  const elsewhere = away !== fate.ts && away !== store.channels.get(fate.channel)?.messages.get(fate.ts)?.thread_ts;
  return h("p", { class: "fate", data: { fate: fate.word, tone: told.tone, phase: told.phase } },
    h("span", { class: "pill" }, icon(told.icon), told.word),
    h("span", { class: "why" }, told.text,
      elsewhere && " It belongs to an earlier message’s thread.",
      fate.note && " " + fate.note,
      fate.again > 0 && ` Delivered ${fate.again + 1} times, counted once.`));
}

function editor(ui, m) {
  const box = h("textarea", { rows: "2", "aria-label": "Text of your message", data: { focus: "edit" } });
  box.value = plain(m.text, ui.name);
  const save = () => ui.save(m, box.value.trim());
  box.addEventListener("keydown", (e) => {
    if (e.key === "Escape") ui.cancel();
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      save();
    }
  });
  return h("div", { class: "editor" }, box,
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", on: { click: save } }, "Save"),
      h("button", { type: "button", on: { click: () => ui.cancel() } }, "Cancel")));
}

// plain is a message's text as a person would type it.
function plain(text, name) {
  return text.replace(/<@([A-Z0-9]+)(?:\|[^>]*)?>/g, (_, id) => "@" + name(id))
    .replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

// notice is what one person alone sees.
export function notice(store, ui, e) {
  const name = (id) => store.name(id);
  return h("li", { class: "message notice", data: { ts: e.ts, private: e.user } },
    avatar(store, store.bot.user_id, true),
    h("article", { "aria-label": `Private notice to you, ${clock(e.ts)}` },
      h("p", { class: "by" }, h("b", {}, name(store.bot.user_id)), h("span", { class: "app" }, "bot"),
        h("time", { datetime: new Date(parseFloat(e.ts) * 1000).toISOString() }, clock(e.ts)),
        h("span", { class: "only" }, `Only visible to you, ${name(e.user)}`)),
      h("div", { class: "text" }, content(e, name, (action, ticked) => ui.press(e, action, ticked)))));
}
