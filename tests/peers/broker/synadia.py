"""An agent on the real agent service (synadia-ai-agent-service), which does what its prompt says.

python synadia.py nats://127.0.0.1:PORT [--agent NAME] [--session NAME] [--interval SECONDS] [--quiet]

It announces "ready" once it is registered. A prompt is one word, and more words for `say`.
"""

import argparse
import asyncio
import sys

import nats
from synadia_ai.agent_service import AgentService
from synadia_ai.agents import Attachment, ProtocolError, QueryTimeout, ResponseChunk


async def handle(envelope, stream):
    word, _, rest = envelope.prompt.partition(" ")
    if word == "say":
        for part in rest.split():
            await stream.send(part + " ")
    elif word == "wrapped":
        await stream.send(ResponseChunk(text="Here it is.", attachments=[Attachment.from_bytes("plan.png", b"x")]))
    elif word == "ask":
        answer = await stream.ask("Deploy to production, or to staging?", timeout=30)
        print("answer", answer.prompt, flush=True)
        await stream.send(f"Then {answer.prompt}.")
    elif word == "ask-shortly":
        try:
            await stream.ask("Still there?", timeout=float(rest))
        except QueryTimeout:
            print("timeout", flush=True)
            await asyncio.sleep(30)
    elif word == "fail":
        raise RuntimeError("secret of the handler")
    elif word == "refuse":
        raise ProtocolError("this prompt is not for me")
    elif word == "silent":
        await asyncio.sleep(3600)
    print("done", word, flush=True)


async def main():
    read = argparse.ArgumentParser()
    read.add_argument("url")
    read.add_argument("--agent", default="pi")
    read.add_argument("--session", default="build")
    read.add_argument("--interval", type=int, default=30)
    read.add_argument("--quiet", action="store_true", help="no sign of life during a prompt")
    given = read.parse_args()
    client = await nats.connect(given.url)
    service = AgentService(
        agent=given.agent, owner="anna", session_name=given.session, nc=client,
        heartbeat_interval_s=given.interval, keepalive_interval_s=None if given.quiet else 30.0,
    )
    service.on_prompt(handle)
    await service.start()
    print("ready", service.instance_id, flush=True)
    # Whoever started it closes this to end it in good order.
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await service.stop()
    await client.close()


asyncio.run(main())
