// Drives the page of speeds in headless Chromium: `node .ci/page.mjs docs/speed.html [FOLDER]`. With a folder, it leaves screenshots there.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [page, pictures] = process.argv.slice(2);
const profile = await mkdtemp(join(tmpdir(), "chromium-"));
// Commands and events go through two pipes, as texts that end with a zero byte.
const browser = spawn(
  process.env.CHROMIUM ?? "chromium",
  ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", `--user-data-dir=${profile}`],
  { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);

async function end(code) {
  browser.removeAllListeners();
  browser.kill("SIGKILL");
  await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  process.exit(code);
}
browser.on("error", async (error) => {
  console.log(`SKIPPED: the page of speeds: ${browser.spawnfile}: ${error.message}`);
  await end(0);
});
browser.on("exit", async (code) => {
  console.error(`${browser.spawnfile} ended with ${code}`);
  await end(1);
});

const waiting = new Map();
const faults = [];
let loaded = () => {};
let session;
let count = 0;
let rest = "";
browser.stdio[4].setEncoding("utf8").on("data", (text) => {
  const messages = (rest + text).split("\0");
  rest = messages.pop();
  for (const message of messages.map((line) => JSON.parse(line))) {
    if (message.id) {
      const { done, failed } = waiting.get(message.id);
      waiting.delete(message.id);
      if (message.error) failed(new Error(message.error.message));
      else done(message.result);
    } else event(message);
  }
});

function event({ method, params }) {
  if (method === "Page.loadEventFired") loaded();
  if (method === "Runtime.exceptionThrown") faults.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
  if (method === "Runtime.consoleAPICalled" && params.type === "error") faults.push(JSON.stringify(params.args));
  if (method === "Log.entryAdded" && params.entry.level === "error") faults.push(params.entry.text);
  if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url)) faults.push(`a request of ${params.request.url}`);
}

function send(method, params = {}) {
  const id = (count += 1);
  browser.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: session })}\0`);
  return new Promise((done, failed) => waiting.set(id, { done, failed }));
}

/** The value of an expression in the page. */
async function value(expression) {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
  if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description}`);
  return result.value;
}
const quoted = JSON.stringify;
const text = (selector) => value(`document.querySelector(${quoted(selector)})?.textContent ?? null`);
const click = (selector) => value(`document.querySelector(${quoted(selector)}).click()`);
const hash = () => value("decodeURIComponent(location.hash)");

async function open(path, fragment = "") {
  const ready = new Promise((done) => (loaded = done));
  // From an empty page: another fragment alone would not load the page again.
  await send("Page.navigate", { url: "about:blank" });
  await ready;
  const shown = new Promise((done) => (loaded = done));
  await send("Page.navigate", { url: `${pathToFileURL(resolve(path))}${fragment}` });
  await shown;
}

async function key(name) {
  for (const type of ["keyDown", "keyUp"]) await send("Input.dispatchKeyEvent", { type, key: name, code: name });
}

async function picture(name) {
  if (!pictures) return;
  await mkdir(pictures, { recursive: true });
  const { data } = await send("Page.captureScreenshot", { format: "png" });
  await writeFile(join(pictures, `${name}.png`), Buffer.from(data, "base64"));
}

const screen = (width, height, mobile) => send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
const scheme = (name) => send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: name }] });

/** The least contrast of the elements that a selector matches. */
const contrast = (selector) =>
  value(`(() => {
    const parts = (text) => text.match(/[0-9.]+/g).map(Number);
    const linear = (part) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
    const light = (rgb) => { const [r, g, b] = rgb.map(linear); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const back = (of) => { for (let e = of; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor); if (c[3] !== 0) return c; } return [255, 255, 255]; };
    return Math.min(...[...document.querySelectorAll(${quoted(selector)})].map((e) => {
      const [a, b] = [light(parts(getComputedStyle(e).color).slice(0, 3)), light(back(e).slice(0, 3))];
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    }));
  })()`);

