"""A model for agents to talk to, on loopback: what it says follows from what it is asked.

It speaks what the agents speak: chat completions, Responses, Anthropic's messages and Gemini's contents, all as streams. It prints its port, and keeps what it
was asked last, one JSON object a line, in the file that its argument names.

  say hello     two sentences, word by word
  touch FILE    one sentence, then a call of whatever tool runs commands; after its result one more
  ask: touch …  the same, and the call wants to run outside of the agent's sandbox, about which it has to ask
  write FILE    the same with whatever tool writes files
  read FILE     the same with whatever tool reads files
  edit FILE     the same with whatever tool edits files: "two" becomes "2"
  fail          the same with a command that writes two lines and ends with the code 3
  sleep         the same with a command that sleeps for twenty seconds
  ask me        one sentence, then two questions by the tool for that
  plan it       one sentence, then two things to do by the tool for that
  announce: …   one sentence, then a call of hearken's tool that announces the words
  inquire: …    the same with hearken's tool that asks them; after its result one more with the answer
  wait          a sentence every tenth of a second, until nobody listens any more (at most for a minute)

Codex has it judge commands, too: it refuses those that name danger, until it reads that the person approved.
"""

import http.server
import json
import re
import sys
import time

COMMANDS = ("bash", "Bash", "run_shell_command", "shell", "shell_command", "exec_command", "local_shell")
FILES = ("write", "write_file", "Write", "create")
READERS = ("read", "read_file", "Read", "view")
EDITORS = ("edit", "replace", "Edit", "str_replace")
# What these prompts run; Qwen Code refuses to sleep without a shell.
RUNS = {"fail": "sh -c 'echo one; echo two; exit 3'", "sleep": "env sleep 20"}
QUESTIONS = [
    {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red", "description": "like a fox"}, {"label": "Blue", "description": "like the sea"}]},
    {"question": "Which files?", "header": "Files", "multiple": True, "options": [{"label": name, "description": ""} for name in ("a.txt", "b.txt", "c.txt")]},
]
TODOS = [
    {"id": "1", "content": "Look around", "status": "in_progress", "priority": "high"},
    {"id": "2", "content": "Fix it", "status": "pending", "priority": "high"},
]
APPROVED = "manually approved"
NOT_DONE = re.compile(r"reject|declin|denied|cancel|abort|not allowed|did not (want|allow)", re.I)


def text_of(content):
    """Gives the text of what a message holds, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text") or "" for part in content or [] if isinstance(part, dict))


class Asked:
    """What is asked, in whichever of the forms: the person's last words, the last result behind them, the tools."""

    def __init__(self, body):
        self.words, self.result, self.tools = "", None, {}
        self.everything = json.dumps(body)
        for tool in body.get("tools") or []:
            tool = tool.get("function") or tool
            # Codex puts the tools of a server into a space of their own.
            for inner in tool.get("tools") or []:
                self.tools["%s\t%s" % (tool["name"], inner["name"])] = inner.get("parameters") or {}
            if tool.get("name"):
                self.tools[tool["name"]] = tool.get("parameters") or tool.get("input_schema") or {}
        for tool in self.declared(body):
            self.tools[tool["name"]] = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
        for item in body.get("contents") or []:
            parts = item.get("parts") or []
            answers = [part["functionResponse"] for part in parts if part.get("functionResponse")]
            if answers:
                self.result = json.dumps(answers)
            elif item.get("role") == "user":
                self.words, self.result = text_of(parts), None
        for item in body.get("messages") or body.get("input") or []:
            if item.get("type") in ("function_call_output", "custom_tool_call_output"):
                self.result = json.dumps(item.get("output"))
            elif item.get("role") == "tool":
                self.result = text_of(item.get("content"))
            elif item.get("role") == "user" and self.results(item):
                self.result = "\n".join(self.results(item))
                # After a stop, the next prompt comes in the same message.
                if self.added(item):
                    self.words, self.result = self.added(item), None
            elif item.get("role") == "user":
                self.words, self.result = text_of(item.get("content")), None

    @staticmethod
    def results(message):
        """Gives what tools brought, where a message carries that for the person, as Anthropic's do."""
        parts = message.get("content")
        parts = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        return [text_of(part.get("content")) for part in parts if part.get("type") == "tool_result"]

    @staticmethod
    def declared(body):
        """Gives the tools that Gemini's interface declares."""
        groups = [tool.get("functionDeclarations") or [] for tool in body.get("tools") or []]
        return [tool for group in groups for tool in group]

    @staticmethod
    def added(message):
        """Gives the person's words behind what tools brought, without what the agent itself adds there."""
        texts = [part.get("text") or "" for part in message["content"] if part.get("type") == "text"]
        return "\n".join(text for text in texts if not text.lstrip().startswith(("<", "[")))

    def tool(self, names):
        return next((name for name in names if name in self.tools), None)

    def of_hearken(self, name):
        """Gives an agent's name for a tool of hearken's tool server, which it puts behind the server's."""
        return next((tool for tool in self.tools if re.fullmatch(r"(mcp_+)?hearken[\W_]*%s" % name, tool)), None)

    def judges(self):
        """Gives what Codex's reviewer wants to know, where it asks for that."""
        request = self.words.rpartition("APPROVAL REQUEST START")[2]
        refused = "danger" in request and APPROVED not in self.everything
        return {
            "risk_level": "high" if refused else "low",
            "user_authorization": "low" if refused else "high",
            "outcome": "deny" if refused else "allow",
            "rationale": "Nobody asked for danger." if refused else "It is harmless.",
        }

    def answer(self):
        """Gives the pieces of the answer, and a call."""
        if "APPROVAL REQUEST END" in self.words:
            return [json.dumps(self.judges())], None
        runs = re.search(r"\b(fail|sleep)\b", self.words)
        tool = runs and self.tool(COMMANDS)
        if tool and self.result is None:
            return ["I will run ", "it. "], (tool, self.run(tool, RUNS[runs[1]]))
        if tool:
            return ["So it went."], None
        wanted = re.search(r"\b(touch|write|read|edit) (\S+\.txt)", self.words)
        tools = {"touch": COMMANDS, "write": FILES, "read": READERS, "edit": EDITORS}
        tool = wanted and self.tool(tools[wanted[1]])
        if tool and self.result is None:
            return ["I will make ", "the file. "], (tool, self.call(tool, wanted[1], wanted[2]))
        if tool:
            return [("Then not." if NOT_DONE.search(self.result) else "The file stands there.")], None
        told = re.search(r"\b(announce|inquire): ([^\n<]+)", self.words)
        tool = told and self.of_hearken({"announce": "announce", "inquire": "ask"}[told[1]])
        if tool and self.result is None:
            words = told[2].strip(' "')
            return ["I tell you. "], (tool, {"text": words} if told[1] == "announce" else {"question": words})
        if tool:
            return ["The tool said: ", self.result], None
        if "ask me" in self.words and "question" in self.tools and self.result is None:
            return ["I want to know. "], ("question", {"questions": QUESTIONS})
        if "plan it" in self.words and "todowrite" in self.tools and self.result is None:
            return ["I make a plan. "], ("todowrite", {"todos": TODOS})
        if re.search(r"\bwait\b", self.words) and self.tools:
            return (self.slowly(), None)
        return [word + " " for word in "Hello from the mock model. It has two sentences.".split()], None

    def call(self, tool, what, name):
        takes = self.tools[tool].get("properties") or {}
        path = next((key for key in ("filePath", "file_path", "path") if key in takes), "path")
        if what == "write":
            return {path: name, "file_text" if "file_text" in takes else "content": "one\ntwo\n"}
        if what in ("read", "edit"):
            pairs = (("oldString", "newString"), ("old_string", "new_string"), ("old_str", "new_str"))
            old, new = next((pair for pair in pairs if pair[0] in takes), pairs[0])
            return {path: name, **({old: "two", new: "2"} if what == "edit" else {})}
        return self.run(tool, "touch " + name)

    def run(self, tool, command):
        takes = self.tools[tool].get("properties") or {}
        if "cmd" in takes:
            wants = {"sandbox_permissions": "require_escalated", "justification": "May I?", "prefix_rule": ["touch"]}
            return {"cmd": command, **(wants if "ask: " in self.words else {})}
        listed = (takes.get("command") or {}).get("type") == "array"
        more = {"command": ["sh", "-c", command] if listed else command}
        for key, value in (("description", "Makes a file" if command.startswith("touch ") else "Runs it"), ("is_background", False)):
            if key in takes:
                more[key] = value
        return more

    @staticmethod
    def slowly():
        for number in range(600):
            yield "Sentence %d stands here. " % number
            time.sleep(0.1)


class Model(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        answer = b'{"object":"list","data":[{"id":"m","object":"model"}],"models":[]}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def route(self):
        return self.path.partition("?")[0]

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        asked = Asked(body)
        with open(sys.argv[1], "a") as log:
            line = {"path": self.path, "words": asked.words[-300:], "result": asked.result, "tools": sorted(asked.tools)}
            log.write(json.dumps(line) + "\n")
        self.close_connection = True
        pieces, call = asked.answer()
        try:
            if "enerateContent" in self.route():
                self.generate(pieces, call, self.route().endswith(":streamGenerateContent"))
                return
            if not body.get("stream"):
                self.whole("".join(pieces), self.route().endswith("/messages"))
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            if self.route().endswith("/responses"):
                self.respond(pieces, call)
            elif self.route().endswith("/messages"):
                self.message(pieces, call)
            else:
                self.complete(pieces, call)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def event(self, data, name=None):
        head = "event: %s\n" % name if name else ""
        data = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(("%sdata: %s\n\n" % (head, data)).encode())
        self.wfile.flush()

    def whole(self, text, as_message=False):
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
        if as_message:
            answer = self.message_of([{"type": "text", "text": text}], "end_turn")
        answer = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    @staticmethod
    def message_of(content, stop):
        usage = {"input_tokens": 1, "output_tokens": 1}
        id = "msg_%d" % time.monotonic_ns()
        return {"id": id, "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}

    def message(self, pieces, call):
        """Answers in the form of Anthropic's messages: each block begins, grows and ends."""

        def event(kind, **more):
            self.event({"type": kind, **more}, kind)

        event("message_start", message=self.message_of([], None))
        event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        for piece in pieces:
            event("content_block_delta", index=0, delta={"type": "text_delta", "text": piece})
        event("content_block_stop", index=0)
        if call:
            name, arguments = call
            block = {"type": "tool_use", "id": "toolu_%d" % time.monotonic_ns(), "name": name, "input": {}}
            event("content_block_start", index=1, content_block=block)
            # Arguments come in pieces that are no JSON by themselves.
            text = json.dumps(arguments)
            for at in range(0, len(text), 9):
                event("content_block_delta", index=1, delta={"type": "input_json_delta", "partial_json": text[at : at + 9]})
            event("content_block_stop", index=1)
        stop = "tool_use" if call else "end_turn"
        event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 2})
        event("message_stop")

    def generate(self, pieces, call, streamed):
        """Answers in the form of Gemini's interface, whose pieces are whole candidates."""

        def candidate(part, end=None):
            content = {"role": "model", "parts": [part]}
            usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
            return {"candidates": [{"index": 0, "content": content, **({"finishReason": end} if end else {})}], "usageMetadata": usage, "modelVersion": "m"}

        if not streamed:
            answer = json.dumps(candidate({"text": "".join(pieces)}, "STOP")).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in pieces:
            self.event(candidate({"text": piece}))
        last = {"functionCall": {"name": call[0], "args": call[1]}} if call else {"text": ""}
        self.event(candidate(last, "STOP"))

    def complete(self, pieces, call):
        def chunk(delta, end=None):
            choice = {"index": 0, "delta": delta, "finish_reason": end}
            self.event({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})

        chunk({"role": "assistant", "content": ""})
        for piece in pieces:
            chunk({"content": piece})
        if call:
            name, arguments = call
            function = {"name": name, "arguments": json.dumps(arguments)}
            # Some agents take an id that they saw before for the same call.
            id = "call_%d" % time.monotonic_ns()
            chunk({"tool_calls": [{"index": 0, "id": id, "type": "function", "function": function}]})
        chunk({}, "tool_calls" if call else "stop")
        self.event("[DONE]")

    def respond(self, pieces, call):
        number = iter(range(1000000))

        def event(kind, **more):
            self.event({"type": kind, "sequence_number": next(number), **more}, kind)

        response = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": "in_progress", "output": []}
        event("response.created", response=response)
        message = {"type": "message", "id": "m%d" % time.monotonic_ns(), "role": "assistant", "status": "in_progress", "content": []}
        event("response.output_item.added", output_index=0, item=message)
        text = ""
        for piece in pieces:
            text += piece
            event("response.output_text.delta", item_id=message["id"], output_index=0, content_index=0, delta=piece)
        message = {**message, "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}
        event("response.output_item.done", output_index=0, item=message)
        output = [message]
        if call:
            name, arguments = call
            id = "call_%d" % time.monotonic_ns()
            space, _, name = name.rpartition("\t")
            space = {"namespace": space} if space else {}
            item = {"type": "function_call", "id": "f" + id, "call_id": id, "name": name, **space, "arguments": json.dumps(arguments), "status": "completed"}
            event("response.output_item.added", output_index=1, item=item)
            event("response.output_item.done", output_index=1, item=item)
            output.append(item)
        usage = {"input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 2}
        event("response.completed", response={**response, "status": "completed", "output": output, "usage": usage})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
server.daemon_threads = True
print(server.server_address[1], flush=True)
server.serve_forever()
