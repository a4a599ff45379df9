"""The set of files of a version, which `make dist` makes."""

import subprocess
from pathlib import Path

import pytest
from support import process

ROOT = Path(__file__).resolve().parents[2]


def compiled(directory: Path, source: str, *options: str) -> Path:
    """Compiles a C program."""
    (directory / "program.c").write_text(source)
    process.run("cc", "-fno-builtin", "-o", directory / "program", directory / "program.c", *options)
    return directory / "program"


def test_symbols_of_a_newer_glibc_are_reported(tmp_path):
    program = compiled(tmp_path, "#include <math.h>\nint main(int n, char **v) { return (int)hypot(n, n); }\n", "-lm")
    found = process.run(ROOT / "scripts/symbols", program, code=1).stdout
    assert found == f"{program}: asks for GLIBC_2.35: hypot\n"


def test_older_symbols_replace_the_newer_ones(tmp_path):
    source = '#include <math.h>\n#include <stdio.h>\nint main(void) { printf("%g %g", hypot(3, 4), hypotf(6, 8)); }\n'
    wraps = ("-Wl,--wrap=hypot", "-Wl,--wrap=hypotf")
    program = compiled(tmp_path, source, ROOT / "deploy/portable/older-symbols.c", *wraps, "-lm")
    assert process.run(ROOT / "scripts/symbols", program).stdout == ""
    assert process.run(program).stdout == "5 10"


@pytest.mark.parametrize("is_present", [True, False])
def test_folder_needs_its_libraries(tmp_path, is_present):
    (folder := tmp_path / "folder").mkdir()
    process.run("cc", "-shared", "-o", folder / "libown.so", "-x", "c", "/dev/null")
    compiled(folder, "int main(void) { return 0; }\n", "-Wl,--no-as-needed", f"-L{folder}", "-lown")
    (folder / "program.c").unlink()
    if not is_present:
        (folder / "libown.so").unlink()
    done = subprocess.run([ROOT / "scripts/symbols", folder], capture_output=True, text=True)
    assert (done.returncode == 0) == is_present, done.stdout
    assert ("libown.so, which is not here" in done.stdout) != is_present
