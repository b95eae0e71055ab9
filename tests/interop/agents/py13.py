"""An agent on a2a-sdk 1.3: A2A 1.0, and with COMPAT=1 also 0.3 beside it, with COMPAT=0.3 nothing but 0.3."""

import os
import uuid

from a2a.server.agent_execution.agent_executor import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_updater import TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Message, Part, Role, Task, TaskState, TaskStatus
from google.protobuf import json_format
from google.protobuf.struct_pb2 import Value
from starlette.applications import Starlette

from behaviour import BINDINGS, PATHS, SKILL, STREAMING, behave, serve

COMPAT = os.environ.get('COMPAT', '0')
VERSIONS = {'0': ['1.0'], '1': ['1.0', '0.3'], '0.3': ['0.3']}[COMPAT]


def part(given):
    if 'data' in given:
        return Part(data=json_format.ParseDict(given['data'], Value()))
    return Part(**given)


class Out:
    def __init__(self, context, queue):
        self.context, self.queue = context, queue
        self.updater = TaskUpdater(queue, context.task_id, context.context_id)

    async def open(self):
        if self.context.current_task:
            return
        submitted = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        await self.queue.enqueue_event(
            Task(id=self.context.task_id, context_id=self.context.context_id, status=submitted, history=[self.context.message])
        )

    async def message(self, text):
        await self.queue.enqueue_event(
            Message(role=Role.ROLE_AGENT, message_id=str(uuid.uuid4()), context_id=self.context.context_id, parts=[Part(text=text)])
        )

    async def status(self, state, text):
        message = self.updater.new_agent_message([Part(text=text)])
        await self.updater.update_status(TaskState.Value(f'TASK_STATE_{state.upper()}'), message)

    async def artifact(self, name, parts, append=False, last=True):
        await self.updater.add_artifact([part(p) for p in parts], artifact_id=name, name=name, append=append, last_chunk=last)


class Executor(AgentExecutor):
    async def execute(self, context, event_queue):
        parts, task = context.message.parts, context.current_task
        said = next((p.text for p in parts if p.HasField('text')), '')
        data = [json_format.MessageToDict(p.data) for p in parts if p.HasField('data')]
        continued = bool(task) and task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
        await behave(Out(context, event_queue), said, data, continued)

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def build(base):
    card = AgentCard(
        name='Agent on a2a-python 1.3', description='Says hello.', version='1.0.0',
        supported_interfaces=[
            AgentInterface(url=base + PATHS[binding], protocol_binding=binding, protocol_version=version)
            for version in VERSIONS for binding in BINDINGS
        ],
        capabilities=AgentCapabilities(streaming=STREAMING), skills=[AgentSkill(**SKILL)],
        default_input_modes=['text/plain'], default_output_modes=['text/plain'],
    )
    handler = DefaultRequestHandler(agent_executor=Executor(), task_store=InMemoryTaskStore(), agent_card=card)
    routes = create_agent_card_routes(card)
    if 'JSONRPC' in BINDINGS:
        routes += create_jsonrpc_routes(handler, PATHS['JSONRPC'], enable_v0_3_compat=COMPAT != '0')
    if 'HTTP+JSON' in BINDINGS:
        routes += create_rest_routes(handler, path_prefix=PATHS['HTTP+JSON'], enable_v0_3_compat=COMPAT != '0')
    return Starlette(routes=routes)


serve(build)
