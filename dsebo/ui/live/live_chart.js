// A chart that is updated in place: Plotly.react on the same element, so that nothing flickers and
// the reader's zoom stays. Colours of text and grid are the page's own, light or dark.

const charts = new WeakMap(); // parent element -> {host, figure, send}
const waiting = new Set(); // charts that came before plotly.js

// This file comes once; the component itself only calls it, as a component's own code is sent again with
// each of its updates.
window.dseboLiveChart = function (component) {
  const { parentElement, setTriggerValue } = component;
  let chart = charts.get(parentElement);
  if (!chart) {
    chart = mount(parentElement);
    charts.set(parentElement, chart);
  }
  chart.send = (t) => setTriggerValue("chosen", t);
  const figure = window.dseboReceive(component);
  if (figure) {
    chart.figure = figure;
    update(chart);
  }
  return () => unmount(parentElement);
};

function mount(parentElement) {
  const host = document.createElement("div");
  host.className = "live-chart";
  parentElement.appendChild(host);
  const files = document.createElement("div");
  files.className = "live-chart-files";
  parentElement.appendChild(files);
  const chart = { host, files, figure: null, send: null, drawn: false };
  chart.resize = new ResizeObserver(() => chart.drawn && draw(chart));
  chart.resize.observe(host);
  // A redraw would cut off a zoom that is being drawn: it waits for the mouse to be let go.
  host.addEventListener("pointerdown", () => (chart.held = true), true);
  chart.letGo = () => {
    chart.held = false;
    if (chart.late) setTimeout(() => draw(chart), 0);
  };
  window.addEventListener("pointerup", chart.letGo);
  chart.seen = () => chart.late && draw(chart);
  document.addEventListener("visibilitychange", chart.seen);
  // A switch between light and dark changes the page's colours, not the data.
  chart.theme = setInterval(() => {
    if (chart.drawn && pageColours(host).text !== chart.colour) draw(chart);
  }, 1000);
  return chart;
}

function unmount(parentElement) {
  const chart = charts.get(parentElement);
  if (!chart) return;
  // Streamlit calls this before every update too; only an element that has left the page is gone.
  setTimeout(() => {
    if (chart.host.isConnected) return;
    clearInterval(chart.theme);
    window.removeEventListener("pointerup", chart.letGo);
    document.removeEventListener("visibilitychange", chart.seen);
    clearTimeout(chart.soon);
    chart.resize.disconnect();
    if (window.Plotly) window.Plotly.purge(chart.host);
    charts.delete(parentElement);
  }, 1000);
}

function pageColours(element) {
  const style = getComputedStyle(element);
  const of = (name, fallback) => style.getPropertyValue(name).trim() || fallback;
  return {
    text: of("--st-text-color", "#1F2328"),
    background: of("--st-background-color", "#FFFFFF"),
    font: of("--st-font", "sans-serif"),
  };
}

// What goes on by itself takes an eighth of the reader's core at most: where that is also the machine of
// the run, drawing would slow it down. What someone has just asked for is drawn at once.
const SHARE = 8;
const ASKED = 1500; // ms
let lastInput = 0;
for (const input of ["pointerdown", "pointermove", "keydown"]) {
  window.addEventListener(input, (event) => {
    if (event.buttons || event.key) lastInput = performance.now();
  }, { capture: true, passive: true });
}

function update(chart) {
  clearTimeout(chart.soon);
  const now = performance.now();
  const wait = now - lastInput < ASKED ? 0 : (chart.rested || 0) - now;
  if (wait <= 0) return draw(chart);
  chart.soon = setTimeout(() => draw(chart), Math.min(wait, 3000));
}

// plotly.js takes most of a second to begin, in which nothing answers: it waits until the rest of the page
// stands; where a picture stands for the chart also until the reader has had a moment to press something.
const PAGE_BY = 5000; // ms after which it waits no longer for that
const MOMENT = 1000;
let plotlyBegan = false;
const RUNNING = "[data-testid=stApp][data-test-script-state=running]";

function beginPlotly() {
  if (plotlyBegan) return;
  plotlyBegan = true;
  const began = performance.now();
  let stood = 0;
  const look = () => {
    const now = performance.now();
    if (!stood && (now - began > PAGE_BY || !document.querySelector(RUNNING))) stood = now;
    const pictured = [...waiting].every((chart) => chart.host.childElementCount);
    if (!stood || (pictured && now - stood < MOMENT)) return setTimeout(look, 20);
    if (!window.dseboPlotly) return fetchPlotly(look);
    requestIdleCallback(begin, { timeout: 400 });
  };
  const begin = () => {
    if (!window.Plotly) window.dseboPlotly();
    for (const chart of waiting) draw(chart);
    waiting.clear();
  };
  look();
}

