"""The gateway's echo as an agent on a2a-sdk: the task, that it is worked on, what was said, and its end."""

import asyncio
import os
import socket
import sys
import threading

import uvicorn
from a2a.server.agent_execution.agent_executor import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_updater import TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Task, TaskState, TaskStatus
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=submitted, history=[context.message])
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.update_status(TaskState.TASK_STATE_WORKING)
        await updater.add_artifact(list(context.message.parts), artifact_id='echo', name='echo', last_chunk=True)
        await updater.update_status(TaskState.TASK_STATE_COMPLETED)

    async def cancel(self, context, event_queue):
        pass


def end_with_input():
    sys.stdin.read()
    os._exit(0)


listener = socket.create_server(('127.0.0.1', 0))
url = f'http://127.0.0.1:{listener.getsockname()[1]}/a2a'
card = AgentCard(
    name='Echo', description='Says it back.', version='1',
    supported_interfaces=[AgentInterface(url=url, protocol_binding='JSONRPC', protocol_version='1.0')],
    capabilities=AgentCapabilities(streaming=True), skills=[AgentSkill(id='echo', name='Echo', description='Says it back.', tags=['echo'])],
    default_input_modes=['text/plain'], default_output_modes=['text/plain'],
)
handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
app = Starlette(routes=create_agent_card_routes(card) + create_jsonrpc_routes(handler, '/a2a'))
threading.Thread(target=end_with_input, daemon=True).start()
print(f'at {url}', flush=True)
asyncio.run(uvicorn.Server(uvicorn.Config(app, log_level='error')).serve(sockets=[listener]))
