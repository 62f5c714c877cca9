"""A real AG-UI endpoint of ag-ui-langgraph with a graph that needs no model: `agui_langgraph.py --port PORT`.

Interrupts come as LangGraph has them by default: CUSTOM `on_interrupt` before RUN_FINISHED; at /typed as the protocol has
them, too. It remembers its conversations.
"""

import argparse
import asyncio
import json
from pathlib import Path

import uvicorn
from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Send, interrupt


def last(state):
    words = [message for message in state["messages"] if message.type == "human"]
    return words[-1].content


def says(text):
    return {"messages": [AIMessage(content=text)]}


async def work(state):
    words = last(state)
    if words == "ask me":
        return says(f"You chose {interrupt('Which colour do you want?')!r}.")
    if words.startswith("touch "):
        path = words.split()[1]
        asks = {"action_requests": [{"name": "touch", "args": {"path": path}, "description": "Make a file"}],
                "review_configs": [{"action_name": "touch", "allowed_decisions": ["approve", "reject"]}]}
        decision = interrupt(asks)
        Path("decisions").open("a").write(json.dumps(decision) + "\n")
        if decision.get("decisions", [{}])[0].get("type") != "approve":
            return says("Then not.")
        Path(path).touch()
        return says("The file stands there.")
    if words == "form":
        schema = {"type": "object", "required": ["name", "age"], "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 1}}}
        return says("You are " + json.dumps(interrupt({"message": "Who are you?", "response_schema": schema})))
    if words == "fail":
        raise RuntimeError("the graph is torn")
    if words == "wait":
        await asyncio.sleep(60)
    return says("It has two sentences. Here is the second.")


def fan(state):
    if last(state) == "two":
        return [Send("half", {"n": 1}), Send("half", {"n": 2})]
    return "work"


def half(state):
    return says(f"Half {state['n']}: {interrupt({'message': 'Half %d?' % state['n']})}.")


graph = StateGraph(MessagesState)
graph.add_node("work", work)
graph.add_node("half", half)
graph.add_conditional_edges(START, fan, ["work", "half"])
graph.add_edge("work", END)
graph.add_edge("half", END)
graph = graph.compile(checkpointer=InMemorySaver())

app = FastAPI()
add_langgraph_fastapi_endpoint(app, LangGraphAgent(name="older", graph=graph), "/")
add_langgraph_fastapi_endpoint(app, LangGraphAgent(name="typed", graph=graph, emit_interrupt_outcome=True), "/typed")

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int)
uvicorn.run(app, host="127.0.0.1", port=parser.parse_args().port, log_level="warning")
