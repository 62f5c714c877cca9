#!/usr/bin/env python3
"""Describes the contents of a package of hearken: the licences of its parts, their texts, and an SBOM.

    describe.py list             writes packaging/licences.tsv: every package of Cargo.lock
    describe.py check            fails if that list is out of date
    describe.py texts TARGET     the licence texts of everything built into the program for that target
    describe.py sbom TARGET      the same as a CycloneDX document (1.5, JSON)
    describe.py copyright TARGET the copyright file of the Debian package

Everything comes from Cargo.toml, Cargo.lock and the packages' own files, through cargo; nothing is guessed.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent
LIST = HOME / "packaging" / "licences.tsv"
TARGETS = {"x86_64-unknown-linux-musl": "linux", "x86_64-pc-windows-gnu": "windows"}
# Libraries that the compiler links into every program.
RUST = "the standard library of Rust, MIT OR Apache-2.0, Copyright (c) The Rust Project Contributors"
RUNTIMES = {
    "linux": [RUST, "musl, MIT, Copyright (c) 2005-2020 Rich Felker and others"],
    "windows": [RUST, "the runtime of mingw-w64, in the public domain or under the Zope Public License 2.1, Copyright (c) the "
                "mingw-w64 project"],
}
# The names of licence files in packages.
TEXT = re.compile(r"^(un)?licen[cs]e|^copying|^notice|^copyright", re.IGNORECASE)


def metadata(target=None):
    call = ["cargo", "metadata", "--format-version", "1", "--locked"]
    call += ["--filter-platform", target] if target else []
    return json.loads(subprocess.check_output(call, cwd=HOME))


def expression(package):
    """Returns the licence as an SPDX expression: in an older form, a slash separates choices."""
    return re.sub(r"\s*/\s*", " OR ", package["license"] or "")


# Packages that are not linked, but whose tables the build writes into the program (build.rs).
WRITTEN_IN = ["unicode_security"]


def built_in(target):
    """Returns the packages that are built into the program, by id, and the dependencies of each."""
    known = metadata(target)
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    needs, waiting = {}, [known["resolve"]["root"]]
    while waiting:
        one = waiting.pop()
        if one in needs:
            continue
        deps = nodes[one]["deps"]
        normal = [
            d["pkg"]
            for d in deps
            if d["name"] in WRITTEN_IN or any(kind["kind"] is None for kind in d["dep_kinds"])
        ]
        needs[one] = sorted(set(normal))
        waiting += normal
    packages = {package["id"]: package for package in known["packages"]}
    return known["resolve"]["root"], {one: packages[one] for one in needs}, needs


def rows():
    inside = {}
    for target, name in TARGETS.items():
        root, packages, _ = built_in(target)
        for one in packages:
            inside.setdefault(one, []).append(name)
    own = root
    found = []
    for package in metadata()["packages"]:
        if package["id"] == own:
            continue
        if not package["license"]:
            sys.exit(f"{package['name']} {package['version']} names no licence")
        where = "+".join(inside.get(package["id"], [])) or "-"
        found.append((package["name"], package["version"], expression(package), where))
    return sorted(found)


def listed():
    lines = ["# What hearken is built from and tested with: name, version, licence, in which packages it is (- is none).",
             "# Written by packaging/describe.py list."]
    return "\n".join(lines + ["\t".join(row) for row in rows()]) + "\n"


def texts(target):
    root, packages, _ = built_in(target)
    kept, silent = {}, []
    for one, package in sorted(packages.items(), key=lambda it: (it[1]["name"], it[1]["version"])):
        if one == root:
            continue
        name = f"{package['name']} {package['version']}"
        folder = Path(package["manifest_path"]).parent
        files = sorted(f for f in folder.iterdir() if f.is_file() and TEXT.match(f.name) and f.suffix not in (".rs", ".html"))
        if not files:
            silent.append(f"{name}: {expression(package)}")
        for file in files:
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            same = " ".join(text.split())
            kept.setdefault(same, (text, []))[1].append(f"{name} ({expression(package)}), {file.name}")
    say = ["hearken is built from the packages below, each under its own licence.", ""]
    say += ["Beside them are in the program:", ""] + [f"  {line}" for line in RUNTIMES[TARGETS[target]]] + [""]
    if silent:
        say += ["These bring no text of their licence along; the name of the licence is all they say:", ""]
        say += [f"  {line}" for line in silent] + [""]
    for text, users in kept.values():
        say += ["=" * 80] + [f"  {user}" for user in users] + ["=" * 80, "", text, ""]
    return "\n".join(say)


def lock():
    """Returns the checksum of each package from a registry."""
    sums, name, version = {}, None, None
    for line in (HOME / "Cargo.lock").read_text().splitlines():
        key, _, value = line.partition(" = ")
        value = value.strip('"')
        if key == "name":
            name = value
        elif key == "version":
            version = value
        elif key == "checksum":
            sums[name, version] = value
    return sums


def sbom(target):
    root, packages, needs = built_in(target)
    sums = lock()

    def purl(package):
        return f"pkg:cargo/{package['name']}@{package['version']}"

    def component(package, kind):
        found = {"type": kind, "bom-ref": purl(package), "name": package["name"], "version": package["version"],
                 "licenses": [{"expression": expression(package)}], "purl": purl(package)}
        checksum = sums.get((package["name"], package["version"]))
        if checksum:
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        return found

    made = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    digest = hashlib.sha256((HOME / "Cargo.lock").read_bytes() + target.encode()).hexdigest()
    libraries = sorted((p for one, p in packages.items() if one != root), key=purl)
    return json.dumps({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        # The same Cargo.lock gives the same document.
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": component(packages[root], "application"),
            "properties": [{"name": "hearken:target", "value": target}],
        },
        "components": [component(package, "library") for package in libraries],
        "dependencies": [{"ref": purl(packages[one]), "dependsOn": sorted(purl(packages[n]) for n in needs[one])}
                         for one in sorted(needs, key=lambda one: purl(packages[one]))],
    }, indent=1) + "\n"


def copyright(_):
    """Returns the copyright file in Debian's machine-readable format."""
    def block(text):
        return "\n".join(" " + line if line.strip() else " ." for line in text.strip().splitlines())
    mit = (HOME / "packaging" / "LICENSE-MIT").read_text()
    own = "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: hearken\n"
    return (own + "Comment: The texts for what is built into the program are in THIRD-PARTY.txt beside this file.\n\n"
            "Files: *\nCopyright: 2026 the authors of hearken\nLicense: MIT or Apache-2.0\n\n"
            f"License: MIT\n{block(mit)}\n\n"
            "License: Apache-2.0\n On Debian the text is in /usr/share/common-licenses/Apache-2.0.\n")


def main():
    what = sys.argv[1:]
    match what:
        case ["list"]:
            LIST.write_text(listed())
        case ["check"]:
            if LIST.read_text() != listed():
                sys.exit("packaging/licences.tsv is not true any more: packaging/describe.py list writes it again")
        case [command, target] if command in ("texts", "sbom", "copyright"):
            sys.stdout.write({"texts": texts, "sbom": sbom, "copyright": copyright}[command](target))
        case _:
            sys.exit(__doc__)


main()
