#!/usr/bin/env python3
"""Writes the scripts that are made of recordings of real peers.

    tests/transcripts/build.py FOLDER

FOLDER holds `a2a/<peer>/NN-<label>.res`, the bytes of one HTTP answer as they came, with `index.json`, which tells when
how many of them came; and `mcp/client-<name>.jsonl`, the lines of one MCP client, `{"dir": "->", "raw": …}` each.
"""
import base64
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
RECORDED = "recorded on loopback"

# The task that the recorded request was about.
ANSWERED = object()


class Recording:
    """One recorded answer: its head, and its body in the pieces and at the times in which it came."""

    def __init__(self, folder, label, edit=None, ends=True):
        entry = next(e for e in json.loads((folder / "index.json").read_text()) if e["label"] == label)
        path = folder / f"{entry['n']:02}-{label}.res"
        head, _, self.rest = path.read_bytes().partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        self.status = status.split(" ")[1]
        pairs = [field.split(": ", 1) for field in fields]
        self.chunked = any(name.lower() == "transfer-encoding" for name, _ in pairs)
        self.fields = [f"{name}: {value}" for name, value in pairs if name.lower() != "transfer-encoding"]
        self.reads = []
        position = -len(head) - 4
        for seconds, size in entry["reads"]:
            position += size
            self.reads.append((round(seconds * 1000), position))
        self.edit, self.ends = edit, ends

    def spans(self):
        """Where the body's bytes lie behind the head, and whether they are complete."""
        if not self.chunked:
            return [(0, len(self.rest))], True
        spans, at = [], 0
        while (end := self.rest.find(b"\r\n", at)) >= 0:
            size = int(self.rest[at:end], 16)
            if size == 0:
                return spans, True
            spans.append((end + 2, end + 2 + size))
            at = end + 4 + size
        return spans, False

    def script(self):
        """The commands that replay it."""
        spans, complete = self.spans()
        lines, begun = [], 0
        arrived, done = [], 0
        for milliseconds, position in self.reads:
            body = b"".join(self.rest[start : min(end, position)] for start, end in spans if start < position)
            arrived.append((milliseconds, body[done:]))
            done = len(body)
        body = b"".join(self.rest[start:end] for start, end in spans)
        arrived.append((arrived[-1][0] if arrived else 0, body[done:]))
        if self.edit:
            arrived = [(arrived[-1][0], self.edit(body))]
        clock = 0
        for milliseconds, piece in arrived:
            if milliseconds > clock:
                lines.append(f"+{milliseconds - clock}")
                clock = milliseconds
            if not begun:
                lines.append(" ".join(["head", self.status, " | ".join(self.fields)]))
                begun = True
            if piece:
                lines.append(piece_command(piece))
        if self.ends:
            lines.append("end" if complete else "fail reset the recorder or the agent went away")
        return lines


def piece_command(piece):
    try:
        return "body " + json.dumps(piece.decode(), ensure_ascii=False)
    except UnicodeDecodeError:
        return "bytes " + base64.b64encode(piece).decode()


def task_of(folder, label):
    """The task that a recorded request was about."""
    number = next(e["n"] for e in json.loads((folder / "index.json").read_text()) if e["label"] == label)
    request = (folder / f"{number:02}-{label}.req").read_text()
    return re.search(r'/tasks/([^:?/ ]+)|"(?:taskId|id)": ?"([^"]+)"', request).expand(r"\1\2")


def silent(body):
    """A card that says that its agent does not stream."""
    return body.replace(b'"streaming":true', b'"streaming":false')


def steps_to_script(title, folder, steps):
    lines, number = [f"# {title}", "open 1 stdio"], 0
    for step in steps:
        kind, *rest = step
        if kind == "note":
            lines.append(f"# {rest[0]}")
            continue
        number += 1
        tool, arguments, *answers = rest
        if arguments.get("task_id") is ANSWERED:
            arguments = {**arguments, "task_id": task_of(folder, answers[0])}
        lines.append(f"{kind} {number} {tool} {json.dumps(arguments, ensure_ascii=False, separators=(',', ':'))}")
        for answer in answers:
            if isinstance(answer, tuple):
                lines += Recording(folder, *answer).script()
            elif answer.startswith("="):
                lines.append(answer[1:].replace("#", str(number)))
            else:
                lines += Recording(folder, answer).script()
    return "\n".join(lines) + "\n"


