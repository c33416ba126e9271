// The server that the extension starts, asked as VS Code asks it, by the protocol's own library.
//
//   node test/protocol.mjs [PROGRAM ARGUMENT …]
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const protocol = require("vscode-languageserver-protocol/node");
const { serverCommand, DOCUMENTS } = require("../out/server.js");

assert.deepEqual(serverCommand([]), { command: "prompt-studio", args: ["lsp"] });
assert.deepEqual(serverCommand(["a", "b"]), { command: "a", args: ["b"] });
assert.ok(DOCUMENTS.some((each) => each.language === "prompty"));

const { command, args } = serverCommand(process.argv.slice(2));
const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const connection = protocol.createProtocolConnection(
  new protocol.StreamMessageReader(server.stdout),
  new protocol.StreamMessageWriter(server.stdin),
);
const published = new Map();
let told = () => {};
connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
  published.set(params.uri, params);
  told();
});
connection.listen();

async function diagnostics(uri, version) {
  while (published.get(uri)?.version !== version) {
    await new Promise((resolve) => { told = resolve; });
  }
  return published.get(uri).diagnostics;
}

const made = await connection.sendRequest(protocol.InitializeRequest.type, {
  processId: process.pid,
  rootUri: null,
  workspaceFolders: null,
  capabilities: {
    general: { positionEncodings: ["utf-16"] },
    textDocument: {
      codeAction: { codeActionLiteralSupport: { codeActionKind: { valueSet: ["quickfix"] } } },
      completion: { completionItem: { snippetSupport: true } },
    },
  },
});
assert.equal(made.serverInfo.name, "prompt-studio");
await connection.sendNotification(protocol.InitializedNotification.type, {});

const uri = "file:///tmp/prompt-studio-test/city.prompty";
const text = "---\nname: City\ninputs:\n  city: {kind: string}\n---\nuser:\nTell of {{ city }} and {{ ctiy }}.\n";
await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
  textDocument: { uri, languageId: "prompty", version: 1, text },
});
const [finding] = await diagnostics(uri, 1);
assert.equal(finding.code, "undeclared-variable");
const actions = await connection.sendRequest(protocol.CodeActionRequest.type, {
  textDocument: { uri }, range: finding.range, context: { diagnostics: [finding] },
});
const [edit] = actions[0].edit.changes[uri];
const lines = text.split("\n");
const { start, end } = edit.range;
lines[start.line] = lines[start.line].slice(0, start.character) + edit.newText + lines[start.line].slice(end.character);
await connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 }, contentChanges: [{ text: lines.join("\n") }],
});
assert.deepEqual(await diagnostics(uri, 2), []);
const hover = await connection.sendRequest(protocol.HoverRequest.type, {
  textDocument: { uri }, position: { line: 6, character: 12 },
});
assert.match(JSON.stringify(hover.contents), /city/);
const lenses = await connection.sendRequest(protocol.CodeLensRequest.type, { textDocument: { uri } });
assert.equal(lenses[0].command.command, "prompt-studio.open");

const skill = "file:///tmp/prompt-studio-test/read/SKILL.md";
await connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
  textDocument: { uri: skill, languageId: "markdown", version: 1, text: "---\nname: read\n---\n" },
});
assert.deepEqual((await diagnostics(skill, 1)).map((each) => each.code), ["agent-file-missing"]);

await connection.sendRequest(protocol.ShutdownRequest.type);
await connection.sendNotification(protocol.ExitNotification.type);
const code = await new Promise((resolve) => server.on("exit", resolve));
assert.equal(code, 0);
console.log("the protocol's library gets findings, fixes, hover and lenses");
process.exit(0);
