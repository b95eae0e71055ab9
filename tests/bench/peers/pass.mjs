// The least that stands between two ends of HTTP: it passes bytes on. `node pass.mjs PORT TARGET-PORT`
import http from "node:http";

const [port, target] = process.argv.slice(2).map(Number);
http
  .createServer((request, response) => {
    const { method, url, headers } = request;
    const onward = http.request({ host: "127.0.0.1", port: target, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  })
  .listen(port, "127.0.0.1");
