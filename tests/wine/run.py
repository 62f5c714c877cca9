"""Runs the Windows binary under Wine, on loopback and over pipes: python3 run.py WINE HEARKEN_EXE FOLDER [WORD...]

With words it tries the cases alone whose names have them all. HEARKEN_PEERS names the folder of the programs from PyPI (`.ci/run`
fetches them); without them their case fails. Every wait has an end, everything that is started is ended, and the last line counts what was tried.
"""

import json
import os
import pty
import queue
import re
import select
import socket
import struct
import fcntl
import subprocess
import sys
import termios
import threading
import time
import urllib.request

WINE, EXE, FOLDER = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
PATIENCE = 90
ENVIRONMENT = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": os.path.join(FOLDER, "prefix")}
for name in ("HEARKEN_CONFIG", "LANG", "LC_ALL", "LANGUAGE"):
    ENVIRONMENT.pop(name, None)
PEERS = os.environ.get("HEARKEN_PEERS", "/tmp/hearken-peers")
CALL = ["--voice", "none", "--language", "en"]


def windows(path):
    """Gives the name that a file has under Wine."""
    return "Z:" + path.replace("/", "\\")


def fresh(name):
    """Gives a recording's place. Nothing is ever recorded over, so what an earlier run left has to go."""
    record = os.path.join(FOLDER, name)
    for left in (record, record + ".meta.jsonl"):
        if os.path.exists(left):
            os.remove(left)
    return record


