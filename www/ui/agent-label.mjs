import { UNHEALTHY } from "../sim/world.mjs";
import { attribute, h, write } from "./dom.mjs";
import { seconds } from "./format.mjs";

/** The label of an agent's lane: who it is and what the gateway knows of it. */
export class AgentLabel {
  #health = h("span.health");
  #fill = h("i");
  #meter = h("span.bucket", { role: "meter", "aria-valuemin": "0" }, this.#fill);
  #tokens = h("span.tokens");
  #level = h("span.level", { hidden: true }, this.#meter, this.#tokens);
  #about;
  #more = h("span.more", { hidden: true });
  #ping;
  element;

  /** @param {{ name: string, about: string, onOpen: () => void, onPing: (alias: string) => void }} options */
  constructor({ name, about, onOpen, onPing }) {
    this.#about = h("span.about", {}, about);
    this.#meter.setAttribute("aria-label", `Sends that ${name} may get now`);
    const open = h(
      "button.open",
      { type: "button", title: `What the gateway knows of ${name}`, onclick: onOpen },
      h("strong", {}, name),
      this.#health,
    );
    this.#ping = h("button.ping", { type: "button", hidden: true, onclick: () => onPing(this.alias) }, "Ping");
    this.#ping.setAttribute("aria-label", `Ping ${name}`);
    this.element = h("div.label.agent", {}, open, h("span.facts", {}, this.#level, this.#more, this.#about), this.#ping);
  }

  /** @param {object | undefined} agent the gateway's record @param {{ closed_ms: number, waits: boolean, inbox: number }} facts */
  update(agent, { closed_ms, waits, inbox }) {
    const failures = agent?.health?.failures ?? 0;
    const heard = agent?.health?.heard;
    const [word, health] =
      agent === undefined
        ? ["not connected", "unknown"]
        : failures >= UNHEALTHY
          ? ["unhealthy", "bad"]
          : failures > 0
            ? [`${heard ? "healthy" : "not tried yet"}, failed ${failures}×`, "weak"]
            : heard
              ? ["healthy", "good"]
              : ["not tried yet", "unknown"];
    this.alias = agent?.alias;
    write(this.#health, word);
    attribute(this.#health, "data-health", health);
    this.#ping.hidden = health !== "bad";
    const { burst = 0, level = 0 } = agent?.bucket ?? {};
    const more = [];
    if (waits) more.push("waits for you");
    if (inbox > 0) more.push(`${inbox} in the inbox`);
    if (closed_ms > 0) more.push(`silent for ${seconds(closed_ms)}`);
    write(this.#more, more.join(" · "));
    this.#more.hidden = more.length === 0;
    this.#level.hidden = burst === 0;
    this.#about.hidden = burst > 0 || more.length > 0;
    attribute(this.element, "data-more", more.length > 0 ? "true" : undefined);
    if (burst === 0) return;
    const left = Math.floor(level + 1e-9);
    attribute(this.#meter, "aria-valuemax", String(burst));
    attribute(this.#meter, "aria-valuenow", String(left));
    attribute(this.#meter, "aria-valuetext", `${left} of ${burst}`);
    this.#fill.style.width = `${((Math.min(level, burst) / burst) * 100).toFixed(1)}%`;
    attribute(this.#meter, "data-empty", left === 0 ? "true" : undefined);
    write(this.#tokens, `${left} of ${burst} sends`);
  }
}
