"""What every agent here does, chosen by the first word of the text it is sent, and the loopback server it does it on.

The steps are neutral: an agent passes an object whose `message`, `status` and `artifact` put them into the types of its own SDK.
"""

import asyncio
import os
import socket
import sys
import threading

import uvicorn

BINDINGS = [os.environ['BINDING']] if os.environ.get('BINDING') else ['JSONRPC', 'HTTP+JSON']
STREAMING = os.environ.get('STREAMING') != '0'
PATHS = {'JSONRPC': '/rpc', 'HTTP+JSON': '/rest'}
SKILL = {'id': 'echo', 'name': 'Echo', 'description': 'Says back what it was told.', 'tags': ['sample']}


async def behave(out, said, data, continued):
    """`said` is the text, `data` the data parts, `continued` whether the task already waits for input."""
    word, _, count = said.partition(' ')
    if continued:
        await out.artifact('choice', [{'text': f'got: {said}'}])
        return await out.status('completed', 'thanks')
    if word == 'message-only':
        return await out.message('No task was needed.')
    await out.open()
    if word == 'input':
        return await out.status('input_required', 'Which colour?')
    if word == 'fail':
        return await out.status('failed', 'The oven broke.')
    await out.status('working', 'thinking')
    if word == 'file':
        await out.artifact('file', [{'raw': b'\xfb\xff\xfe\x00\x0a', 'filename': 'five.bin', 'media_type': 'application/octet-stream'}])
    elif word == 'data':
        await out.artifact('data', [{'data': value} for value in data])
    elif word == 'slow':
        for second in range(int(count)):
            await asyncio.sleep(1)
            await out.artifact('ticks', [{'text': f'tick {second} '}], append=second > 0, last=second == int(count) - 1)
    elif word == 'hello':
        await out.artifact('greeting', [{'text': 'Hello '}], last=False)
        await asyncio.sleep(0.1)
        await out.artifact('greeting', [{'text': 'wörld 🌍\nline two'}], append=True)
    else:
        await out.artifact('echo', [{'text': f'you said: {said}'}])
    await out.status('completed', 'done')


def serve(build):
    """Serves `build(base)` on a port the system chooses, until standard input ends, so that no agent outlives whoever started it."""
    listener = socket.create_server(('127.0.0.1', 0))
    base = f'http://127.0.0.1:{listener.getsockname()[1]}'

    class Server(uvicorn.Server):
        async def startup(self, sockets=None):
            await super().startup(sockets)
            print(f'READY {base}', flush=True)

    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
    asyncio.run(Server(uvicorn.Config(build(base), log_level='warning')).serve([listener]))
