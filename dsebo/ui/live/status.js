// Where a run stands: progress, its numbers, the newest sentence. One component, as each element
// of a page is a message of its own to each browser. Everything is set as text, never as markup.

const statuses = new WeakMap(); // parent element -> root element

window.dseboStatus = function (component) {
  const { parentElement } = component;
  let root = statuses.get(parentElement);
  if (!root) {
    root = make("div", "status");
    parentElement.appendChild(root);
    statuses.set(parentElement, root);
  }
  const data = window.dseboReceive(component);
  if (!data) return;
  const numbers = make("div", "status-numbers");
  numbers.append(...data.numbers.map(statusNumber));
  const parts = [numbers, make("div", "status-newest", data.newest)];
  if (data.progress) parts.unshift(statusProgress(data.progress));
  root.replaceChildren(...parts);
};

function make(tag, className, text) {
  const element = document.createElement(tag);
  element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function bar(share) {
  const track = make("div", "status-bar");
  const filled = make("div", "status-filled");
  filled.style.width = `${100 * Math.min(1, Math.max(0, share))}%`;
  track.setAttribute("role", "progressbar");
  track.setAttribute("aria-valuenow", String(Math.round(100 * share)));
  track.appendChild(filled);
  return track;
}

function statusProgress(progress) {
  const line = make("div", "status-progress");
  line.append(make("div", "status-label", progress.text), bar(progress.share));
  return line;
}

function statusNumber(number) {
  const box = make("div", "status-number");
  box.append(make("div", "status-label", number.label), make("div", "status-value", number.value));
  if (number.share !== undefined) box.appendChild(bar(number.share));
  if (number.help) box.title = number.help;
  return box;
}
