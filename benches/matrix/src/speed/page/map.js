// The map: a table of sources by targets, one cell per pair.

/** The places of the encodings that the chosen storage shows. */
function typesOf(data, storage) {
  const { types } = data.record;
  const packs = new Set(types.filter((type) => type.packed).map((type) => type.name));
  const shown = types.map((type, at) => ({ ...type, at }));
  if (storage === "both") return shown;
  if (storage === "packed") return shown.filter((type) => type.packed || !packs.has(type.name));
  return shown.filter((type) => !type.packed);
}

/** The figure of a cell: by the chosen metric, or the ratio of two machines. */
function cellOf(data, state, from, to, other) {
  const cast = castOf(data, from, to, state.mode);
  const here = figures(data, cast, state.tier, state.size);
  if (!here) return null;
  if (state.option && !other) {
    const found = data.options.get(`${state.tier}/${cast.at}`)?.find(({ option }) => option === state.option);
    return found ? { value: found.ratio, here, cast } : null;
  }
  if (!other) {
    const value = METRICS[state.metric].of(here);
    return value === null ? null : { value, here, cast };
  }
  const far = (label) => other.labels.indexOf(label);
  const match = castOf(other, far(data.labels[from]), far(data.labels[to]), cast.mode);
  const there = match?.mode === cast.mode ? figures(other, match, state.otherTier, state.size) : null;
  return there && { value: there.ns / here.ns, here, there, cast };
}

/** What the map shows of each value: its scale, its text and its sentence. */
function looks(state, other) {
  if (state.option && !other) {
    const say = (value) => `${digits(value, 3)} times the time with default options`;
    return { scale: "option", text: (value) => digits(value, 2), say, better: -1 };
  }
  const metric = METRICS[state.metric];
  if (!other) return metric.scale === "time" && SIZES[state.size].small ? { ...metric, scale: "call" } : metric;
  return {
    scale: "other",
    text: (value) => digits(value, 2),
    say: (value) => `${digits(value, 3)} times the time on the other machine`,
    better: 0,
  };
}

/** Draws the map and returns its cells, for the summary and the lists. */
function drawMap(element, data, state, other) {
  const look = looks(state, other);
  const types = typesOf(data, state.storage);
  const label = (type) => escape(data.labels[type.at]);
  const cells = [];
  const head = types.map((type) => `<th scope="col"><span>${label(type)}</span></th>`).join("");
  const rows = types.map((from) => {
    const row = types.map((to) => {
      const cell = cellOf(data, state, from.at, to.at, other);
      const key = `${data.labels[from.at]}:${data.labels[to.at]}`;
      const chosen = key === state.pair ? ' aria-selected="true"' : "";
      const common = `role="gridcell" tabindex="-1" data-pair="${escape(key)}"${chosen}`;
      if (!cell) return `<td ${common} class="none" aria-label="${escape(key.replace(":", " to "))}: not measured"></td>`;
      cells.push({ ...cell, key });
      const { fill, ink } = colour(look.scale, cell.value);
      const miss = look === METRICS.fraction && cell.here.target !== null && cell.value < cell.here.target;
      const title = `${data.labels[from.at]} to ${data.labels[to.at]}: ${look.say(cell.value, state.size)}`;
      return `<td ${common}${miss ? ' class="miss"' : ""} style="background-color:${fill};color:${ink}" title="${escape(title)}">${look.text(cell.value)}</td>`;
    });
    return `<tr><th scope="row">${label(from)}</th>${row.join("")}</tr>`;
  });
  const corner = '<td class="corner"><span>from</span> <span>to</span></td>';
  element.innerHTML = `<table role="grid" aria-label="Casts from the row's dtype to the column's">
    <thead><tr>${corner}${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`;
  const first = element.querySelector('[aria-selected="true"]') ?? element.querySelector("[data-pair]");
  if (first) first.tabIndex = 0;
  return cells;
}

/** Marks the cell that is chosen now, without drawing the map again, and returns it; without one, the first. */
function markCell(element, isChosen) {
  for (const cell of element.querySelectorAll('[aria-selected="true"], [tabindex="0"]')) {
    cell.removeAttribute("aria-selected");
    cell.tabIndex = -1;
  }
  const all = [...element.querySelectorAll('[role="gridcell"]')];
  const chosen = all.find(isChosen);
  const cell = chosen ?? all[0];
  if (!cell) return null;
  chosen?.setAttribute("aria-selected", "true");
  cell.tabIndex = 0;
  return cell;
}

const STEPS = {
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  PageUp: [-8, 0],
  PageDown: [8, 0],
  Home: [0, -1000],
  End: [0, 1000],
};

/** The cell that a key moves to from another one; null for other keys. */
function cellAfter(cell, key) {
  const step = STEPS[key];
  if (!step) return null;
  const rows = [...cell.closest("tbody").rows];
  const clamp = (at, count) => Math.max(0, Math.min(count - 1, at));
  const row = rows[clamp(rows.indexOf(cell.parentElement) + step[0], rows.length)];
  const all = (of) => [...of.querySelectorAll('[role="gridcell"]')];
  const cells = all(row);
  const column = all(cell.parentElement).indexOf(cell);
  return cells[clamp(column + step[1], cells.length)];
}

/** What the cells say together. */
function summarise(data, state, cells, other) {
  if (cells.length === 0) return "Nothing was measured for this choice.";
  const values = cells.map((cell) => cell.value).sort((a, b) => a - b);
  const count = `${cells.length.toLocaleString("en")} pairs`;
  if (other) {
    const slower = values.filter((value) => value > 1).length;
    return `${count}: geometric mean ${digits(geometricMean(values), 3)}. ${slower} take longer on the other machine.`;
  }
  if (state.option) {
    const above = values.filter((value) => value > 1.5).length;
    return `${count} with ${state.option}: geometric mean ${digits(geometricMean(values), 3)} of the time with default options, largest ${digits(values.at(-1), 3)}; ${above} are above 1.5.`;
  }
  if (state.metric === "fraction") {
    const missed = cells.filter(({ value, here }) => here.target !== null && value < here.target).length;
    const goal = cells.some(({ here }) => here.target !== null) ? ` ${missed} are below the target of their class.` : "";
    return `${count}: median ${percent(median(values))} of the limit, lowest ${percent(values[0])}.${goal}`;
  }
  if (state.metric === "ratio") {
    const behind = values.filter((value) => value < 0.95).length;
    return `${count} with a peer: ${digits(geometricMean(values), 3)} times as fast as the best one in the geometric mean; ${behind} are more than 5 % behind it.`;
  }
  const unit = SIZES[state.size].small ? "call" : "element";
  return `${count}: median ${digits(median(values), 3)} ns per ${unit}, from ${digits(values[0], 3)} to ${digits(values.at(-1), 3)}.`;
}

/** The pairs at both ends of the scale, to choose from. */
function drawLists(element, state, cells, other) {
  const look = looks(state, other);
  const sorted = [...cells].sort((a, b) => a.value - b.value);
  const item = ({ key, value }) => {
    const [from, to] = key.split(":");
    const link = `<button type="button" data-choose="${escape(key)}">${escape(from)} → ${escape(to)}</button>`;
    return `<li>${link} <b>${look.scale === "fraction" ? percent(value) : digits(value, 3)}</b></li>`;
  };
  const list = (title, some) => `<div><h2>${title}</h2><ol>${some.map(item).join("")}</ol></div>`;
  const [low, high] = [sorted.slice(0, 10), sorted.slice(-10).reverse()];
  element.innerHTML = cells.length ? list("Lowest", low) + list("Highest", high) : "";
}
