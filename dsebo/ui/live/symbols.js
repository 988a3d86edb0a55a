// What a symbol means, where it is pointed at: in texts, formulas, labels and charts alike. Pages are
// left as they are; what stands under the pointer is looked up (`window.dseboGlossary`, by how it is written).

const SYMBOL_AFTER = 200; // ms that the pointer rests on a symbol before it is explained
const LETTER = /[\p{L}\p{M}\p{Lm}\p{No}_*∗′'()₀-₉]/u;
const pointed = { tip: null, timer: null, shown: null };

// The word around a place of a text, without the punctuation around it.
function wordAt(text, place) {
  if (!LETTER.test(text[place] || "")) return null;
  let [from, to] = [place, place + 1];
  while (from > 0 && LETTER.test(text[from - 1])) from--;
  while (to < text.length && LETTER.test(text[to])) to++;
  const word = text.slice(from, to);
  const opened = word.match(/^\(*/)[0].length;
  const rest = word.slice(opened);
  const unbalanced = rest.includes("(") ? rest : rest.replace(/\).*$/, ""); // of D)² the D
  if (place < from + opened || place >= from + opened + unbalanced.length) return null;
  // 12 s are seconds, not a slope.
  if (unbalanced === "s" && /\d\s$/.test(text.slice(0, from))) return null;
  return { word: unbalanced, from: from + opened, to: from + opened + unbalanced.length };
}

function inText(x, y) {
  const caret = document.caretPositionFromPoint
    ? document.caretPositionFromPoint(x, y)
    : document.caretRangeFromPoint && document.caretRangeFromPoint(x, y);
  const node = caret && (caret.offsetNode || caret.startContainer);
  if (!node || node.nodeType !== Node.TEXT_NODE) return null;
  const offset = caret.offset === undefined ? caret.startOffset : caret.offset;
  for (const place of [offset, offset - 1]) {
    const found = wordAt(node.data, place);
    if (!found) continue;
    const range = document.createRange();
    range.setStart(node, found.from);
    range.setEnd(node, found.to);
    const box = range.getBoundingClientRect();
    if (x >= box.left - 1 && x <= box.right + 1 && y >= box.top && y <= box.bottom) return found.word;
  }
  return null;
}

// The smallest part of a formula around the pointer that is a symbol: of d with its index both. What stands
// under a root is covered by it, and found by its place.
function inFormula(target, known, x, y) {
  const under = [...target.closest(".katex").querySelectorAll(".sqrt .mord")].filter((part) => {
    const box = part.getBoundingClientRect();
    return x >= box.left && x <= box.right && y >= box.top && y <= box.bottom;
  });
  let part = under.pop() || target.closest(".mord, .mop");
  let found = null;
  while (part && part.closest(".katex")) {
    const text = part.textContent.replace(/[\u200b\s]/g, "");
    if (known(text)) found = text;
    part = part.parentElement && part.parentElement.closest(".mord");
  }
  if (found) return found;
  const whole = target.closest(".katex").querySelector(".katex-html");
  const text = whole ? whole.textContent.replace(/[\u200b\s]/g, "") : "";
  return known(text) ? text : null;
}

// Charts let no pointer reach their words: they are found by where they stand.
function inChart(chart, x, y) {
  for (const text of chart.querySelectorAll("svg text")) {
    const box = text.getBoundingClientRect();
    if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
    const matrix = text.getScreenCTM();
    if (!matrix) continue;
    const place = text.getCharNumAtPosition(new DOMPoint(x, y).matrixTransform(matrix.inverse()));
    const found = place >= 0 && wordAt(text.textContent, place);
    if (found) return found.word;
  }
  return null;
}

function symbolAt(target, x, y) {
  const section = target.closest('[class*="st-key-section5"]') ? window.dseboGlossary.section5 : {};
  const meaning = (word) => (word && (section[word] || window.dseboGlossary.everywhere[word])) || null;
  const chart = target.closest(".live-chart");
  const word = target.closest(".katex")
    ? inFormula(target, (text) => meaning(text) !== null, x, y)
    : (chart && inChart(chart, x, y)) || inText(x, y);
  return meaning(word);
}

function explain(text, x, y) {
  if (!pointed.tip || !pointed.tip.isConnected) {
    pointed.tip = document.createElement("div");
    pointed.tip.className = "symbol-tip";
    pointed.tip.setAttribute("role", "tooltip");
    document.body.appendChild(pointed.tip);
  }
  const { tip } = pointed;
  tip.textContent = text[0].toUpperCase() + text.slice(1);
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x - width / 2, innerWidth - width - 8))}px`;
  tip.style.top = `${y - height - 14 > 0 ? y - height - 14 : y + 18}px`;
}

function leave() {
  clearTimeout(pointed.timer);
  pointed.shown = null;
  if (pointed.tip) pointed.tip.hidden = true;
}

// A name that is cut off says itself in full.
function sayInFull(target) {
  const cut = target.closest("strong, p");
  if (cut && cut.scrollWidth > cut.clientWidth && getComputedStyle(cut).textOverflow === "ellipsis") {
    cut.title = cut.textContent;
  }
}

window.addEventListener("pointermove", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  if (!target || event.buttons || target.closest("input, textarea, canvas")) return leave();
  sayInFull(target);
  const text = symbolAt(target, event.clientX, event.clientY);
  if (!text) return leave();
  if (text === pointed.shown) return;
  leave();
  pointed.shown = text;
  pointed.timer = setTimeout(explain, SYMBOL_AFTER, text, event.clientX, event.clientY);
});
for (const what of ["scroll", "keydown", "pointerdown"]) window.addEventListener(what, leave, true);
