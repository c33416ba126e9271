// Renders Dotprompt templates. Reads [[source, values, partials], …] and writes [{messages} or {error}, …].
import fs from "node:fs";
import { Dotprompt } from "dotprompt";

const rendered = async ([source, { history, ...input }, partials]) => {
  const messages = (history ?? []).map(({ role, content }) => ({ role, content: [{ text: content }] }));
  try {
    const made = await new Dotprompt({ partials }).render(source, { input, messages });
    return { messages: made.messages };
  } catch (error) {
    return { error: String(error.message) };
  }
};
const answers = [];
for (const one of JSON.parse(fs.readFileSync(0, "utf8"))) answers.push(await rendered(one));
console.log(JSON.stringify(answers));
