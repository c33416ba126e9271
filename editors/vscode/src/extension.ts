import * as vscode from "vscode";
import { LanguageClient, type LanguageClientOptions } from "vscode-languageclient/node";

import { DOCUMENTS, serverCommand } from "./server";

const OPEN = "prompt-studio.open"; // the server's own command

let client: LanguageClient | undefined;

async function start(): Promise<void> {
  const words = vscode.workspace.getConfiguration("promptStudio").get<string[]>("command", []);
  const watcher = vscode.workspace.createFileSystemWatcher("**/*.{prompty,yaml,yml,json,md,csv}");
  const options: LanguageClientOptions = {
    documentSelector: DOCUMENTS.map((each) => ({ ...each })),
    synchronize: { fileEvents: watcher },
  };
  client = new LanguageClient("promptStudio", "Prompt Studio", serverCommand(words), options);
  try {
    await client.start();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const choice = await vscode.window.showErrorMessage(
      `Prompt Studio's language server did not start: ${reason}. Install it (pipx install prompt-studio), or say where it is.`,
      "Open Settings",
    );
    if (choice !== undefined) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "promptStudio.command");
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("promptStudio.restart", async () => {
      await stop();
      await start();
    }),
    vscode.commands.registerCommand("promptStudio.open", async () => {
      const uri = vscode.window.activeTextEditor?.document.uri;
      if (uri?.scheme === "file") {
        await vscode.commands.executeCommand(OPEN, uri.toString());
      }
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration("promptStudio.command")) {
        await stop();
        await start();
      }
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
