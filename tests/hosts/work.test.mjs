// `onWork`: a function of the embedder's is an A2A agent, asked through `gateway.fetch`.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gateway } from "../../pkg/node.mjs";
import { Caller, textOf } from "./a2a.mjs";
import { settled } from "./driven.mjs";

async function agent(t, onWork, options = {}) {
  const notices = [];
  const gateway = await Gateway.open({ onWork, onNotice: (notice) => notices.push(notice), ...options });
  t.after(() => gateway.dispose());
  const faults = () => notices.filter(({ event }) => event === "host_error").map(({ fields }) => fields.message);
  return { gateway, caller: new Caller(gateway.fetch), faults };
}

/** A promise, and what settles it. */
function promised() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

test("a function that gives a text is an agent that answers", async (t) => {
  const orders = [];
  const { gateway, caller } = await agent(t, (work) => {
    orders.push(work);
    return `you said: ${work.text}`;
  });
  const { message, task } = await caller.send("hello");
  assert.equal(task, undefined, "an answer needs no task");
  assert.equal(textOf(message), "you said: hello");
  assert.equal(message.role, "ROLE_AGENT");
  const [{ signal, ...order }] = orders;
  assert.ok(signal instanceof AbortSignal && !signal.aborted);
  assert.deepEqual([order.text, order.principal, textOf(order.message)], ["hello", "local", "hello"]);
  assert.equal(order.task.id, order.message.taskId);
  const card = await (await gateway.fetch(new Request("http://localhost/.well-known/agent-card.json"))).json();
  assert.deepEqual(card.skills.map(({ id }) => id), ["function"]);
});

