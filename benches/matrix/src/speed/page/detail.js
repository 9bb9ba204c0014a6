// The panel of a dimension: the chosen cell, its row, a curve where columns are numbers, and the cell under other choices.

/** All figures of a place as one sentence. */
function tell(name, dimension, at) {
  const looks = looksOf(name);
  const part = (show) => {
    const figure = figureAt(dimension, show, at, looks[show].inverted);
    return figure && `${looks[show].say(figure.value)}${interval(figure, looks[show])}`;
  };
  const parts = ["ratio", "fraction"].map(part).filter(Boolean);
  return `It takes ${part("ns")}${parts.length ? `: ${parts.join("; ")}` : ""}.`;
}

/** A bar for each column of a row, as long as its time, with its interval. */
function barsOf(name, dimension, view) {
  const { rows, columns, inverted } = DIMENSIONS[name];
  const entry = (column) => {
    const at = dimension.find({ ...view.at, [rows]: view.row, [columns]: column });
    const [ns, ratio] = [figureAt(dimension, "ns", at), figureAt(dimension, "ratio", at, inverted)];
    return ns && { column, ns, ratio };
  };
  const entries = dimension.values(columns).map(entry).filter(Boolean);
  const longest = Math.max(...entries.map(({ ns }) => ns.high));
  const share = (value) => `${Math.max(0.4, (100 * value) / longest)}%`;
  const bar = ({ column, ns, ratio }) => {
    const whisker = ns.known ? `<i style="left:${share(ns.low)};width:${share(ns.high - ns.low)}"></i>` : "";
    return `<div class="row${column === view.col ? " ours" : ""}"><span class="who">${escape(encoding(column))}</span>
      <span class="track"><span style="width:${share(ns.value)}"></span>${whisker}</span>
      <span class="num">${ratio ? `${looksOf(name, "ratio").text(ratio.value)} ×` : ""}</span><span class="num soft">${digits(ns.value, 3)} ns</span></div>`;
  };
  return `<div class="bars long">${entries.map(bar).join("")}</div>`;
}

/** The lines of a curve: the casts by the key that the curve compares, their limits, and the baseline. */
function linesOf(name, dimension, view) {
  const { rows, columns, curve } = DIMENSIONS[name];
  const line = (value, label, kind, of) => {
    const point = (column) => {
      const at = dimension.find({ ...view.at, [curve.by]: value, [rows]: view.row, [columns]: column });
      const [ns, y] = [figureAt(dimension, "ns", at), at === undefined ? null : of(at)];
      return y && { x: Number(column), y, low: kind === "cast" ? ns.low : y, high: kind === "cast" ? ns.high : y };
    };
    return { label, kind, points: dimension.values(columns).map(point).filter(Boolean) };
  };
  const value = (at, figure) => figureAt(dimension, figure, at)?.value ?? null;
  const values = dimension.values(curve.by);
  const casts = values.map((one) => line(one, curve.name(one), "cast", (at) => value(at, "ns")));
  const limits = [...new Set(values.map((one) => curve.limit(one)))].map((label) => {
    const one = values.findLast((other) => curve.limit(other) === label);
    return line(one, label, "limit", (at) => value(at, "ns") * value(at, "fraction"));
  });
  const base = curve.baseline
    ? [line(values.at(-1), curve.baseline, "base", (at) => (value(at, "ratio") === null ? null : value(at, "ns") / value(at, "ratio")))]
    : [];
  return [...casts, ...limits, ...base].filter(({ points }) => points.length > 1);
}

