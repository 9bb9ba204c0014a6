// The state of the page is in the fragment of its address, so every view has a link.

const stored = JSON.parse(document.getElementById("data").textContent);
const all = stored.filter(({ record }) => record.blocks.length).map(prepare);
const sets = stored.filter(({ record }) => record.dimensions?.length).map(prepareSet);
const $ = (id) => document.getElementById(id);

/** The newest record of the first machine, on its strongest tier. */
function defaults(data = all.findLast((one) => one.name.split("/")[0] === all[0].name.split("/")[0])) {
  return {
    view: "map",
    machine: data.name,
    other: all.find((one) => one !== data)?.name ?? "",
    metric: data.sizes.some((size) => !SIZES[size].small) ? "fraction" : "ns",
    size: data.sizes.includes("l2") ? "l2" : data.sizes[0],
    tier: data.tiers.at(-1),
    otherTier: "",
    storage: "byte",
    mode: "default",
    option: "",
    pair: "",
    set: setOf(data)?.name ?? "",
    at: "",
    show: "",
    row: "",
    col: "",
  };
}

/** The newest dimensions of a record's machine, or else of any. */
function setOf(data) {
  const [machine] = data.name.split("/");
  return sets.findLast((one) => one.name.split("/")[0] === machine) ?? sets.at(-1);
}

/** The tier of the other machine that is compared with a tier: the same, or else its strongest. */
function tierBeside(other, tier) {
  const data = all.find((one) => one.name === other);
  return data?.tiers.includes(tier) ? tier : (data?.tiers.at(-1) ?? "");
}

/** The state that a fragment names. What it names wrongly is the default. */
function read(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const data = all.find((one) => one.name === given.get("machine")) ?? all.find((one) => one.name === defaults().machine);
  const state = defaults(data);
  const choose = (key, allowed) => {
    if (allowed.includes(given.get(key))) state[key] = given.get(key);
  };
  choose("set", sets.map((one) => one.name));
  const set = sets.find((one) => one.name === state.set);
  choose("view", ["map", "compare", "tables", "method", ...(set?.dimensions.keys() ?? [])]);
  choose("other", all.map((one) => one.name));
  choose("metric", Object.keys(METRICS));
  choose("size", data.sizes);
  choose("tier", data.tiers);
  choose("storage", ["byte", "packed", "both"]);
  choose("mode", ["default", ...Object.keys(MODES)]);
  choose("option", data.optionNames);
  const pair = (given.get("pair") ?? "").split(":");
  if (pair.length === 2 && pair.every((label) => data.labels.includes(label))) state.pair = pair.join(":");
  if (state.view === "compare" && all.length < 2) state.view = "map";
  if (DIMENSIONS[state.view]) {
    const dimension = set.dimensions.get(state.view);
    const view = readDimension(state.view, dimension, given);
    const show = view.show === (DIMENSIONS[state.view].first ?? "ratio") ? "" : view.show;
    Object.assign(state, { show, row: view.row, col: view.col, at: writeChoices(dimension, view.at) });
  }
  state.otherTier = tierBeside(state.other, state.tier);
  choose("otherTier", all.find((one) => one.name === state.other)?.tiers ?? []);
  // Options were measured in the second cache and with the default mode.
  if (state.option && state.view === "map") Object.assign(state, { size: "l2", mode: "default" });
  // Small calls have no fraction.
  if (SIZES[state.size].small && !METRICS[state.metric].small) state.metric = "ns";
  return state;
}