function fetchPlotly(then) {
  const script = document.createElement("script");
  script.src = window.dseboPlaces.plotly;
  script.onload = then;
  script.onerror = () => setTimeout(() => fetchPlotly(then), 2000);
  document.head.appendChild(script);
}

function draw(chart) {
  const { host } = chart;
  if (!window.Plotly) {
    waiting.add(chart);
    return beginPlotly();
  }
  const began = performance.now();
  chart.late = chart.held || document.hidden;
  if (chart.late || !host.isConnected || host.clientWidth === 0) return;
  const colours = pageColours(host);
  chart.colour = colours.text;
  // Plotly writes the reader's zoom and hidden curves into what it is given: not into what was received.
  const data = chart.figure.data.map((trace) => ({ ...trace }));
  const given = { data, layout: structuredClone(chart.figure.layout) };
  const figure = window.dseboFigure.inLines(given, colours, host.clientWidth);
  // A figure that fills its place is as tall as the page's style says.
  const fills = !!(figure.layout.meta || {}).fills;
  host.classList.toggle("fills", fills);
  const layout = window.dseboFigure.layout(figure, colours, host.clientWidth, fills && host.clientHeight);
  if (!chart.config) host.replaceChildren(); // a picture that stood for the chart
  chart.config = chart.config || config(chart); // another object would make react start again
  window.Plotly.react(host, figure.data, layout, chart.config).then(() => {
    if (!chart.drawn) host.on("plotly_click", (event) => choose(chart, event));
    chart.drawn = true;
    offerFiles(chart);
    host.dataset.ready = "true";
  });
  chart.rested = began + SHARE * (performance.now() - began);
}

function config(chart) {
  const save = (format) => ({
    name: `Save as ${format.toUpperCase()}`,
    icon: window.Plotly.Icons[{ png: "camera", svg: "disk", pdf: "autoscale" }[format]],
    click: () => saveImage(chart, format),
  });
  return {
    displaylogo: false,
    responsive: false,
    scrollZoom: false,
    displayModeBar: (chart.figure.layout.meta || {}).quiet ? false : "hover",
    modeBarButtons: [["zoom2d", "pan2d", "resetScale2d"], [save("png"), save("svg"), save("pdf")]],
  };
}

// Where the figure asks for it, the files stand under it as buttons too.
function offerFiles(chart) {
  if (!(chart.figure.layout.meta || {}).save || chart.files.childElementCount) return;
  for (const format of ["png", "svg", "pdf"]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = `Save as ${format.toUpperCase()}`;
    button.onclick = () => saveImage(chart, format);
    chart.files.appendChild(button);
  }
}

// A file looks like the screen, dark on white, with the settings under it.
async function saveImage(chart, format) {
  const name = (chart.figure.layout.meta || {}).file || "dsebo";
  const width = Math.max(800, chart.host.clientWidth);
  const shown = (chart.figure.layout.meta || {}).fills ? chart.host.clientHeight : 0;
  const made = await window.dseboFigure.file(chart.figure, format === "pdf" ? "svg" : format, width, shown, 2);
  if (format === "pdf") return print(atob(made));
  const link = document.createElement("a");
  link.href = `data:image/${format === "svg" ? "svg+xml" : format};base64,${made}`;
  link.download = `${name}.${format}`;
  link.click();
}

// The browser's own dialogue writes a PDF, as large as the figure.
function print(bytes) {
  const picture = new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0)));
  const [, width, height] = picture.match(/width="([\d.]+)" height="([\d.]+)"/);
  const frame = document.createElement("iframe");
  frame.style.cssText = "position: fixed; width: 0; height: 0; border: 0;";
  const page = `@page { size: ${width}px ${height}px; margin: 0; } body { margin: 0; } svg { display: block; }`;
  frame.srcdoc = `<!doctype html><style>${page}</style>${picture}`;
  frame.onload = () => {
    frame.contentWindow.onafterprint = () => frame.remove();
    frame.contentWindow.print();
  };
  document.body.appendChild(frame);
}

// A click near a convergence chooses it.
function choose(chart, event) {
  const changes = (chart.figure.layout.meta || {}).changes || [];
  if (!changes.length || !event.points.length) return;
  const at = event.points[0].x;
  const nearest = changes.reduce((a, b) => (Math.abs(b - at) < Math.abs(a - at) ? b : a));
  const [low, high] = chart.host._fullLayout.xaxis.range;
  if (Math.abs(nearest - at) <= (high - low) * 0.02) chart.send(nearest);
}
