"""A document whose ```console blocks are one story: their commands run in one shell, and print what the document shows."""

import re
import subprocess
from pathlib import Path

#: What differs between two runs, and what replaces it in comparisons.
VARIABLE = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?", "TIME"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "ID"),
    (r"\b[0-9a-f]{16,}\b", "ID"),
    (r"\d+:\d\d\b", "DURATION"),
    (r"[\d.]+ [KMG]?i?B/s", "RATE"),
    (r" {2,}", "  "),
]
BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.M | re.S)


def masked(text: str) -> str:
    for pattern, replacement in VARIABLE:
        text = re.sub(pattern, replacement, text)
    return text


class Shell:
    """One bash; `wrapper` is the command that starts it, for example in a namespace."""

    _END = "\x1e"

    def __init__(self, wrapper: list[str], environment: dict[str, str]):
        self.process = subprocess.Popen(
            [*wrapper, "bash", "--noprofile", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            text=True,
        )

    def run(self, command: str) -> str:
        """Returns what the command prints on both outputs."""
        # A command must not read the following ones.
        self.process.stdin.write(f"{{ {command}\n}} < /dev/null\nprintf '{self._END}\\n'\n")
        self.process.stdin.flush()
        output = ""
        while not output.endswith(self._END + "\n"):
            line = self.process.stdout.readline()
            assert line, f"the shell ended in {command}\n{output}"
            output += line
        return output.removesuffix(self._END + "\n")

    def close(self) -> None:
        """Ends the shell, and what it started."""
        self.run("kill $(jobs -p) 2>&-; wait")
        self.process.stdin.close()
        self.process.wait()


def steps(block: str):
    """Yields each command of a block, and its lines as they are shown; a command's further lines begin with `> `."""
    for shown in re.findall(r"^\$ .*\n(?:> .*\n)*", block, re.M):
        yield "\n".join(line[2:] for line in shown.splitlines()), shown


def replay(page: Path, shell: Shell) -> str:
    """Runs the page's commands, and returns the page with what they print."""

    def printed(block: re.Match) -> str:
        return "".join(shown + shell.run(command) for command, shown in steps(block[0]))

    return BLOCK.sub(printed, page.read_text())
