import assert from "node:assert/strict";
import { once } from "node:events";
import { Socket, connect } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { test } from "node:test";
import { brotliCompressSync, createGzip, deflateRawSync, deflateSync, gzipSync } from "node:zlib";

import { HttpClient } from "../../pkg/node/http.mjs";
import { certificate, key } from "./certificate.mjs";
import { httpServer, listening, tcpServer } from "./servers.mjs";

/** A client for the length of a test. */
function client(t, options) {
  const http = new HttpClient(options);
  t.after(() => http.close());
  return http;
}

/** One round to its end. */
function round(http, request) {
  return new Promise((resolve) => {
    const seen = {};
    const pieces = [];
    const done = (last) => resolve({ ...seen, body: Buffer.concat(pieces).toString("utf8"), ...last });
    http.fetch(
      { method: "GET", headers: [], ...request },
      {
        head: (status, headers) => Object.assign(seen, { status, headers }),
        body: (bytes) => pieces.push(bytes),
        end: () => done({ ended: true }),
        failed: (cause, detail) => done({ cause, detail }),
      },
    );
  });
}

const post = (http, url, body = "{}") =>
  round(http, { method: "POST", url, headers: [["Content-Type", "application/json"]], body });

test("a request goes out as it was given, and its answer comes back as it was sent", async (t) => {
  let got;
  const origin = await httpServer(t, (request, response) => {
    let body = "";
    request.on("data", (bytes) => (body += bytes));
    request.on("end", () => {
      got = { method: request.method, url: request.url, raw: request.rawHeaders, body };
      response.writeHead(
        201,
        [
          ["X-Two", "a"],
          ["x-two", "b"],
          ["Content-Type", "text/plain"],
        ].flat(),
      );
      response.end("é🙂");
    });
  });
  const seen = await round(client(t), {
    method: "POST",
    url: `${origin}/a/%2E%2E/b%2Fc?x=%20&y`,
    headers: [
      ["Authorization", "Bearer t"],
      ["X-Mine", "1"],
      ["x-mine", "2"],
    ],
    body: '{"é":1}',
  });
  assert.equal(got.method, "POST");
  assert.equal(got.url, "/a/%2E%2E/b%2Fc?x=%20&y", "no escaped dot is resolved");
  assert.equal(got.body, '{"é":1}');
  const pairs = got.raw.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${got.raw[i + 1]}`] : []));
  assert.deepEqual(pairs.slice(0, 4), [`Host: ${origin.slice(7)}`, "Authorization: Bearer t", "X-Mine: 1", "x-mine: 2"]);
  assert.ok(pairs.includes("Content-Length: 8"));
  assert.equal(seen.status, 201);
  assert.deepEqual(seen.headers.slice(0, 3), [
    ["X-Two", "a"],
    ["x-two", "b"],
    ["Content-Type", "text/plain"],
  ]);
  assert.deepEqual([seen.body, seen.ended], ["é🙂", true]);
});

test("redirects are handed on, not followed", async (t) => {
  const asked = [];
  const origin = await httpServer(t, (request, response) => {
    asked.push(request.url);
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const seen = await round(client(t), { url: `${origin}/here` });
  assert.equal(seen.status, 307);
  assert.deepEqual(asked, ["/here"]);
});

test("each kind of failure has its cause", async (t) => {
  const http = client(t);
  const closed = await tcpServer(t, (socket) => socket.destroy());
  const reset = await tcpServer(t, (socket) => socket.resetAndDestroy());
  const junk = await tcpServer(t, (socket) => socket.write("\x00\x01SSH-2.0-hello\r\n\r\n"));
  const half = await tcpServer(t, (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Le"));
  const plain = await tcpServer(t, (socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  const cases = [
    ["http://127.0.0.1:1/", "refused"],
    [closed, "reset"],
    [reset, "reset"],
    [junk, "protocol"],
    [half, "reset"],
    [plain.replace("http:", "https:"), "tls"],
    [closed.replace("http:", "https:"), "tls"],
    ["http://169.254.169.254/latest/meta-data", "blocked"],
    ["http://[fe80::1]/", "blocked"],
    ["http://[::ffff:169.254.1.1]/", "blocked"],
    ["http://[64:ff9b::a9fe:a9fe]/", "blocked"],
  ];
  for (const [url, cause] of cases) {
    for (const method of ["GET", "POST"]) {
      const seen = await round(http, { method, url });
      assert.equal(seen.cause, cause, `${method} ${url}: ${seen.detail}`);
      assert.ok(seen.detail.length > 0 && seen.detail.length <= 200 && !seen.detail.includes("\n"), seen.detail);
    }
  }
});

test("a request that Node refuses is a failure, told after fetch returned", async (t) => {
  const http = client(t);
  let returned = false;
  const failed = new Promise((resolve) => {
    http.fetch(
      { method: "GET", url: "http://127.0.0.1:1/", headers: [["X-Bad", "a\nb"]] },
      { failed: (cause) => resolve([cause, returned]) },
    );
    returned = true;
  });
  assert.deepEqual(await failed, ["other", true]);
});

test("a fault of TLS after the handshake does not say that nothing was sent", async (t) => {
  const http = client(t, { tls: { ca: certificate } });
  const guarded = { requestCert: true, rejectUnauthorized: true };
  // In TLS 1.3 the client has ended its handshake, and sent, when the server looks for the certificate.
  for (const [options, cause] of [
    [{ ...guarded, minVersion: "TLSv1.3" }, "reset"],
    [{ ...guarded, maxVersion: "TLSv1.2" }, "tls"],
  ]) {
    const server = createTlsServer({ key, cert: certificate, ...options }, () => {});
    server.on("tlsClientError", () => {});
    const seen = await post(http, `https://localhost:${await listening(t, server)}/`);
    assert.equal(seen.cause, cause, seen.detail);
  }
  // Bytes that are no TLS where records of it came before.
  let between;
  const server = createTlsServer({ key, cert: certificate }, (socket) => socket.on("error", () => {}).once("data", () => between.write("no TLS any more")));
  const port = await listening(t, server);
  const through = await tcpServer(t, () => {}, (socket) => {
    between = socket;
    const onward = connect(port, "127.0.0.1").on("error", () => {});
    t.after(() => onward.destroy());
    socket.pipe(onward).pipe(socket);
  });
  const { cause, detail } = await post(http, through.replace("http:", "https:"));
  assert.equal(cause, "reset", detail);
});

