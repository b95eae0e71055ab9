// The agent behind the gateway whose tasks are watched: it counts, a piece every so many milliseconds, and is a gateway itself.
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

import { Gateway } from "../../pkg/node.mjs";

/** Counts to a number: `{"count", "every_ms", "fill"}`, with so many characters more in each piece. */
async function* onWork({ text, signal }) {
  const { count, every_ms, fill } = JSON.parse(text);
  for (let number = 0; number < count && !signal.aborted; number += 1) {
    yield { artifact: { artifactId: "count", parts: [{ text: `${number} ${".".repeat(fill)}` }] }, append: number > 0 };
    await sleep(every_ms);
  }
  return "counted";
}

const gateway = await Gateway.open({ onWork, config: { a2a: { name: "Counter", responder: "function" }, limits: { requests: 10_000 } } });

const server = createServer(async (asked, answer) => {
  const method = asked.method;
  const body = method === "POST" ? { body: Readable.toWeb(asked), duplex: "half" } : {};
  const response = await gateway.fetch(new Request(`http://${asked.headers.host}${asked.url}`, { method, headers: asked.headers, ...body }));
  answer.writeHead(response.status, Object.fromEntries(response.headers));
  if (!response.body) return answer.end();
  const said = Readable.fromWeb(response.body);
  answer.on("close", () => said.destroy());
  said.on("error", () => answer.destroy());
  return said.pipe(answer);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on("end", () => process.exit());
