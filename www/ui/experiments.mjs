/**
 * What may go wrong, each as one thing to press: what it does and what to look for.
 *
 * @param {import("./app.mjs").App} app
 */
export function experiments(app) {
  const send = (agent, message, more = {}) => app.call("send_message", { agent, message, ...more });
  const fault = (alias, change, note) => app.session.command({ type: "fault", alias, change, note });
  return [
    {
      title: "Cut a stream in the middle of an event",
      watch: "The gateway reads the task and takes the stream up again. The caller sees one answer, complete.",
      async run() {
        const call = send("writer", "a broken line");
        await app.until(() => call().progress.length >= 3 || call().state !== "running");
        fault("writer", { cut: true }, "The next event from writer is cut in half.");
      },
    },
    {
      title: "Let an agent refuse three times",
      watch: "After three failures echo is unhealthy, and a broadcast skips it without spending a send.",
      async run() {
        fault("echo", { mode: "refuses" }, "Echo refuses every connection from here on.");
        for (const word of ["one", "two", "three"]) await app.ended(send("echo", word));
        await app.ended(app.call("broadcast_message", { aliases: ["clerk", "echo"], message: "Is anybody there?" }));
        fault("echo", { mode: "works" }, "Echo works again.");
      },
    },
    {
      title: "Flood: twenty messages at once",
      watch: "Echo's bucket holds five. The rest are refused at once, each told how long to wait.",
      async run() {
        for (let i = 1; i <= 20; i += 1) send("echo", `message ${i}`);
      },
    },
    {
      title: "Let an answer never end",
      watch: "The gateway stops reading at its limit, hangs up, and says too_large.",
      async run() {
        fault("echo", { mode: "floods" }, "Echo answers without end.");
        await app.ended(send("echo", "tell me everything"));
        fault("echo", { mode: "works" }, "Echo works again.");
      },
    },
    {
      title: "Agent asks for silence",
      watch: "Writer answers 429 with Retry-After. Later sends are held back by the gateway itself until then.",
      async run() {
        fault("writer", { mode: "limits" }, "Writer answers 429 from here on.");
        await app.ended(send("writer", "now"));
        fault("writer", { mode: "works" }, "Writer works again.");
        await app.ended(send("writer", "and now"));
      },
    },
    {
      title: "Clock jumps while a call runs",
      watch: "The deadline has passed. The call ends as timeout, with the task and all that was received so far.",
      async run() {
        const call = send("writer", "a long sleep");
        await app.until(() => call().progress.length >= 4 || call().state !== "running");
        if (call().state === "running") app.session.command({ type: "jump", ms: 90_000 });
      },
    },
    {
      title: "Send without waiting",
      watch: "The call returns at once. The outcome lands in the inbox, and read_inbox takes it out.",
      async run() {
        await app.ended(send("writer", "a letter", { async: true }));
        await app.until(() => app.session.inbox.some(({ alias }) => alias === "writer"));
        app.call("read_inbox", { alias: "writer" });
      },
    },
  ];
}