test("names are resolved once, and addresses that may not be reached are left out", async (t) => {
  const origin = await httpServer(t, (request, response) => response.end("here"));
  const port = new URL(origin).port;
  const table = {
    "both.test": [
      { address: "169.254.169.254", family: 4 },
      { address: "127.0.0.1", family: 4 },
    ],
    "metadata.test": [{ address: "169.254.169.254", family: 4 }],
    "zone.test": [{ address: "fe80::1%eth0", family: 6 }],
    "private.test": [{ address: "127.0.0.1", family: 4 }],
    "shared.test": [{ address: "100.64.0.1", family: 4 }],
  };
  const resolve = (host, options, callback) =>
    process.nextTick(() =>
      table[host]
        ? callback(null, table[host])
        : callback(Object.assign(new Error("no"), { code: "EAI_AGAIN", syscall: "getaddrinfo" })),
    );
  const http = client(t, { resolve });
  assert.equal((await round(http, { url: `http://both.test:${port}/` })).body, "here");
  assert.equal((await round(http, { url: "http://metadata.test/" })).cause, "blocked");
  assert.equal((await round(http, { url: "http://zone.test/" })).cause, "blocked");
  assert.equal((await round(http, { url: "http://unknown.test/" })).cause, "dns");
  const careful = client(t, { resolve, allowPrivate: false });
  assert.equal((await round(careful, { url: `http://private.test:${port}/` })).cause, "blocked");
  assert.equal((await round(careful, { url: "http://shared.test/" })).cause, "blocked");
  assert.equal((await round(careful, { url: `${origin}/` })).cause, "blocked");
  const selective = client(t, { resolve, allowPrivate: false, allowedHosts: ["Private.test", "metadata.test", "127.0.0.1"] });
  assert.equal((await round(selective, { url: `http://private.test:${port}/` })).body, "here");
  assert.equal((await round(selective, { url: `${origin}/` })).body, "here");
  assert.equal((await round(selective, { url: "http://metadata.test/" })).cause, "blocked");
  assert.equal((await round(selective, { url: "http://shared.test/" })).cause, "blocked");
});

