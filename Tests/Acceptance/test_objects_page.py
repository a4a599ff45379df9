"""The lines of docs/objects.md work: commands, the URL of an archive, and filters."""

import functools
import os
import re
from pathlib import Path

import pytest
from support import process
from support.commands import CommandLine
from support.parties import unique
from support.uploads import Upload, completed, content

TEXT = (Path(__file__).resolve().parents[2] / "docs/objects.md").read_text()
BLOCKS = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", TEXT)
COMMANDS = [text for language, text in BLOCKS if language == "sh"]
#: A device's id in the page.
EXAMPLE = "260427-000001"
FILTERS = next(text for language, text in BLOCKS if text.startswith("status:verified")).splitlines()


@pytest.mark.parametrize("commands", COMMANDS, ids=lambda text: " ".join(text.split()[:4]))
def test_each_block_of_commands_works(binary, gateway, admin, uploader, tmp_path, commands):
    run = unique("run")
    completed(uploader, content(100), {"run": "7", "kind": "test", "checked": "yes", "test": run})
    (found,) = admin.list_all(filter=f"test={run}")
    user = CommandLine(binary, gateway, tmp_path).login()
    Upload.of(uploader, uploader.create(file_name="metadata.yaml", relative_path="run7/metadata.yaml")).put(
        content(50)
    ).complete()
    values = {"FILE_ID": found.file_id, "127.0.0.1:50070": gateway.listeners["web"], EXAMPLE: found.device_id}
    lines = functools.reduce(lambda text, pair: text.replace(*pair), values.items(), commands)
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
