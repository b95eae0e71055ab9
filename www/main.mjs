import { loadCore } from "./core.mjs";
import { h, lessMotion } from "./ui/dom.mjs";

/** How often time passes where less motion is wanted. */
const CALM_MS = 100;

const stage = document.querySelector("main");

start().catch((error) => {
  const words = `The gateway could not be started: ${error.message}`;
  stage.replaceChildren(
    h(
      "section.card.trouble",
      { role: "alert" },
      h("h2", {}, "This did not work"),
      h("p", {}, words),
      h("p", {}, "A browser that is up to date is needed, and the folder pkg beside this page."),
    ),
  );
  stage.removeAttribute("aria-busy");
});

async function start() {
  const path = document.querySelector('meta[name="narrows-gateway"]').content;
  const gateway = path ? new URL(path, location.href) : undefined;
  const [load, { App }] = await Promise.all([loadCore(), import("./ui/app.mjs")]);
  const shape = { ...load, shown_ms: 0 };
  const app = new App({ load: shape, gateway });
  stage.replaceChildren(...app.elements);
  stage.removeAttribute("aria-busy");
  document.querySelector(".actions").append(app.restart);
  const where = document.querySelector(".where");
  where.textContent = gateway
    ? `Attached to the gateway at ${gateway.host}`
    : "All of it runs in this page. Nothing leaves it until you connect an agent of your own.";
  document.querySelector("#below").textContent = gateway
    ? "Below is the gateway that serves this page: call its tools, connect agents to it, read what passes."
    : "Below it is at work: press an example, watch what passes, hold the clock, break things.";
  shape.shown_ms = performance.mark("ready").startTime;
  globalThis.narrows = app;
  pass(app);
}

/** Hands the passing of real time on. */
function pass(app) {
  let last = performance.now();
  const go = () => {
    const now = performance.now();
    app.pass(now - last);
    last = now;
    if (lessMotion.matches) setTimeout(go, CALM_MS);
    else requestAnimationFrame(go);
  };
  go();
}