test("what an agent at a public address named leads to public addresses alone, whatever the configuration allows", async (t) => {
  const origin = await httpServer(t, (request, response) => response.end("here"));
  const port = new URL(origin).port;
  const resolve = (host, options, callback) => process.nextTick(() => callback(null, [{ address: "127.0.0.1", family: 4 }]));
  const http = client(t, { resolve, allowPrivate: true, allowedHosts: ["inward.test"] });
  const url = `http://inward.test:${port}/`;
  // The connection of the first round is kept, and would serve the second one.
  assert.equal((await round(http, { url })).body, "here");
  for (const refused of [url, `${origin}/`]) {
    for (const method of ["GET", "POST"]) {
      const { cause, detail } = await round(http, { url: refused, method, public_only: true });
      assert.equal(cause, "blocked");
      assert.match(detail, /named it/);
    }
  }
  assert.equal((await round(http, { url })).body, "here");
});

test("https works with a certificate that is trusted, and sends nothing to one that is not", async (t) => {
  let received = 0;
  const server = createTlsServer({ cert: certificate, key }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received += bytes.length;
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
    });
  });
  const url = `https://127.0.0.1:${await listening(t, server)}/`;
  const distrusted = await post(client(t), url);
  assert.equal(distrusted.cause, "tls");
  assert.equal(received, 0);
  assert.equal((await post(client(t, { tls: { ca: certificate } }), url)).body, "hi");
});

