// Renders as Prompty's runtime for TypeScript does: Nunjucks without calls and foreign members, and
// mustache.js. Reads [[format, template, values], …] and writes [{text} or {error}, …].
import fs from "node:fs";
import mustache from "mustache";
import nunjucks from "nunjucks";

const unsafe = new Set(["__proto__", "constructor", "prototype"]);
const environment = new nunjucks.Environment(null, { autoescape: false, throwOnUndefined: false });
nunjucks.runtime.memberLookup = (object, name) => {
  if (unsafe.has(name)) throw new Error(`unsafe member ${name}`);
  const isName = typeof name === "string" || typeof name === "number";
  if (!isName || object === null || typeof object !== "object") return undefined;
  const found = Object.getOwnPropertyDescriptor(object, name);
  return found !== undefined && "value" in found ? found.value : undefined;
};
nunjucks.runtime.callWrap = (_called, name) => {
  throw new Error(`calls are not allowed: ${name}`);
};
const render = (format, template, values) =>
  format === "mustache" ? mustache.render(template, values) : environment.renderString(template, values);
const answers = JSON.parse(fs.readFileSync(0, "utf8")).map(([format, template, values]) => {
  try {
    return { text: render(format, template, values) };
  } catch (error) {
    return { error: String(error.message) };
  }
});
console.log(JSON.stringify(answers));