test("what a generator yields is streamed as it comes, and what it returns is the end", async (t) => {
  const heard = promised();
  const { caller } = await agent(t, async function* ({ text }) {
    yield "looking";
    await heard.promise;
    yield { artifact: "soup, " };
    yield { artifact: "bread", append: true };
    yield { artifact: { name: "prices", parts: [{ data: { soup: 5 } }] } };
    const update = Object.assign(Object.create(null), { status: { state: "TASK_STATE_WORKING", message: { role: "ROLE_AGENT", parts: [{ data: 4 }] } } });
    yield { statusUpdate: update };
    return `that is all about ${text}`;
  });
  const seen = [];
  for await (const event of caller.stream("dinner")) {
    seen.push(event);
    if (event.statusUpdate) heard.resolve();
  }
  assert.deepEqual(
    seen.map((event) => Object.keys(event)[0]),
    ["task", "statusUpdate", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate", "statusUpdate"],
  );
  assert.equal(textOf(seen[1].statusUpdate.status.message), "looking");
  assert.deepEqual([seen[2].artifactUpdate.append ?? false, seen[3].artifactUpdate.append], [false, true]);
  assert.equal(seen[5].statusUpdate.status.message.parts[0].data, 4);
  const { status } = seen[6].statusUpdate;
  assert.deepEqual([status.state, textOf(status.message)], ["TASK_STATE_COMPLETED", "that is all about dinner"]);
  const task = await caller.call("GetTask", { id: seen[0].task.id });
  assert.deepEqual(task.artifacts.map(({ artifactId, parts }) => [artifactId, parts.length]), [["result", 2], ["prices", 1]]);
});

test("a generator that just ends completes its task", async (t) => {
  const { caller } = await agent(t, async function* () {
    yield { artifact: "done" };
  });
  const { task } = await caller.send("go");
  assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  assert.equal(textOf(task.artifacts[0]), "done");
});

test("a question waits for its answer, which comes with the task", async (t) => {
  const { caller } = await agent(t, ({ text, task }) => {
    if (task.status.state === "TASK_STATE_SUBMITTED" && task.history.length === 1) return { ask: "For how many?" };
    return `a table for ${text}, after ${textOf(task.history[0])}`;
  });
  const { task } = await caller.send("a table");
  assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_INPUT_REQUIRED", "For how many?"]);
  const { task: done } = await caller.send("four", { taskId: task.id, contextId: task.contextId });
  assert.equal(done.id, task.id);
  assert.deepEqual([done.status.state, textOf(done.status.message)], ["TASK_STATE_COMPLETED", "a table for four, after a table"]);
});

test("a function that throws fails its task, and what it threw is for whoever runs it", async (t) => {
  const ways = {
    "at once": () => {
      throw new Error("the kitchen is closed");
    },
    "as a promise": async () => {
      throw new Error("the kitchen is closed");
    },
    "between its words": async function* () {
      yield "looking";
      throw new Error("the kitchen is closed");
    },
  };
  for (const [way, onWork] of Object.entries(ways)) {
    const { caller, faults } = await agent(t, onWork);
    const { task } = await caller.send("soup");
    assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_FAILED", "the function that works on this task failed"], way);
    assert.deepEqual(faults(), ["the kitchen is closed"], way);
  }
});

test("a function that fails its task itself says why", async (t) => {
  const { caller, faults } = await agent(t, async function* () {
    const message = { role: "ROLE_AGENT", parts: [{ text: "the kitchen is closed" }] };
    yield { statusUpdate: { status: { state: "TASK_STATE_FAILED", message } } };
  });
  const { task } = await caller.send("soup");
  assert.deepEqual([task.status.state, textOf(task.status.message)], ["TASK_STATE_FAILED", "the kitchen is closed"]);
  assert.deepEqual(faults(), []);
});

test("what is no update fails the task, and the function is ended", async (t) => {
  for (const said of [5, { status: "working" }, { statusUpdate: "working" }, { artifact: 5 }, { artifact: { name: "x" } }, { artifact: { parts: [] } }, null]) {
    let ended = false;
    const { caller, faults } = await agent(t, async function* () {
      try {
        yield said;
        assert.fail("it went on");
      } finally {
        ended = true;
      }
    });
    const { task } = await caller.send("x");
    assert.equal(task.status.state, "TASK_STATE_FAILED", JSON.stringify(said));
    assert.match(faults().join("|"), /^onWork says texts[^|]*$/, JSON.stringify(said));
    assert.ok(ended, JSON.stringify(said));
  }
});

test("a canceled task aborts its function, and what it still says is passed over", async (t) => {
  const begun = promised();
  const over = promised();
  const { caller, faults } = await agent(t, async function* ({ signal }) {
    try {
      yield "working";
      begun.resolve(signal);
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      yield "too late";
      assert.fail("it went on");
    } finally {
      over.resolve(signal.reason);
    }
  });
  const seen = [];
  const events = caller.stream("x");
  const { task } = (await events.next()).value;
  const streaming = (async () => {
    for await (const event of events) seen.push(event);
  })();
  const signal = await begun.promise;
  assert.equal(signal.aborted, false);
  const canceled = await caller.call("CancelTask", { id: task.id });
  assert.equal(canceled.status.state, "TASK_STATE_CANCELED");
  assert.equal(signal.aborted, true);
  assert.equal((await over.promise).code, "canceled");
  await streaming;
  assert.equal(seen.at(-1).statusUpdate.status.state, "TASK_STATE_CANCELED");
  assert.ok(!JSON.stringify(seen).includes("too late"));
  assert.deepEqual(faults(), []);
});

test("the end of the gateway aborts what is worked on", async (t) => {
  const begun = promised();
  const { gateway, caller } = await agent(t, ({ signal }) => {
    begun.resolve(signal);
    return new Promise(() => {});
  });
  const asked = caller.send("x");
  const signal = await begun.promise;
  gateway.dispose();
  assert.equal(signal.aborted, true);
  await assert.rejects(asked, { code: "disposed" });
});

test("after a restart a task that was worked on has failed, and one that waited goes on", async (t) => {
  const kept = new Map();
  const onSave = (key, pieces) => kept.set(key, pieces);
  const onWork = ({ text }) => (text === "ask" ? { ask: "What?" } : text === "hang" ? new Promise(() => {}) : `so: ${text}`);
  const { gateway, caller } = await agent(t, onWork, { onSave });
  const waiting = (await caller.send("ask")).task;
  const { task: running } = await caller.send("hang", { configuration: { returnImmediately: true } });
  await settled();
  gateway.dispose();
  const { caller: again } = await agent(t, onWork, { onSave, snapshot: [...kept.values()].flat() });
  assert.equal((await again.call("GetTask", { id: running.id })).status.state, "TASK_STATE_FAILED");
  const { task } = await again.send("that", { taskId: waiting.id });
  assert.equal(textOf(task.status.message), "so: that");
});

test("a skill may be the function's, and the others somebody else's", async (t) => {
  const skills = [{ id: "cook", name: "Cook", responder: "function" }, { id: "say", name: "Say" }];
  const { caller } = await agent(t, ({ skill }) => `cooked by ${skill}`, { config: { a2a: { responder: "echo", skills } } });
  const { message } = await caller.send("soup", { metadata: { skill: "cook" } });
  assert.equal(textOf(message), "cooked by cook");
  const { task } = await caller.send("soup", { metadata: { skill: "say" } });
  assert.equal(textOf(task.artifacts[0]), "soup");
});

test("a responder and its function are only there together", async () => {
  const refused = (options, words) => assert.rejects(Gateway.open(options), { code: "config", message: words });
  await refused({ config: { a2a: { responder: "function" } } }, /needs the option `onWork`/);
  await refused({ config: { a2a: { skills: [{ id: "a", name: "A", responder: "function" }] } } }, /needs the option `onWork`/);
  await refused({ config: { a2a: { responder: "echo" } }, onWork: () => "x" }, /`onWork` would do nothing/);
  await assert.rejects(Gateway.open({ onWork: "x" }), { code: "misuse", message: /`onWork` must be a function/ });
});
