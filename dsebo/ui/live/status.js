// Where a run stands: its numbers, and a timeline with a mark at each expansion. One component, as
// each element of a page is a message of its own to each browser. All is set as text, never as markup.

const statuses = new WeakMap(); // parent element -> {root, parts, send, held}
let newestStatus = null; // that keys work on
const SIGNS = {
  // Paths in a box of 24: drawn here, as fonts of signs are not always there.
  previous: "M6 5v14M19 5L9 12l10 7z",
  back: "M16 5L8 12l8 7",
  play: "M7 4l13 8-13 8z",
  pause: "M8 5v14M16 5v14",
  step: "M8 5l8 7-8 7",
  next: "M18 5v14M5 5l10 7-10 7z",
};
const SEND_EVERY = 150; // ms, while the thumb is dragged

window.dseboStatus = function (component) {
  const { parentElement, setTriggerValue } = component;
  let status = statuses.get(parentElement);
  if (!status) {
    status = { root: make("div", "status"), held: false, sentAt: 0 };
    parentElement.appendChild(status.root);
    statuses.set(parentElement, status);
  }
  status.send = (wanted) => setTriggerValue("chosen", wanted);
  newestStatus = status;
  const data = window.dseboReceive(component);
  if (!data) return;
  const numbers = make("div", "status-numbers");
  numbers.append(...data.numbers.map(statusNumber), make("span", "status-progress", data.progress.text));
  if (!status.line) {
    status.line = timelineParts(status);
    status.root.append(status.line.bar);
  }
  if (status.numbers) status.numbers.remove();
  status.numbers = numbers;
  status.root.prepend(numbers);
  showTimeline(status, data.timeline);
};

function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function statusNumber(number) {
  const box = make("span", "status-number");
  box.append(make("span", "status-label", number.label), " ", make("span", "status-value", number.value));
  if (number.share !== undefined) {
    const track = make("span", "status-bar");
    const filled = make("span", "status-filled");
    filled.style.width = `${100 * Math.min(1, Math.max(0, number.share))}%`;
    track.appendChild(filled);
    box.appendChild(track);
  }
  if (number.help) box.title = number.help;
  return box;
}

// --- the timeline ------------------------------------------------------------------------------

function timelineParts(status) {
  const bar = make("div", "timeline");
  const buttons = make("div", "timeline-buttons");
  const track = make("div", "timeline-track");
  const done = make("div", "timeline-done");
  const marks = make("div", "timeline-marks");
  const thumb = make("input", "timeline-thumb");
  thumb.type = "range";
  thumb.min = 1;
  thumb.setAttribute("aria-label", "Evaluation t");
  thumb.oninput = () => {
    status.held = true;
    const t = Math.min(Number(thumb.value), status.data.last);
    thumb.value = t;
    status.line.where.textContent = words(status.data, t);
    if (Date.now() - status.sentAt > SEND_EVERY) sendT(status, t);
  };
  thumb.onchange = () => {
    status.held = false;
    sendT(status, Math.min(Number(thumb.value), status.data.last));
  };
  track.append(done, marks, thumb);
  const where = make("button", "timeline-where");
  where.type = "button";
  where.onclick = () => status.send("newest");
  bar.append(buttons, track, where);
  return { bar, buttons, done, marks, thumb, where };
}

function sendT(status, t) {
  status.sentAt = Date.now();
  status.send(t);
}

function words(data, t) {
  if (t < data.last) return `t = ${t}`;
  return data.live ? "● Live" : data.last < data.end ? "Stopped" : "End";
}

