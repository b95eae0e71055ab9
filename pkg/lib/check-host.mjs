/** How long a step of a check may take, when all is well. */
const PATIENCE_MS = 3000;

/** How long the slowest response of the checks' server lasts. */
const DRIP_MS = 6000;

/** The streams that wait for a word. */
const held = new Map();

/** The checks of a host, by name. Each returns, or throws an Error that says what is wrong. */
const CLOCKS = {
  "now never goes back": async ({ now }) => {
    let last = milliseconds(now(), "now()");
    for (let turn = 0; turn < 20; turn += 1) {
      const next = milliseconds(now(), "now()");
      expect(next >= last, `now() went back from ${last} to ${next}`);
      last = next;
      await Promise.resolve();
    }
  },
  "unixNow is a time since 1970": ({ unixNow }) => {
    const year = new Date(milliseconds(unixNow(), "unixNow()")).getUTCFullYear();
    expect(year >= 2020 && year < 2200, `unixNow() is in the year ${year}: it must be in milliseconds`);
  },
  "random fills all bytes, each time with others": ({ random }) => {
    const [one, other] = [new Uint8Array(256), new Uint8Array(256)];
    random(one);
    random(other);
    expect(new Set(one).size > 32, "random() left most bytes alike");
    expect(one.some((byte, i) => byte !== other[i]), "random() gave the same bytes twice");
  },
  "setTimer calls back once, later, and not too early": async ({ now, setTimer }) => {
    const began = milliseconds(now(), "now()");
    let [calls, returned, early] = [0, false, false];
    await within(PATIENCE_MS, "setTimer(callback, 30)", (done) => {
      const cancel = setTimer(() => {
        calls += 1;
        early = !returned;
        done();
      }, 30);
      returned = true;
      expect(typeof cancel === "function", "setTimer must return a function that cancels");
    });
    // Timers and clocks are rounded, so one millisecond is none.
    const passed = milliseconds(now(), "now()") - began;
    expect(!early, "setTimer called back before it returned");
    expect(passed >= 29, `setTimer(callback, 30) called back after ${passed} ms of now()`);
    await pause(50);
    expect(calls === 1, `setTimer called back ${calls} times`);
  },
  "a cancelled timer does not call back": async ({ setTimer }) => {
    let called = false;
    const cancel = setTimer(() => (called = true), 20);
    cancel();
    cancel();
    await pause(60);
    expect(!called, "the timer called back after it was cancelled");
  },
  "a timer of no time calls back": async ({ setTimer }) => {
    await within(PATIENCE_MS, "setTimer(callback, 0)", (done) => setTimer(done, 0));
  },
};

