"""An agent on a2a-sdk 0.3: A2A 0.3 as it was, without a compatibility layer."""

import base64
import uuid

from a2a.server.agent_execution import AgentExecutor
from a2a.server.apps import A2ARESTFastAPIApplication, A2AStarletteApplication
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities, AgentCard, AgentInterface, AgentSkill, DataPart, FilePart, FileWithBytes, Message, Part, Role, Task, TaskState,
    TaskStatus, TextPart,
)
from starlette.applications import Starlette
from starlette.routing import Mount

from behaviour import BINDINGS, PATHS, SKILL, STREAMING, behave, serve


def part(given):
    if 'raw' in given:
        content = base64.b64encode(given['raw']).decode()
        return Part(root=FilePart(file=FileWithBytes(bytes=content, name=given['filename'], mime_type=given['media_type'])))
    return Part(root=DataPart(data=given['data']) if 'data' in given else TextPart(text=given['text']))


class Out:
    def __init__(self, context, queue):
        self.context, self.queue = context, queue
        self.updater = TaskUpdater(queue, context.task_id, context.context_id)

    async def open(self):
        if self.context.current_task:
            return
        submitted = TaskStatus(state=TaskState.submitted)
        await self.queue.enqueue_event(
            Task(id=self.context.task_id, context_id=self.context.context_id, status=submitted, history=[self.context.message])
        )

    async def message(self, text):
        await self.queue.enqueue_event(
            Message(role=Role.agent, message_id=str(uuid.uuid4()), context_id=self.context.context_id, parts=[part({'text': text})])
        )

    async def status(self, state, text):
        state = TaskState[state]
        message = self.updater.new_agent_message([part({'text': text})])
        await self.updater.update_status(state, message, final=state != TaskState.working)

    async def artifact(self, name, parts, append=False, last=True):
        await self.updater.add_artifact([part(p) for p in parts], artifact_id=name, name=name, append=append, last_chunk=last)


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        parts, task = [p.root for p in context.message.parts], context.current_task
        said = next((p.text for p in parts if p.kind == 'text'), '')
        data = [p.data for p in parts if p.kind == 'data']
        continued = bool(task) and task.status.state == TaskState.input_required
        await behave(Out(context, event_queue), said, data, continued)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).update_status(TaskState.canceled, final=True)


def build(base):
    interfaces = [AgentInterface(url=base + PATHS[binding], transport=binding) for binding in BINDINGS]
    card = AgentCard(
        name='Agent on a2a-python 0.3', description='Says hello.', version='1.0.0',
        url=interfaces[0].url, preferred_transport=interfaces[0].transport, additional_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=STREAMING), skills=[AgentSkill(**SKILL)],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore())
    routes = A2AStarletteApplication(agent_card=card, http_handler=handler).routes(rpc_url=PATHS['JSONRPC'])
    if 'JSONRPC' not in BINDINGS:  # the card's routes stay: the REST application serves the card below its own path only
        routes = [route for route in routes if route.path != PATHS['JSONRPC']]
    if 'HTTP+JSON' in BINDINGS:
        rest = A2ARESTFastAPIApplication(agent_card=card, http_handler=handler)
        routes.append(Mount('', rest.build(rpc_url=PATHS['HTTP+JSON'])))
    return Starlette(routes=routes)


serve(build)
