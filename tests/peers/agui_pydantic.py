"""A real AG-UI endpoint of pydantic-ai with a model that says what it is told to: `agui_pydantic.py --port PORT`.

Interrupts are typed (RUN_FINISHED with an outcome). It remembers nothing: what it knows of before came with the run.
"""

import argparse
import asyncio
import json
from pathlib import Path

import uvicorn
from pydantic_ai import Agent, DeferredToolRequests
from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.routing import Route

RUNS = []


def asked(messages):
    """Gives the person's words, the last ones last, and what tools brought since."""
    words, brought = [], []
    for message in messages:
        if not isinstance(message, ModelRequest):
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                words.append(part.content if isinstance(part.content, str) else str(part.content))
                brought = []
            elif isinstance(part, ToolReturnPart):
                brought.append(str(part.content))
    return words, brought


async def says(messages, info):
    words, brought = asked(messages)
    last = words[-1]
    if brought:
        yield "Then this: " + "; ".join(brought) + "."
    elif last.startswith("touch "):
        names = last.split()[1:]
        yield {at: DeltaToolCall("touch", json.dumps({"path": name}), tool_call_id=f"call_{len(words)}_{at}") for at, name in enumerate(names)}
    elif last.startswith("look "):
        yield {0: DeltaToolCall("look", json.dumps({"path": last.split()[1]}), tool_call_id=f"call_{len(words)}")}
    elif last == "count":
        yield f"You wrote {len(words)} times."
    elif last == "fail":
        raise RuntimeError("the model is tired")
    elif last == "wait":
        for n in range(1, 200):
            yield f"Sentence {n} stands here. "
            await asyncio.sleep(0.2)
    else:
        yield "It has two "
        yield "sentences. Here is the second."


agent = Agent(FunctionModel(stream_function=says), output_type=[str, DeferredToolRequests])


@agent.tool_plain(requires_approval=True)
def touch(path: str) -> str:
    Path(path).touch()
    return f"{path} is there"


@agent.tool_plain
def look(path: str) -> str:
    return "there" if Path(path).exists() else "not there"


async def run(request):
    body = await request.body()
    Path("runs").open("a").write(body.decode() + "\n")
    return await AGUIAdapter.dispatch_request(request, agent=agent)


parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
uvicorn.run(Starlette(routes=[Route("/", run, methods=["POST"])]), host="127.0.0.1", port=parser.parse_args().port, log_level="warning")
