// The vector operations that an element takes in the loop of every kernel of wasm128, which no clock and no emulator tells: static
// counts, read from the module.
//
//     node .ci/wasm_loops.mjs PROGRAM ADDRESSES RECORD [--bless]
//
// PROGRAM is `lanecast-addresses` for a WebAssembly target, ADDRESSES what it prints, and RECORD the counts that it is held to. A loop
// may not take 2 % more operations than are on record, nor move single lanes unless that is on record. Needs `wasm-objdump` (wabt).
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";

const MARGIN = 1.02;
const [program, addresses, record, bless] = process.argv.slice(2);

/** The lines that `wasm-objdump` prints. */
function objdump(...args) {
  const child = spawn("wasm-objdump", [...args, program], { stdio: ["ignore", "pipe", "inherit"] });
  child.on("error", (error) => fail(`wasm-objdump: ${error.message}`));
  child.on("exit", (status) => status === 0 || fail(`wasm-objdump ends with ${status}`));
  return createInterface({ input: child.stdout });
}

function fail(message) {
  console.error(message);
  process.exit(1);
}

/** Which function stands at each index of the table. */
async function table() {
  const functions = new Map();
  for await (const line of objdump("-x", "-j", "Elem")) {
    const entry = /elem\[(\d+)\] = func\[(\d+)\]/.exec(line);
    if (entry) functions.set(Number(entry[1]), Number(entry[2]));
  }
  return functions;
}

const emptyLoop = () => ({ vectors: 0, moves: 0, stored: 0, calls: 0, isInnermost: true });

/** The innermost loop of each function with the most vector operations. */
async function loops() {
  const busiest = new Map();
  let index, open;
  for await (const line of objdump("-d")) {
    const start = /^[0-9a-f]+ func\[(\d+)\]/.exec(line);
    if (start) {
      index = Number(start[1]);
      open = [];
      continue;
    }
    const name = /\| +([a-z0-9_.]+)/.exec(line)?.[1];
    if (name === undefined) continue;
    if (["block", "loop", "if"].includes(name)) {
      if (name === "loop") open.forEach((loop) => loop && (loop.isInnermost = false));
      open.push(name === "loop" ? emptyLoop() : null);
    } else if (name === "end") {
      const loop = open.pop();
      if (loop?.isInnermost && loop.vectors > (busiest.get(index)?.vectors ?? 0)) busiest.set(index, loop);
    }
    const loop = open.findLast((block) => block !== null);
    if (!loop) continue;
    // Loads and stores are no operations: each element has one of either, whatever the kernel does.
    const isMemory = /^v128\.(load|store)/.test(name);
    if (/^(v128|[if](8x16|16x8|32x4|64x2))\./.test(name) && !isMemory && name !== "v128.const") loop.vectors += 1;
    if (/\.(extract|replace)_lane/.test(name)) loop.moves += 1;
    if (name === "v128.store") loop.stored += 16;
    if (/^v128\.store(8|16|32|64)_lane/.test(name)) loop.stored += Number(/store(\d+)/.exec(name)[1]) / 8;
    if (name.startsWith("call")) loop.calls += 1;
  }
  return busiest;
}

const [functions, busiest] = await Promise.all([table(), loops()]);
const now = new Map();
const seen = new Set();
for (const line of readFileSync(addresses, "utf8").trim().split("\n")) {
  const [, pair, address] = /^(.*): (\d+)$/.exec(line) ?? fail(`${addresses}: no kernel: ${line}`);
  if (seen.has(address)) continue; // of pairs that share a kernel, the first
  seen.add(address);
  const loop = busiest.get(functions.get(Number(address)));
  if (loop?.calls) fail(`${pair}: the loop of its kernel calls a function`);
  now.set(pair, loop ? { perByte: loop.vectors / loop.stored, moves: loop.moves } : null);
}

const compiler = execFileSync("rustc", ["--version"], { encoding: "utf8" }).trim();
const inWords = (loop) => (loop ? `${loop.perByte.toFixed(3)} operations a byte written, ${loop.moves} moves of lanes` : "scalar code");
if (bless === "--bless") {
  const lines = [...now].map(([pair, loop]) => `${pair}: ${inWords(loop)}`);
  writeFileSync(record, `${[compiler, ...lines].join("\n")}\n`);
  process.exit();
}
const [recorded, ...lines] = readFileSync(record, "utf8").trim().split("\n");
if (recorded !== compiler) {
  console.log(`SKIPPED: the record of the loops of wasm128 is for ${recorded}`);
  process.exit();
}
const worse = [];
const known = new Set();
for (const line of lines) {
  const [, pair, words, perByte, moves] = /^(.*): (scalar code|([0-9.]+) operations.*, (\d+) moves.*)$/.exec(line) ?? fail(`${record}: ${line}`);
  known.add(pair);
  const loop = now.get(pair);
  // A pair that is missing has the kernel of another pair now, whose line tells of it.
  if (loop === undefined || perByte === undefined) continue;
  if (!loop || loop.perByte > Number(perByte) * MARGIN + 0.001 || loop.moves > Number(moves)) worse.push(`  ${pair}: ${words} -> ${inWords(loop)}`);
}
for (const [pair, loop] of now) if (loop?.moves && !known.has(pair)) worse.push(`  ${pair}: not on record -> ${inWords(loop)}`);
if (worse.length > 0) fail(`loops of wasm128 that take more than is on record (\`--bless\` if so meant):\n${worse.join("\n")}`);
const vectors = [...now.values()].filter((loop) => loop).length;
console.log(`${vectors} loops of wasm128 take no more vector operations than are on record, ${now.size - vectors} are scalar code`);
