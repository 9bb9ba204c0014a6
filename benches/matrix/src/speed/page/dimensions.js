// Dimensions: representative casts beside the matrix. A dimension is a table by two of its keys; its other keys are choices.

const threadsOf = (count) => (count === "1" ? "1 thread" : `${count} threads`);

// `ratio` says what the time is divided by. A dimension that is `inverted` shows how many times as fast the cast is instead.
const DIMENSIONS = {
  options: {
    name: "Options",
    rows: "pair",
    columns: "option",
    ratio: "Beside the default",
    scale: "option",
    limit: 1.5,
    near: true,
    say: (value) => `${digits(value, 3)} times the time with default options`,
    note: "Profiles and single options, within the second cache. A profile that changes nothing for a pair shows the noise of the figures.",
  },
  scaled: {
    name: "Scaled casts",
    rows: "scheme",
    columns: "cast",
    ratio: "Beside a plain cast",
    scale: "far",
    first: "fraction",
    say: (value) => `${digits(value, 3)} times the time of the plain cast between the same encodings`,
    note: "Quantization and dequantization of tensors with 1,024 columns. The limit moves elements, codes and scales. Rounded quotients round each quotient to float32 first.",
  },
  views: {
    name: "Layouts",
    rows: "layout",
    columns: "pair",
    ratio: "Beside contiguous elements",
    scale: "far",
    say: (value) => `${digits(value, 3)} times the time of the contiguous cast of as many elements`,
    note: "Strided views with as many elements as a square matrix. The limit moves contiguous bytes.",
  },
  calls: {
    name: "Small calls",
    rows: "pair",
    columns: "elements",
    ratio: "Beside a loop of as",
    scale: "ratio",
    first: "ns",
    inverted: true,
    call: true,
    curve: { by: "call", name: (call) => (call === "cast" ? "cast" : "plan"), limit: () => "memcpy", baseline: "loop of as", x: "elements", y: "ns per call" },
    say: (value) => `${digits(value, 3)} times as fast as the compiler's loop of as`,
    note: "Nanoseconds of one call with the source in the first cache: a typed cast, or a plan that was resolved before. The memcpy reads and writes as many bytes. The compiler's loop exists where Rust has both types.",
  },
  addresses: {
    name: "Addresses",
    rows: "pair",
    columns: "place",
    ratio: "Beside aligned buffers",
    scale: "near",
    limit: 1.03,
    near: true,
    say: (value) => `${digits(value, 3)} times the time between buffers that begin at a cache line`,
    note: "Bytes that source and destination begin behind a cache line: 16/48 is a source 16 bytes behind one and a destination 48 bytes behind one. NumPy and most allocators place large buffers 16 bytes behind a line.",
  },
  threads: {
    name: "Threads",
    rows: "pair",
    columns: "KiB",
    ratio: "Speedup",
    scale: "speedup",
    inverted: true,
    curve: { by: "threads", name: threadsOf, limit: (count) => `limit, ${threadsOf(count)}`, x: "KiB of source and destination", y: "ns per element" },
    say: (value) => `${digits(value, 3)} times as fast as one thread`,
    note: "One cast on the threads of a pool, by the bytes of source and destination. A cast that one thread finishes before others wake stays on one thread. The limit moves the bytes on one thread or on all, whichever is faster.",
  },
  checked: {
    name: "Checked casts",
    rows: "pair",
    columns: "way",
    ratio: "Beside the plain cast",
    scale: "option",
    limit: 3,
    near: true,
    say: (value) => `${digits(value, 3)} times the time of the plain cast of the same values`,
    note: "Casts that detect losses. Checked casts end at the first loss, so their sources lose nothing. Masked and counting casts also run on sources where every second value is out of range.",
  },
};

const KEYS = { tier: "Tier", size: "Size", side: "As many elements as", call: "Call", threads: "Threads" };

/** A record's dimensions with an index by place. */
function prepareSet({ name, record }) {
  return { name, record, dimensions: new Map(record.dimensions.map((columns) => [columns.dimension, prepareDimension(columns)])) };
}

