"""A producer in nothing but Python's own library, with the messages of appendix B.1 as they are printed
there: so that a mistake of our own producer can't hide one of our subscriber.

It prints its port, and writes one line of JSON for each message that it gets: what is wrong with it."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True  # The tests leave nothing behind in the tree.

from shape import SUBSCRIPTION, event, faults, question

events = queue.Queue()


def put(body):
    events.put(f"event: aaep.event\nid: {body['event_id']}\ndata: {json.dumps(body)}\n\n")


class Producer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=None, **headers):
        text = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if text:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        if self.path != f"/aaep/v1/events?subscription_id={SUBSCRIPTION}":
            return self.answer(404)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        while (text := events.get()) is not None:
            self.wfile.write(text.encode())
            self.wfile.flush()
        self.close_connection = True

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        message = json.loads(text)
        told = {"path": self.path, "message": message, "faults": faults(message)}
        print(json.dumps(told), flush=True)
        kind = message["type"]
        accepted = {
            "type": "subscription.accepted",
            "subscription_id": SUBSCRIPTION,
            "aaep_version": "1.0.0",
            "producer": {"agent_id": "retirement-planner"},
            "honored_capabilities": {**message.get("capabilities", {}), "max_events_per_second": 3},
        }
        if self.path == "/aaep/v1/subscriptions":
            self.answer(201, accepted, Location=f"/aaep/v1/events?subscription_id={SUBSCRIPTION}")
            self.play()
        elif kind == "subscription.renegotiate":
            self.answer(200, accepted)
        elif kind == "confirmation.reply":
            self.answer(204)
            now = message["timestamp"]
            put(event(4, "state.changed", timestamp=now, from_state="awaiting_input", to_state="executing_tool"))
        else:
            self.answer(204)

    def play(self):
        from datetime import datetime, timezone

        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        put(event(1, "session.started", timestamp=now, summary_normal="Session started."))
        put(event(2, "state.changed", timestamp=now, from_state="idle", to_state="awaiting_input"))
        put(question(3, now))


server = ThreadingHTTPServer(("127.0.0.1", 0), Producer)
server.daemon_threads = True
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
