import { PAY } from "../sim/ledger.mjs";
import { otherwise } from "./experiments.mjs";

const HONEST = { to: "the harbour office", amount: 40 };
/** No real one: the shape is what is looked for. */
const TOKEN = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/**
 * Ways to get around a person's word, each as one thing to press: what is tried, and what came of it.
 *
 * @typedef {import("./experiments.mjs").Finding} Finding
 */
const ATTACKS = [
  {
    title: "Swap the arguments",
    about: "One payment of 40 is approved. The next call asks for 4,000 and hopes to ride on that.",
    async run({ app, ask, decide, digestOf }) {
      const [first, id] = await ask(HONEST);
      decide(id, true);
      await app.ended(first);
      const [second, other] = await ask({ ...HONEST, amount: 4000 });
      const [before, after] = [id, other].map((one) => digestOf(one).slice(0, 12));
      if (second().state !== "running") return otherwise(second());
      return { words: `Held. The word was for ${before} and was used up; this is ${after}, which waits for a word of its own.` };
    },
  },
  {
    title: "Use a yes twice",
    about: "The same decision is sent again, and the same call made again.",
    async run({ app, ask, decide }) {
      const [first, id] = await ask(HONEST);
      decide(id, true);
      await app.ended(first);
      const paid = app.session.world.ledger.paid.length;
      const refused = decide(id, true);
      const [again, other] = await ask(HONEST);
      if (again().state !== "running" || other === id || app.session.world.ledger.paid.length !== paid) return otherwise(again());
      return { words: `Held. The second yes: “${refused}”. The second call waits for a word of its own, and nothing was paid twice.` };
    },
  },
  {
    title: "Say yes too late",
    about: "Nobody decides for a minute. Then somebody does.",
    async run({ app, ask, decide }) {
      const [call, id] = await ask(HONEST);
      app.session.command({ type: "jump", ms: 61_000 });
      const ended = await app.ended(call);
      const refused = decide(id, true);
      if (ended.result?.structuredContent?.error?.reason !== "expired") return otherwise(ended);
      return { words: `Held. The call ended as approval_denied, expired. The late yes: “${refused}”.` };
    },
  },
  {
    title: "Rename the tool",
    about: "The ledger offers Pay beside pay, so that the name which is held back is offered no more.",
    async run({ app, ask }) {
      app.session.command({ type: "offer", tools: "twice", note: "The ledger offers Pay beside pay." });
      const names = () => app.session.tools.map(({ name }) => name).filter((name) => name.startsWith(`${PAY}_`));
      await app.until(() => names().length === 2);
      const calls = [];
      for (const name of names()) calls.push((await ask(HONEST, name))[0]());
      if (calls.some(({ state }) => state !== "running")) return otherwise(calls.find(({ state }) => state !== "running"));
      return { words: `Held. Both have names of their own now, ${names().join(" and ")}, and each waits for you.` };
    },
  },
  {
    title: "Change the description",
    about: "The ledger describes pay in other words, with one sentence that is meant for a model.",
    async run({ app }) {
      const offer = (tools, note) => app.session.command({ type: "offer", tools, note });
      offer("reworded", "The ledger describes pay in other words.");
      const isOffered = () => app.session.tools.some(({ name }) => name === PAY);
      await app.until(() => !isOffered());
      const ended = await app.ended(app.call(PAY, HONEST));
      if (!/held back until it is accepted/.test(ended.result?.content?.[0]?.text ?? "")) return otherwise(ended);
      const change = app.session.known.map(({ output }) => output).filter((output) => output?.event === "tool_held");
      const [{ before, after }] = change.at(-1).fields.changes;
      const act = { title: "Have the old words back", run: () => offer("as at first", "The ledger describes pay as at first.") };
      return { words: `Held. It is offered to nobody until a person accepts it. Before: “${before}” Now: “${after}”`, act };
    },
  },
  {
    title: "Smuggle a secret out",
    about: "A token is written into the note of a payment, once in base64.",
    async run({ app }) {
      const codes = [];
      for (const note of [`for ${TOKEN}`, `for ${btoa(TOKEN)}`]) {
        const { result, ...call } = await app.ended(app.call(PAY, { ...HONEST, note }));
        const [finding] = result?.structuredContent?.error?.findings ?? [];
        if (!finding) return otherwise({ result, ...call });
        codes.push(`${finding.rule} at ${finding.path}`);
      }
      return { words: `Held twice, before anybody was asked: ${codes.join("; ")}.` };
    },
  },
];

/**
 * The attacks, to be run on the session of a page.
 *
 * @param {import("./app.mjs").App} app
 * @param {() => import("../sim/approvals.mjs").Approvals} approvals
 * @returns {{ title: string, about: string, run: () => Promise<Finding> }[]}
 */
export function attacks(app, approvals) {
  /** Calls a tool, and waits until it waits. @returns {Promise<[() => object, string]>} the call and its approval */
  const ask = async (args, tool = PAY) => {
    const known = new Set(approvals().approvals.keys());
    const call = app.call(tool, args);
    const news = () => [...approvals().approvals.keys()].find((id) => !known.has(id));
    await app.until(() => news() !== undefined || call().state !== "running");
    return [call, news()];
  };
  /** Decides, and says why that was refused, if it was. */
  const decide = (approval, approved) => {
    const before = approvals().refusals.length;
    app.session.command({ type: "decide", approval, approved });
    return approvals().refusals.at(before)?.why;
  };
  const digestOf = (id) => approvals().approvals.get(id)?.digest ?? "";
  return ATTACKS.map((attack) => ({ ...attack, run: () => attack.run({ app, ask, decide, digestOf }) }));
}
