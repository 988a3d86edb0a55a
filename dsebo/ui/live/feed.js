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
  const newest = data.newest ? [newestOf(data.newest)] : [feedTitle()];
  list.replaceChildren(...newest, ...lines.slice(0, SHOWN));
  if (!data.newest && !lines.length) list.append("Nothing yet. Each convergence will be explained here.");
  if (lines.length > SHOWN) list.appendChild(earlier(lines.slice(SHOWN), wasOpen));
};

// What just happened, or what a run amounts to. Its room is kept, so that nothing moves.
function newestOf(newest) {
  const box = document.createElement("div");
  box.className = `feed-newest ${newest.tone ? `feed-${newest.tone}` : ""}`;
  box.setAttribute("role", "status");
  const words = document.createElement("div");
  words.textContent = newest.text;
  words.title = newest.text;
  box.appendChild(words);
  if (newest.grey) {
    const grey = document.createElement("div");
    grey.className = "feed-grey";
    grey.textContent = newest.grey;
    box.appendChild(grey);
  }
  return box;
}

function feedTitle() {
  const title = document.createElement("h4");
  title.className = "feed-title";
  title.textContent = "What happened";
  return title;
}

function feedLine(entry, chosen, setTriggerValue) {
  const line = document.createElement(entry.choose ? "button" : "div");
  line.className = entry.choose && entry.t === chosen ? "feed-line feed-chosen" : "feed-line";
  line.textContent = entry.text;
  if (entry.choose) {
    line.type = "button";
    line.title = "Show this one in the charts";
    line.setAttribute("aria-pressed", String(entry.t === chosen));
    line.onclick = () => setTriggerValue("chosen", entry.t);
  }
  return line;
}

function earlier(lines, isOpen) {
  const details = document.createElement("details");
  details.open = isOpen;
  const summary = document.createElement("summary");
  summary.textContent = `Earlier (${lines.length})`;
  details.append(summary, ...lines);
  return details;
}
