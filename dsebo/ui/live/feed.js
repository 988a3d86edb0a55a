// What happened, newest first. A convergence is a button: it shows that one in all the charts.
// Sentences are set as text, never as markup.

const feeds = new WeakMap(); // parent element -> list element
const SHOWN = 6;

window.dseboFeed = function (component) {
  const { parentElement, setTriggerValue } = component;
  let list = feeds.get(parentElement);
  if (!list) {
    list = document.createElement("div");
    list.className = "feed";
    parentElement.appendChild(list);
    feeds.set(parentElement, list);
  }
  const data = window.dseboReceive(component);
  if (!data) return;
  const wasOpen = !!list.querySelector("details[open]");
  const lines = data.entries.map((entry) => feedLine(entry, data.chosen, setTriggerValue)).reverse();
  const newest = data.newest ? [newestOf(data.newest, setTriggerValue)] : [feedTitle()];
  const focused = list.contains(document.activeElement) && document.activeElement.dataset.stop;
  list.replaceChildren(...newest, ...lines.slice(0, SHOWN));
  if (!data.newest && !lines.length) list.append("Nothing yet. Each convergence will be explained here.");
  if (lines.length > SHOWN) list.appendChild(earlier(lines.slice(SHOWN), wasOpen));
  const same = focused && list.querySelector(`[data-stop="${focused}"]`);
  if (same) same.focus();
};

// What just happened, or what a run amounts to. Its room is kept, so that nothing moves.
function newestOf(newest, setTriggerValue) {
  const box = element("div", `feed-newest ${newest.tone ? `feed-${newest.tone}` : ""}`);
  box.classList.toggle("feed-concludes", !!newest.concludes);
  const said = element("div", "feed-said");
  said.setAttribute("role", "status");
  said.appendChild(told(newest));
  if (newest.grey) said.appendChild(element("div", "feed-grey", newest.grey));
  box.appendChild(said);
  if (newest.advice) box.appendChild(advised(newest, setTriggerValue));
  return box;
}

function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

// The sentence, then its numbers in grey.
function told(entry) {
  const words = element("div", "", entry.text);
  if (entry.numbers) words.append(" ", element("span", "feed-grey", entry.numbers));
  return words;
}

// What would have let it go on: one click runs it again so. As text: a number chooses a convergence.
function advised(entry, setTriggerValue) {
  const button = element("button", "feed-advice", entry.advice);
  button.type = "button";
  button.title = "Run it again with this; this run stays behind it, in grey.";
  button.dataset.stop = `advice ${entry.t}`;
  button.onclick = () => setTriggerValue("chosen", String(entry.t));
  return button;
}

function feedTitle() {
  const title = document.createElement("h4");
  title.className = "feed-title";
  title.textContent = "What happened";
  return title;
}

function feedLine(entry, chosen, setTriggerValue) {
  const line = element(entry.choose ? "button" : "div", "feed-line");
  line.classList.toggle("feed-chosen", entry.choose && entry.t === chosen);
  line.appendChild(told(entry));
  if (entry.choose) {
    line.type = "button";
    line.dataset.stop = entry.t;
    line.title = "Show this one in the charts";
    line.setAttribute("aria-pressed", String(entry.t === chosen));
    line.onclick = () => setTriggerValue("chosen", entry.t);
  }
  if (!entry.advice) return line;
  const both = element("div", "feed-advised");
  both.append(line, advised(entry, setTriggerValue));
  return both;
}

function earlier(lines, isOpen) {
  const details = document.createElement("details");
  details.open = isOpen;
  const summary = document.createElement("summary");
  summary.dataset.stop = "earlier";
  summary.textContent = `Earlier (${lines.length})`;
  details.append(summary, ...lines);
  return details;
}
