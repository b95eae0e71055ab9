#!/usr/bin/env python3
"""Packs recordings of A2A agents into one file per peer.

    python3 pack.py RECORDINGS

RECORDINGS holds one folder per peer. A recording is the exact bytes of one HTTP response (`NN-label.res`), of one
connection in both directions (`NNN.c2s` and `NNN.s2c`), or a card alone (`*.json` in `signatures`). Each becomes one
line, `{"label", "status", "content_type", "body" or "base64"}`, in `<peer>.jsonl` beside this script; heads and
chunked framing are undone.
"""
import base64
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def unchunk(data):
    """The body of a chunked message and what follows it; a cut message gives what arrived."""
    body, at = b"", 0
    while True:
        end = data.find(b"\r\n", at)
        if end < 0 or end == at:
            return body, b""
        size = int(data[at:end].split(b";")[0], 16)
        at = end + 2
        if size == 0:
            return body, data[at + 2:]
        body += data[at:at + size]
        at += size + 2


def header(head, name):
    found = re.search(rb"^" + name + rb":[ \t]*([^\r\n]*)", head, re.I | re.M)
    return found[1].decode("latin-1") if found else ""


def responses(data, until_close):
    """Every response on a connection."""
    while data:
        head, mark, rest = data.partition(b"\r\n\r\n")
        if not mark:
            return
        status = int(head.split(b" ")[1])
        if header(head, b"transfer-encoding").lower() == "chunked":
            body, data = unchunk(rest)
        elif status in (204, 304):
            body, data = b"", rest
        elif header(head, b"content-length"):
            length = int(header(head, b"content-length"))
            body, data = rest[:length], rest[length:]
        else:
            body, data = rest, b""
        yield status, header(head, b"content-type"), body
        if until_close:
            return


def requests(data):
    """What each request on a connection asks for."""
    while data:
        head, mark, rest = data.partition(b"\r\n\r\n")
        if not mark:
            return
        length = int(header(head, b"content-length") or 0)
        body, data = rest[:length], rest[length:]
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        try:
            yield json.loads(body)["method"]
        except (ValueError, KeyError, TypeError):
            path = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "ID", target.split("?")[0])
            yield f"{method} {path.removeprefix('/a2a/rest')}"


def line(label, status, content_type, body):
    out = {"label": label, "status": status, "content_type": content_type}
    try:
        out["body"] = body.decode()
    except UnicodeDecodeError:
        out["base64"] = base64.b64encode(body).decode()
    return json.dumps(out, ensure_ascii=False, separators=(",", ":"))


def peer(folder):
    for file in sorted(folder.glob("*.res"), key=lambda file: (int(re.match(r"\d*", file.name)[0] or 0), file.name)):
        label = re.sub(r"^\d+-", "", file.stem)
        for response in responses(file.read_bytes(), True):
            yield line(label, *response)
    for file in sorted(folder.glob("*.s2c")):
        asked = requests(file.with_suffix(".c2s").read_bytes())
        for label, response in zip(asked, responses(file.read_bytes(), False), strict=False):
            yield line(label, *response)
    if folder.name == "signatures":
        for file in sorted(folder.glob("*.card.json")) + sorted(folder.glob("*-signed.json")):
            yield line("card " + file.stem, 200, "application/json", file.read_bytes())


def main(root):
    folders = [folder for folder in sorted(root.iterdir()) if folder.is_dir() and folder.name != "clients"]
    folders += sorted((root / "clients").iterdir())
    for folder in folders:
        lines = list(peer(folder))
        if lines:
            (HERE / f"{folder.name}.jsonl").write_text("\n".join(lines) + "\n")


main(Path(sys.argv[1]))
