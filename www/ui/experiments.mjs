import { seconds } from "./format.mjs";
import { standing } from "./result.mjs";

/**
 * What may go wrong, each as one thing to press: what it does, which agents it needs rested, and what came of it.
 *
 * @typedef {{ words: string, isBad?: boolean, act?: { title: string, run: () => void } }} Finding
 */
const EXPERIMENTS = [
  {
    title: "Cut a stream in the middle of an event",
    about: "The gateway reads the task and takes the stream up again. The caller sees one answer, complete.",
    agents: ["writer"],
    async run({ app, send, fault }) {
      const call = send("writer", "a broken line");
      await app.until(() => call().progress.length >= 3 || call().state !== "running");
      if (call().state !== "running") return otherwise(call());
      fault("writer", { cut: true }, "The next event from writer is cut in half.");
      const ended = await app.ended(call);
      return ended.state === "done" ? { words: "The stream broke, and the caller still has one answer, whole." } : otherwise(ended);
    },
  },
  {
    title: "Let an agent refuse three times",
    about: "After three failures echo is unhealthy, and a broadcast skips it without spending a send.",
    agents: ["echo", "clerk"],
    async run({ app, send, fault }) {
      fault("echo", { mode: "refuses" }, "Echo refuses every connection from here on.");
      for (const word of ["one", "two", "three"]) await app.ended(send("echo", word));
      const race = await app.ended(app.call("broadcast_message", { aliases: ["clerk", "echo"], message: "Is anybody there?" }));
      fault("echo", { mode: "works" }, "Echo works again.");
      if (race.result.structuredContent?.results?.echo?.status !== "skipped") return otherwise(race);
      const act = { title: "Ping echo", run: () => app.ping("echo") };
      return { words: "Three failures, and the broadcast skipped echo. It stays so until echo gives a sign of life.", act };
    },
  },
  {
    title: "Flood: twenty messages at once",
    about: "Echo's bucket holds five. The rest are refused at once, each told how long to wait.",
    agents: ["echo"],
    async run({ app, send }) {
      const calls = Array.from({ length: 20 }, (_, i) => send("echo", `message ${i + 1}`));
      await app.until(() => calls.every((call) => call().state !== "running"));
      const refused = calls.map((call) => call()).filter((call) => standing(call).outcome === "refused");
      const [, wait] = /retry after (\S+)/.exec(refused[0]?.result.content[0].text ?? "") ?? [];
      return { words: `${20 - refused.length} of 20 answered, ${refused.length} refused at once${wait ? `: retry after ${wait}` : ""}.` };
    },
  },
  {
    title: "Let an answer never end",
    about: "The gateway stops reading at its limit, hangs up, and says too_large.",
    agents: ["echo"],
    async run({ app, send, fault }) {
      fault("echo", { mode: "floods" }, "Echo answers without end.");
      const call = await app.ended(send("echo", "tell me everything"));
      fault("echo", { mode: "works" }, "Echo works again.");
      return codeOf(call) === "too_large" ? { words: "The gateway hung up at its limit of 524 kB: too_large." } : otherwise(call);
    },
  },
  {
    title: "Agent asks for silence",
    about: "Writer answers 429 with Retry-After. Later sends are held back by the gateway itself until then.",
    agents: ["writer"],
    async run({ app, send, fault }) {
      fault("writer", { mode: "limits" }, "Writer answers 429 from here on.");
      await app.ended(send("writer", "now"));
      fault("writer", { mode: "works" }, "Writer works again.");
      const call = await app.ended(send("writer", "and now"));
      if (codeOf(call) !== "rate_limited") return otherwise(call);
      const left = app.session.closedFor(app.session.agents.find(({ alias }) => alias === "writer"));
      return { words: `Refused by the gateway itself, without asking writer: silence for ${seconds(left)} more.` };
    },
  },
  {
    title: "Clock jumps while a call runs",
    about: "The deadline has passed. The call ends as timeout, with the task and all that was received so far.",
    agents: ["writer"],
    async run({ app, send }) {
      const call = send("writer", "a long sleep");
      await app.until(() => call().progress.length >= 4 || call().state !== "running");
      if (call().state === "running") app.session.command({ type: "jump", ms: 90_000 });
      const ended = await app.ended(call);
      if (codeOf(ended) !== "timeout") return otherwise(ended);
      const pieces = ended.result.structuredContent.task?.artifacts?.flatMap(({ parts }) => parts).length ?? 0;
      return { words: `Ended as timeout, with the task and ${pieces} pieces that had come.` };
    },
  },
  {
    title: "Send without waiting",
    about: "The call returns at once. The outcome lands in the inbox, where read_inbox takes it out.",
    agents: ["writer"],
    async run({ app, send }) {
      const before = waiting(app, "writer");
      const call = await app.ended(send("writer", "a letter", { async: true }));
      if (call.state !== "done") return otherwise(call);
      await app.until(() => waiting(app, "writer") > before);
      const read = () => {
        app.showTab("play");
        app.call("read_inbox", { alias: "writer" });
      };
      return { words: "Writer is done, and its answer waits in the inbox.", act: { title: "Read the inbox", run: read } };
    },
  },
];

/**
 * The experiments, to be run on the session of a page.
 *
 * @param {import("./app.mjs").App} app
 * @returns {{ title: string, about: string, agents: string[], run: () => Promise<Finding> }[]}
 */
export function experiments(app) {
  const send = (agent, message, more = {}) => app.call("send_message", { agent, message, ...more });
  const fault = (alias, change, note) => app.session.command({ type: "fault", alias, change, note });
  return EXPERIMENTS.map((experiment) => ({ ...experiment, run: () => experiment.run({ app, send, fault }) }));
}

/** How many outcomes of an agent wait in the inbox. */
function waiting(app, alias) {
  return app.session.inbox.filter((letter) => letter.alias === alias).length;
}

function codeOf({ result }) {
  return result?.structuredContent?.error?.code;
}

/** It came otherwise than told. @returns {Finding} */
export function otherwise(call) {
  return { words: `It came otherwise: ${standing(call).outcome}. ${call.result?.content?.[0]?.text ?? ""}`, isBad: true };
}