function showTimeline(status, data) {
  status.data = data;
  const { buttons, done, marks, thumb, where } = status.line;
  const share = (t) => `${(100 * (t - 1)) / Math.max(1, data.end - 1)}%`;
  done.style.width = share(data.last);
  marks.replaceChildren(...data.marks.map((mark) => markOf(status, mark, share)));
  thumb.max = data.end;
  if (!status.held) {
    thumb.value = data.t;
    where.textContent = words(data, data.t);
  }
  thumb.setAttribute("aria-valuetext", `evaluation ${data.t} of ${data.end}`);
  where.classList.toggle("is-live", data.live);
  where.title = data.t < data.last ? "Back to the newest evaluation" : "The newest evaluation is shown";
  const known = JSON.stringify(data.buttons);
  if (buttons.dataset.known === known) return;
  buttons.dataset.known = known;
  const focused = buttons.contains(document.activeElement) ? document.activeElement.dataset.sign : null;
  buttons.replaceChildren(...data.buttons.map((button) => buttonOf(status, button)));
  if (focused) (buttons.querySelector(`[data-sign=${focused}]`) || buttons.children[2]).focus();
}

function markOf(status, mark, share) {
  const tick = make("button", "timeline-mark");
  tick.type = "button";
  tick.tabIndex = -1; // the two buttons that jump do the same
  tick.style.left = share(mark.t);
  tick.title = mark.text;
  tick.setAttribute("aria-label", mark.text);
  tick.onclick = () => status.send(mark.t);
  return tick;
}

function buttonOf(status, given) {
  const button = make("button", "timeline-button");
  button.type = "button";
  button.disabled = !given.on;
  button.dataset.do = given.do;
  button.dataset.sign = given.sign;
  button.title = given.name;
  button.setAttribute("aria-label", given.name);
  button.onclick = () => status.send(given.do);
  button.onmousedown = (event) => event.preventDefault(); // a click leaves space and arrows to the timeline
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SIGNS[given.sign]);
  svg.appendChild(path);
  button.appendChild(svg);
  return button;
}

// --- keys --------------------------------------------------------------------------------------

// F presents; space pauses and goes on, → steps, ← goes back. Not where something is being typed.
const KEYS = { " ": 2, ArrowRight: 3, ArrowLeft: 1 }; // which of the timeline's buttons

window.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select, [contenteditable], [role=combobox]");
  if (typing && !typing.classList.contains("timeline-thumb")) return;
  if (event.key === "f" || event.key === "F" || (event.key === "Escape" && presents())) {
    document.documentElement.classList.toggle("presents", event.key !== "Escape" && !presents());
    window.dispatchEvent(new Event("resize"));
    return;
  }
  const status = newestStatus;
  if (!(event.key in KEYS) || !status || !status.root.isConnected || typing) return;
  if (event.key === " " && event.target.closest("button, a, summary, [role=radio], [role=tab]")) return;
  event.preventDefault();
  const button = status.line.buttons.children[KEYS[event.key]];
  if (!button.disabled) button.click();
});

function presents() {
  return document.documentElement.classList.contains("presents");
}

// --- symbols, read aloud -----------------------------------------------------------------------

// A label of Streamlit's in Markdown is its input's name as it is written: $\\beta$ expansion scale.
const SPOKEN = [[/\$\\Delta d_\{\\min\}\$/g, "delta d min,"], [/\\(?=[a-z])/gi, ""], [/\$([^$]*)\$/g, "$1,"], [/_/g, " "]];

function speak() {
  for (const named of document.querySelectorAll('[aria-label*="$"]')) {
    const words = SPOKEN.reduce((text, [from, to]) => text.replace(from, to), named.getAttribute("aria-label"));
    named.setAttribute("aria-label", words.replaceAll("$", ""));
  }
}

// Buttons of cards that say the same have names of their own.
function nameCards() {
  for (const card of document.querySelectorAll('[class*="st-key-card-"]')) {
    const [button, title] = [card.querySelector("button"), card.querySelector("strong")];
    if (!button || !title) continue;
    const name = `${button.textContent.trim()}: ${title.textContent}`;
    if (button.getAttribute("aria-label") !== name) button.setAttribute("aria-label", name);
  }
}

setInterval(() => {
  speak();
  nameCards();
}, 1000);
