"""The documents: their links are valid, and their lists are complete."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def anchors(path: Path) -> set[str]:
    """Returns the anchors of a document's headings, in GitHub's form."""
    titles = re.findall(r"(?m)^#+ (.*)$", path.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document):
    for link in re.findall(r"\]\(([^)\s]+)\)", document.read_text()):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


#: A file or a folder that a document names by its path from the root.
NAMED_PATH = re.compile(
    r"`((?:Sources|Tests|Fuzz|Conformance|Benchmarks|protos|scripts|docs|deploy|examples|CHANGELOG\.md)(?:/[\w.+/-]+)?)`"
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_named_files_exist_in_the_repository(document):
    named = [path for path in NAMED_PATH.findall(document.read_text()) if "NAME" not in path]
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_questions_of_contributors_name_at_most_three_files():
    """Each row of "Where to look" links to an explanation, and names the few files to open."""
    text = (ROOT / "docs/contributing.md").read_text()
    section = text.split("\n## Where to look\n")[1].split("\n## ")[0]
    _, _, *rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
    assert len(rows) >= 10
    for question, described, files in rows:
        assert question.strip().endswith("?") and "](" in described, question
        assert len(NAMED_PATH.findall(files)) <= 3, question


def test_generated_files_of_gitattributes_exist():
    patterns = [line.split()[0] for line in (ROOT / ".gitattributes").read_text().splitlines() if "generated" in line]
    assert len(patterns) >= 5
    assert [
        pattern
        for pattern in patterns
        if not any((ROOT / "Sources").glob("**/" + pattern.removeprefix("Sources/"))) and not any(ROOT.glob(pattern))
    ] == []


def test_every_document_is_in_the_index():
    index = (ROOT / "docs/README.md").read_text()
    for path in (ROOT / "docs").glob("*.md"):
        assert path.name == "README.md" or f"]({path.name})" in index, path.name


def test_every_decision_is_in_its_index():
    index = (ROOT / "docs/decisions/README.md").read_text()
    titles = dict(re.findall(r"\((\d{4}-[\w-]+\.md)\) \| (.*) \|", index))
    for path in (ROOT / "docs/decisions").glob("0*.md"):
        assert path.read_text().startswith(f"# {path.name[:4]}: {titles[path.name]}\n"), path.name


def test_every_detail_code_is_explained():
    source = ROOT / "Sources/API/GatewayFormats/DetailCode+Gateway.swift"
    codes = re.findall(r'DetailCode\(\s*"([A-Z_]+)"', source.read_text())
    text = (ROOT / "docs/troubleshooting.md").read_text()
    assert len(codes) > 15
    assert [code for code in codes if f"`{code}`" not in text] == []


def threads_of_the_sources() -> set[str]:
    """Returns the names of workers, threads and queues, with `…` for interpolated parts."""
    names = set()
    for path in (ROOT / "Sources").rglob("*.swift"):
        text = path.read_text()
        labels = re.findall(
            r"(?:Worker\.(?:serial|pool|thread)\(|DispatchQueue\(\s*label: |(?:EventLoop|ReadingThreads)\(name: )"
            r'"((?:\\\(.*?\)|[^"])+)"',
            text,
        )
        names.update(re.sub(r"\\\(.*?\)", "…", label) for label in labels)
        names.update(re.findall(r'BackgroundReads\(of: [\w.]+, for: "(\w+)"', text))
    return names


def test_every_thread_is_in_the_table():
    section = (ROOT / "docs/architecture.md").read_text().split("\n## Threads\n")[1].split("\n## ")[0]
    threads = threads_of_the_sources()
    assert len(threads) > 25
    assert sorted(name for name in threads if f"`{name}`" not in section) == []


def test_only_workers_start_threads():
    """A thread or a piece of work outside a worker would have no name for the table."""
    start = re.compile(
        r"\bThread(?:\.detachNewThread|\(block:)? ?[{(]|\.async[ (]?[{(]|DispatchQueue\.global\(\)\.|pthread_create"
    )
    starters = {path.name for path in (ROOT / "Sources").rglob("*.swift") if start.search(path.read_text())}
    # Each body has a queue of its own for checksums, and shares those for MD5 and for writes, without a worker's continuation.
    assert starters == {"Worker.swift", "NewThread.swift", "BlockFlow.swift", "MD5Stage.swift"}


def test_programs_end_without_the_cleanup_of_libraries():
    """Threads that still run would use what exit(3), or a return from main, frees."""
    ends = [path.name for path in (ROOT / "Sources").rglob("*.swift") if re.search(r"(?<!\w)exit\(", path.read_text())]
    mains = [path for path in (ROOT / "Sources").rglob("main.swift") if "protoc" not in str(path)]
    assert ends == [] and mains
    assert [path for path in mains if not path.read_text().endswith(".endProcess()\n")] == []


def test_contributing_names_existing_make_targets():
    """contributing.md only names existing targets."""
    targets = set(re.findall(r"(?m)^([a-z-]+):.*##", (ROOT / "Makefile").read_text()))
    assert set(re.findall(r"`(?:sudo )?make ([a-z-]+)", (ROOT / "docs/contributing.md").read_text())) <= targets


def test_every_share_has_a_test():
    """The table of shares in the threat model is complete in each row, and its tests exist."""
    text = (ROOT / "docs/threat-model.md").read_text()
    section = text.split("## What organizations and addresses share")[1].split("\n## ")[0]
    header, _, *rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("|")
    ]
    assert header == ["shared thing", "limit", "share of an organization", "share of an address", "tested in"]
    files = {path.name for path in (ROOT / "Tests").rglob("*Tests.swift")}
    files |= {path.name for path in (ROOT / "Tests/Acceptance").glob("test_*.py")}
    assert len(rows) > 20
    for thing, *shares, tests in rows:
        assert len(shares) == 3 and any(shares), thing
        named = re.findall(r"`([^`]+)`", tests)
        assert named and set(named) <= files, thing
