#!/usr/bin/env python3
"""Prepares the source of the book, and checks the links of the built book.

Usage: book.py prepare FOLDER   copies `docs/` there and adds the references of C and Python; links that leave the book go to the
                                repository in the copy
       book.py check FOLDER     every link between the pages there leads to a page and an anchor
"""

import os
import pathlib
import re
import shutil
import sys

from references import PAGES

ROOT = pathlib.Path(__file__).resolve().parents[1]
REPOSITORY = re.search(r'^repository = "(.*)"', (ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]


def outside(page, link):
    """The link, or if it leaves `docs/`, the address of its target in the repository."""
    path, hash, anchor = link.partition("#")
    if not path or "://" in path:
        return link
    target = os.path.normpath(page.parent / path)
    for rendered, (_, _, source) in PAGES.items():
        if target == source:
            return os.path.relpath(f"docs/{rendered}", page.parent) + hash + anchor
    if target.startswith("docs" + os.sep):
        return link
    kind = "tree" if (ROOT / target).is_dir() else "blob"
    return f"{REPOSITORY}/{kind}/main/{target}{hash}{anchor}"


def prepare(folder):
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for path in folder.rglob("*.md"):
        page = pathlib.Path("docs") / path.relative_to(folder)
        text = path.read_text()
        path.write_text(re.sub(r"\]\(([^)\s]+)\)", lambda match: f"]({outside(page, match[1])})", text))
    # The rendered references are the first ones.
    listed = "".join(f"- [{title}]({name})\n" for name, (title, _, _) in PAGES.items())
    summary = folder / "SUMMARY.md"
    summary.write_text(summary.read_text().replace("# Reference\n\n", f"# Reference\n\n{listed}", 1))
    for name, (_, render, _) in PAGES.items():
        (folder / name).write_text(render(ROOT))


def check(folder):
    texts = {path: path.read_text() for path in folder.rglob("*.html") if path.name not in ("404.html", "print.html", "toc.html")}
    anchors = {path: set(re.findall(r'id="([^"]+)"', text)) for path, text in texts.items()}
    count, wrong = 0, []
    for page, text in texts.items():
        for link in re.findall(r'href="([^":]+)"', text):
            path, _, anchor = link.partition("#")
            target = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
            count += 1
            if not target.exists() or (anchor and anchor not in anchors.get(target, [anchor])):
                wrong.append(f"{page.relative_to(folder)}: {link} leads nowhere")
    print("\n".join([*wrong, f"the book has {len(texts)} pages with {count} links"]))
    return bool(wrong) or count < 500


def main():
    what, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    return {"prepare": prepare, "check": check}[what](folder)


if __name__ == "__main__":
    sys.exit(main())
