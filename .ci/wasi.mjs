// Runs a program for WASI preview 1: `node .ci/wasi.mjs PROGRAM ARGUMENT...`. It sees the environment and the current folder.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { WASI } from "node:wasi";

const [program, ...args] = process.argv.slice(2);
const wasi = new WASI({
  version: "preview1",
  args: [program, ...args],
  env: process.env,
  preopens: { "/": "/" },
  returnOnExit: true,
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
try {
  process.exitCode = wasi.start(instance);
} catch (error) {
  console.error(`${program}: ${error.stack}`); // an abort is a trap
  process.exitCode = 134;
}