def connect(alias, url, *answers):
    return ("call", "connect_agent", {"alias": alias, "agent_url": url}, *answers)


def send(alias, text, *answers, **more):
    return ("watch", "send_message", {"agent": alias, "message": text, **more}, *answers)


def read(alias, *answers, **more):
    return ("call", "get_task", {"agent": alias, "task_id": ANSWERED, **more}, *answers)


def cancel(alias, *answers):
    return ("call", "cancel_task", {"agent": alias, "task_id": ANSWERED}, *answers)


def jsonrpc_10(port, broken):
    url = f"http://127.0.0.1:{port}"
    return [
        ("note", "Streamed: the card as it came."),
        connect("streams", url, "card-v10"),
        send("streams", "hello", "stream"),
        send("streams", "message", "stream-message-only", new_conversation=True),
        send("streams", "input", "input-required-stream", new_conversation=True),
        send("streams", "auth", "auth-required-stream", new_conversation=True),
        send("streams", "boom", broken, new_conversation=True),
        send("streams", "to a finished task", "stream-to-terminal", task_id=ANSWERED),
        ("note", "Not streamed: the same card with streaming switched off."),
        connect("plain", url, ("card-v10", silent)),
        send("plain", "hello", "send-blocking"),
        send("plain", "message", "send-message-only", new_conversation=True),
        send("plain", "input", "input-required", new_conversation=True),
        send("plain", "London", "input-followup-taskid-only"),
        send("plain", "fail", "failed", new_conversation=True),
        send("plain", "reject", "rejected", new_conversation=True),
        send("plain", "boom", "executor-throws", new_conversation=True),
        send("plain", "file", "artifact-file", new_conversation=True),
        send("plain", "data", "artifact-data", new_conversation=True),
        send("plain", "to a finished task", "send-to-terminal", task_id=ANSWERED),
        send("plain", "slow", "send-returnimmediately", "=due", "get-task-working", "=cancel #", "cancel"),
        ("note", "Tasks by their ids."),
        read("plain", "get-task"),
        read("plain", "get-task-history0", history_length=0),
        read("plain", "get-task-unknown"),
        cancel("plain", "cancel"),
        cancel("plain", "cancel-again"),
        cancel("plain", "cancel-completed"),
        cancel("plain", "cancel-unknown"),
        ("note", "What the agent says to what it does not understand."),
        send("plain", "x", "method-unknown"),
        send("plain", "x", "version-unsupported", "v03-method-on-v10"),
        send("plain", "x", "version-missing"),
        send("plain", "x", "empty-parts"),
    ]


def jsonrpc_03(port, boom):
    url = f"http://127.0.0.1:{port}"
    return [
        ("note", "Streamed: the card as it came."),
        connect("streams", url, "card"),
        send("streams", "hello", "stream"),
        send("streams", "message", "stream-message-only", new_conversation=True),
        send("streams", "input", "input-required-stream", new_conversation=True),
        send("streams", "auth", "auth-required-stream", new_conversation=True),
        send("streams", "boom", "boom-stream", *boom, new_conversation=True),
        ("note", "Not streamed: the same card with streaming switched off."),
        connect("plain", url, ("card", silent)),
        send("plain", "hello", "send-blocking"),
        send("plain", "message", "message-only", new_conversation=True),
        send("plain", "input", "input-required", new_conversation=True),
        send("plain", "London", "input-followup"),
        send("plain", "auth", "auth-required-blocking", new_conversation=True),
        send("plain", "fail", "failed", new_conversation=True),
        send("plain", "reject", "rejected", new_conversation=True),
        send("plain", "boom", "boom", new_conversation=True),
        send("plain", "file", "file", new_conversation=True),
        send("plain", "data", "data", new_conversation=True),
        send("plain", "to a finished task", "send-to-terminal", task_id=ANSWERED),
        ("note", "Tasks by their ids."),
        read("plain", "get"),
        read("plain", "get-unknown"),
        cancel("plain", "cancel"),
        cancel("plain", "cancel-again"),
        cancel("plain", "cancel-completed"),
        cancel("plain", "cancel-unknown"),
        ("note", "Without a card: a 1.0 request, and then one in 0.3."),
        connect("bare", f"{url}/a2a/jsonrpc", "=fail refused"),
        send("bare", "hello", "v1-method", "send-default"),
        send("plain", "x", "method-unknown"),
        send("plain", "x", "bad-params"),
    ]