const FETCHES = {
  "fetch gives status, headers and body": async (host, url) => {
    const { status, headers, text } = await read(await host.fetch(get(`${url}/plain`)));
    expect(status === 418, `the status is ${status}, the server sent 418`);
    expect(headers.get("x-check") === "yes", "the header x-check is missing");
    expect(text === "plain text", `the body is ${JSON.stringify(text)}`);
  },
  "fetch sends method, headers and body as they are": async (host, url) => {
    const { text } = await read(await host.fetch(post(`${url}/echo?a=%2F&b=%2e%2e`, '{"é":1}')));
    const seen = JSON.parse(text);
    expect(seen.method === "POST", `the method arrived as ${seen.method}`);
    expect(seen.target === "/echo?a=%2F&b=%2e%2e", `the target arrived as ${seen.target}`);
    expect(seen.body === '{"é":1}', `the body arrived as ${seen.body}`);
    for (const [name, value] of [["a2a-version", "1.0"], ["content-type", "application/json"], ["authorization", "Bearer check"]]) {
      expect(seen.headers[name] === value, `the header ${name} arrived as ${seen.headers[name]}`);
    }
    expect(seen.headers.cookie === undefined, "a cookie was sent");
  },
  "fetch follows no redirect": async (host, url) => {
    const response = await host.fetch(get(`${url}/redirect`));
    if (response.type === "opaqueredirect") return;
    const { status, headers } = await read(response);
    expect(status === 307, `the status is ${status}, the server sent 307`);
    expect(/\/plain$/.test(headers.get("location") ?? ""), "the header location is missing");
  },
  "fetch keeps no cookie": async (host, url) => {
    await read(await host.fetch(get(`${url}/cookie`)));
    const { text } = await read(await host.fetch(get(`${url}/echo`)));
    expect(JSON.parse(text).headers.cookie === undefined, "the cookie came back");
  },
  "fetch hands on a body while it comes": async (host, url) => {
    const id = Math.random().toString(36).slice(2);
    const first = async () => {
      const response = await host.fetch(get(`${url}/stream?${id}`));
      const chunks = chunksOf(response.body);
      return { chunks, chunk: await chunks.next() };
    };
    const { chunks, chunk: began } = await within(PATIENCE_MS, "the first chunk", (done, fail) => first().then(done, fail));
    await read(await host.fetch(get(`${url}/go?${id}`)));
    let rest = began.done ? "" : decode(began.value);
    for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) rest += decode(chunk.value);
    expect(rest === "data: 1\n\ndata: 2\n\n", `the body is ${JSON.stringify(rest)}`);
  },
  "an aborted fetch ends": async (host, url) => {
    const controller = new AbortController();
    const waiting = host.fetch({ ...get(`${url}/never`), signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    await within(PATIENCE_MS, "an aborted fetch", (done) => Promise.resolve(waiting).then(done, done));
  },
  "a fetch that is aborted in its body ends": async (host, url) => {
    const controller = new AbortController();
    const response = await host.fetch({ ...get(`${url}/drip`), signal: controller.signal });
    const chunks = chunksOf(response.body);
    await chunks.next();
    controller.abort();
    const rest = async () => {
      while (!(await chunks.next()).done);
    };
    await within(PATIENCE_MS, "an aborted body", (done) => rest().then(done, done));
  },
  "a fetch to nobody rejects": async (host) => {
    const failed = await within(20_000, "a refused connection", (done) => {
      Promise.resolve(host.fetch(get("http://127.0.0.1:9/"))).then(() => done(false), () => done(true));
    });
    expect(failed, "a connection that nobody takes must reject");
  },
};

/**
 * Checks a host of your own, function by function.
 *
 * @param {object} host the five functions
 * @param {{ url?: string }} [options] where `respondToChecks` answers, for the checks of `fetch`
 * @returns {Promise<{ name: string, ok: boolean, problem?: string }[]>}
 */
export async function checkHost(host, { url } = {}) {
  const results = [];
  const bound = {};
  for (const name of ["fetch", "now", "unixNow", "random", "setTimer"]) {
    const problem = typeof host?.[name] === "function" ? undefined : `host.${name} must be a function`;
    if (!problem) bound[name] = host[name].bind(host);
    results.push({ name: `${name} is there`, ok: !problem, ...(problem && { problem }) });
  }
  if (results.some(({ ok }) => !ok)) return results;
  const checks = [...Object.entries(CLOCKS), ...(url === undefined ? [] : Object.entries(FETCHES))];
  for (const [name, check] of checks) {
    try {
      await check(bound, url?.replace(/\/$/, ""));
      results.push({ name, ok: true });
    } catch (error) {
      results.push({ name, ok: false, problem: String(error?.message ?? error) });
    }
  }
  return results;
}

/**
 * The server that the checks of `fetch` talk to, from Request to Response: mount it where the host can reach it.
 *
 * @param {Request} request
 * @returns {Promise<Response>}
 */
export async function respondToChecks(request) {
  const { pathname, search } = new URL(request.url);
  switch (pathname) {
    case "/plain":
      return new Response("plain text", { status: 418, headers: { "x-check": "yes" } });
    case "/echo": {
      const headers = Object.fromEntries(request.headers);
      return Response.json({ method: request.method, target: pathname + search, headers, body: await request.text() });
    }
    case "/redirect":
      return new Response(null, { status: 307, headers: { location: new URL("/plain", request.url).href } });
    case "/cookie":
      return new Response("", { headers: { "set-cookie": "check=1" } });
    case "/stream":
      return events((go) => held.set(search, go));
    case "/go":
      held.get(search)?.("data: 2\n\n");
      held.delete(search);
      return new Response("");
    case "/drip":
      return events((go) => setTimeout(go, DRIP_MS, ""));
    case "/never":
      return new Promise(() => {});
    default:
      return new Response("", { status: 404 });
  }
}

/** A stream of one event, and of more when its time comes. */
function events(wait) {
  const body = new ReadableStream({
    start(stream) {
      const send = (text) => stream.enqueue(new TextEncoder().encode(text));
      send("data: 1\n\n");
      wait((more) => {
        try {
          send(more);
          stream.close();
        } catch {
          // Its reader has left.
        }
      });
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

const get = (url) => ({ method: "GET", url, headers: [["accept", "*/*"]], signal: new AbortController().signal });

const post = (url, body) => ({
  ...get(url),
  method: "POST",
  headers: [["Content-Type", "application/json"], ["A2A-Version", "1.0"], ["Authorization", "Bearer check"]],
  body,
});

/** A response of any shape that a host may give. */
async function read(response) {
  const { status } = response;
  const given = response.headers ?? [];
  const pairs = typeof given[Symbol.iterator] === "function" ? given : given.entries?.() ?? Object.entries(given);
  const headers = new Map([...pairs].map(([name, value]) => [name.toLowerCase(), value]));
  let text = "";
  for await (const chunk of all(chunksOf(response.body))) text += decode(chunk);
  return { status, headers, text };
}

async function* all(chunks) {
  for (let chunk = await chunks.next(); !chunk.done; chunk = await chunks.next()) yield chunk.value;
}

function chunksOf(body) {
  if (body === null || body === undefined) return [][Symbol.iterator]();
  if (typeof body.getReader === "function") {
    const reader = body.getReader();
    return { next: () => reader.read() };
  }
  return body[Symbol.asyncIterator] ? body[Symbol.asyncIterator]() : [body][Symbol.iterator]();
}

const decode = (chunk) => (typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk));

function milliseconds(value, name) {
  const number = Number(value);
  expect((typeof value === "number" || typeof value === "bigint") && number >= 0 && number < 2 ** 53, `${name} gave ${String(value)}`);
  return number;
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits for `start` to call back, but not for ever. */
function within(ms, what, start) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not happen within ${ms / 1000} s`)), ms);
    const fail = (error) => {
      clearTimeout(timer);
      reject(error);
    };
    const done = (value) => {
      clearTimeout(timer);
      resolve(value);
    };
    try {
      start(done, fail);
    } catch (error) {
      fail(error);
    }
  });
}

function expect(holds, problem) {
  if (!holds) throw new Error(problem);
}
