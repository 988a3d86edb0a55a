// How a figure of dsebo.charts is drawn at a given size, on a page, in a report and in a file alike.
// `ink` is what the ground asks for: the colours of text and background, and the font.

window.dseboFigure = (function () {
  const NARROW = 480; // px: a phone, a column of a paper
  const FEW_COLUMNS = 700; // px: below it a figure of many panels has fewer side by side
  const LINE = 18; // px between two lines of words
  const LABEL = 76; // px that the words over a bar take

  function layout(given, ink, width, height) {
    const rearranged = width < FEW_COLUMNS ? (given.meta || {}).narrow : null;
    const whole = { ...given, ...rearranged };
    if (height) whole.height = height;
    const narrow = width < NARROW && whole.margin.l > 60;
    if (narrow) whole.margin = { ...whole.margin, l: 56 };
    stack(whole);
    const notes = spread(whole, withoutCollisions(whole, width));
    const words = window.dseboWords[isDark(ink.background) ? "dark" : "light"];
    return {
      ...whole,
      width,
      autosize: false,
      font: { ...whole.font, color: ink.text, family: ink.font },
      hoverlabel: {
        ...whole.hoverlabel,
        bgcolor: ink.background,
        font: { ...(whole.hoverlabel || {}).font, color: ink.text, family: ink.font },
      },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: "#84898F", activecolor: ink.text },
      annotations: notes.map((note) => placed(note, ink, words, narrow)),
    };
  }

  // A colour as the page computes it: #rrggbb or rgb(r, g, b).
  function isDark(colour) {
    const parts = colour.startsWith("#")
      ? [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16))
      : (colour.match(/[\d.]+/g) || []).map(Number);
    return parts.slice(0, 3).reduce((sum, part) => sum + part, 0) < 384;
  }

  const inside = (whole) => whole.height - whole.margin.t - whole.margin.b;
  const axisOf = (ref) => `yaxis${ref.split(" ")[0].slice(1)}`;

  // Rows over one x axis, equally tall at any height: `theme.stacked_rows` does the same.
  function stack(whole) {
    const { count, gap } = (whole.meta || {}).rows || {};
    if (!count) return;
    const between = gap / inside(whole);
    const height = (1 - between * (count - 1)) / count;
    for (let row = 0; row < count; row++) {
      const top = 1 - row * (height + between);
      const axis = `yaxis${row ? row + 1 : ""}`;
      whole[axis] = { ...whole[axis], domain: [Math.max(0, top - height), top] };
    }
  }

  // Names beside a row: each at its line, moved up or down where two would stand on each other.
  function spread(whole, notes) {
    const shifts = new Map();
    const rows = new Set(notes.filter((n) => n.name === "beside").map((n) => n.yref));
    for (const row of rows) {
      const axis = whole[axisOf(row)];
      if (!axis || !axis.range) continue;
      const domain = axis.domain || [0, 1];
      const height = inside(whole) * (domain[1] - domain[0]);
      const [low, high] = axis.range;
      const names = notes
        .filter((n) => n.name === "beside" && n.yref === row)
        .map((note) => ({
          note,
          at: ((note.y - low) / (high - low)) * height,
          half: (LINE / 2) * note.text.split("<br>").length,
        }))
        .sort((a, b) => a.at - b.at);
      let floor = 0;
      const place = names.map((name) => {
        const at = Math.max(name.at, floor + name.half);
        floor = at + name.half;
        return at;
      });
      let ceiling = height;
      for (let i = names.length - 1; i >= 0; i--) {
        place[i] = Math.min(place[i], ceiling - names[i].half);
        ceiling = place[i] - names[i].half;
      }
      names.forEach((name, i) => shifts.set(name.note, place[i] - name.at));
    }
    return notes.map((n) => (shifts.has(n) ? { ...n, yshift: shifts.get(n) } : n));
  }

  // Words over bars: those of the chosen one first, then from the newest on, as long as they cover
  // neither other words nor another bar.
  function withoutCollisions(whole, width) {
    const notes = whole.annotations || [];
    const budget = (whole.meta || {}).budget;
    if (!budget) return notes;
    const room = width - whole.margin.l - whole.margin.r;
    const bars = notes
      .filter((n) => (n.name || "").startsWith("bar"))
      .map((note) => ({ note, at: (note.x / (budget * 1.01)) * room }))
      .map((bar) => ({ ...bar, middle: Math.max(LABEL / 2, Math.min(bar.at, room - LABEL / 2)) }));
    const chosen = (bar) => bar.note.name === "bar chosen";
    const shown = [];
    for (const bar of [...bars].sort((a, b) => chosen(b) - chosen(a) || b.at - a.at)) {
      const covers = (other) => other !== bar && Math.abs(other.at - bar.middle) < LABEL / 2;
      const clear = shown.every((other) => Math.abs(other.middle - bar.middle) > LABEL);
      const over = bars.some((other) => covers(other) && other.note.y > bar.note.y);
      if (chosen(bar) || (bar.note.text && clear && !over)) shown.push(bar);
    }
    const words = shown.map(({ note, at, middle }) => ({ ...note, xshift: middle - at }));
    return [...notes.filter((n) => !(n.name || "").startsWith("bar")), ...words];
  }

  // Words over the data are legible; in a narrow figure titles and axis names move to the left.
  function placed(note, ink, words, narrow) {
    const there = { ...note };
    if (/^(bar|area|over)/.test(note.name || "")) there.bgcolor = ink.background;
    if (note.showarrow && !note.arrowcolor) there.arrowcolor = ink.text;
    const colour = (note.font || {}).color;
    if (colour) there.font = { ...note.font, color: words[colour] || colour };
    if (narrow && note.name === "heading") there.xshift = -50;
    if (narrow && note.name === "axis") there.xshift = -46;
    return there;
  }

  return { layout, isDark };
})();
