// Runs a program for WASI preview 1 in headless Chromium: `node .ci/chromium.mjs PROGRAM ARGUMENT...`. It sees no files.
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const [program, ...args] = process.argv.slice(2);

// The program's world, in a worker: arguments, the clock, random bytes, and both outputs. All other calls are refused.
async function worker(args) {
  const post = (body) => fetch("/output", { method: "POST", body });
  const BAD_FILE = 8;
  const NOT_SUPPORTED = 58;
  let memory;
  const output = [];
  const view = () => new DataView(memory.buffer);
  const bytes = (at, length) => new Uint8Array(memory.buffer, at, length);
  const strings = args.map((text) => new TextEncoder().encode(`${text}\0`));
  const known = {
    args_sizes_get(count, size) {
      view().setUint32(count, strings.length, true);
      view().setUint32(size, strings.reduce((sum, text) => sum + text.length, 0), true);
      return 0;
    },
    args_get(pointers, at) {
      strings.forEach((text, i) => {
        view().setUint32(pointers + 4 * i, at, true);
        bytes(at, text.length).set(text);
        at += text.length;
      });
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    clock_time_get(_id, _precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    random_get(at, length) {
      for (let i = 0; i < length; i += 65536) crypto.getRandomValues(bytes(at + i, Math.min(65536, length - i)));
      return 0;
    },
    fd_prestat_get: () => BAD_FILE,
    fd_write(_fd, parts, count, written) {
      let sum = 0;
      for (let i = 0; i < count; i += 1) {
        const length = view().getUint32(parts + 8 * i + 4, true);
        output.push(bytes(view().getUint32(parts + 8 * i, true), length).slice());
        sum += length;
      }
      view().setUint32(written, sum, true);
      return 0;
    },
    proc_exit(code) {
      throw { code };
    },
  };
  const wasi = new Proxy(known, { get: (all, name) => all[name] ?? (() => NOT_SUPPORTED) });
  let code = 0;
  try {
    const module = await WebAssembly.compileStreaming(fetch("/program.wasm"));
    const { exports } = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi });
    memory = exports.memory;
    exports._start();
  } catch (error) {
    code = error.code ?? 134;
    if (error.code === undefined) output.push(new TextEncoder().encode(`${error.stack ?? error}\n`));
  }
  await post(new Blob(output));
  await fetch(`/exit?${code}`, { method: "POST" });
}

const profile = await mkdtemp(join(tmpdir(), "chromium-"));
const body = { "/program.wasm": ["application/wasm", await readFile(program)] };
body["/"] = ["text/html", '<!doctype html><script>new Worker("/worker.js")</script>'];
body["/worker.js"] = ["text/javascript", `(${worker})(${JSON.stringify([program, ...args])})`];

async function end(code) {
  browser.removeAllListeners();
  browser.kill("SIGKILL");
  await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  process.exit(code);
}
const server = createServer(async (request, response) => {
  const [path, query] = request.url.split("?");
  if (request.method === "POST") {
    const parts = [];
    for await (const part of request) parts.push(part);
    response.end();
    if (path === "/output") process.stdout.write(Buffer.concat(parts));
    if (path === "/exit") await end(Number(query));
  } else if (path in body) {
    response.setHeader("Content-Type", body[path][0]);
    response.end(body[path][1]);
  } else {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const browser = spawn(process.env.CHROMIUM ?? "chromium", [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  `--user-data-dir=${profile}`,
  `http://127.0.0.1:${server.address().port}/`,
], { stdio: "ignore" });
browser.on("error", async (error) => {
  console.error(`${browser.spawnfile}: ${error.message}`);
  await end(127);
});
browser.on("exit", async (code) => {
  console.error(`${browser.spawnfile} ended with ${code} before the program did`);
  await end(1);
});
