# The nine things that every A2A client does with an agent, told as one line of JSON each: what came, or the error.
import json
import uuid

STEPS = ['send', 'stream', 'message-only', 'get', 'unknown task', 'list', 'immediate send', 're-attach', 'cancel']


async def nine(*steps):
    kept = {}
    for name, step in zip(STEPS, steps, strict=True):
        try:
            line = {'step': name, 'seen': await step(kept)}
        except Exception as error:  # noqa: BLE001 - whatever a client raises is what is looked at
            line = {'step': name, 'error': f'{type(error).__name__}: {error}'[:300]}
        print(json.dumps(line), flush=True)


async def collect(stream):
    return [event async for event in stream]


async def first(stream):
    async for event in stream:
        return event
    raise RuntimeError('no event')


def message_id():
    return str(uuid.uuid4())