def jsonrpc_02(port, *boom):
    url = f"http://127.0.0.1:{port}"
    return [
        connect("agent", url, "card", "card-legacy-path"),
        send("agent", "hello", "stream"),
        send("agent", "message", "stream-message-only", new_conversation=True),
        send("agent", "input", "input-required", new_conversation=True),
        send("agent", "London", "input-followup"),
        send("agent", "boom", "boom-stream", *boom, new_conversation=True),
        read("agent", "get"),
        read("agent", "get-unknown"),
        cancel("agent", "cancel-completed"),
    ]


def quiet(port):
    card = {"name": "peer", "version": "1.0.0", "supportedInterfaces": [
        {"url": "/a2a/jsonrpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "capabilities": {"streaming": True}}
    return [
        connect("agent", f"http://127.0.0.1:{port}", "=reply 200 << " + json.dumps(card, separators=(",", ":"))),
        send("agent", "quiet", "stream-quiet-35s", "=due"),
    ]


def rest_card(port, version, streaming):
    place = f"http://127.0.0.1:{port}/a2a/rest"
    if version == "1.0":
        offer = {"supportedInterfaces": [{"url": place, "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}]}
    else:
        offer = {"protocolVersion": "0.3.0", "preferredTransport": "HTTP+JSON", "url": place}
    card = {"name": "peer", "version": "1.0.0", **offer, "capabilities": {"streaming": streaming}, "skills": []}
    return "=reply 200 << " + json.dumps(card, separators=(",", ":"))


def rest_10(port, throws):
    url = f"http://127.0.0.1:{port}"
    return [
        connect("streams", url, rest_card(port, "1.0", True)),
        send("streams", "hello", "stream"),
        send("streams", "boom", throws, new_conversation=True),
        ("note", "A stream that breaks is taken up again."),
        send("streams", "slow", ("subscribe-get", first_event, False), "=fail reset", "send-returnimmediately",
             "subscribe-post", "=due", "cancel", new_conversation=True),
        connect("plain", url, rest_card(port, "1.0", False)),
        send("plain", "hello", "send"),
        send("plain", "message", "send-message-only", new_conversation=True),
        send("plain", "boom", "executor-throws", new_conversation=True),
        read("plain", "get"),
        read("plain", "get-history0", history_length=0),
        read("plain", "get-unknown"),
        cancel("plain", "cancel"),
        cancel("plain", "cancel-again"),
        send("plain", "x", "bad-version", "not-found-route"),
        send("plain", "x", "invalid"),
    ]


def rest_03(port, running):
    """`running` is what follows an answer of an agent that does not wait for its task."""
    url = f"http://127.0.0.1:{port}"
    return [
        connect("streams", url, rest_card(port, "0.3", True)),
        send("streams", "hello", "stream"),
        send("streams", "x", "stream-jsonrpc-shape", new_conversation=True),
        connect("plain", url, rest_card(port, "0.3", False)),
        send("plain", "hello", "send", *running["hello"]),
        send("plain", "file", "file", *running["file"], new_conversation=True),
        send("plain", "x", "send-jsonrpc-shape", new_conversation=True),
        read("plain", "get"),
        read("plain", "get-unknown"),
        cancel("plain", "cancel-done"),
    ]


def first_event(body):
    """The bytes of a stream up to the end of its first event."""
    return re.match(rb"(?s).*?\r?\n\r?\n", body).group()


GIVEN_UP = ("get-unknown", "=due") * 3 + ("get-unknown",)

AGENTS = {
    "js-1.3.0": ("@a2a-js/sdk 1.3.0, JSON-RPC of 1.0", jsonrpc_10(41301, "executor-throws-stream")),
    "py-1.3.0": ("a2a-sdk 1.3.0 (Python), JSON-RPC of 1.0", jsonrpc_10(41302, "executor-throws-stream")),
    "js-1.3.0-rest": ("@a2a-js/sdk 1.3.0, HTTP+JSON of 1.0", rest_10(41301, "stream-executor-throws")),
    "py-1.3.0-rest": ("a2a-sdk 1.3.0 (Python), HTTP+JSON of 1.0", rest_10(41302, "stream-executor-throws")),
    "py-1.3.0-keepalive": ("a2a-sdk 1.3.0 (Python), a stream with half a minute of silence", quiet(41302)),
    "js-0.3.14": ("@a2a-js/sdk 0.3.14, JSON-RPC of 0.3", jsonrpc_03(41303, ())),
    "py-0.3.26": ("a2a-sdk 0.3.26 (Python), JSON-RPC of 0.3", jsonrpc_03(41304, GIVEN_UP)),
    "js-0.3.14-rest": ("@a2a-js/sdk 0.3.14, HTTP+JSON of 0.3", rest_03(41303, {"hello": (), "file": ()})),
    "py-0.3.26-rest": (
        "a2a-sdk 0.3.26 (Python), HTTP+JSON of 0.3",
        rest_03(41304, {"hello": ("=due", "get"), "file": ("=cancel #", "cancel-done")}),
    ),
    "js-0.2.5": ("@a2a-js/sdk 0.2.5, JSON-RPC of 0.2", jsonrpc_02(41305)),
    "py-0.2.16": ("a2a-sdk 0.2.16 (Python), JSON-RPC of 0.2", jsonrpc_02(41306, *GIVEN_UP)),
}


CLIENTS = {
    "inspector-0.22": "MCP Inspector 0.22.0, command line",
    "inspector-2.12-auto": "MCP Inspector 2.12.0, command line, --protocol-era auto",
    "inspector-2.12-legacy": "MCP Inspector 2.12.0, command line, --protocol-era legacy",
    "inspector-2.12-modern": "MCP Inspector 2.12.0, command line, --protocol-era modern",
    "py-auto": "mcp 2.3.0 (Python), mode auto",
    "py-auto-vs-ts1": "mcp 2.3.0 (Python), mode auto, against a server that knows no discovery",
    "py-legacy": "mcp 2.3.0 (Python), mode legacy",
    "ts1-1.32.2": "@modelcontextprotocol/sdk 1.32.2",
    "ts2-auto": "@modelcontextprotocol/client 2.4.0, mode auto",
    "ts2-legacy": "@modelcontextprotocol/client 2.4.0, mode legacy",
    "ts2-pin": "@modelcontextprotocol/client 2.4.0, pinned to 2026-07-28",
}


def client_script(path):
    """What a client sent. After its process ended another one is another peer of the same scope."""
    name = path.stem.removeprefix("client-")
    title = f"# The MCP client {CLIENTS[name]}, {RECORDED} against another server, whose tools are not known here."
    lines, peer, open_ = ['config {"tools":["list_agents"]}', title], 0, False
    for line in path.read_text().splitlines():
        record = json.loads(line)
        if record["dir"] == "->":
            if not open_:
                peer, open_ = peer + 1, True
                lines.append(f"open {peer} stdio")
            lines.append(f"> {record['raw']}")
        elif record["dir"] == "EOF" and open_:
            lines.append(f"close {peer}")
            open_ = False
    return "\n".join(lines) + "\n"


def main():
    recordings = pathlib.Path(sys.argv[1])
    for peer, (title, steps) in AGENTS.items():
        text = steps_to_script(f"{title}, {RECORDED}.", recordings / "a2a" / peer, steps)
        (HERE / f"agent-{peer}.script").write_text(text)
    for path in sorted((recordings / "mcp").glob("client-*.jsonl")):
        (HERE / f"{path.stem}.script").write_text(client_script(path))


if __name__ == "__main__":
    main()