/** The fragment of a state: what differs from the defaults. */
function write(state) {
  const base = defaults(all.find((one) => one.name === state.machine));
  if (state.machine !== defaults().machine) base.machine = "";
  base.otherTier = tierBeside(state.other, state.tier);
  const parts = Object.entries(state).filter(([key, value]) => value !== base[key] && value !== "");
  return `#${parts.map(([key, value]) => `${key}=${encodeURIComponent(value).replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%2C", ",")}`).join("&")}`;
}

let state = read(location.hash);
let cells = [];

/** The dimension that is shown, with its choices; null in other views. */
function shown() {
  if (!DIMENSIONS[state.view]) return null;
  const set = sets.find((one) => one.name === state.set);
  const dimension = set.dimensions.get(state.view);
  const given = new URLSearchParams({ at: state.at, show: state.show, row: state.row, col: state.col });
  return { set, name: state.view, dimension, view: readDimension(state.view, dimension, given) };
}

const dataOf = (name) => all.find((one) => one.name === name);
const otherOf = () => (state.view === "compare" ? dataOf(state.other) : null);

/** Changes the state; `quiet` leaves no entry in the history and draws no map again. */
function go(change, quiet = false) {
  const follows = state.otherTier === tierBeside(state.other, state.tier);
  const hash = write({ ...state, ...(follows && { otherTier: "" }), ...change });
  history[quiet ? "replaceState" : "pushState"](null, "", hash === "#" ? location.pathname + location.search : hash);
  state = read(hash);
  if (quiet) choosePair();
  else draw();
}

function group(key, title, choices, chosen = state[key]) {
  const item = ([value, text, off]) =>
    `<label><input type="radio" name="${key}" value="${escape(value)}"${chosen === value ? " checked" : ""}${off ? " disabled" : ""}><span>${text}</span></label>`;
  return `<fieldset><legend>${title}</legend>${choices.map(item).join("")}</fieldset>`;
}

function machines(key, title, from = all) {
  const item = (one) =>
    `<option value="${escape(one.name)}"${one.name === state[key] ? " selected" : ""}>${escape(`${one.record.machine.cpu}, ${one.name.split("/").at(-1)}`)}</option>`;
  return `<fieldset><legend>${title}</legend><select name="${key}" aria-label="${title}">${from.map(item).join("")}</select></fieldset>`;
}

function optionList(data) {
  const item = (name) => `<option value="${escape(name)}"${name === state.option ? " selected" : ""}>${escape(name || "default")}</option>`;
  const title = "Cost of an option (L2)";
  return `<fieldset><legend>${title}</legend><select name="option" aria-label="${title}">${["", ...data.optionNames].map(item).join("")}</select></fieldset>`;
}

function drawControls() {
  const data = dataOf(state.machine);
  const compare = state.view === "compare";
  const small = Boolean(SIZES[state.size].small);
  const metrics = Object.entries(METRICS).map(([key, { name, small: fits }]) => [key, name, small && !fits]);
  const parts = [all.length > 1 ? machines("machine", "Machine") : ""];
  if (compare) parts.push(machines("other", "Other machine"));
  else parts.push(group("metric", "Colour", metrics));
  const sizes = (is) => data.sizes.filter((size) => Boolean(SIZES[size].small) === is).map((size) => [size, SIZES[size].name]);
  parts.push(group("size", "Size", sizes(false)), sizes(true).length ? group("size", "Small calls, elements", sizes(true)) : "");
  parts.push(group("tier", "Tier", data.tiers.map((tier) => [tier, tier])));
  if (compare) parts.push(group("otherTier", "Its tier", dataOf(state.other).tiers.map((tier) => [tier, tier])));
  parts.push(group("storage", "Small elements", [["byte", "one per byte"], ["packed", "packed"], ["both", "both"]]));
  parts.push(group("mode", "Out of range", [["default", "default"], ...Object.entries(MODES)]));
  if (!compare && data.optionNames.length) parts.push(optionList(data));
  putControls(parts.join(""));
}

/** Replaces the controls and keeps the focus on the one that was used. */
function putControls(html) {
  const focus = document.activeElement?.closest?.("#controls") ? document.activeElement : null;
  $("controls").innerHTML = html;
  if (focus) $("controls").querySelector(`[name="${focus.name}"][value="${CSS.escape(focus.value)}"], select[name="${focus.name}"]`)?.focus();
}

const NOTES = {
  fraction: "Each number is a percentage of the speed that memory allows; brighter is faster. A red corner marks a pair below the target of its class.",
  ratio: "Each number is the time of the fastest other library divided by the time of lanecast; blue means that lanecast is ahead.",
  ns: "Each number is in nanoseconds; brighter is faster.",
  option: "Each number is the time with the option divided by the time with default options; brighter is faster.",
  other: "Each number is the time on the other machine divided by the time on this one; blue means that this one is faster.",
};

function draw() {
  const data = dataOf(state.machine);
  const now = shown();
  const { machine } = (now?.set ?? data).record;
  const tiers = now ? machine.tiers.filter((tier) => tier !== "scalar") : data.tiers;
  const map = now || state.view === "map" || state.view === "compare";
  $("where").textContent = `${machine.cpu}, ${tiers.join(" and ")}; commit ${machine.commit}, ${machine.date.split("T")[0]}; ${machine.rustc.split(" (")[0]}`;
  for (const link of document.querySelectorAll("[data-view]")) {
    const { view } = link.dataset;
    const lacks = DIMENSIONS[view] && !sets.find((one) => one.name === state.set)?.dimensions.has(view);
    link.hidden = lacks || (view === "compare" && all.length < 2) || (view === "tables" && data.record.tables.length === 0);
    link.href = write({ ...state, view, ...(view !== state.view && { at: "", show: "", row: "", col: "" }) });
    if (view === state.view) {
      link.setAttribute("aria-current", "page");
      // On a phone, the views are a line that scrolls.
      const line = link.parentElement;
      line.scrollLeft = link.offsetLeft - line.offsetLeft - (line.clientWidth - link.offsetWidth) / 2;
    } else link.removeAttribute("aria-current");
  }
  for (const id of ["controls", "summary", "legend", "work", "lists"]) $(id).hidden = !map;
  $("tables").hidden = state.view !== "tables";
  $("method").hidden = state.view !== "method";
  if (state.view === "tables") drawTables($("tables"), data);
  if (state.view === "method") drawMachine($("machine"), data, setOf(data));
  if (!map) {
    choosePair();
    return;
  }
  if (now) {
    drawTable(now);
    return;
  }
  drawControls();
  const other = otherOf();
  cells = drawMap($("map"), data, state, other);
  $("summary").textContent = summarise(data, state, cells, other);
  drawLegend($("legend"), looks(state, other).scale, NOTES[other ? "other" : state.option ? "option" : state.metric]);
  drawLists($("lists"), state, cells, other);
  choosePair();
}

/** Draws the table of a dimension with all that is around it. */
function drawTable({ set, name, dimension, view }) {
  const machine = sets.length > 1 ? machines("set", "Machine", sets) : "";
  putControls(machine + dimensionControls(name, dimension, view));
  cells = drawDimension($("map"), name, dimension, view);
  $("summary").textContent = summariseDimension(name, view, cells);
  drawLegend($("legend"), looksOf(name, view.show).scale, escape(DIMENSIONS[name].note));
  drawEnds($("lists"), name, view, cells);
  choosePair();
}

/** Draws the panel and marks the cell of the chosen pair, or of the chosen place of a dimension. */
function choosePair() {
  const now = shown();
  if (now) {
    const { row, col } = now.view;
    const cell = markCell($("map"), (one) => one.dataset.row === row && one.dataset.col === col);
    document.body.classList.toggle("chosen", row !== "");
    const said = drawDetail($("panel"), now.name, now.dimension, now.view);
    $("live").textContent = row ? `${row.replace(":", " to ")}, ${columnName(DIMENSIONS[now.name].columns, col).replace("→", "to")}. ${said}` : "";
    if (row && document.activeElement?.closest?.("#map")) cell?.focus();
    return;
  }
  const cell = markCell($("map"), (one) => one.dataset.pair === state.pair);
  document.body.classList.toggle("chosen", state.pair !== "");
  if (state.pair === "") {
    $("panel").innerHTML = `<h2>Choose a pair</h2><p>Select a cell, or move through the map with the arrow keys. Home and End go to the ends of a row.</p>${choosers(dataOf(state.machine), "float32", "float16")}`;
    $("live").textContent = "";
    return;
  }
  const said = drawPanel($("panel"), dataOf(state.machine), state, otherOf());
  $("live").textContent = `${state.pair.replace(":", " to ")}. ${said}`;
  if (document.activeElement?.closest?.("#map")) cell?.focus();
}

$("controls").addEventListener("change", ({ target: { name, value } }) => {
  // The map of an option has one size and one mode: another choice of these leaves it.
  const leave = ["metric", "size", "mode"].includes(name) && { option: "" };
  if (name.startsWith("at-")) {
    const { dimension, view } = shown();
    go({ at: dimension.choices.map((key) => (`at-${key}` === name ? value : view.at[key])).join(",") });
  } else go({ ...leave, [name]: value });
});
$("controls").addEventListener("submit", (event) => event.preventDefault());
/** What a cell, or a link to one, chooses. */
const placeOf = ({ dataset: { pair, choose, row, col } }) => (row === undefined ? { pair: pair ?? choose } : { row, col });

$("map").addEventListener("click", ({ target }) => {
  const cell = target.closest('[role="gridcell"]');
  if (cell) {
    cell.focus();
    go(placeOf(cell), true);
  }
});
$("map").addEventListener("keydown", (event) => {
  const cell = event.target.closest('[role="gridcell"]');
  const next = cell && (event.key === "Enter" || event.key === " " ? cell : cellAfter(cell, event.key));
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.scrollIntoView({ block: "nearest", inline: "nearest" });
  go(placeOf(next), true);
});
const NOWHERE = { pair: "", row: "", col: "" };
$("panel").addEventListener("change", ({ target }) => {
  const id = target.id;
  go(shown() ? { row: $("row").value, col: $("col").value } : { pair: `${$("from").value}:${$("to").value}` }, true);
  $(id)?.focus();
});
$("panel").addEventListener("click", ({ target }) => {
  if (target.id === "close") go(NOWHERE, true);
});
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && document.body.classList.contains("chosen")) go(NOWHERE, true);
});
$("lists").addEventListener("click", ({ target }) => {
  const link = target.closest("button");
  if (!link) return;
  go(placeOf(link), true);
  $("panel").scrollIntoView({ block: "nearest" });
});
$("download").addEventListener("click", () => save(dataOf(state.machine)));
$("download-dimensions").addEventListener("click", () => save(setOf(dataOf(state.machine))));
$("download-dimensions").hidden = sets.length === 0;
for (const [view, { name }] of Object.entries(DIMENSIONS)) {
  const link = document.createElement("a");
  Object.assign(link, { textContent: name, hidden: true }).dataset.view = view;
  document.querySelector('[data-view="tables"]').before(link);
}
window.addEventListener("popstate", () => {
  state = read(location.hash);
  draw();
});
draw();
