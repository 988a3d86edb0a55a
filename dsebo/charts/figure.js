// How a figure of dsebo.charts is drawn at a given size: on a page, in a report and in a file alike.
// `ink` is what the ground asks for: the colours of text and background, and the font.

window.dseboFigure = (function () {
  const NARROW = 480; // px: a phone, a column of a paper
  const FEW_COLUMNS = 700; // px: below it a figure of many panels has fewer side by side
  const SIZE = 14; // px: of words
  const LINE = 18; // px: between two lines of words
  const LEGEND_ROW = 31; // px
  const MOST_ROWS = 10; // of a legend on a page; more are scrolled
  const MARK = 50; // px: the piece of a line before its name in a legend, and the air around both
  const LABEL = 76; // px: the words over a bar
  const CROWDED = 80; // px between two parallel axes that their names need
  const CROWDED_ROOM = 90; // px above them for names that are tilted
  const BESIDE = 130; // px: a line of words beside a narrow figure
  const isName = (note) => note.name === "beside";
  const isArea = (note) => (note.name || "").startsWith("area");
  const isBar = (note) => (note.name || "").startsWith("bar");
  const isParallel = (figure) => figure.data.some((trace) => trace.type === "parcoords");

  function layout(figure, ink, width, height, whole_legend) {
    const given = figure.layout;
    const rearranged = width < FEW_COLUMNS ? (given.meta || {}).narrow : null;
    const whole = { ...given, ...rearranged };
    if (height) whole.height = height;
    const narrow = width < NARROW && whole.margin.l > 60 && !isParallel(figure); // left of those are names
    whole.margin = { ...whole.margin };
    if (narrow) whole.margin.l = 56;
    if (isCrowded(figure, width)) {
      whole.margin.t += CROWDED_ROOM;
      whole.height += CROWDED_ROOM;
    }
    whole.annotations = whole.annotations || [];
    const short = (note) => ({ ...note, text: wrapped(note.text, ink, BESIDE).join("<br>") });
    if (width < NARROW) whole.annotations = whole.annotations.map((note) => (isName(note) ? short(note) : note));
    const besides = whole.annotations.filter(isName).map((note) => measure(note.text, ink) + 10);
    whole.margin.r = Math.max(whole.margin.r, ...besides);
    if (whole.showlegend && whole.legend.yanchor === "top") legend(whole, figure, ink, width, whole_legend);
    whole.annotations = titlesInLines(whole, ink, width);
    turnNames(whole, ink, width);
    stack(whole);
    const notes = spread(whole, inRoom(whole, withoutCollisions(whole, width), ink, width));
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

  // So many parallel axes that their names, side by side, would stand on one another.
  function isCrowded(figure, width) {
    if (!isParallel(figure)) return false;
    const { data: [trace], layout: { margin } } = figure;
    return (width - margin.l - margin.r) / (trace.dimensions.length - 1) < CROWDED;
  }

  // px that the longest line of a text takes.
  let canvas = null;
  function measure(text, ink) {
    canvas = canvas || document.createElement("canvas").getContext("2d");
    canvas.font = `${SIZE}px ${ink.font}`;
    const lines = text.split("<br>").map((line) => line.replace(/<[^>]*>/g, ""));
    return Math.ceil(Math.max(...lines.map((line) => canvas.measureText(line).width)));
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
  const namesOf = (figure) =>
    figure.data.filter((trace) => trace.name && trace.showlegend !== false).map((trace) => trace.name);

  // Above the figure, over its whole width: as many columns as the longest name allows.
  function legend(whole, figure, ink, width, all) {
    const names = namesOf(figure);
    const longest = Math.max(0, ...names.map((name) => measure(name, ink)));
    const along = width - whole.margin.l - whole.margin.r; // what Plotly fills before it begins a row
    const columns = Math.max(1, Math.floor(along / (longest + MARK)));
    const rows = Math.ceil(names.length / columns);
    let room = 4;
    for (let row = 0; row < (all ? rows : Math.min(rows, MOST_ROWS)); row++) {
      const lines = names.slice(row * columns, (row + 1) * columns).map((name) => name.split("<br>").length);
      room += LEGEND_ROW + LINE * (Math.max(...lines) - 1);
    }
    whole.legend = {
      ...whole.legend,
      xref: "container",
      x: 8 / width,
      y: 1 - 4 / (whole.height + room),
      entrywidthmode: "pixels",
      entrywidth: longest + 4,
      maxheight: Math.max(2, room + 4),
    };
    whole.margin.t += room;
    whole.height += room;
  }

  // Names along an axis that are too long to stand side by side are turned upright; of several such axes
  // over one another only the lowest has room for them.
  function turnNames(whole, ink, width) {
    const along = width - whole.margin.l - whole.margin.r;
    const bottom = (axis) => ((whole[axisOf(axis.anchor)] || {}).domain || [0])[0];
    const axes = Object.keys(whole).filter((key) => /^xaxis/.test(key) && whole[key].type === "linear");
    const named = axes.filter((key) => (whole[key].ticktext || []).some((name) => !/^[-−\d.]/.test(name)));
    let deepest = 0;
    for (const key of named) {
      const axis = whole[key];
      const [left, right] = axis.domain || [0, 1];
      const each = (along * (right - left)) / (axis.range[1] - axis.range[0]);
      const longest = Math.max(...axis.ticktext.map((name) => measure(name, ink)));
      if (longest + 8 <= each) continue;
      const lowest = named.every((other) => bottom(axis) <= bottom(whole[other]));
      whole[key] = lowest
        ? { ...axis, tickangle: 90 }
        : { ...axis, showticklabels: false, title: { text: "" } };
      deepest = Math.max(deepest, longest);
    }
    whole.margin.b += deepest;
    whole.height += deepest;
  }

  // The title of a panel stands above it alone: in lines that end before the next one begins.
  function titlesInLines(whole, ink, width) {
    const along = width - whole.margin.l - whole.margin.r;
    const titles = whole.annotations.filter((note) => note.name === "panel");
    return whole.annotations.map((note) => {
      if (note.name !== "panel") return note;
      const next = Math.min(...titles.filter((other) => other.x > note.x + 0.01).map((other) => other.x));
      const own = Math.min((next - note.x) * along, width - whole.margin.l - note.x * along);
      const room = 0.9 * own - 4; // bold letters are wider than measured ones
      return { ...note, align: "left", text: wrapped(note.text, ink, room).join("<br>") };
    });
  }

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
    for (const row of new Set(notes.filter(isName).map((note) => note.yref))) {
      const axis = whole[axisOf(row)];
      if (!axis || !axis.range) continue;
      const domain = axis.domain || [0, 1];
      const height = inside(whole) * (domain[1] - domain[0]);
      const [low, high] = axis.range;
      const names = notes
        .filter((note) => isName(note) && note.yref === row)
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
    return notes.map((note) => (shifts.has(note) ? { ...note, yshift: shifts.get(note) } : note));
  }

  // Words over bars: those of the chosen one first, then from the newest on, as long as they cover
  // neither other words nor another bar.
  function withoutCollisions(whole, width) {
    const notes = whole.annotations || [];
    const budget = (whole.meta || {}).budget;
    if (!budget) return notes;
    const room = width - whole.margin.l - whole.margin.r;
    const bars = notes
      .filter(isBar)
      .map((note) => ({ note, at: (note.x / (budget * 1.01)) * room }))
      .map((bar) => ({ ...bar, middle: Math.max(LABEL / 2, Math.min(bar.at, room - LABEL / 2)) }));
    const chosen = (bar) => bar.note.name === "bar chosen";
    const covered = (bar, middle) =>
      bars.filter(
        (other) => other !== bar && other.note.y > bar.note.y && Math.abs(other.at - middle) < LABEL / 2 + 4,
      );
    const shown = [];
    for (const bar of [...bars].sort((a, b) => chosen(b) - chosen(a) || b.at - a.at)) {
      const clear = shown.every((other) => Math.abs(other.middle - bar.middle) > LABEL);
      if (chosen(bar)) {
        const middle = moved(bar.middle, covered(bar, bar.middle), room);
        const y = Math.max(bar.note.y, ...covered(bar, middle).map((other) => other.note.y)); // or over them
        shown.push({ ...bar, middle, note: { ...bar.note, y } });
      } else if (bar.note.text && clear && !covered(bar, bar.middle).length) shown.push(bar);
    }
    const words = shown.map(({ note, at, middle }) => ({ ...note, xshift: middle - at }));
    return [...notes.filter((note) => !isBar(note)), ...words];
  }

  // Of the places that the name of an area may have (`charts/curves.py`) the first that is large enough;
  // else right of where the areas end, one name over the other; where there is no room, none.
  function inRoom(whole, notes, ink, width) {
    const places = notes.filter(isArea);
    if (!places.length) return notes;
    const room = width - whole.margin.l - whole.margin.r;
    const [low, high] = whole.yaxis.range || [0, 1];
    const [from, to] = whole.yaxis.domain || [0, 1];
    const height = inside(whole) * (to - from);
    const fits = (note) => {
      const [, wide, tall] = note.name.split(" ");
      const long = measure(note.text, ink) + 6;
      if (wide === "end") return (note.x / whole.xaxis.range[1]) * room + long + 6 < room;
      return wide * room >= long && tall * height >= LINE * note.text.split("<br>").length;
    };
    const inTwoLines = (note) => ({ ...note, text: note.text.replace(/ (?=\S+$)/, "<br>") });
    const chosen = [...new Set(places.map((note) => note.text))]
      .map((name) => places.filter((note) => note.text === name))
      .map((offered) => offered.find(fits) || offered.map(inTwoLines).find(fits))
      .filter(Boolean);
    let floor = -Infinity;
    const named = chosen
      .sort((a, b) => a.y - b.y)
      .map((note) => {
        if (!note.name.endsWith("end")) return note;
        const at = ((note.y - low) / (high - low)) * height;
        const up = Math.max(at, floor + LINE, LINE / 2);
        floor = up;
        return { ...note, xshift: 6, yshift: up - at };
      });
    return [...notes.filter((note) => !isArea(note)), ...named];
  }

  // Away from the taller bars beside it, where they stand on one side only.
  function moved(middle, taller, room) {
    const far = LABEL / 2 + 6;
    if (!taller.length) return middle;
    const left = Math.min(...taller.map((bar) => bar.at)) - far;
    const right = Math.max(...taller.map((bar) => bar.at)) + far;
    const to = middle - left < right - middle ? left : right;
    return to < far || to > room - far || Math.abs(to - middle) > far ? middle : to;
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

  // --- files: dark on white, whatever the page looks like, with the settings in words below ---

  const FONT = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif"; // one of them is anywhere
  const PAPER = { text: "#1F2328", background: "#FFFFFF", font: FONT };
  const SUBSCRIPTS = { ₐ: "a", ₑ: "e", ₕ: "h", ᵢ: "i", ⱼ: "j", ₗ: "l", ₘ: "m", ₙ: "n", ₚ: "p", ₓ: "x" };

  // Fonts of paper lack the letters of subscripts.
  function typeset(text) {
    const plain = (letters) => [...letters].map((letter) => SUBSCRIPTS[letter]).join("");
    return text.replace(/[ₐₑₕᵢⱼₗₘₙₚₓ]+/g, (letters) => `<sub>${plain(letters)}</sub>`);
  }

  // Every name, title and note of a figure, typeset.
  function typesetAll(figure) {
    const within = (part) => {
      if (Array.isArray(part)) return part.map(within);
      if (!part || typeof part !== "object" || ArrayBuffer.isView(part)) return part;
      const entries = Object.entries(part).map(([key, value]) => {
        return [key, key === "text" && typeof value === "string" ? typeset(value) : within(value)];
      });
      return Object.fromEntries(entries);
    };
    const named = (trace) => (trace.name ? { ...trace, name: typeset(trace.name) } : trace);
    return { data: figure.data.map(named), layout: within(figure.layout) };
  }

  // `d = 5` and `seed 1` are not torn apart, and no line begins with a dot.
  function wrapped(text, ink, width) {
    const lines = [""];
    for (const word of text.replace(/ (?=[=·−\d])|(?<==) /g, "\u00a0").split(" ")) {
      const longer = lines[lines.length - 1] ? `${lines[lines.length - 1]} ${word}` : word;
      if (longer !== word && measure(longer, ink) > width) lines.push(word);
      else lines[lines.length - 1] = longer;
    }
    return lines.map((line) => line.replace(/\u00a0/g, " "));
  }

  // The figure with its names in lines that a legend of that width holds.
  function inLines(figure, ink, width) {
    const named = (name) => wrapped(name, ink, width - MARK - 16).join("<br>");
    const data = figure.data.map((trace) => (trace.name ? { ...trace, name: named(trace.name) } : trace));
    if (isCrowded(figure, width)) data[0] = { ...data[0], labelangle: -60 };
    return { ...figure, data };
  }

  // {data, layout} of a file of that size, which grows with its legend and its caption.
  function onPaper(given, width, height) {
    const figure = inLines(typesetAll(given), PAPER, width);
    const whole = layout(figure, PAPER, width, height, true);
    whole.paper_bgcolor = whole.plot_bgcolor = PAPER.background;
    const caption = (whole.meta || {}).caption;
    if (caption) {
      const lines = wrapped(typeset(caption), PAPER, width - 24);
      const place = { xref: "paper", x: 0, xanchor: "left", xshift: 8 - whole.margin.l };
      const below = { yref: "paper", y: 0, yanchor: "top", yshift: -whole.margin.b };
      const words = { text: lines.join("<br>"), align: "left", showarrow: false, name: "caption" };
      whole.annotations = [...whole.annotations, { ...words, ...place, ...below }];
      const room = LINE * lines.length + 12;
      whole.margin.b += room;
      whole.height += room;
    }
    return { data: figure.data, layout: whole };
  }

  // Numbers of parallel axes, which lines go through, are legible: style.css does the same on the page.
  const HALO = `<style>.parcoords .axis text { paint-order: stroke; stroke: ${PAPER.background};
    stroke-width: 5px; stroke-linejoin: round; }</style>`;

  // The file itself, in base 64.
  async function file(figure, format, width, height, scale) {
    const paper = onPaper(figure, width, height);
    const size = { width, height: paper.layout.height };
    const address = await window.Plotly.toImage(paper, { format: "svg", ...size });
    const drawn = decodeURIComponent(address.slice(address.indexOf(",") + 1));
    const svg = isParallel(paper) ? drawn.replace(">", `>${HALO}`) : drawn;
    if (format !== "svg") return painted(svg, size.width * scale, size.height * scale);
    const bytes = new TextEncoder().encode(svg);
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  }

  // A picture of so many pixels, in base 64.
  async function painted(svg, width, height) {
    const image = new Image(width, height);
    image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    return canvas.toDataURL("image/png").split(",")[1];
  }

  // The colour behind an element: its own, or that of the nearest around it that has one.
  function ground(element) {
    const colour = element && getComputedStyle(element).backgroundColor;
    if (!element) return PAPER.background;
    return /, 0\)$|transparent/.test(colour) ? ground(element.parentElement) : colour;
  }

  // In a report or a notebook: as wide as its place, in the colours of the page. What is returned draws again.
  function draw(host, figure) {
    const again = () => {
      const ink = { text: getComputedStyle(host).color, background: ground(host), font: FONT };
      const named = inLines(figure, ink, host.clientWidth);
      const drawn = layout(named, ink, host.clientWidth);
      window.Plotly.react(host, named.data, drawn, { displaylogo: false });
    };
    new ResizeObserver(again).observe(host);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    return again;
  }

  return { layout, inLines, file, draw };
})();
