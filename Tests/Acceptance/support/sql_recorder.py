"""The library that records the SQL of the gateways under test (sql/recorder.c), if the run has `--sql-texts` or
`--sql-history`.
"""

import functools
import os
import subprocess
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "sql/recorder.c"
#: The folders, by the name of the variable that tells them to the library.
FOLDERS: dict[str, str] = {}
_libraries = tempfile.TemporaryDirectory()


def record(texts: Path | None, history: Path | None) -> None:
    """Makes the gateways that this process starts record texts, or whole histories, in a folder."""
    for name, folder in (("SQL_TEXTS", texts), ("SQL_HISTORY", history)):
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            FOLDERS[name] = str(folder.resolve())


@functools.cache
def _library() -> str:
    library = Path(_libraries.name) / "recorder.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, "-o", library, SOURCE, "-ldl", "-lpthread"], check=True)
    return str(library)


def environment(others: dict[str, str]) -> dict[str, str]:
    """Returns the variables of a process that records, besides those in `others`, whose libraries it keeps."""
    if not FOLDERS:
        return {}
    preloaded = others.get("LD_PRELOAD", os.environ.get("LD_PRELOAD"))
    return FOLDERS | {"LD_PRELOAD": f"{preloaded}:{_library()}" if preloaded else _library()}


def note_change(database: Path) -> None:
    """Adds to the history that a test changes the database itself."""
    if folder := FOLDERS.get("SQL_HISTORY"):
        now = time.time_ns()
        Path(folder, f"{now // 10**9}.{now % 10**9:09}.changed").write_text(str(database.resolve()))
