"""An agent over A2A by the SDK: painter.py PORT VERSION DATABASE [TOKEN]. What it does stands in its prompt; what it was asked
goes to its output, a line each. Its tasks outlive it in the database."""

import asyncio
import sys

import uvicorn
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import DatabaseTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, Task, TaskState, TaskStatus
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette
from starlette.responses import Response

port, version, database = int(sys.argv[1]), sys.argv[2], sys.argv[3]
token = sys.argv[4] if len(sys.argv) > 4 else None


class Agent(AgentExecutor):
    async def execute(self, context: RequestContext, queue) -> None:
        words = context.get_user_input()
        print(words, flush=True)
        updater = TaskUpdater(queue, context.task_id, context.context_id)

        def says(text):
            return updater.new_agent_message([Part(text=text)])

        if context.current_task is not None:
            await updater.start_work()
            await updater.add_artifact([Part(text=f"It will be {words}. ")], artifact_id="answer")
            await updater.complete()
            return
        status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
        task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
        await queue.enqueue_event(task)
        await updater.start_work()
        kind, _, rest = words.partition(" ")
        if kind == "ask":
            await updater.requires_input(says(f"Which colour for {rest}?"))
        elif kind == "sign":
            await updater.requires_auth(says("Sign in at https://login.example/device?code=12 first."))
        elif kind == "fail":
            await updater.failed(says("The disk is full."))
        elif kind == "reject":
            await updater.reject(says("That is not my job."))
        else:
            await updater.start_work(says(f"Looking at {rest}."))
            for number in range(int(kind)):
                text = [Part(text=f"Line {number} of {rest}. ")]
                await updater.add_artifact(text, artifact_id="story", append=number > 0)
                await asyncio.sleep(0.2)
            await updater.complete()

    async def cancel(self, context: RequestContext, queue) -> None:
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


class Guarded:
    """Lets in only who brings the token."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        headers = dict(scope.get("headers", []))
        if token and headers.get(b"authorization") != f"Bearer {token}".encode():
            return await Response(status_code=401)(scope, receive, send)
        return await self.app(scope, receive, send)


async def main():
    card = AgentCard(
        name="Painter",
        description="Paints as it is told.",
        version="1",
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        capabilities=AgentCapabilities(streaming=True),
        skills=[AgentSkill(id="paint", name="paint", description="Paints.", tags=["paint"])],
        supported_interfaces=[
            AgentInterface(url=f"http://localhost:{port}/rpc", protocol_binding="JSONRPC", protocol_version=version)
        ],
    )
    store = DatabaseTaskStore(create_async_engine(f"sqlite+aiosqlite:///{database}"))
    await store.initialize()
    handler = DefaultRequestHandler(agent_executor=Agent(), task_store=store, agent_card=card)
    routes = [*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)]
    app = Guarded(Starlette(routes=routes))
    await uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")).serve()


asyncio.run(main())