test("a body shorter than promised is a protocol failure, a broken stream a reset", async (t) => {
  const http = client(t);
  const short = await tcpServer(t, (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"));
  const cut = await tcpServer(t, (socket) => socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"));
  const bad = await tcpServer(t, (socket) =>
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n"),
  );
  const rude = await tcpServer(t, (socket) =>
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", () => setTimeout(() => socket.resetAndDestroy(), 20)),
  );
  const open = await tcpServer(t, (socket) => socket.end("HTTP/1.1 200 OK\r\n\r\nwhole"));
  const none = await tcpServer(t, (socket) => socket.write("HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n"));
  const of = async (url) => {
    const { status, body, cause, ended } = await round(http, { url });
    return { status, body, cause, ended };
  };
  assert.deepEqual(await of(short), { status: 200, body: "half", cause: "protocol", ended: undefined });
  assert.deepEqual(await of(cut), { status: 200, body: "half", cause: "reset", ended: undefined });
  assert.equal((await of(bad)).cause, "protocol");
  assert.deepEqual(await of(none), { status: undefined, body: "", cause: "protocol", ended: undefined });
  assert.deepEqual(await of(rude), { status: 200, body: "half", cause: "reset", ended: undefined });
  assert.deepEqual(await of(open), { status: 200, body: "whole", cause: undefined, ended: true });
});

test("a switch of protocols that nobody asked for is a protocol failure", async (t) => {
  let closed;
  const gone = new Promise((resolve) => (closed = resolve));
  const origin = await tcpServer(
    t,
    (socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"),
    (socket) => socket.on("close", closed),
  );
  assert.equal((await round(client(t), { url: origin })).cause, "protocol");
  await gone;
});

test("headers of 60 KB pass whole, 200 KB are refused", async (t) => {
  const origin = await tcpServer(t, (socket, text) => {
    const size = text.startsWith("GET /small") ? 60_000 : 200_000;
    const lines = Array.from({ length: size / 20 }, (_, i) => `h${String(i).padStart(6, "0")}: ${"v".repeat(9)}\r\n`);
    socket.end(`HTTP/1.1 200 OK\r\n${lines.join("")}Content-Length: 0\r\n\r\n`);
  });
  const seen = await round(client(t), { url: `${origin}/small` });
  assert.equal(seen.headers.length, 3001, seen.detail);
  assert.equal((await round(client(t), { url: `${origin}/large` })).cause, "headers");
  // As many as the configuration says.
  assert.equal((await round(client(t, { header_bytes: 1 << 20 }), { url: `${origin}/large` })).status, 200);
});

test("content codings are undone, and what described them is gone", async (t) => {
  const text = "é🙂 ".repeat(20_000);
  const encodings = { gzip: gzipSync, "x-gzip": gzipSync, br: brotliCompressSync, deflate: deflateSync, bare: deflateRawSync };
  const origin = await httpServer(t, (request, response) => {
    const name = request.url.slice(1);
    const bytes = encodings[name](text);
    response
      .writeHead(200, { "content-encoding": name === "bare" ? "deflate" : name, "content-length": bytes.length, "x-kept": "1" })
      .end(bytes);
  });
  const http = client(t);
  for (const name of Object.keys(encodings)) {
    const seen = await round(http, { url: `${origin}/${name}` });
    assert.ok(seen.body === text, name);
    assert.deepEqual(
      seen.headers.map(([header]) => header.toLowerCase()).filter((header) => /^content-|^x-/.test(header)),
      ["x-kept"],
    );
  }
});

test("broken, unknown and stacked content codings are protocol failures, empty bodies are not", async (t) => {
  const origin = await httpServer(t, (request, response) => {
    const answers = {
      "/broken": ["gzip", "this is no gzip"],
      "/short": ["gzip", gzipSync("a text that is long enough").subarray(0, 20)],
      "/unknown": ["zstd", "x"],
      "/stacked": ["gzip, gzip", gzipSync(gzipSync("x"))],
      "/inherited": ["constructor", "x"],
      "/empty": ["gzip", ""],
      "/identity": ["Identity", "plain"],
    };
    const [coding, body] = answers[request.url];
    response.writeHead(200, { "content-encoding": coding }).end(body);
  });
  const http = client(t);
  for (const path of ["/broken", "/short", "/unknown", "/stacked", "/inherited"]) {
    assert.equal((await round(http, { url: origin + path })).cause, "protocol", path);
  }
  assert.deepEqual(
    [(await round(http, { url: `${origin}/empty` })).ended, (await round(http, { url: `${origin}/identity` })).body],
    [true, "plain"],
  );
});

test("what a server flushed through gzip arrives at once", async (t) => {
  let more;
  const origin = await httpServer(t, (request, response) => {
    response.writeHead(200, { "content-encoding": "gzip" });
    const gzip = createGzip();
    gzip.pipe(response);
    gzip.write("data: one\n\n");
    gzip.flush();
    more = () => gzip.end("data: two\n\n");
  });
  const seen = [];
  await new Promise((resolve) => {
    client(t).fetch(
      { method: "GET", url: origin, headers: [] },
      {
        head: () => {},
        body: (bytes) => {
          seen.push(Buffer.from(bytes).toString());
          if (seen.length === 1) more();
        },
        end: resolve,
      },
    );
  });
  assert.deepEqual(seen, ["data: one\n\n", "data: two\n\n"]);
});

test("streams ask for no compression, other requests do, and a given wish stands", async (t) => {
  const asked = [];
  const origin = await httpServer(t, (request, response) => {
    asked.push(request.headers["accept-encoding"]);
    response.end();
  });
  const http = client(t);
  await round(http, { url: origin, headers: [["Accept", "application/json"]] });
  await round(http, { url: origin, headers: [["Accept", "text/event-stream"]] });
  await round(http, { url: origin, headers: [["Accept-Encoding", "br"]] });
  assert.deepEqual(asked, ["gzip, deflate", "identity", "br"]);
});

/** Answers each request and closes the connection the moment another one arrives on it. */
function closesAtReuse(seen) {
  return (socket, text) => {
    socket.requests = (socket.requests ?? 0) + 1;
    seen.push(`${text.split(" ", 1)[0]} ${socket.requests}`);
    if (socket.requests > 1) socket.destroy();
    else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nKeep-Alive: timeout=5\r\n\r\nok");
  };
}

test("a GET on a kept connection that died is sent once more", async (t) => {
  const seen = [];
  const origin = await tcpServer(t, closesAtReuse(seen));
  const http = client(t);
  for (let i = 0; i < 4; i += 1) {
    const { body, detail } = await round(http, { url: origin });
    assert.equal(body, "ok", detail);
  }
  assert.ok(seen.includes("GET 2"), "no connection was kept, so nothing was tested");
});

test("a POST never meets a kept connection, so none is lost or sent twice", async (t) => {
  const seen = [];
  const origin = await tcpServer(t, closesAtReuse(seen));
  const http = client(t);
  for (let i = 0; i < 5; i += 1) {
    assert.equal((await round(http, { url: origin })).body, "ok");
    assert.equal((await post(http, origin)).body, "ok");
  }
  assert.equal(seen.filter((request) => request === "POST 1").length, 5);
  assert.ok(!seen.includes("POST 2"));
});

test("a POST whose connection is lost is not repeated, nor is a GET on a fresh connection", async (t) => {
  const seen = [];
  const origin = await tcpServer(t, (socket, text) => {
    seen.push(text.split(" ", 1)[0]);
    socket.destroy();
  });
  const http = client(t);
  assert.equal((await post(http, origin)).cause, "reset");
  assert.equal((await round(http, { url: origin })).cause, "reset");
  assert.deepEqual(seen, ["POST", "GET"]);
});

test("an answer that is slower than the patience with idle connections arrives", async (t) => {
  const origin = await httpServer(t, (request, response) => setTimeout(() => response.end("late"), 150));
  const http = client(t, { idle_ms: 30 });
  assert.equal((await round(http, { url: origin })).body, "late");
  assert.equal((await round(http, { url: origin })).body, "late");
});

test("abort closes the connection, before and after the head, and nothing is reported after it", async (t) => {
  for (const early of [true, false]) {
    let arrived;
    const request = new Promise((resolve) => (arrived = resolve));
    const origin = await httpServer(t, (incoming, response) => {
      if (!early) response.write("data: x\n\n");
      arrived(incoming);
    });
    const reports = [];
    const report = Object.fromEntries(["head", "body", "end", "failed"].map((name) => [name, () => reports.push(name)]));
    let gotBody;
    const body = new Promise((resolve) => (gotBody = resolve));
    const running = client(t).fetch(
      { method: "POST", url: origin, headers: [], body: "x" },
      { ...report, body: () => gotBody(reports.push("body")) },
    );
    const incoming = await request;
    if (!early) await body;
    const before = [...reports];
    running.abort();
    running.abort();
    if (!incoming.destroyed || !incoming.socket.destroyed) await once(incoming.socket, "close");
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(reports, before);
  }
});

test("an abort from within a report stops the rest of the body", async (t) => {
  const origin = await httpServer(t, (request, response) => {
    response.writeHead(200, request.url === "/gzip" ? { "content-encoding": "gzip" } : {});
    const bytes = Buffer.alloc(4 << 20, "x");
    response.end(request.url === "/gzip" ? gzipSync(bytes) : bytes);
  });
  for (const path of ["/plain", "/gzip"]) {
    const pieces = await new Promise((resolve) => {
      let count = 0;
      const running = client(t).fetch(
        { method: "GET", url: origin + path, headers: [] },
        {
          head: () => {},
          body: () => {
            count += 1;
            running.abort();
            setTimeout(() => resolve(count), 50);
          },
          end: () => resolve("ended"),
          failed: (cause) => resolve(cause),
        },
      );
    });
    assert.equal(pieces, 1, path);
  }
});

test("60 streams to one origin are open side by side", async (t) => {
  let open = 0;
  let all;
  const everyone = new Promise((resolve) => (all = resolve));
  const origin = await httpServer(t, async (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: first\n\n");
    open += 1;
    if (open === 60) all();
    await everyone;
    response.end("data: last\n\n");
  });
  const http = client(t);
  const rounds = await Promise.all(Array.from({ length: 60 }, () => post(http, origin)));
  assert.ok(rounds.every(({ body }) => body === "data: first\n\ndata: last\n\n"));
});

test("the system is told to ask after a silent peer, on every connection", async (t) => {
  const { setKeepAlive } = Socket.prototype;
  const asked = [];
  t.mock.method(Socket.prototype, "setKeepAlive", function (...given) {
    asked.push(given);
    return setKeepAlive.apply(this, given);
  });
  const origin = await httpServer(t, (_, response) => response.end("ok"));
  const http = client(t);
  for (const method of ["POST", "GET"]) {
    asked.length = 0;
    assert.equal((await round(http, { method, url: origin })).body, "ok");
    assert.deepEqual(asked[0], [true, 30_000], method);
  }
});
