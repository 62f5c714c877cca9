"""A producer in nothing but Python's own library over a connection that carries both ways: a WebSocket
(appendix B.2) or its own standard input and output (B.6), with the messages as they are printed there.

    duplex.py ws REPORT      prints its port
    duplex.py stdio REPORT   is started by the subscriber

For each message that it gets it writes a line of JSON to REPORT, with what is wrong with it."""

import base64
import hashlib
import json
import os
import socket
import struct
import sys
from datetime import datetime, timezone

sys.dont_write_bytecode = True  # The tests leave nothing behind in the tree.

from shape import SUBSCRIPTION, event, faults, question


class Peer:
    """Answers one subscriber; how messages travel is the subclass's."""

    def __init__(self, report):
        self.report = report

    def note(self, **what):
        print(json.dumps(what), file=self.report, flush=True)

    def meet(self, message, how=(), strange=()):
        self.note(message=message, how=how, faults=faults(message) + list(strange))
        kind = message.get("type")
        if kind in ("subscription.request", "subscription.renegotiate"):
            self.accept(message)
            if kind == "subscription.request":
                for one in opening():
                    self.tell(one)
        elif kind == "confirmation.reply":
            at = message["timestamp"]
            self.tell(event(4, "state.changed", timestamp=at, from_state="awaiting_input", to_state="executing_tool"))

    def accept(self, request):
        honored = {**request["capabilities"], "max_events_per_second": 3}
        self.answer(
            {
                "type": "subscription.accepted",
                "subscription_id": SUBSCRIPTION,
                "aaep_version": "1.0.0",
                "producer": {"agent_id": "retirement-planner"},
                "honored_capabilities": honored,
            }
        )


def opening():
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return [
        event(1, "session.started", timestamp=now, summary_normal="Session started."),
        event(2, "state.changed", timestamp=now, from_state="idle", to_state="awaiting_input"),
        question(3, now),
    ]


class Stdio(Peer):
    """JSON-RPC 2.0, a message a line (B.6.1, B.6.2)."""

    METHODS = {
        "aaep.subscribe": ("subscription.request", True),
        "aaep.renegotiate": ("subscription.renegotiate", True),
        "aaep.reply": ("confirmation.reply", False),
        "aaep.close": ("subscription.close", False),
    }

    def write(self, message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def answer(self, message):
        self.write({"id": self.id, "result": message})

    def tell(self, message):
        self.write({"method": "aaep.event", "params": message})

    def run(self):
        print("a line for the operator", file=sys.stderr, flush=True)
        for line in sys.stdin:
            envelope = json.loads(line)
            method = envelope.get("method")
            kind, asks = self.METHODS.get(method, (None, False))
            strange = []
            if set(envelope) != {"jsonrpc", "method", "params"} | ({"id"} if asks else set()):
                strange.append(f"keys of the envelope {sorted(envelope)}")
            if envelope.get("jsonrpc") != "2.0":
                strange.append("jsonrpc")
            if envelope["params"].get("type") != kind:
                strange.append(f"{method} for {envelope['params'].get('type')}")
            self.id = envelope.get("id")
            self.meet(envelope["params"], method, strange)
        self.note(left="end of input")


class WebSocket(Peer):
    """A message a text frame (B.2.2), the subprotocol aaep.v1 (B.2.1)."""

    def frame(self, opcode, payload):
        if len(payload) < 126:
            head = struct.pack(">BB", 0x80 | opcode, len(payload))
        else:
            head = struct.pack(">BBH", 0x80 | opcode, 126, len(payload))
        self.socket.sendall(head + payload)

    def tell(self, message):
        self.frame(1, json.dumps(message).encode())

    answer = tell

    def read(self, count):
        text = self.file.read(count)
        if len(text) < count:
            raise EOFError
        return text

    def run(self):
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        self.socket, _ = listener.accept()
        self.file = self.socket.makefile("rb")
        first = self.file.readline().decode().strip()
        headers = {}
        while line := self.file.readline().decode().strip():
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        strange = []
        if first != "GET /aaep/v1/ws HTTP/1.1":
            strange.append(first)
        wanted = {"upgrade": "websocket", "sec-websocket-version": "13", "sec-websocket-protocol": "aaep.v1"}
        strange += [f"{name}: {headers.get(name)}" for name in wanted if headers.get(name, "").lower() != wanted[name]]
        self.note(upgrade=first, faults=strange)
        magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        proof = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + magic).encode()).digest())
        self.socket.sendall(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Accept: " + proof + b"\r\nSec-WebSocket-Protocol: aaep.v1\r\n\r\n"
        )
        while True:
            first, second = self.read(2)
            length = second & 127
            if length == 126:
                (length,) = struct.unpack(">H", self.read(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self.read(8))
            mask = self.read(4) if second & 128 else None
            payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.read(length))) if mask else b""
            strange = [] if mask else ["not masked"]
            if not first & 128:
                strange.append("in several frames")
            match first & 15:
                case 1:
                    self.meet(json.loads(payload), "text frame", strange)
                case 8:
                    self.note(left=struct.unpack(">H", payload[:2])[0])
                    return
                case 9:
                    self.frame(10, payload)
                case 10:
                    pass
                case other:
                    self.note(faults=[f"frame {other}"])


with open(sys.argv[2], "w", encoding="utf-8") as report:
    {"ws": WebSocket, "stdio": Stdio}[sys.argv[1]](report).run()
    os.fsync(report.fileno())