function prepareDimension(columns) {
  const keys = columns.keys.map(({ name }) => name);
  const { rows, columns: across } = DIMENSIONS[columns.dimension];
  const places = columns.ns.value.map((_, k) => columns.keys.map(({ values, at }) => values[at[k]]));
  const index = new Map(places.map((place, k) => [place.join("\n"), k]));
  return {
    record: columns,
    places: places.map((place) => Object.fromEntries(place.map((value, k) => [keys[k], value]))),
    values: (key) => columns.keys.find(({ name }) => name === key).values,
    choices: keys.filter((key) => key !== rows && key !== across),
    find: (place) => index.get(keys.map((key) => place[key]).join("\n")),
  };
}

/** A figure with the ends of its interval; null for a place without it. `known` says whether there is an interval. */
function figureAt(dimension, name, at, inverted = false) {
  const { value, below = [], above = [] } = dimension.record[name];
  if (at === undefined || value[at] === null) return null;
  const [low, high] = [1 - (below[at] ?? 0) / 1000, 1 + (above[at] ?? 0) / 1000].map((factor) => factor * value[at]);
  const known = below.length > 0;
  return inverted ? { value: 1 / value[at], low: 1 / high, high: 1 / low, known } : { value: value[at], low, high, known };
}

/** What a dimension shows: the figure, its scale, its text and its sentence. */
function looksOf(name, show) {
  const { ratio, scale, say, inverted, call, near } = DIMENSIONS[name];
  const looks = {
    ratio: { name: ratio, scale, say, inverted, text: (value) => (near && value < 9.995 ? value.toFixed(2) : digits(value, 2)) },
    ns: {
      ...METRICS.ns,
      scale: call ? "call" : "time",
      say: (value) => `${digits(value, 3)} ns per ${call ? "call" : "element"}`,
    },
    fraction: call
      ? { ...METRICS.fraction, name: "Beside memcpy", say: (value) => `${Math.round(100 * value)} % of the speed of memcpy` }
      : METRICS.fraction,
  };
  return show ? looks[show] : looks;
}

/** The defaults of a dimension's choices: the strongest tier, the second cache, the most threads. */
const usual = (dimension, key) => {
  const values = dimension.values(key);
  return values.includes("l2") ? "l2" : ["tier", "threads"].includes(key) ? values.at(-1) : values[0];
};

/** The part of the state that a dimension reads: its choices, the figure, and the chosen cell. */
function readDimension(name, dimension, given) {
  const parts = (given.get("at") ?? "").split(",");
  const at = Object.fromEntries(
    dimension.choices.map((key, k) => [key, dimension.values(key).includes(parts[k]) ? parts[k] : usual(dimension, key)]),
  );
  const allowed = (value, values) => (values.includes(value) ? value : "");
  const { rows, columns, first = "ratio" } = DIMENSIONS[name];
  const [row, col] = [allowed(given.get("row"), dimension.values(rows)), allowed(given.get("col"), dimension.values(columns))];
  const show = allowed(given.get("show"), ["ratio", "ns", "fraction"]) || first;
  return { at, show, row: col && row, col: row && col };
}

/** The choices as they stand in the fragment; empty for the defaults. */
function writeChoices(dimension, at) {
  const parts = dimension.choices.map((key) => at[key]);
  return parts.every((part, k) => part === usual(dimension, dimension.choices[k])) ? "" : parts.join(",");
}

const encoding = (label) => label.replace(":", " → ");
const UNITS = { elements: " elements", KiB: " KiB" };
/** A column with its unit, for sentences. */
const columnName = (key, value) => (value === "1" && key === "elements" ? "1 element" : `${encoding(value)}${UNITS[key] ?? ""}`);
const CHOICES = {
  size: (value) => SIZES[value].name,
  side: (value) => `${value} × ${value}`,
  call: (value) => (value === "cast" ? "typed cast" : "plan"),
  threads: threadsOf,
};
const choiceName = (key, value) => CHOICES[key]?.(value) ?? value;

/** The radio buttons of a dimension: the figure, and a group for each further key. */
function dimensionControls(name, dimension, { at, show }) {
  const has = (key, value) => dimension.places.some((place) => dimension.choices.every((other) => place[other] === (other === key ? value : at[other])));
  const looks = Object.entries(looksOf(name)).map(([key, { name: text }]) => [key, text]);
  const groups = dimension.choices.map((key) => {
    const values = dimension.values(key).map((value) => [value, escape(choiceName(key, value)), value !== at[key] && !has(key, value)]);
    return group(`at-${key}`, KEYS[key], values, at[key]);
  });
  return [group("show", "Colour", looks, show), ...groups].join("");
}

