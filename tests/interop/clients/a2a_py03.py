# The client of a2a-sdk 0.3: `python a2a_py03.py URL BINDING`.
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, TaskIdParams, TaskQueryParams, TextPart
from nine import collect, first, message_id, nine


async def main(url, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(**how):
            transports = [binding]
            return ClientFactory(
                ClientConfig(httpx_client=http, supported_transports=transports, use_client_preference=True, **how)
            ).create(card)

        plain, streaming, polling = client(streaming=False), client(streaming=True), client(streaming=False, polling=True)

        def message(text):
            return Message(message_id=message_id(), role=Role.user, parts=[Part(root=TextPart(text=text))])

        async def send(kept):
            kept['task'] = (await collect(plain.send_message(message('hello'))))[-1][0]
            parts = [part.root.text for artifact in kept['task'].artifacts for part in artifact.parts]
            return {'state': kept['task'].status.state.value, 'text': ''.join(parts)}

        async def stream(_):
            kinds = [event[1].kind if event[1] else event[0].kind for event in await collect(streaming.send_message(message('hello')))]
            return {'first': kinds[0], 'last': kinds[-1], 'events': len(kinds)}

        async def message_only(_):
            reply = (await collect(plain.send_message(message('message-only'))))[-1]
            return {'text': ''.join(part.root.text for part in reply.parts)}

        async def get(kept):
            read = await plain.get_task(TaskQueryParams(id=kept['task'].id, history_length=1))
            return {'same': read.id == kept['task'].id, 'state': read.status.state.value, 'turns': len(read.history or [])}

        async def unknown(_):
            return str(await plain.get_task(TaskQueryParams(id='nope')))

        async def listed(_):
            raise NotImplementedError('not part of 0.3')

        async def immediate(kept):
            kept['slow'] = (await collect(polling.send_message(message('slow 20'))))[-1][0]
            return {'state': kept['slow'].status.state.value}

        async def attach(kept):
            task, _ = await first(streaming.resubscribe(TaskIdParams(id=kept['slow'].id)))
            return {'same': task.id == kept['slow'].id}

        async def cancel(kept):
            return {'state': (await plain.cancel_task(TaskIdParams(id=kept['slow'].id))).status.state.value}

        await nine(send, stream, message_only, get, unknown, listed, immediate, attach, cancel)


asyncio.run(main(*sys.argv[1:3]))
