// Blocks as DOM nodes: of a message, of a window, and of the home tab.

import { h } from "./dom.js";
import { emoji, markdown, mrkdwn } from "./markup.js";

// content shows a message's blocks, or its text where there are none that say
// more. press(action_id, ticked) is called for its buttons and boxes.
export function content(m, name, press) {
  const out = blocks(m.blocks, name, press);
  if (out.length === 0) out.push(...mrkdwn(m.text ?? "", name));
  for (const f of m.files ?? []) out.push(h("p", { class: "file" }, f.name ?? f.title ?? "a file"));
  return out;
}

// blocks shows a list of blocks. errors are sentences below a window's fields,
// by block id.
export function blocks(list, name, press, errors = {}) {
  const out = [];
  for (const b of Array.isArray(list) ? list : []) {
    const text = typeof b.text === "string" ? b.text : b.text?.text ?? "";
    switch (b.type) {
      case "markdown":
        out.push(...markdown(text, name));
        break;
      case "rich_text":
        out.push(...rich(b.elements ?? [], name));
        break;
      case "section":
        out.push(...object(b.text, name));
        for (const f of b.fields ?? []) out.push(...object(f, name));
        if (b.accessory) out.push(...elements([b.accessory], press));
        break;
      case "header":
        out.push(h("p", { class: "heading" }, text));
        break;
      case "context":
        out.push(h("div", { class: "note" }, (b.elements ?? []).map((e) => (e.text === undefined ? h("p", {}, e.alt_text ?? "") : object(e, name)))));
        break;
      case "divider":
        out.push(h("hr"));
        break;
      case "actions":
        out.push(...elements(b.elements ?? [], press));
        break;
      case "input":
        out.push(field(b, errors[b.block_id]));
        break;
    }
  }
  return out;
}

// object is a text object: plain text, or Slack's markup.
function object(o, name) {
  if (!o?.text) return [];
  return o.type === "plain_text" ? [h("p", {}, o.text)] : mrkdwn(o.text, name);
}

function rich(list, name) {
  return list.map((e) => {
    const nodes = (e.elements ?? []).map((one) => (one.type === "rich_text_section" ? h("li", {}, (one.elements ?? []).map((t) => run(t, name))) : run(one, name)));
    switch (e.type) {
      case "rich_text_preformatted":
        return h("pre", { tabindex: "0" }, h("code", {}, nodes));
      case "rich_text_quote":
        return h("blockquote", {}, nodes);
      case "rich_text_list":
        return h(e.style === "ordered" ? "ol" : "ul", {}, nodes);
      default:
        return h("p", {}, nodes);
    }
  });
}

// run is one piece of rich text.
function run(e, name) {
  switch (e.type) {
    case "user":
      return h("span", { class: "mention" }, "@" + name(e.user_id));
    case "channel":
      return h("span", { class: "mention" }, "#" + name(e.channel_id));
    case "broadcast":
      return h("span", { class: "mention" }, "@" + e.range);
    case "emoji":
      return emoji[e.name] ?? `:${e.name}:`;
    case "date":
      return h("time", {}, e.fallback ?? "");
    case "link":
      return h("span", { class: "link", title: e.url }, e.text || e.url);
  }
  let node = String(e.text ?? "");
  const s = e.style ?? {};
  if (s.code) node = h("code", {}, node);
  if (s.strike) node = h("del", {}, node);
  if (s.italic) node = h("em", {}, node);
  if (s.bold) node = h("strong", {}, node);
  return node;
}

// ticked are the values of the boxes that are ticked beside an element.
const ticked = (el) => [...(el.closest(".text, .view")?.querySelectorAll("input[data-tick]:checked") ?? [])].map((box) => box.dataset.tick);

function elements(list, press) {
  const shown = list.map((e) => element(e, press)).filter(Boolean);
  return shown.length ? [h("div", { class: "buttons" }, shown)] : [];
}

function element(e, press) {
  if (!e.action_id) return null;
  if (e.type === "checkboxes") {
    return (e.options ?? []).map((o) => h("label", { class: "box" },
      h("input", { type: "checkbox", data: { tick: o.value, focus: e.action_id }, on: { change: (ev) => press?.(e.action_id, ticked(ev.target)) } }),
      h("span", {}, o.text?.text ?? o.value)));
  }
  if (e.type !== "button") return null;
  const label = e.text?.text ?? e.action_id;
  if (e.url) return leads(e, label, press);
  const act = (ev) => {
    if (e.confirm && !confirm(`${e.confirm.title?.text ?? label}\n${e.confirm.text?.text ?? ""}`)) return;
    press?.(e.action_id, ticked(ev.target));
  };
  return h("button", { type: "button", class: e.style, data: { focus: e.action_id }, on: { click: act } }, label);
}

// leads is a button that opens an address, and says which host it leads to.
function leads(e, label, press) {
  let url = null;
  try {
    url = new URL(e.url);
  } catch { /* it leads nowhere */ }
  if (!url || !["http:", "https:"].includes(url.protocol)) return h("span", { class: "link" }, label);
  return h("a", { class: "button", href: url.href, target: "_blank", rel: "noopener noreferrer", data: { focus: e.action_id }, on: { click: () => press?.(e.action_id, []) } },
    label, h("span", { class: "host" }, ` (${url.host})`));
}

function field(b, error) {
  const id = `field-${b.block_id}`;
  return h("div", { class: "ask" },
    h("label", { for: id }, b.label?.text ?? ""),
    h("input", {
      type: "text", id, autocomplete: "off", spellcheck: "false", maxlength: b.element?.max_length, data: { block: b.block_id, action: b.element?.action_id },
      "aria-invalid": error ? "true" : null, "aria-describedby": error ? id + "-error" : null,
    }),
    error && h("p", { class: "error", id: id + "-error", role: "alert" }, error));
}
