// Outgoing requests within the limits of a worker, without one.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Subrequests } from "../../pkg/lib/worker/subrequests.mjs";

/** Requests whose answers are given by hand. */
function scene(options) {
  const started = [];
  const woken = { times: 0 };
  const fetch = (url, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason));
      started.push({ url, answer: (body) => resolve(new Response(body)), fail: (error) => reject(error) });
    });
  const subrequests = new Subrequests({ fetch, wake: () => (woken.times += 1), ...options });
  const ask = (url) => {
    const controller = new AbortController();
    const answer = subrequests.fetch({ method: "GET", url, headers: [], signal: controller.signal });
    answer.catch(() => {});
    return { answer, abort: () => controller.abort() };
  };
  return { subrequests, started, woken, ask, urls: () => started.map(({ url }) => url) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a connection is taken until its body was read, given up or broken", async () => {
  const { subrequests, started, ask, urls } = scene({ connections: 2 });
  subrequests.begin();
  const asked = ["a", "b", "c", "d", "e", "f"].map(ask);
  await turn();
  assert.deepEqual(urls(), ["a", "b"]);
  started[0].answer("body");
  const reader = (await asked[0].answer).body.getReader();
  await turn();
  assert.equal(started.length, 2, "its body is not read yet");
  while (!(await reader.read()).done);
  await turn();
  assert.deepEqual(urls(), ["a", "b", "c"]);
  asked[1].abort();
  await assert.rejects(asked[1].answer, { name: "AbortError" });
  await turn();
  assert.deepEqual(urls(), ["a", "b", "c", "d"]);
  started[2].fail(new Error("refused"));
  await assert.rejects(asked[2].answer, /refused/);
  started[3].answer(null);
  assert.equal((await asked[3].answer).status, 200);
  await turn();
  assert.deepEqual(urls(), ["a", "b", "c", "d", "e", "f"]);
  started[4].answer("body");
  await (await asked[4].answer).body.getReader().cancel();
  asked[4].abort();
  const last = ask("g");
  await turn();
  assert.equal(urls().at(-1), "g");
  last.abort();
});

test("what an event may not ask any more waits for the next one", async () => {
  const { subrequests, started, woken, ask, urls } = scene({ perEvent: 3 });
  const early = ask("0");
  await turn();
  assert.deepEqual([started.length, woken.times], [0, 1], "nothing goes out before an event");
  subrequests.begin();
  for (const url of ["1", "2", "3", "4"]) ask(url);
  await turn();
  assert.deepEqual(urls(), ["0", "1", "2"]);
  assert.ok(woken.times > 1);
  subrequests.begin();
  await turn();
  assert.deepEqual(urls(), ["0", "1", "2", "3", "4"]);
  early.abort();
});

test("what is aborted while it waits never goes out", async () => {
  const { subrequests, started, ask } = scene({ connections: 1 });
  subrequests.begin();
  const [first, second] = [ask("a"), ask("b")];
  await turn();
  second.abort();
  await assert.rejects(second.answer, { name: "AbortError" });
  first.abort();
  await turn();
  assert.equal(started.length, 1);
  const gone = new AbortController();
  gone.abort();
  const late = subrequests.fetch({ method: "GET", url: "c", headers: [], signal: gone.signal });
  await assert.rejects(late, { name: "AbortError" });
});
