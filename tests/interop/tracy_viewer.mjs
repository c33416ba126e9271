// A trace as the viewer of Prompty's VS Code extension reads it: what it writes beside each frame, and
// the keys of a frame that the viewer's own example does not have.
// node tracy_viewer.mjs VIEWER TRACE: Node reads the viewer's source as it is, without its types.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [viewer, file] = process.argv.slice(2);
const format = await import(pathToFileURL(`${viewer}/src/utilities/format.ts`).href);
const read = (path) => JSON.parse(readFileSync(path, "utf-8")).trace;
const walk = (frame, depth = 0) => [
  { frame, depth },
  ...(frame.__frames ?? []).flatMap((each) => walk(each, depth + 1)),
];
const known = new Set(
  walk(read(`${viewer}/public/example.tracy`)).flatMap(({ frame }) => Object.keys(frame)),
);
known.add("type"); // of the viewer's own TraceItem, where its example has none
const told = walk(read(file)).map(({ frame, depth }) => {
  const time = format.formatDuration(frame.__time.duration);
  return {
    depth,
    name: frame.name,
    time: `${time.measure} ${time.unit}`,
    tokens: frame.__usage ? format.totalTokens(frame.__usage) : null,
    usage: Object.keys(frame.__usage ?? {}).map(format.formatUsageLabel),
    opens: format.isExpandable("result", frame.result),
    unknown: Object.keys(frame).filter((key) => !known.has(key)),
  };
});
console.log(JSON.stringify(told));
