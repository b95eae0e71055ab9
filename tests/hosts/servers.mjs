import { createServer as createHttpServer } from "node:http";
import { createServer as createTcpServer } from "node:net";

/** Starts a server on a free loopback port for the length of a test. @returns {Promise<number>} the port */
export async function listening(t, server) {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return server.address().port;
}

/** An HTTP server that answers with `answer(request, response)`. @returns {Promise<string>} its origin */
export async function httpServer(t, answer) {
  return `http://127.0.0.1:${await listening(t, createHttpServer(answer))}`;
}

/**
 * A server that writes bytes of its own choice: `talk(socket, text)` gets what arrived, as it arrives.
 * @returns {Promise<string>} its origin
 */
export async function tcpServer(t, talk, connected = () => {}) {
  const sockets = new Set();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    connected(socket);
    socket.on("data", (bytes) => talk(socket, bytes.toString("latin1")));
  });
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  return `http://127.0.0.1:${await listening(t, server)}`;
}
