"""Runs a test binary of Rust under Wine: python3 units.py WINE TEST_EXE FOLDER

What Wine alone can't do stands in apart.tsv beside this file, each with its reason; it is left out, and so is nothing else. What it
can do only when nothing else runs stands there, too, and is played after the others. A line about a test that is not there fails.
With HEARKEN_WINE_SHARE=3, PROPTEST_RNG_SEED chooses one of three tests.
"""

import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

WINE, EXE, FOLDER = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
HOME = Path(__file__).resolve().parent.parent.parent
# Far more than all of them take on a slow machine.
LONGEST = 900
# More than these are no matter of time.
MOST_LATE = 5


def main():
    around = {**os.environ, "WINEDEBUG": "-all", "WINEPREFIX": str(FOLDER / "prefix"),
              "HEARKEN_BINARY": "Z:" + str(FOLDER / "hearken.exe").replace("/", "\\")}
    # All the random runs are made on Linux; here it is the part of them that `cargo test` plays.
    around.pop("HEARKEN_ALL_RUNS", None)
    # A snapshot that differs fails its test, and leaves nothing in the repository.
    around["INSTA_UPDATE"] = "no"
    room = EXE.stem.removesuffix("-units")
    lines = (HOME / "tests" / "wine" / "apart.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    if strange := {how for _, _, how, _ in rows} - {"out", "alone"}:
        sys.exit(f"tests/wine/apart.tsv has tests played as {sorted(strange)}")
    apart = {name: (how, why) for of, name, how, why in rows if of == room}
    alone = [name for name, (how, _) in apart.items() if how == "alone"]
    listed = subprocess.run([WINE, str(EXE), "--list"], cwd=HOME, env=around, check=True, timeout=LONGEST, stdout=subprocess.PIPE)
    known = {line.removesuffix(": test") for line in listed.stdout.decode().split("\n") for line in [line.strip()]}
    if strangers := sorted(set(apart) - known):
        sys.exit(f"tests/wine/apart.tsv names tests that {room} has not: {strangers}")
    for name, (how, why) in apart.items():
        words = "left out" if how == "out" else "played by itself"
        print(f"{words} under Wine: {name}: {why}", flush=True)
    threads = f"--test-threads={(os.cpu_count() or 1) + 1}"
    call = [WINE, str(EXE), threads, "--exact", *(word for name in apart for word in ("--skip", name))]
    share, seed = int(os.environ.get("HEARKEN_WINE_SHARE", "1")), os.environ.get("PROPTEST_RNG_SEED", "")
    if share > 1:
        chosen = sorted(name for name in known - set(apart) if zlib.crc32(f"{seed} {name}".encode()) % share == 0)
        print(f"{len(chosen)} of {len(known)} tests of {room}, chosen by seed {seed}", flush=True)
        call = [WINE, str(EXE), threads, "--exact", *chosen]
    first = played(call, around)
    late = re.findall(r"^test (\S+) \.\.\. FAILED", first.said, re.MULTILINE)
    if first.code == 0 or not 0 < len(late) <= MOST_LATE:
        sys.stdout.write(first.said)
        sys.exit(max([first.code, *by_themselves(alone, around)]))
    # Wine takes several times as long as Windows, and a test that waits for an answer may get it too late beside others. What
    # failed is played once more by itself; only that counts.
    sys.stdout.write(re.sub(r"^test result: FAILED\. (\d+) passed; \d+ failed", r"test result: ok. \1 passed; 0 failed", first.said,
                            flags=re.MULTILINE))
    print(f"played once more, each by itself: {', '.join(late)}", flush=True)
    sys.exit(max(by_themselves([*late, *alone], around)))


def by_themselves(names, around):
    """Plays tests one after the other, and gives how each ended."""
    codes = []
    for name in names:
        again = played([WINE, str(EXE), "--exact", name], around)
        sys.stdout.write(again.said)
        # A name that is no test plays none, and that is no fault of the binary's.
        codes.append(again.code or int("1 passed" not in again.said))
    return codes


class Played:
    """What a run of tests said, and how it ended."""

    def __init__(self, code, said):
        self.code, self.said = code, said


def played(call, around):
    done = subprocess.run(call, cwd=HOME, env=around, check=False, timeout=LONGEST, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return Played(done.returncode, done.stdout.decode("utf-8", "replace").replace("\r\n", "\n"))


main()
