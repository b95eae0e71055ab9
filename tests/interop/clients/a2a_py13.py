# The client of a2a-sdk 1.3: `python a2a_py13.py URL BINDING`.
import asyncio
import sys

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, Message, Part, Role, SendMessageConfiguration,
    SendMessageRequest, SubscribeToTaskRequest, TaskState,
)
from nine import collect, first, message_id, nine


async def main(url, binding):
    async with httpx.AsyncClient(timeout=30) as http:
        card = await A2ACardResolver(http, url).get_agent_card()

        def client(streaming):
            return ClientFactory(ClientConfig(httpx_client=http, streaming=streaming, supported_protocol_bindings=[binding])).create(card)

        plain, streaming = client(False), client(True)

        def request(text, **more):
            message = Message(message_id=message_id(), role=Role.ROLE_USER, parts=[Part(text=text)])
            return SendMessageRequest(message=message, **more)

        def state(task):
            return TaskState.Name(task.status.state)

        async def send(kept):
            kept['task'] = (await collect(plain.send_message(request('hello'))))[-1].task
            parts = [part.text for artifact in kept['task'].artifacts for part in artifact.parts]
            return {'state': state(kept['task']), 'text': ''.join(parts)}

        async def stream(_):
            kinds = [event.WhichOneof('payload') for event in await collect(streaming.send_message(request('hello')))]
            return {'first': kinds[0], 'last': kinds[-1], 'events': len(kinds)}

        async def message_only(_):
            reply = (await collect(plain.send_message(request('message-only'))))[-1].message
            return {'text': ''.join(part.text for part in reply.parts)}

        async def get(kept):
            read = await plain.get_task(GetTaskRequest(id=kept['task'].id, history_length=1))
            return {'same': read.id == kept['task'].id, 'state': state(read), 'turns': len(read.history)}

        async def unknown(_):
            return str(await plain.get_task(GetTaskRequest(id='nope')))

        async def listed(_):
            page = await plain.list_tasks(ListTasksRequest(page_size=1))
            return {'tasks': len(page.tasks), 'more': page.next_page_token != ''}

        async def immediate(kept):
            asked = request('slow 20', configuration=SendMessageConfiguration(return_immediately=True))
            kept['slow'] = (await collect(plain.send_message(asked)))[-1].task
            return {'state': state(kept['slow'])}

        async def attach(kept):
            event = await first(streaming.subscribe(SubscribeToTaskRequest(id=kept['slow'].id)))
            return {'same': event.task.id == kept['slow'].id}

        async def cancel(kept):
            return {'state': state(await plain.cancel_task(CancelTaskRequest(id=kept['slow'].id)))}

        await nine(send, stream, message_only, get, unknown, listed, immediate, attach, cancel)


asyncio.run(main(*sys.argv[1:3]))
