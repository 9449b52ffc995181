// Markdown and Slack's mrkdwn as DOM nodes. Only what is built here on
// purpose becomes an element; everything else is text. Links are shown, with
// the host they lead to, and cannot be followed.

import { h } from "./dom.js";

export const emoji = {
  eyes: "👀", hourglass_flowing_sand: "⏳", white_check_mark: "✅", octagonal_sign: "🛑", warning: "⚠️", tada: "🎉",
  "+1": "👍", wave: "👋", smile: "😄", rocket: "🚀", bulb: "💡",
};

// markdown is CommonMark's everyday part, and tables as Slack shows them.
export function markdown(source, name) {
  return blocksOf(String(source).replace(/\r\n?/g, "\n").split("\n"), name, 0);
}

const item = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;
const rule = /^ {0,3}([-*_])( *\1){2,} *$/;

function blocksOf(lines, name, depth) {
  const out = [];
  let i = 0;
  while (i < lines.length) {
    const line = lines[i];
    let m;
    if (line.trim() === "") {
      i++;
    } else if ((m = /^ {0,3}(`{3,}|~{3,})([^`]*)$/.exec(line))) {
      const fence = m[1];
      const body = [];
      for (i++; i < lines.length && !isEnd(lines[i], fence); i++) body.push(lines[i]);
      i++;
      out.push(h("pre", { tabindex: "0" }, h("code", {}, body.join("\n"))));
    } else if ((m = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line))) {
      out.push(h("p", { class: "heading" }, inline(m[2], name)));
      i++;
    } else if (rule.test(line)) {
      out.push(h("hr"));
      i++;
    } else if (depth < 20 && /^ {0,3}>/.test(line)) {
      const body = [];
      for (; i < lines.length && /^ {0,3}>/.test(lines[i]); i++) body.push(lines[i].replace(/^ {0,3}> ?/, ""));
      out.push(h("blockquote", {}, blocksOf(body, name, depth + 1)));
    } else if (depth < 20 && item.test(line)) {
      i = listAt(lines, i, name, depth, out);
    } else if (line.includes("|") && isTableRule(lines[i + 1])) {
      const rows = [];
      for (; i < lines.length && lines[i].includes("|"); i++) rows.push(lines[i]);
      out.push(table(rows, name));
    } else {
      const body = [line];
      for (i++; i < lines.length && !startsBlock(lines[i]); i++) body.push(lines[i]);
      out.push(h("p", {}, inline(body.join("\n"), name)));
    }
  }
  return out;
}