/** The page with a second machine: the first one, with one tier, other times, and small calls, an option and a table that it may lack. */
async function second(path) {
  const html = await readFile(path, "utf8");
  const [, json] = html.match(/<script type="application\/json" id="data">([^]*?)<\/script>/);
  const records = JSON.parse(json);
  const copy = structuredClone(records.find((one) => one.record.blocks.length > 0));
  copy.name = "zz-other/2026-01-01-other";
  copy.record.machine.cpu = "Another CPU";
  copy.record.blocks = copy.record.blocks.filter(({ tier }) => tier === copy.record.blocks.at(-1).tier);
  for (const block of copy.record.blocks) block.ns = block.ns.map((ns) => ns && 2 * ns);
  const { casts, types } = copy.record;
  const at = casts.findIndex(([from, to]) => types[from].name === "float32" && types[to].name === "float16");
  const { tier } = copy.record.blocks.at(-1);
  copy.record.blocks.push({ tier, size: "n64", ns: casts.map((_, k) => (k === at ? 12.5 : 10)), memcpy: [[384, 1.75]] });
  copy.record.options.push({ tier, option: "float-round=up", at: [at], ratio: [1.125] });
  copy.record.tables.push({ name: "A table <b>", note: "Figures.", columns: ["what", "how much"], rows: [["x & y", 1234.5]] });
  const other = join(profile, "two.html");
  const made = madeDimensions(copy.record.machine);
  await writeFile(other, html.replace(json, () => JSON.stringify([...records, copy, made]).replaceAll("<", "\\u003c")));
  return { other, records, made };
}

/** Dimensions of three processes: two choices of each key, the second of which takes longer. */
function madeDimensions(machine) {
  const keys = {
    options: { pair: ["float32:int8", "float32:float16"], tier: ["avx2", "avx512"], option: ["default", "float-round=up"] },
    scaled: { scheme: ["mxfp4", "nvfp4"], tier: ["avx2", "avx512"], size: ["l2", "dram"], cast: ["from float32", "to float32"] },
    views: { layout: ["contiguous", "transposed"], tier: ["avx2", "avx512"], side: ["256", "1024"], pair: ["float32:float16", "int32:int64"] },
    calls: { pair: ["float32:float64", "float32:float16"], tier: ["avx2", "avx512"], call: ["cast", "plan"], elements: ["1", "64"] },
    addresses: { pair: ["float32:int8", "int32:int64"], tier: ["avx2", "avx512"], size: ["l1", "l2"], place: ["0/0", "16/48"] },
    threads: { pair: ["float32:float16", "int4/packed:float16"], threads: ["1", "2"], KiB: ["64", "4096"] },
    checked: { pair: ["float32:int8", "float32:float16"], tier: ["avx2", "avx512"], size: ["l1", "l2"], way: ["plain", "checked, range"] },
  };
  const dimensions = Object.entries(keys).map(([dimension, of]) => {
    const names = Object.keys(of);
    const count = 2 ** names.length;
    const at = (k, row) => (row >> (names.length - 1 - k)) & 1;
    const rows = Array.from({ length: count }, (_, row) => names.reduce((sum, _name, k) => sum + at(k, row) * (k + 1), 0));
    // In the last key, the first value is the baseline, which has no ratio.
    const figure = (scale, none = false) => ({
      value: rows.map((sum, row) => (none && at(names.length - 1, row) === 0 ? null : scale(sum))),
      below: rows.map(() => 10),
      above: rows.map((_sum, row) => row + 1),
    });
    return {
      dimension,
      processes: 3,
      keys: names.map((name, k) => ({ name, values: of[name], at: rows.map((_, row) => at(k, row)) })),
      ns: figure((sum) => 0.25 + sum / 16),
      ratio: figure((sum) => 1 + sum / 8, true),
      fraction: figure((sum) => 1 / (1.25 + sum)),
    };
  });
  const record = { schema: 1, machine: { ...machine, commit: "ba9876543210" }, processes: 3, casts: [], blocks: [], dimensions };
  return { name: "zz-other/2026-01-02-other-dimensions", record };
}

