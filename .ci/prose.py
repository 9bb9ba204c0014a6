#!/usr/bin/env python3
"""Finds words and patterns that this project replaced, in the pages that people read and in the documentation comments of some crates.

A page that is not in `.ci/prose.tsv` must have no finding. A page or folder in that list may have as many as it says, and no more: the list
is of text that is not cleaned yet. `LANECAST_BLESS=1` lowers the numbers to what is found; nothing raises them.

Usage: prose.py [FILE...]; with files, it prints their findings whatever the list says.
"""

import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIST = ROOT / ".ci/prose.tsv"
# Pages that programs write.
GENERATED = {"docs/performance.md", "docs/routes.md"}
# The folders whose documentation comments are read.
SOURCES = ["src", "kernels", "files", "checkpoint/src", "capi", "cli/src", "python/src"]
# A sentence with more words than this one can hold two.
LONGEST = 45

# What is replaced, and by what. The replacement is advice: often the whole sentence has to be written again.
WORDS = {
    r"\bsuspects?\b": "may_lose",
    r"\bfiner features\b": "CPU features",
    r"\b(?:past|beyond|behind) the caches\b": "non-temporal stores; larger than the last-level cache",
    r"\basks? for\b": "prefetches; requests",
    r"\basks\b|\basked\b": "checks, requires",
    r"\bhears\b|\btells\b": "the operation's own verb: detects, says",
    r"\bstands\b(?! for)": "is",
    r"\bof which\b": "repeat the noun",
    r"\bthat of (?:the|those|these|a|an)\b|\bthose of\b": "repeat the noun",
    r"\bso many\b": "the number and its unit",
    r"\banew\b": "regenerates, again",
    r"\bnobody\b": "rewrite the sentence",
    r"\bsees? to (?:this|it|that)\b": "Preconditions:",
    r"\bthe (?:former|latter)\b": "repeat the noun",
    r"\bbut for\b": "except for",
}
PATTERNS = [(re.compile(pattern, re.IGNORECASE), advice) for pattern, advice in WORDS.items()]



def pages():
    """The pages in which people read, and their text without code."""
    for path in sorted([*ROOT.glob("*.md"), *ROOT.glob(".github/**/*.md"), *ROOT.glob("docs/**/*.md")]):
        name = path.relative_to(ROOT).as_posix()
        if name not in GENERATED:
            yield name, prose(path.read_text())


def prose(text):
    """Lines of Markdown without blocks of code and code spans; their numbers stay."""
    lines, code = [], False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        code ^= fence
        lines.append("" if code or fence else re.sub(r"`[^`]*`", "`", line))
    return lines


def comments(path):
    """The documentation comments of a Rust file, line by line."""
    kept = [re.match(r"\s*//[/!] ?(.*)", line) for line in path.read_text().splitlines()]
    return prose("\n".join(match[1] if match else "" for match in kept))


def sentences(lines):
    """The sentences of paragraphs and items, with the number of their first line. Tables and headings have none."""
    paragraph, start = [], 0
    for number, line in enumerate([*lines, ""], 1):
        ends = not line.strip() or line.lstrip().startswith(("|", "#", "<!--"))
        if paragraph and (ends or re.match(r"\s*(?:[*-]|\d+\.) ", line)):
            for sentence in re.split(r"(?<=[.:;?!])\s", " ".join(paragraph)):
                yield start, sentence
            paragraph = []
        if not ends:
            start = start if paragraph else number
            paragraph.append(line.strip())


def findings(lines):
    for number, line in enumerate(lines, 1):
        for pattern, advice in PATTERNS:
            for match in pattern.finditer(line):
                yield number, f"{match[0]!r}: {advice}"
    for number, sentence in sentences(lines):
        if len(sentence.split()) > LONGEST:
            yield number, f"a sentence of {len(sentence.split())} words: split it"


def recorded():
    rows = [line.split("\t") for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(count) for name, count in rows}


def main():
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            path = pathlib.Path(name)
            for number, what in findings(comments(path) if path.suffix == ".rs" else prose(path.read_text())):
                print(f"{name}:{number}: {what}")
        return 0
    found = {}
    for name, lines in pages():
        found.setdefault(name, []).extend(f"{name}:{number}: {what}" for number, what in findings(lines))
    for folder in SOURCES:
        for path in sorted((ROOT / folder).glob("**/*.rs")):
            name = path.relative_to(ROOT).as_posix()
            found.setdefault(folder, []).extend(f"{name}:{number}: {what}" for number, what in findings(comments(path)))
    limits, failed = recorded(), False
    for name, faults in found.items():
        if len(faults) > limits.get(name, 0):
            failed = True
            print("\n".join(faults))
            print(f"{name}: {len(faults)} findings, {limits.get(name, 0)} allowed")
    if not failed and os.environ.get("LANECAST_BLESS"):
        head = [line for line in LIST.read_text().splitlines() if line.startswith("#")]
        rows = [f"{name}\t{len(found.get(name, []))}" for name in limits if found.get(name)]
        LIST.write_text("\n".join(head + rows) + "\n")
    print(f"prose: {len(found)} places, {sum(map(len, found.values()))} findings in text that is not cleaned yet")
    return failed


if __name__ == "__main__":
    sys.exit(main())
