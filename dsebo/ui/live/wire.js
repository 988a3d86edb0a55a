// What a component is sent (dsebo/ui/wire.py): the whole of its state, or what has changed since a
// state that it has. Where messages were lost, it asks for the whole.

const received = new WeakMap(); // parent element -> {number, value, asked}
const decoder = new TextDecoder();

// The component's state where it is another than before, else null.
window.dseboReceive = function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!received.has(parentElement)) received.set(parentElement, { number: null, value: null });
  const known = received.get(parentElement);
  const message = JSON.parse(typeof data === "string" ? data : decoder.decode(data));
  if (message.to === known.number) return null;
  const next = nextState(known, message);
  if (next === undefined) {
    if (known.asked !== message.to) setTriggerValue("whole", message.to);
    known.asked = message.to;
    return null;
  }
  known.number = message.to;
  if (next === known.value) return null;
  known.value = next;
  return next;
};

// undefined: the message starts from another state than this component has.
function nextState(known, message) {
  if (message.whole !== undefined) return message.whole;
  if (message.from !== known.number) return undefined;
  try {
    return message.changes.reduce((value, change) => changed(value, change, 0), known.value);
  } catch (gap) {
    if (gap instanceof RangeError) return undefined;
    throw gap;
  }
}

// A copy along the path: what is drawn from the state before sees which parts are new.
function changed(value, change, depth) {
  const [what, path, ...given] = change;
  if (depth < path.length) {
    const copy = Array.isArray(value) ? [...value] : { ...value };
    copy[path[depth]] = changed(copy[path[depth]], change, depth + 1);
    return copy;
  }
  if (what === "set") return given[0];
  if (what === "keep") return value.slice(0, given[0]);
  if (what === "add") {
    if (value.length !== given[0]) throw new RangeError("values are missing");
    return value.concat(given[1]);
  }
  const { [given[0]]: dropped, ...rest } = value;
  return rest;
}

// Streamlit sends what is pressed or due in the same moment as one, of one part of the page alone: a button or a
// tick elsewhere is then not heard. And a tick that comes while another page is being opened leads back. So ticks
// wait for the page to rest, and a press waits for a tick to have gone.
const BUSY = "[data-testid=stApp]:is([data-test-script-state=running], [data-test-script-state=rerunRequested])";
const AT_MOST = 10000; // ms that a tick waits for the page
const CLEAR = 1000; // ms after a press, until the page says that it is busy
const GONE = 20; // ms
let pressed = -CLEAR;
let going = false;
for (const press of ["click", "keydown"]) window.addEventListener(press, keepClear, { capture: true });

function keepClear(event) {
  const typed = event.type === "keydown";
  if (typed && event.key !== "Enter") return;
  pressed = performance.now();
  if (!going || !event.isTrusted) return;
  if (typed && event.target.localName !== "input") return; // the browser makes a click of it
  event.stopImmediatePropagation();
  event.preventDefault();
  setTimeout(() => event.target.dispatchEvent(new event.constructor(event.type, event)), GONE);
}

const ticks = new WeakMap(); // parent element -> {number, timer}
const PATIENCE = 5; // seconds after which what was asked for will not come

// Asks for the next refresh, once it is due and the last one has come, if someone looks.
window.dseboTick = function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!ticks.has(parentElement)) ticks.set(parentElement, { number: null, timer: null });
  const tick = ticks.get(parentElement);
  if (tick.number === data.number) return; // the page was drawn again, not this part of it
  tick.number = data.number;
  clearTimeout(tick.timer);
  if (data.every === null) return;
  const askAfter = (seconds) => (tick.timer = setTimeout(() => ask(performance.now()), 1000 * seconds));
  const ask = (due) => {
    if (!parentElement.isConnected || tick.number !== data.number) return;
    if (document.hidden) {
      document.addEventListener("visibilitychange", () => ask(due), { once: true });
      return;
    }
    const now = performance.now();
    if (going || now - pressed < CLEAR || (now - due < AT_MOST && document.querySelector(BUSY))) {
      tick.timer = setTimeout(ask, 50, due);
      return;
    }
    askAfter(PATIENCE + data.every);
    going = true;
    setTriggerValue("tick", data.number);
    setTimeout(() => (going = false), GONE);
  };
  askAfter(data.every);
};