/** The cells of a dimension under a choice, as the page draws them: label by row and column, and the number. */
const grid = () => value("[...document.querySelectorAll('#map [role=gridcell]')].map((e) => [e.dataset.row, e.dataset.col, e.textContent])");

/** Drives every dimension of a record: numbers, choices, links, keys, the panel, colours, a phone and paper. */
async function driveDimensions(path, { name, record }) {
  let compared = 0;
  for (const { dimension, keys, ...figures } of record.dimensions) {
    const address = `#set=${name}&view=${dimension}`;
    await screen(1500, 1000, false);
    await scheme("light");
    await open(path, address);
    assert.match(await text("#where"), new RegExp(record.machine.commit));
    assert.equal(await text('nav [aria-current="page"]'), await text(`nav [data-view="${dimension}"]`));
    const chosen = await value("Object.fromEntries([...document.querySelectorAll('#controls input:checked')].map((e) => [e.name, e.value]))");
    // Every number is the record's, for every figure.
    for (const show of ["ratio", "ns", "fraction"]) {
      await click(`input[name=show][value=${show}]`);
      const inverted = show === "ratio" && ["calls", "threads"].includes(dimension);
      let numbers = 0;
      for (const [row, col, shown] of await grid()) {
        const k = figures.ns.value.findIndex((_, at) =>
          keys.every(({ name: key, values, at: places }) => {
            const here = values[places[at]];
            return `at-${key}` in chosen ? here === chosen[`at-${key}`] : here === row || here === col;
          }),
        );
        const figure = k < 0 ? null : figures[show].value[k];
        if (figure === null) assert.ok(["", "·"].includes(shown), `${dimension}: ${row}, ${col} shows ${shown}`);
        else {
          const wanted = inverted ? 1 / figure : show === "fraction" ? 100 * figure : figure;
          const step = 10 ** Math.floor(Math.log10(wanted) - 0.99);
          assert.ok(Math.abs(Number(shown) - wanted) <= Math.max(step, show === "fraction" ? 0.51 : 0), `${dimension}, ${show}: ${row}, ${col} shows ${shown} for ${wanted}`);
          numbers += 1;
        }
      }
      if (show !== "ratio" || dimension !== "calls") assert.ok(numbers > 1, `${dimension} shows ${numbers} numbers of ${show}`);
      compared += numbers;
      const least = await contrast("#map [role=gridcell]:not(.none)");
      assert.ok(!(least < 4.5), `${dimension}, ${show}: the contrast is ${least}`);
    }
    // Another choice has a link of its own, which restores it; back works.
    await open(path, address);
    const before = await grid();
    const other = await value("document.querySelector('#controls input[name^=at-]:not(:checked):not(:disabled)')?.value ?? null");
    if (other !== null) {
      await click("#controls input[name^=at-]:not(:checked):not(:disabled)");
      const there = await grid();
      assert.notDeepEqual(there, before, `${dimension}: ${other} changes nothing`);
      const link = await value("location.hash");
      assert.match(link, /at=/);
      await open(path, link);
      assert.deepEqual(await grid(), there, `${dimension}: ${link}`);
      await click("#controls input[name=show]:not(:checked)");
      await value("history.back()");
      await value("new Promise((done) => setTimeout(done, 100))");
      assert.deepEqual(await grid(), there, `${dimension}: back`);
    }
    // A cell, the keys, the panel.
    await open(path, address);
    await click("#map tbody tr:last-child td:last-child");
    assert.match(await hash(), /row=.*col=/);
    assert.match(await text("#panel .lead"), /^It takes [0-9.,]+ ns per (element|call)/);
    if (figures.ns.below.length) assert.match(await text("#panel .lead"), /\([0-9.,]+ to [0-9.,]+\)/);
    assert.ok(await value("document.querySelectorAll('#panel .bars .row, #panel .curve .line').length > 0"), `${dimension}: neither bars nor a curve`);
    await picture(dimension);
    const row = await value("document.activeElement.dataset.row");
    await key("Home");
    const first = await value("document.querySelector('#map tbody tr:last-child td').dataset.col");
    assert.deepEqual(await value("[document.activeElement.dataset.row, document.activeElement.dataset.col]"), [row, first]);
    assert.match(await text("#live"), /It takes|not measured/);
    await key("ArrowUp");
    assert.notEqual(await value("document.activeElement.dataset.row"), row);
    await key("Escape");
    assert.equal(await text("#panel h2"), "Choose a cell");
    await click("#lists button");
    assert.match(await text("#panel .lead"), /^It takes/);

    const cell = `${address}&row=${encodeURIComponent(row)}&col=${encodeURIComponent(first)}`;
    await scheme("dark");
    await open(path, cell);
    for (const selector of ["p:not(.unseen)", "#map th", "#panel td", "#panel th", "#panel small", ".num", ".key li", "#lists button"]) {
      const least = await contrast(selector);
      assert.ok(!(least < 4.5), `${dimension}, dark: the contrast of ${selector} is ${least}`);
    }
    await picture(`${dimension}-dark`);
    await scheme("light");
    await screen(360, 740, true);
    for (const fragment of [address, cell]) {
      await open(path, fragment);
      const width = await value("document.documentElement.scrollWidth");
      assert.ok(width <= 360, `a phone: ${fragment} is ${width} pixels wide`);
    }
    assert.ok(await value("document.querySelector('#panel').scrollWidth <= document.querySelector('#panel').clientWidth"), `a phone: the panel of ${dimension} is too wide`);
    await picture(`${dimension}-phone`);
    await screen(1500, 1000, false);
    const { data } = await send("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
    await send("Emulation.setEmulatedMedia", { media: "print" });
    await screen(1510, 1050, false);
    await picture(`${dimension}-paper`);
    await send("Emulation.setEmulatedMedia", { media: "" });
    const pages = Buffer.from(data, "base64").toString("latin1").match(/\/Type *\/Page\b/g)?.length;
    assert.equal(pages, 2, `${dimension} is printed on ${pages} pages, not on one for the table and one for the cell`);
  }
  return compared;
}

async function main() {
  // The browser's own first tab makes requests.
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  ({ sessionId: session } = await send("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  const { other, records, made } = await second(page);
  const matrices = records.filter((one) => one.record.blocks.length > 0);
  const newest = matrices.findLast(({ name }) => name.split("/")[0] === matrices[0].name.split("/")[0]);
  const { record } = newest;
  const tiers = [...new Set(record.blocks.map(({ tier }) => tier))];
  const sizes = [...new Set(record.blocks.map(({ size }) => size))];
  assert.ok(sizes.includes("l2"), "the tests need the size l2");
  const labels = record.types.map(({ name, packed }) => (packed ? `${name}/packed` : name));
  await screen(1500, 1000, false);
  await scheme("light");

  // Every number of the map is the record's.
  const strongest = ["scalar", "avx2", "avx512", "neon", "wasm128"].filter((tier) => tiers.includes(tier)).at(-1);
  await open(page);
  const block = record.blocks.find(({ tier, size }) => tier === strongest && size === "l2");
  const shown = await value("[...document.querySelectorAll('#map [data-pair]')].map((e) => [e.dataset.pair, e.textContent])");
  let compared = 0;
  for (const [pair, number] of shown) {
    const [from, to] = pair.split(":").map((label) => labels.indexOf(label));
    const at = record.casts.findIndex((cast) => cast[0] === from && cast[1] === to && cast[4] === 1);
    const fraction = at < 0 ? null : block.fraction[at];
    assert.equal(number, fraction === null ? "" : String(Math.round(100 * fraction)), pair);
    if (fraction !== null) compared += 1;
  }
  assert.ok(compared > 100, `only ${compared} cells have numbers`);
  assert.equal(await value("document.querySelectorAll('#map th:not([scope])').length"), 0);
  assert.match(await text("#where"), new RegExp(record.machine.commit));
  await picture("map");

  // A pair, another tier, the keyboard.
  await click('[data-pair="float32:float16"]');
  assert.equal(await text("#panel h2"), "float32 → float16");
  assert.equal(await hash(), "#pair=float32:float16");
  await picture("pair");
  const weaker = tiers.find((tier) => tier !== strongest && tier !== "scalar");
  if (weaker) {
    const before = await text("#map");
    await click(`input[name=tier][value=${weaker}]`);
    assert.equal(await hash(), `#tier=${weaker}&pair=float32:float16`);
    assert.notEqual(await text("#map"), before);
    assert.equal(await text("#panel h2"), "float32 → float16");
    await value("history.back()");
    await value("new Promise((done) => setTimeout(done, 100))");
    assert.equal(await value("document.querySelector('input[name=tier]:checked').value"), strongest, "back");
  }
  await value("document.querySelector('[data-pair=\"float32:float16\"]').focus()");
  await key("ArrowRight");
  const next = labels[labels.indexOf("float16") + 1];
  assert.equal(await value("document.activeElement.dataset.pair"), `float32:${next}`);
  assert.match(await text("#live"), new RegExp(`^float32 to ${next}\\. `));
  await key("Home");
  assert.equal(await value("document.activeElement.dataset.pair"), `float32:${labels[0]}`);
  await key("Escape");
  assert.equal(await text("#panel h2"), "Choose a pair");

  // Every metric, from a link; and what links name wrongly.
  for (const metric of ["ratio", "ns"]) {
    await open(page, `#metric=${metric}&storage=both&mode=wrap&pair=float32:int8`);
    assert.equal(await value("document.querySelector('input[name=metric]:checked').value"), metric);
    assert.equal(await value("document.querySelector('input[name=storage]:checked').value"), "both");
    assert.equal(await text("#panel h2"), "float32 → int8");
    assert.ok((await contrast("#map [data-pair]:not(.none)")) >= 4.5, `contrast of ${metric}`);
    await picture(metric);
  }
  await open(page, "#metric=speed&tier=mmx&size=l9&pair=float32:decimal&machine=none&view=none");
  assert.equal(await hash(), "#metric=speed&tier=mmx&size=l9&pair=float32:decimal&machine=none&view=none");
  assert.equal(await value("document.querySelector('input[name=metric]:checked').value"), "fraction");
  assert.equal(await text("#panel h2"), "Choose a pair");
  for (const size of sizes) {
    await click(`input[name=size][value=${size}]`);
    assert.match(await text("#summary"), /pairs/, size);
  }
  await open(page, "#view=method");
  assert.match(await text("#machine"), new RegExp(record.machine.rustc.split(" (")[0]));
  await picture("method");
  if (record.tables.length > 0) {
    await open(page, "#view=tables");
    assert.ok((await text("#tables")).includes(record.tables[0].name));
    await picture("tables");
  }

  // Dark, on a phone, on paper.
  await scheme("dark");
  await open(page, "#pair=float32:float8_e4m3fn");
  assert.equal(await value("getComputedStyle(document.body).backgroundColor"), "rgb(20, 23, 27)");
  for (const selector of ["p:not(.unseen)", "#map th", "#panel td", "#panel th", "legend", "fieldset span", "#lists button"]) {
    const least = await contrast(selector);
    assert.ok(least >= 4.5, `dark: the contrast of ${selector} is ${least}`);
  }
  await picture("dark");
  await scheme("light");
  for (const selector of ["p:not(.unseen)", "#map th", "#panel td", "legend", "fieldset span", "#lists button"]) {
    const least = await contrast(selector);
    assert.ok(least >= 4.5, `light: the contrast of ${selector} is ${least}`);
  }
  await screen(360, 740, true);
  for (const fragment of ["", "#pair=float32:float8_e4m3fn", "#view=method", "#metric=ratio&storage=packed"]) {
    await open(page, fragment);
    const width = await value("document.documentElement.scrollWidth");
    assert.ok(width <= 360, `a phone: ${fragment} is ${width} pixels wide`);
    if (fragment.includes("storage")) await value("document.querySelector('#map').scrollIntoView()");
    await picture(`phone${fragment.replaceAll(/[^a-z0-9]+/g, "-")}`);
  }
  await screen(1500, 1000, false);
  await open(page, "#pair=float32:float8_e4m3fn");
  const { data } = await send("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
  const paper = Buffer.from(data, "base64");
  // The map is on one page, the pair on another one.
  assert.equal(paper.toString("latin1").match(/\/Type *\/Page\b/g)?.length, 2);
  await send("Emulation.setEmulatedMedia", { media: "print" });
  await screen(1510, 1050, false);
  await picture("paper");
  await send("Emulation.setEmulatedMedia", { media: "" });
  if (pictures) await writeFile(join(pictures, "paper.pdf"), paper);

  // Two machines: the second takes twice as long.
  await open(other, `#view=compare&tier=${strongest}&pair=float32:float16`);
  const lone = await value("document.querySelector('select[name=other]').value");
  assert.equal(lone, matrices.length > 1 ? lone : "zz-other/2026-01-01-other");
  await value("(() => { const s = document.querySelector('select[name=other]'); s.value = 'zz-other/2026-01-01-other'; s.dispatchEvent(new Event('change', { bubbles: true })); })()");
  assert.equal(await text('[data-pair="float32:float16"]'), "2.0");
  assert.match(await text("#panel"), /2\.00 times the time here/);
  assert.ok((await contrast("#map [data-pair]:not(.none)")) >= 4.5, "contrast of the comparison");
  await picture("compare");

  await open(other, "#machine=zz-other/2026-01-01-other&size=n64&pair=float32:float16");
  assert.match(await text("#where"), /Another CPU/);
  assert.equal(await value("document.querySelector('input[name=metric]:checked').value"), "ns", "small calls have no fraction");
  assert.equal(await text('[data-pair="float32:float16"]'), "13");
  assert.match(await text("#panel"), /A call of 64 elements takes 12\.5 ns/);
  assert.match(await text("#panel"), /memcpy 1\.8/);
  assert.match(await text("#panel"), /float-round=up\s*1\.13 ×/);
  await picture("small");
  await value("(() => { const s = document.querySelector('select[name=option]'); s.value = 'float-round=up'; s.dispatchEvent(new Event('change', { bubbles: true })); })()");
  assert.equal(await text('[data-pair="float32:float16"]'), "1.1");
  assert.match(await text("#summary"), /^1 pairs with float-round=up: geometric mean 1\.13 .* 0 are above 1\.5\.$/);
  assert.match(await hash(), /option=float-round=up/);
  await picture("option");
  await click("input[name=size][value=l1]");
  assert.doesNotMatch(await hash(), /option=/);
  await click('a[data-view="tables"]');
  await value("new Promise((done) => setTimeout(done, 100))");
  assert.equal(await text("#tables h2"), "A table <b>");
  assert.match(await text("#tables tbody"), /x & y\s*1,23[45]/);
  assert.equal(await value("document.querySelector('#work').hidden"), true);
  await picture("tables");

  compared += await driveDimensions(other, made);
  const measured = records.findLast((one) => one.record.dimensions?.length);
  if (measured) compared += await driveDimensions(page, measured);

  assert.deepEqual(faults, []);
  console.log(`the page of speeds: ${compared} cells, ${records.length} records, no error and no request`);
}

try {
  await main();
  await end(0);
} catch (error) {
  console.error(error.stack, faults);
  await end(1);
}
