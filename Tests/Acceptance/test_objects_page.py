"""The lines of docs/objects.md work: commands, the URL of an archive, and filters."""

import os
import re
from pathlib import Path

import pytest
from support import process
from support.commands import CommandLine
from support.parties import unique
from support.uploads import completed, content

TEXT = (Path(__file__).resolve().parents[2] / "docs/objects.md").read_text()
BLOCKS = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", TEXT)
COMMANDS = [text for language, text in BLOCKS if language == "sh"]
FILTERS = next(text for language, text in BLOCKS if text.startswith("status:verified")).splitlines()


@pytest.mark.parametrize("commands", COMMANDS, ids=lambda text: " ".join(text.split()[:4]))
def test_each_block_of_commands_works(binary, gateway, admin, uploader, tmp_path, commands):
    run = unique("run")
    completed(uploader, content(100), {"run": "7", "kind": "test", "checked": "yes", "test": run})
    (found,) = admin.list_all(filter=f"test={run}")
    user = CommandLine(binary, gateway, tmp_path).login()
    lines = commands.replace("FILE_ID", found.file_id).replace("127.0.0.1:50070", gateway.listeners["web"])
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/data-gateway").symlink_to(Path(binary).resolve())
    environment = user.environment | {
        "PATH": f"{tmp_path}/bin:{os.environ['PATH']}",
        "TOKEN": admin.token,
        "DATA_GATEWAY_GATEWAY": gateway.listeners["gateway"],
    }
    command = ["bash", "-euxc", lines]
    process.run(*command, cwd=tmp_path, env=environment)


@pytest.mark.parametrize("filter", FILTERS)
def test_each_filter_is_accepted(admin, filter):
    admin.objects("ListObjects", filter=filter)


def test_page_has_lines():
    assert len(COMMANDS) >= 5 and len(FILTERS) >= 4
