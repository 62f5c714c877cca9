"""A person's side of a space, as docs/fleet.md describes it, with a client of another author: waits for a question,
answers it, and prints the result and the events that follow."""
import asyncio
import json
import sys

import nats


async def main(url, decision):
    connection = await nats.connect(url)
    events = await connection.subscribe("aaep.v1.main.>")
    await connection.flush()
    print("listening", flush=True)
    async for message in events.messages:
        event = json.loads(message.data)
        kind = event["type"].removeprefix("aaep:agent.")
        print(message.subject.rsplit(".", 1)[1], kind, flush=True)
        if kind == "awaiting.confirmation":
            subject = message.subject.rsplit(".", 1)[0].replace("aaep.v1.", "aaep-reply.v1.")
            reply = {
                "type": "confirmation.reply",
                "reply_token": event["reply_token"],
                "decision": decision,
                "subscription_id": "python",
                "timestamp": "2026-01-01T00:00:00Z",
            }
            body = json.dumps(reply).encode()
            answer = await connection.request(subject, body, headers={"Hearken-By": "carla"})
            print("result", json.loads(answer.data)["result"], flush=True)
        if kind == "session.completed":
            break
    await connection.close()


asyncio.run(main(*sys.argv[1:]))