/** Lines over a logarithmic plane; bands are intervals. */
function drawCurve(name, dimension, view) {
  const lines = linesOf(name, dimension, view);
  if (lines.length === 0) return "";
  const { curve } = DIMENSIONS[name];
  const [width, height, left, bottom] = [520, 260, 46, 34];
  const points = lines.flatMap((line) => line.points);
  const ends = (values) => [Math.min(...values), Math.max(...values)];
  const [fromX, toX] = ends(points.map(({ x }) => x));
  const [fromY, toY] = ends(points.flatMap(({ low, high }) => [low, high]));
  const scale = (value, from, to, start, end) => start + ((end - start) * Math.log(value / from)) / Math.log(to / from || 2);
  const x = (value) => scale(value, fromX, toX, left + 8, width - 22).toFixed(1);
  const y = (value) => scale(value, fromY * 0.9, toY * 1.1, height - bottom, 8).toFixed(1);
  const xs = [...new Set(points.map((point) => point.x))].sort((a, b) => a - b);
  // Labels that would touch their left neighbour are left out.
  const labelled = xs.reduce((kept, value) => (kept.length && x(value) - x(kept.at(-1)) < 34 ? kept : [...kept, value]), []);
  const steps = [1, 2, 5].flatMap((step) => Array.from({ length: 10 }, (_, k) => step * 10 ** (k - 4)));
  const ys = steps.filter((value) => value >= fromY * 0.9 && value <= toY * 1.1).sort((a, b) => a - b);
  const grid = [
    ...labelled.map((value) => `<text x="${x(value)}" y="${height - bottom + 15}" text-anchor="middle">${value.toLocaleString("en")}</text>`),
    ...ys.map((value) => `<path class="grid" d="M${left} ${y(value)}H${width}"/><text x="${left - 5}" y="${Number(y(value)) + 4}" text-anchor="end">${digits(value, 1)}</text>`),
    `<text x="${(left + width) / 2}" y="${height - 3}" text-anchor="middle">${curve.x}</text>`,
  ];
  const drawn = lines.map(({ points: of, kind }, k) => {
    const there = of.map((point) => `${x(point.x)} ${y(point.high)}`);
    const back = of.map((point) => `${x(point.x)} ${y(point.low)}`).reverse();
    const band = kind === "cast" ? `<path class="band l${k}" d="M${[...there, ...back].join("L")}Z"/>` : "";
    return `${band}<path class="line ${kind} l${k}" d="M${of.map((point) => `${x(point.x)} ${y(point.y)}`).join("L")}"/>`;
  });
  const key = lines.map(({ label, kind }, k) => `<li><svg width="30" height="10" aria-hidden="true"><path class="line ${kind} l${k}" d="M1 5H29"/></svg> ${escape(label)}</li>`);
  const said = lines.map(({ label, points: of }) => `${label}: ${digits(of[0].y, 2)} to ${digits(of.at(-1).y, 2)}`).join("; ");
  return `<h3>${curve.y}, by ${curve.x}</h3>
    <svg class="curve" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escape(said)}">${grid.join("")}${drawn.join("")}</svg><ul class="key">${key.join("")}</ul>`;
}

/** The chosen row and column under every other choice. */
function othersOf(name, dimension, view) {
  const { rows, columns } = DIMENSIONS[name];
  const looks = looksOf(name);
  const mine = dimension.places.map((place, at) => ({ place, at })).filter(({ place }) => place[rows] === view.row && place[columns] === view.col);
  if (mine.length < 2) return "";
  const cell = (show, at) => {
    const figure = figureAt(dimension, show, at, looks[show].inverted);
    if (!figure) return "<td>–</td>";
    return `<td><b>${show === "fraction" ? percent(figure.value) : digits(figure.value, 3)}</b><small>${interval(figure, looks[show])}</small></td>`;
  };
  const lines = mine.map(({ place, at }) => {
    const chosen = dimension.choices.every((key) => place[key] === view.at[key]) ? ' class="chosen"' : "";
    const label = dimension.choices.map((key) => choiceName(key, place[key])).join(", ");
    return `<tr><th scope="row"${chosen}>${escape(label)}</th>${["ns", "ratio", "fraction"].map((show) => cell(show, at)).join("")}</tr>`;
  });
  const heads = ["ns", "ratio", "fraction"].map((show) => `<th scope="col">${show === "ns" ? "ns" : escape(looks[show].name)}</th>`).join("");
  return `<h3>Under other choices</h3><div class="wide"><table><thead><tr><td></td>${heads}</tr></thead><tbody>${lines.join("")}</tbody></table></div>`;
}

/** Two lists to choose a cell without the table. */
function cellChoosers(name, dimension, view) {
  const list = (id, key, chosen) => {
    const option = (value) => `<option value="${escape(value)}"${value === chosen ? " selected" : ""}>${escape(encoding(value))}</option>`;
    return `<label>${key} <select id="${id}">${dimension.values(key).map(option).join("")}</select></label>`;
  };
  const { rows, columns } = DIMENSIONS[name];
  return `<div class="choose">${list("row", rows, view.row)}${list("col", columns, view.col)}</div>`;
}

/** Draws the panel of the chosen cell and returns what it says. */
function drawDetail(element, name, dimension, view) {
  const { rows, columns, note, curve } = DIMENSIONS[name];
  const choosers = cellChoosers(name, dimension, view);
  if (!view.row) {
    element.innerHTML = `<h2>Choose a cell</h2><p>${escape(note)}</p><p>Select a cell, or move through the table with the arrow keys.</p>${choosers}`;
    return "";
  }
  const at = dimension.find({ ...view.at, [rows]: view.row, [columns]: view.col });
  const said = at === undefined ? "This was not measured under this choice." : tell(name, dimension, at);
  const choice = [...dimension.choices.map((key) => choiceName(key, view.at[key])), `${dimension.record.processes} processes`].join(", ");
  const known = (dimension.record.ns.below ?? []).length > 0;
  element.innerHTML = `<button type="button" id="close" aria-label="Close">×</button><h2>${escape(encoding(view.row))}, ${escape(columnName(columns, view.col))}</h2>${choosers}
    <p class="small">${escape(choice)}${known ? "; intervals of 95 % in brackets" : ""}</p><p class="lead">${escape(said)}</p>
    ${curve ? drawCurve(name, dimension, view) : `<h3>Every ${columns} of this ${rows}</h3>${barsOf(name, dimension, view)}`}
    ${othersOf(name, dimension, view)}`;
  return said;
}
