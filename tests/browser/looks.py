"""How the tests of the browser look at a page, and press its buttons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

ARTEFACTS = Path(__file__).parents[1] / "artefacts"
READY = '[data-testid="stApp"][data-test-script-state="notRunning"]'
CHART = ".st-key-chart .live-chart"
SMALLEST_TEXT = """() => {
  let least = 99;
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || element.closest('.katex, style, script')) continue;
    const box = element.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(element).fontSize);
    if (box.width && box.height) least = Math.min(least, size);
  }
  return least;
}"""


def settle(page: Any) -> None:
    """Until the page has been drawn."""
    page.wait_for_selector(READY)


def shot(page: Any, name: str) -> None:
    """Keep a screenshot as an artefact."""
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / f"{name}.png")


def wait_for_chart(page: Any, chart: str = CHART) -> None:
    page.wait_for_selector(f"{chart}[data-ready=true]")


def press(page: Any, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).first.click()


# Words whose contrast with their ground is below AA (4.5; 3 for large ones), as they are painted: colours
# that are transparent are laid over one another. Words that cannot be used at present are exempt.
POOR_CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const known = new Map();
  const rgba = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
      known.set(colour, [r, g, b, a / 255]);
    }
    return known.get(colour);
  };
  const over = (top, low) => [0, 1, 2].map((i) => top[i] * top[3] + low[i] * (1 - top[3])).concat(1);
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
    const v = c[i] / 255;
    return sum + share * (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  }, 0);
  const ratio = (a, b) => {
    const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const poor = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.textContent.trim(), element = walk.currentNode.parentElement;
    // Words on a coloured field of a chart have their ink from `theme.readable_on`.
    // An icon is a word in a font of its own; a picture needs 3, and its words stand beside it.
    const exempt = 'style, script, .katex-mathml, .textpoint, [hidden], :disabled, [aria-disabled=true], '
      + '[data-testid=stIconMaterial]';
    if (!/[\\p{L}\\d]/u.test(text) || element.closest(exempt)) continue;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (box.right <= 0 || box.left >= innerWidth) continue; // a phone's form, until it is opened
    if (!box.width || !box.height || style.visibility === 'hidden' || style.fontSize === '0px') continue;
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.push(getComputedStyle(e));
    let ground = [255, 255, 255, 1];
    for (const s of [...chain].reverse()) ground = over(rgba(s.backgroundColor), ground);
    const opacity = chain.reduce((product, s) => product * Number(s.opacity), 1);
    if (opacity === 0) continue;
    const ink = rgba(element instanceof SVGElement ? style.fill : style.color);
    const seen = over([...ink.slice(0, 3), ink[3] * opacity], ground);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const reached = ratio(seen, ground);
    if (reached < (large ? 3 : 4.5) - 0.01) poor.push([text.slice(0, 40), reached.toFixed(2)]);
  }
  return poor;
}"""
