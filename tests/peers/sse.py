"""A producer in nothing but Python's own library, with the messages of appendix B.1 as they are printed
there: so that a mistake of our own producer can't hide one of our subscriber.

It prints its port, and writes one line of JSON for each message that it gets: what is wrong with it."""

import json
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SUBSCRIPTION = "sub_8a4f2c9d"
TOKEN = "rpl_4f8a2e7d9c1b6a3f"
events = queue.Queue()

KEYS = {
    "subscription.request": (
        {"type", "aaep_version", "subscriber_id", "capabilities"},
        {"subscriber_name", "subscriber_version", "subscriber_manifest_uri", "correlation_id", "extensions"},
    ),
    "subscription.renegotiate": ({"type", "subscription_id", "capabilities"}, set()),
    "subscription.close": ({"type", "subscription_id"}, {"reason_code", "reason_message"}),
    "confirmation.reply": (
        {"type", "reply_token", "decision", "subscription_id", "timestamp"},
        {"decided_by", "decision_rationale", "modified_action", "correlation_id"},
    ),
}
CAPABILITIES = {
    "max_events_per_second": int,
    "preferred_verbosity": str,
    "languages": list,
    "supports_confirmation_reply": bool,
    "supports_clarification_reply": bool,
    "coalesce_boundaries": list,
    "event_filters": dict,
    "supported_conformance_levels": list,
    "supported_extensions": list,
    "cognitive_load": str,
    "pace_wpm": int,
    "accept_signed_manifests_only": bool,
}


def faults(message):
    kind = message.get("type")
    if kind not in KEYS:
        return [f"type {kind}"]
    needed, allowed = KEYS[kind]
    found = [f"missing {key}" for key in needed - message.keys()]
    found += [f"strange {key}" for key in message.keys() - needed - allowed]
    if kind != "subscription.request" and message.get("subscription_id") != SUBSCRIPTION:
        found.append("subscription_id")
    for key, value in message.get("capabilities", {}).items():
        if not isinstance(value, CAPABILITIES.get(key, type(None))):
            found.append(f"capability {key}")
    if kind == "confirmation.reply" and message.get("reply_token") != TOKEN:
        found.append("reply_token")
    return found


def event(number, kind, **fields):
    body = {
        "@context": "https://aaep-protocol.org/context/v1",
        "type": f"aaep:agent.{kind}",
        "event_id": f"evt_{number:016x}",
        "session_id": "sess_2c91a7",
        "timestamp": fields.pop("timestamp"),
        "producer": {"agent_id": "retirement-planner"},
        **fields,
    }
    return f"event: aaep.event\nid: {body['event_id']}\ndata: {json.dumps(body)}\n\n"


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
            events.put(event(4, "state.changed", timestamp=now, from_state="awaiting_input", to_state="executing_tool"))
        else:
            self.answer(204)

    def play(self):
        from datetime import datetime, timezone

        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        events.put(event(1, "session.started", timestamp=now, summary_normal="Session started."))
        events.put(event(2, "state.changed", timestamp=now, from_state="idle", to_state="awaiting_input"))
        events.put(
            event(
                3,
                "awaiting.confirmation",
                timestamp=now,
                urgency="critical",
                reply_token=TOKEN,
                action="Transfer $500",
                consequence="$500 leave the account",
                risk_level="low",
                reversibility="reversible",
                timeout_seconds=60,
                default_decision="reject",
                summary_normal="Transfer $500?",
            )
        )


server = ThreadingHTTPServer(("127.0.0.1", 0), Producer)
server.daemon_threads = True
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