const isEnd = (line, fence) => line.trim().startsWith(fence) && line.trim().replaceAll(fence[0], "") === "";
const isTableRule = (line) => line !== undefined && line.includes("-") && /^[\s|:-]+$/.test(line) && line.includes("|");
const startsBlock = (line) =>
  line.trim() === "" || /^ {0,3}(`{3,}|~{3,}|#{1,6}\s|>)/.test(line) || rule.test(line) || (item.test(line) && line.trim().length > 1);

// listAt reads a list that begins at a line, and answers where it ends.
function listAt(lines, i, name, depth, out) {
  const first = item.exec(lines[i]);
  const numbered = /\d/.test(first[2]);
  const list = h(numbered ? "ol" : "ul", numbered ? { start: parseInt(first[2], 10) } : {});
  while (i < lines.length) {
    const m = item.exec(lines[i]);
    if (!m || /\d/.test(m[2]) !== numbered || rule.test(lines[i])) break;
    const width = m[0].length;
    const body = [lines[i].slice(width)];
    for (i++; i < lines.length; i++) {
      const blank = lines[i].trim() === "";
      const indented = /^ */.exec(lines[i])[0].length >= Math.min(width, 2);
      if (blank && !/^ {2}/.test(lines[i + 1] ?? "")) break;
      if (!blank && !indented && (item.test(lines[i]) || startsBlock(lines[i]))) break;
      const space = /^ */.exec(lines[i])[0].length;
      body.push(lines[i].slice(Math.min(width, space)));
    }
    while (i < lines.length && lines[i].trim() === "" && item.test(lines[i + 1] ?? "")) i++;
    const inner = blocksOf(body, name, depth + 1);
    // A tight item is its text, without a paragraph around it.
    list.append(h("li", {}, inner.map((el, n) => (n === 0 && el.tagName === "P" && !el.className ? [...el.childNodes] : el))));
  }
  out.push(list);
  return i;
}

function table(rows, name) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((c) => c.trim().replaceAll("\\|", "|"));
  const [head, , ...body] = rows;
  return h("div", { class: "wide", tabindex: "0" }, h("table", {},
    h("thead", {}, h("tr", {}, cells(head).map((c) => h("th", { scope: "col" }, inline(c, name))))),
    h("tbody", {}, body.map((r) => h("tr", {}, cells(r).map((c) => h("td", {}, inline(c, name))))))));
}

const entities = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", "#39": "'" };

// inline reads emphasis, code, links and mentions. Each rule's pattern is tried
// at one place; what none takes is text.
const rules = [
  [/\\([!-\/:-@\[-`{-~])/y, (m) => m[1]],
  [/(`+)((?:(?!\1)[\s\S])+)\1(?!`)/y, (m) => h("code", {}, m[2].replace(/\n/g, " ").replace(/^ (.+) $/, "$1"))],
  [/<@([A-Z0-9]+)(?:\|[^>]*)?>/y, (m, c) => h("span", { class: "mention" }, "@" + c.name(m[1]))],
  [/<((?:https?:\/\/|mailto:)[^\s<>|]+)(?:\|([^>]*))?>/y, (m) => link(m[1], m[2] || m[1])],
  [/!?\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\)/y,
    (m, c) => (/^(https?:|mailto:)/i.test(m[2]) ? link(m[2], inline(m[1], c.name, c.depth + 1)) : m[0])],
  [/\*\*(?=\S)((?:\\[\s\S]|(?!\*\*)[^\\])*?[^\s\\]\*?)\*\*/y, (m, c) => h("strong", {}, inline(m[1], c.name, c.depth + 1))],
  [/\*(?=[^\s*])((?:\\[\s\S]|[^*\\])*?[^\s*\\]|[^\s*\\])\*(?!\*)/y, (m, c) => h("em", {}, inline(m[1], c.name, c.depth + 1))],
  [/__(?=\S)((?:\\[\s\S]|(?!__)[^\\])*?[^\s\\])__(?![\p{L}\p{N}])/uy, (m, c) => !c.word && h("strong", {}, inline(m[1], c.name, c.depth + 1))],
  [/_(?=[^\s_])((?:\\[\s\S]|[^_\\])*?[^\s_\\]|[^\s_\\])_(?![\p{L}\p{N}_])/uy, (m, c) => !c.word && h("em", {}, inline(m[1], c.name, c.depth + 1))],
  [/~~(?=\S)((?:\\[\s\S]|(?!~~)[^\\])*?[^\s\\])~~/y, (m, c) => h("del", {}, inline(m[1], c.name, c.depth + 1))],
  [/&(amp|lt|gt|quot|apos|nbsp|#39);/y, (m) => entities[m[1]]],
  [/:([a-z0-9_+-]+):/y, (m) => emoji[m[1]]],
  [/(?: {2,})\n/y, () => h("br")],
  [/\bhttps?:\/\/[^\s<>()]*[^\s<>().,;:!?'"]/y, (m) => link(m[0], m[0])],
];

export function inline(text, name, depth = 0) {
  return scan(text, rules, name, depth);
}

// scan makes nodes of a text by rules; deep nesting is shown as it is.
function scan(text, rules, name, depth) {
  if (depth > 12) return [text];
  const out = [];
  let plain = "";
  for (let i = 0; i < text.length; ) {
    let hit = null;
    let length = 0;
    const c = { name, depth, word: i > 0 && /[\p{L}\p{N}]/u.test(text[i - 1]) };
    if (/[\\`<!\[*_~&: h@]/.test(text[i])) {
      for (const [pattern, make] of rules) {
        pattern.lastIndex = i;
        const m = pattern.exec(text);
        const made = m && make(m, c);
        if (made) {
          [hit, length] = [made, m[0].length];
          break;
        }
      }
    }
    if (hit === null || typeof hit === "string") {
      plain += hit ?? text[i];
      i += length || 1;
      continue;
    }
    if (plain) out.push(plain);
    plain = "";
    out.push(hit);
    i += length;
  }
  if (plain) out.push(plain);
  return out;
}

// link shows a link's text, and its host where that is not the text.
function link(target, label) {
  let host = "";
  try {
    const url = new URL(target);
    host = url.protocol === "mailto:" ? url.pathname : url.host;
  } catch { /* shown without */ }
  const shown = h("span", { class: "link", title: target }, label);
  if (host && shown.textContent !== target && !shown.textContent.includes(host)) {
    shown.append(h("span", { class: "host" }, ` (${host})`));
  }
  return shown;
}

const code = (text) => h("code", {}, unescape(text));
const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

const wireRules = [
  [/`([^`\n]+)`/y, (m) => code(m[1])],
  [/<@([A-Z0-9]+)(?:\|[^>]*)?>/y, (m, c) => h("span", { class: "mention" }, "@" + c.name(m[1]))],
  [/<#([A-Z0-9]+)(?:\|([^>]*))?>/y, (m, c) => h("span", { class: "mention" }, "#" + (m[2] || c.name(m[1])))],
  [/<!date\^\d+\^[^|>]*\|([^>]*)>/y, (m) => h("time", {}, unescape(m[1]))],
  [/<!([a-z]+)(?:[|^][^>]*)?>/y, (m) => h("span", { class: "mention" }, "@" + m[1])],
  [/<((?:https?:\/\/|mailto:)[^\s<>|]+)(?:\|([^>]*))?>/y, (m) => link(unescape(m[1]), unescape(m[2] || m[1]))],
  [/\*(?=\S)([^*\n]*[^*\s])\*(?![\p{L}\p{N}])/uy, (m, c) => !c.word && h("strong", {}, scan(m[1], wireRules, c.name, c.depth + 1))],
  [/_(?=\S)([^_\n]*[^_\s])_(?![\p{L}\p{N}])/uy, (m, c) => !c.word && h("em", {}, scan(m[1], wireRules, c.name, c.depth + 1))],
  [/~(?=\S)([^~\n]*[^~\s])~(?![\p{L}\p{N}])/uy, (m, c) => !c.word && h("del", {}, scan(m[1], wireRules, c.name, c.depth + 1))],
  [/&(amp|lt|gt);/y, (m) => entities[m[1]]],
  [/:([a-z0-9_+-]+):/y, (m) => emoji[m[1]]],
];

// mrkdwn is Slack's older markup, which people's messages have too.
export function mrkdwn(text, name) {
  const out = [];
  text.split("```").forEach((part, n, parts) => {
    if (n % 2 === 1 && n < parts.length - 1) {
      out.push(h("pre", { tabindex: "0" }, h("code", {}, unescape(part.replace(/^\n|\n$/g, "")))));
      return;
    }
    let quoted = null;
    let lines = [];
    const flush = () => {
      const nodes = scan(lines.join("\n").replace(/^\n+|\n+$/g, ""), wireRules, name, 0);
      if (nodes.length) out.push(h(quoted ? "blockquote" : "p", {}, nodes));
      lines = [];
    };
    for (const line of ((n % 2 === 1 ? "```" : "") + part).split("\n")) {
      const isQuote = line.startsWith("&gt;");
      if (quoted !== isQuote) flush();
      quoted = isQuote;
      lines.push(isQuote ? line.replace(/^&gt; ?/, "") : line);
    }
    flush();
  });
  return out;
}

// reaction is an emoji by its name: {icon, label} or {text, label}.
export function reaction(name) {
  const drawn = {
    eyes: ["eyes", "seen"], hourglass_flowing_sand: ["hourglass", "waits"], white_check_mark: ["check", "answered"], octagonal_sign: ["stop", "stop"],
  }[name];
  if (drawn) return { icon: drawn[0], label: drawn[1] };
  return { text: emoji[name] ?? `:${name}:`, label: name.replaceAll("_", " ") };
}
