// HTML of pages in, HTML of articles out: one JSON string a line on stdin, one JSON object a line on stdout.
// Run in the folder that npm filled from package.json.
import { createInterface } from "node:readline";
import { Readability } from "@mozilla/readability";
import { JSDOM, VirtualConsole } from "jsdom";

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const answer = { content: "", error: null };
  try {
    const window = new JSDOM(JSON.parse(line), { virtualConsole: new VirtualConsole() }).window;
    answer.content = new Readability(window.document).parse()?.content ?? "";
    window.close();
  } catch (error) {
    answer.error = String(error);
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