class Hearken:
    """One run of the binary, with its lines as they come."""

    # Programs that Wine ended before their first word, and that were started again.
    stillborn = []

    def __init__(self, *arguments, environment=None):
        self.call = arguments, environment
        self.start()

    def start(self):
        arguments, environment = self.call
        self.process = subprocess.Popen(
            [WINE, EXE, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**ENVIRONMENT, **(environment or {})}, cwd=FOLDER,
        )
        self.lines, self.said, self.errors = queue.Queue(), [], []
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.complaints = threading.Thread(target=self._complain, daemon=True)
        self.reader.start()
        self.complaints.start()

    def _read(self):
        for line in self.process.stdout:
            # Strict: whatever is written is UTF-8.
            self.lines.put(line.decode("utf-8").rstrip("\r\n"))
        self.lines.put(None)

    def _complain(self):
        for line in self.process.stderr:
            self.errors.append(line.decode("utf-8").rstrip("\r\n"))

    def until(self, found):
        """Reads lines up to the first for which something is found, and gives that."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                line = None
            if line is None:
                errors, code = self.complaint()
                # hearken says why it ends; Wine sometimes ends a program without a word. That is survived once.
                if not self.said and not errors and code and not Hearken.stillborn:
                    Hearken.stillborn.append(code)
                    print(f"ended without a word, with code {code}, and started again: {self.call[0]}", flush=True)
                    self.start()
                    continue
                raise AssertionError(f"it never said that: {self.said[-12:]} {errors} {code}")
            self.said.append(line)
            what = found(line)
            if what:
                return what

    def complaint(self):
        """Returns its last errors, with its exit code if it has ended."""
        try:
            code = self.process.wait(5)
            self.complaints.join(5)
        except subprocess.TimeoutExpired:
            code = None
        return self.errors[-12:], code

    def type(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    def over(self):
        """Reads to the end, and gives the exit code."""
        try:
            code = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"it does not end: {self.said[-12:]} {self.complaint()}") from error
        self.reader.join(PATIENCE)
        self.complaints.join(PATIENCE)
        while (line := self.lines.get()) is not None:
            self.said.append(line)
        return code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Console:
    """One run of the binary in a console of Wine, which draws it on a pseudo-terminal."""

    def __init__(self, *arguments):
        self.end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 45, 110, 0, 0))
        self.process = subprocess.Popen(
            [WINE, EXE, *arguments], stdin=other, stdout=other, stderr=other, start_new_session=True,
            env={**ENVIRONMENT, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}, cwd=FOLDER,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(other)
        self.seen = ""

    def read(self, seconds):
        if select.select([self.end], [], [], seconds)[0]:
            try:
                text = os.read(self.end, 65536).decode("utf-8", "replace")
            except OSError:
                return False
            # What moves the cursor right stands for the blanks that it passes.
            text = re.sub(r"\x1b\[\d*C", " ", text)
            self.seen += re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*\x07?)", "", text)
        return True

    def until(self, words):
        end = time.monotonic() + PATIENCE
        while words not in self.seen:
            assert time.monotonic() < end and self.read(0.5), f"never seen: {words!r} in {self.seen[-1500:]!r}"

    def type(self, text):
        os.write(self.end, text.encode())

    def over(self):
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"it does not end: {self.seen[-1500:]!r}"
            self.read(0.2)
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.end)


def call(*arguments, environment=None):
    """Runs it to its end."""
    with Hearken(*arguments, environment=environment) as run:
        run.process.stdin.close()
        code = run.over()
        return code, "\n".join(run.said), "\n".join(run.errors)


def event(**wanted):
    """Finds an object of the JSON face."""
    def found(line):
        it = json.loads(line)
        return all(it.get(key) == value for key, value in wanted.items()) and it
    return found


def answered(run):
    """Accepts the first question in both steps, and hears the session to its end."""
    asked = run.until(event(kind="confirmation"))
    assert asked["reply_token"] and "y" in json.dumps(asked["keys"]), asked
    # Nothing answers a question that has only just come.
    time.sleep(1)
    run.type("y 1")
    time.sleep(0.5)
    run.type("c 1")
    run.until(event(kind="session_completed"))


def alive(mark):
    """Counts the programs that were called with a word; under Wine they are processes of this machine."""
    found = 0
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/cmdline", "rb") as file:
                found += mark.encode() in file.read()
        except OSError:
            pass
    return found


def it_says_its_version():
    code, said, _ = call("--version")
    assert code == 0 and said.startswith("hearken "), said


def the_demo_is_heard_in_lines_and_answered():
    with Hearken("demo", "--scenario", "email", "--face", "linear", "--until", "ended", *CALL) as run:
        run.until(lambda line: "then c 1 accepts" in line)
        time.sleep(1)
        run.type("y 1")
        time.sleep(0.5)
        run.type("c 1")
        assert run.over() == 0, run.said
        assert any("sent" in line.lower() for line in run.said), run.said


def the_demo_is_served_watched_answered_recorded_and_replayed():
    record = fresh("record.jsonl")
    with Hearken("demo", "--serve", "127.0.0.1:0", "--scenario", "email", "--language", "en") as server:
        place = server.until(lambda line: next((word for word in line.split() if word.startswith("http://")), None))
        watch = ["watch", place.rstrip(".,;/"), "--face", "json", "--until", "ended", "--record", windows(record), *CALL]
        with Hearken(*watch) as run:
            answered(run)
            assert run.over() == 0, run.said
    code, said, errors = call("check", windows(record), "--json")
    assert code == 0, said + errors
    code, said, errors = call("replay", windows(record), "--no-delay", "--face", "linear", *CALL)
    assert code == 0 and "Question 1." in said, said + errors


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def a_producer_from_pypi_is_followed_and_its_question_answered():
    port = free_port()
    # It runs on the Linux below; what is between the two is loopback.
    producer = subprocess.Popen([os.path.join(PEERS, "bin", "aaep-minimal-producer"), "--port", str(port)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE
        while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
            assert time.monotonic() < end and producer.poll() is None, "the producer does not listen"
            time.sleep(0.1)
        with Hearken("watch", f"http://127.0.0.1:{port}", "--face", "json", *CALL) as run:
            run.until(lambda line: "Connected" in json.loads(line)["text"])
            wish = json.dumps({"user_message": "Send an email to bob"}).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{port}/sessions", wish, {"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=PATIENCE).close()
            answered(run)
            heard = [json.loads(line) for line in run.said]
            did = [it["text"] for it in heard if it["kind"] == "tool_completed"]
            assert any("Email sent to recipient@example.com" in text for text in did), did
            fate = [it["text"] for it in heard if it["kind"] == "confirmation"]
            assert any("Your answer was: accept" in text for text in fate), fate
            run.type("q")
            assert run.over() == 0, run.said
    finally:
        producer.kill()
        producer.wait()


def a_script_is_found_by_its_name_and_speaks_over_its_pipes():
    folder = os.path.join(FOLDER, "bin")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "own-agent.cmd"), "w", newline="\r\n") as file:
        file.write(f'@"{windows(EXE)}" demo --serve - --scenario email %1\n')
    path = {"WINEPATH": windows(folder)}
    arguments = ["watch", "--face", "json", "--until", "ended", *CALL, "--", "own-agent", "--language=en"]
    with Hearken(*arguments, environment=path) as run:
        answered(run)
        assert run.over() == 0, run.said
    refused = ["watch", "--face", "linear", *CALL, "--", "own-agent", 'a"%PATH%\n']
    code, said, _ = call(*refused, environment=path)
    assert code == 1 and "own-agent" in said, said


def what_a_program_started_ends_with_hearken_however_that_ends():
    folder = os.path.join(FOLDER, "bin")
    mark = f"--language=de-x-{os.getpid()}"
    with Hearken("watch", "--face", "json", *CALL, "--", "own-agent", mark, environment={"WINEPATH": windows(folder)}) as run:
        run.until(event(kind="session_started"))
        assert alive(mark) >= 2, "the script and what it started"
        run.process.kill()
        end = time.monotonic() + 20
        while alive(mark) and time.monotonic() < end:
            time.sleep(0.1)
        assert not alive(mark), "something is left"


def a_screen_reader_is_seen_and_spoken_beside_by_no_second_voice():
    said = call("doctor", "--language", "en")[1]
    assert "None is running" in said and "NVDA shows NVDA" not in said, said
    for kind, title, name in [("wxWindowClassNR", "NVDA", "NVDA"), ("JFWUI2", "JAWS", "JAWS")]:
        with subprocess.Popen([WINE, os.path.join(FOLDER, "reader.exe"), kind, title], env=ENVIRONMENT) as reader:
            try:
                end = time.monotonic() + PATIENCE
                while f"{name} is running" not in (said := call("doctor", "--language", "en")[1]):
                    assert time.monotonic() < end and reader.poll() is None, said
                assert "because a screen reader is running" in said and "--voice system" in said, said
                with Hearken("demo", "--scenario", "email", "--language", "en") as run:
                    run.until(lambda line: "your screen reader speaks" in line)
            finally:
                reader.kill()


def nvda_speaks_shows_and_falls_silent():
    library = windows(os.path.join(FOLDER, "nvda.dll"))
    log = os.path.join(FOLDER, "nvda.log")

    def told():
        return open(log, encoding="utf-8").read() if os.path.exists(log) else ""

    def nvda(**more):
        if os.path.exists(log):
            os.remove(log)
        return {"HEARKEN_NVDA_LOG": windows(log), **more}

    code, said, errors = call("say", "--voice", "nvda:" + library, "Tom & Ann?", environment=nvda())
    assert code == 0, said + errors
    # Its symbols are said in words before they get there.
    assert "braille Tom and Ann?" in told() and ">Tom and Ann?</prosody></speak>" in told(), told()
    arguments = ["demo", "--scenario", "email", "--face", "linear", "--language", "en", "--voice", "nvda:" + library]
    with Hearken(*arguments, environment=nvda(HEARKEN_NVDA_MS="60000")) as run:
        run.until(lambda line: "Connected." in line)
        end = time.monotonic() + PATIENCE
        while "speak" not in told():
            assert time.monotonic() < end, run.said
            time.sleep(0.1)
        run.type("s")
        while "cancel" not in told():
            assert time.monotonic() < end, told()
            time.sleep(0.1)
    for place, more, words in [
        (library, {"HEARKEN_NVDA_AWAY": "1"}, "NVDA is not running"),
        (windows(os.path.join(FOLDER, "bcryptprimitives.dll")), {}, "older than 2024.1"),
        (windows(os.path.join(FOLDER, "none.dll")), {}, "can't be loaded"),
    ]:
        code, said, errors = call("say", "--voice", "nvda:" + place, "hello", environment=nvda(**more))
        assert code != 0 and words in said + errors, (code, said, errors)


def an_agent_behind_a_named_pipe_is_watched_and_answered():
    with Hearken("demo", "--serve", "pipe:own", "--scenario", "email", "--language", "en") as server:
        server.until(lambda line: r"pipe:\\.\pipe\aaep\own" in line)
        with Hearken("watch", "pipe:own", "--face", "json", "--until", "ended", *CALL) as run:
            answered(run)
            assert run.over() == 0, run.said
    code, said, errors = call("watch", "pipe:nobody", "--face", "linear", "--retries", "0", *CALL)
    assert code == 1 and "nobody listens at the pipe" in said.lower(), (code, said, errors)


def what_this_system_has_not_is_said():
    for language, words in [("en", "no Unix sockets"), ("de", "keine Unix-Sockets"), ("es", "no tiene sockets Unix")]:
        code, _, errors = call("watch", "unix:/tmp/x.sock", "--language", language)
        assert code == 2 and words in errors, errors
        code, _, errors = call("demo", "--serve", "unix:own", "--language", language)
        assert code == 2 and words in errors, errors
    with Hearken("watch", "-", "--face", "linear", "--voice", "speech-dispatcher", "--language", "en") as run:
        run.until(lambda line: "speech-dispatcher is for Unix only" in line)


def settings_are_where_this_system_has_them():
    # Wine says by itself where that is: below the profile in its own folder.
    users = os.path.join(ENVIRONMENT["WINEPREFIX"], "drive_c", "users")
    folders = [os.path.join(users, name, "AppData", "Roaming") for name in os.listdir(users)]
    folder = os.path.join(next(filter(os.path.isdir, folders)), "hearken")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.toml"), "w") as file:
        file.write("[voice]\nno_such = 1\n")
    try:
        code, _, errors = call("replay", "none.jsonl", "--face", "linear")
    finally:
        os.remove(os.path.join(folder, "config.toml"))
    assert code == 2 and "Roaming" in errors and "no_such" in errors, errors


def keys_answer_in_a_console_in_lines():
    with Console("demo", "--scenario", "email", "--face", "linear", "--until", "ended", *CALL) as run:
        run.until("accepts")
        time.sleep(1)
        run.type("y\r")
        run.until("to confirm")
        time.sleep(1)
        run.type("c\r")
        assert run.over() == 0, run.seen
        assert "Monday’s meeting" in run.seen, "text reaches a console whatever its code page"


def keys_answer_in_a_console_in_the_full_face():
    # Wine 8's console knows no control sequences, so what is drawn can't be judged; what the keys did is in the recording.
    record = fresh("full.jsonl")
    with Console("demo", "--scenario", "email", "--face", "full", "--until", "ended", "--record", windows(record), *CALL) as run:
        def recorded(file, words):
            end = time.monotonic() + PATIENCE
            while not (os.path.exists(file) and words in open(file, encoding="utf-8").read()):
                assert time.monotonic() < end and run.read(0.2), f"never recorded: {words}"
        recorded(record, 'awaiting.confirmation"')
        time.sleep(2)
        run.type("y")
        time.sleep(1)
        run.type("c")
        recorded(record + ".meta.jsonl", '"accept"')
        assert run.over() == 0, run.seen


def the_interrupt_key_ends_it_with_its_code():
    with Console("demo", "--face", "linear", *CALL) as run:
        run.until("Connected.")
        run.type("\x03")
        assert run.over() == 130, (run.process.returncode, run.seen)


CASES = [
    it_says_its_version,
    the_demo_is_heard_in_lines_and_answered,
    the_demo_is_served_watched_answered_recorded_and_replayed,
    a_producer_from_pypi_is_followed_and_its_question_answered,
    a_script_is_found_by_its_name_and_speaks_over_its_pipes,
    what_a_program_started_ends_with_hearken_however_that_ends,
    a_screen_reader_is_seen_and_spoken_beside_by_no_second_voice,
    nvda_speaks_shows_and_falls_silent,
    an_agent_behind_a_named_pipe_is_watched_and_answered,
    what_this_system_has_not_is_said,
    settings_are_where_this_system_has_them,
    keys_answer_in_a_console_in_lines,
    keys_answer_in_a_console_in_the_full_face,
    the_interrupt_key_ends_it_with_its_code,
]


def main():
    failed = 0
    os.makedirs(FOLDER, exist_ok=True)
    # Windows that nobody draws: there need not be a screen.
    null = ["reg", "add", r"HKCU\Software\Wine\Drivers", "/v", "Graphics", "/d", "null", "/f"]
    subprocess.run([WINE, *null], env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    # Who has begun without it goes on without it.
    server = os.path.join(os.path.dirname(WINE), "wineserver64")
    subprocess.run([server, "-k"], env=ENVIRONMENT, check=False, timeout=PATIENCE)
    # One server for all of them: by itself it ends with each program, and the next may find it as it ends.
    subprocess.run([server, "-p"], env=ENVIRONMENT, check=True, timeout=PATIENCE)
    # The first program starts Wine's own, which keep its outputs open.
    subprocess.run([WINE, "reg", "query", r"HKCU\Software\Wine"], env=ENVIRONMENT, check=True, timeout=PATIENCE,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    cases = [case for case in CASES if all(name in case.__name__ for name in sys.argv[4:])]
    for case in cases:
        began = time.monotonic()
        try:
            case()
            outcome = "ok"
        except (AssertionError, OSError, ValueError) as error:
            failed += 1
            outcome = f"FAILED: {error}"
        print(f"test wine::{case.__name__} ... {outcome} ({time.monotonic() - began:.1f} s)", flush=True)
    result = "FAILED" if failed else "ok"
    print(f"test result: {result}. {len(cases) - failed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
