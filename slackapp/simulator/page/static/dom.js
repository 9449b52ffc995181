// Building and keeping DOM nodes. Text becomes text nodes and nothing else: no
// text of a message is ever read as markup.

// h makes an element. Of props, "on" are listeners, "data" a dataset, and the
// rest attributes; false and null leave one out.
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value == null) continue;
    if (name === "on") for (const [type, f] of Object.entries(value)) el.addEventListener(type, f);
    else if (name === "data") Object.assign(el.dataset, Object.fromEntries(Object.entries(value).filter(([, v]) => v !== false && v != null)));
    else el.setAttribute(name, value === true ? "" : value);
  }
  add(el, children);
  return el;
}

export function add(el, children) {
  for (const c of [children].flat(Infinity)) {
    if (c !== false && c != null) el.append(c);
  }
}

export function put(el, ...children) {
  el.replaceChildren();
  add(el, children);
}

// keep makes the children of a list what items say: {key, sig, build}. A child
// is built anew only when its sig has changed, so that focus and selection
// stay; an element with data-focus gets the focus back.
export function keep(list, items) {
  const old = list.kept ?? new Map();
  const next = new Map();
  let at = list.firstElementChild;
  for (const { key, sig, build } of items) {
    let entry = old.get(key);
    if (!entry || entry.sig !== sig) {
      const focus = entry?.el.contains(document.activeElement) ? document.activeElement.dataset.focus : null;
      const el = build();
      if (entry) {
        if (at === entry.el) at = el;
        entry.el.replaceWith(el);
      }
      entry = { el, sig };
      if (focus) el.querySelector(`[data-focus="${focus}"]`)?.focus();
    }
    next.set(key, entry);
    if (entry.el === at) at = at.nextElementSibling;
    else list.insertBefore(entry.el, at);
  }
  for (const [key, { el }] of old) if (!next.has(key)) el.remove();
  list.kept = next;
}

const SVG = "http://www.w3.org/2000/svg";

// Icons are strokes in a box of 16.
const paths = {
  eyes: "M1.5 8C3 5 5.3 3.6 8 3.6S13 5 14.5 8C13 11 10.7 12.4 8 12.4S3 11 1.5 8ZM8 10.2A2.2 2.2 0 1 0 8 5.8a2.2 2.2 0 0 0 0 4.4Z",
  hourglass: "M4 1.8h8M4 14.2h8M5 1.8v2.6L8 8l3-3.6V1.8M5 14.2v-2.6L8 8l3 3.6v2.6",
  check: "M2.8 8.6 6.3 12l7-8",
  stop: "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4ZM5.6 8h4.8",
  play: "M5 3.2v9.6L12.6 8Z",
  wait: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 4.6V8l2.3 1.6",
  steer: "M2 12.5c5.5 0 3.5-9 9-9H14M11 1l3 2.5L11 6M2 3.5h1.5",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.4v3.8M8 4.7v.2",
  undo: "M5.5 3 2.2 6.2l3.3 3.2M2.6 6.2h6.6a4 4 0 0 1 0 8H6",
  dot: "M8 6.6a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8Z",
  no: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM3.8 3.8l8.4 8.4",
  twice: "M5 5h9v9H5ZM2 11V2h9",
  lock: "M3.5 7.2h9v6.6h-9ZM5.3 7.2V5a2.7 2.7 0 0 1 5.4 0v2.2",
  hash: "M6.2 2.2 5 13.8M11 2.2 9.8 13.8M2.6 5.6h11.2M2.2 10.4h11.2",
  message: "M2 3h12v8.2H7.2L4 14v-2.8H2Z",
  back: "M9.8 3 4.8 8l5 5",
  send: "M2.4 2.6 14 8 2.4 13.4 4.2 8ZM4.2 8H9",
};

export function icon(name, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", "icon");
  if (label) {
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", label);
  } else {
    svg.setAttribute("aria-hidden", "true");
  }
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", paths[name] ?? paths.dot);
  svg.append(path);
  return svg;
}
