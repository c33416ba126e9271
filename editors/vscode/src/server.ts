/** How the language server is started: apart from the editor, so that its test knows it, too. */

export interface ServerCommand {
  readonly command: string;
  readonly args: string[];
}

/** What is started where the settings say nothing. */
export const USUAL: readonly string[] = ["prompt-studio", "lsp"];

/** The program and its arguments; settings that name nothing are those that say nothing. */
export function serverCommand(words: readonly string[]): ServerCommand {
  const given = words.filter((word) => word.trim() !== "");
  const [command = "prompt-studio", ...args] = given.length > 0 ? given : USUAL;
  return { command, args };
}

/** The files that the server knows, by the names that it goes by itself. */
export const DOCUMENTS: ReadonlyArray<{ language?: string; scheme: string; pattern?: string }> = [
  { scheme: "file", language: "prompty" },
  { scheme: "untitled", language: "prompty" },
  { scheme: "file", pattern: "**/*.experiment.{yaml,yml}" },
  { scheme: "file", pattern: "**/{SKILL.md,AGENTS.md,*.prompt.md,*.agent.md,*.prompt}" },
];