/** Draws the table of a dimension and returns its cells. */
function drawDimension(element, name, dimension, view) {
  const { rows, columns, limit } = DIMENSIONS[name];
  const look = looksOf(name, view.show);
  const across = dimension.values(columns).filter((column) => dimension.places.some((place) => place[columns] === column && dimension.choices.every((key) => place[key] === view.at[key])));
  const cells = [];
  const lines = dimension.values(rows).map((row) => {
    const line = across.map((column) => {
      const at = dimension.find({ ...view.at, [rows]: row, [columns]: column });
      const figure = figureAt(dimension, view.show, at, look.inverted);
      const label = `${encoding(row)}, ${columnName(columns, column)}`;
      const chosen = row === view.row && column === view.col ? ' aria-selected="true"' : "";
      const common = `role="gridcell" tabindex="-1" data-row="${escape(row)}" data-col="${escape(column)}"${chosen}`;
      if (!figure) return `<td ${common} class="none" aria-label="${escape(label)}: ${at === undefined ? "not measured" : "the baseline"}">${at === undefined ? "" : "·"}</td>`;
      cells.push({ ...figure, row, column });
      const { fill, ink } = colour(look.scale, figure.value);
      const miss = view.show === "ratio" && limit && figure.low > limit;
      const title = `${label}: ${look.say(figure.value)}${interval(figure, look)}`;
      return `<td ${common}${miss ? ' class="miss"' : ""} style="background-color:${fill};color:${ink}" title="${escape(title)}">${look.text(figure.value)}</td>`;
    });
    return `<tr><th scope="row">${escape(encoding(row))}</th>${line.join("")}</tr>`;
  });
  const head = across.map((column) => `<th scope="col"><span>${escape(encoding(column))}</span></th>`).join("");
  const corner = `<td class="corner"><span>${rows}</span> <span>${columns}</span></td>`;
  element.innerHTML = `<table role="grid" class="sparse" aria-label="${escape(DIMENSIONS[name].name)}"><thead><tr>${corner}${head}</tr></thead><tbody>${lines.join("")}</tbody></table>`;
  const first = element.querySelector('[aria-selected="true"]') ?? element.querySelector('[role="gridcell"]');
  if (first) first.tabIndex = 0;
  return cells;
}

/** The interval of a figure as text, in the figure's own unit; nothing without one. */
function interval({ low, high, known }, look) {
  if (!known) return "";
  const text = look.scale === "fraction" ? (value) => (100 * value).toFixed(1) : (value) => digits(value, 3);
  return ` (${text(low)} to ${text(high)})`;
}

/** What the cells of a dimension say together. */
function summariseDimension(name, view, cells) {
  if (cells.length === 0) return "Nothing was measured for this choice.";
  const { limit, inverted } = DIMENSIONS[name];
  const look = looksOf(name, view.show);
  const values = cells.map(({ value }) => value).sort((a, b) => a - b);
  const count = `${cells.length} cells`;
  if (view.show === "ns") return `${count}: median ${digits(median(values), 3)} ns, from ${digits(values[0], 3)} to ${digits(values.at(-1), 3)}.`;
  if (view.show === "fraction") return `${count}: median ${look.say(median(values))}, lowest ${percent(values[0])}.`;
  const ends = inverted ? `lowest ${digits(values[0], 3)}` : `largest ${digits(values.at(-1), 3)}`;
  const above = limit ? ` ${cells.filter(({ low }) => low > limit).length} are above ${limit} with their whole interval.` : "";
  return `${count}: in the geometric mean ${look.say(geometricMean(values))}, ${ends}.${above}`;
}

/** The cells at both ends, to choose from. */
function drawEnds(element, name, view, cells) {
  const look = looksOf(name, view.show);
  const sorted = [...cells].sort((a, b) => a.value - b.value);
  const item = ({ row, column, value }) => {
    const link = `<button type="button" data-row="${escape(row)}" data-col="${escape(column)}">${escape(encoding(row))}, ${escape(columnName(DIMENSIONS[name].columns, column))}</button>`;
    return `<li>${link} <b>${look.scale === "fraction" ? percent(value) : digits(value, 3)}</b></li>`;
  };
  const list = (title, some) => `<div><h2>${title}</h2><ol>${some.map(item).join("")}</ol></div>`;
  element.innerHTML = cells.length ? list("Lowest", sorted.slice(0, 10)) + list("Highest", sorted.slice(-10).reverse()) : "";
}
