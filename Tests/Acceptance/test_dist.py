"""The set of files of a version, which `make dist` makes."""

import gzip
import hashlib
import json
import os
import re
import subprocess
import tarfile
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


def package(directory: Path, name: str, program: bytes, size: int) -> Path:
    """Makes a package with a program of that beginning and size."""
    (folder := directory / "root/usr/bin").mkdir(parents=True)
    (folder / "data-gateway").write_bytes(program)
    os.truncate(folder / "data-gateway", size)
    (control := directory / "root/DEBIAN/control").parent.mkdir()
    control.write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: a test\n")
    process.run("dpkg-deb", "-Znone", "--build", directory / "root", directory / "made.deb")
    return directory / "made.deb"


@pytest.mark.parametrize(("name", "limit"), [("data-gateway", 35), ("data-gateway-device", 23)])
def test_programs_have_at_most_their_size(tmp_path, name, limit):
    (small := tmp_path / "small").mkdir()
    (large := tmp_path / "large").mkdir()
    assert process.run(ROOT / "scripts/sizes", package(small, name, b"", limit * 1_000_000 - 1)).stdout == ""
    found = process.run(ROOT / "scripts/sizes", package(large, name, b"", limit * 1_000_000 + 100_000), code=1).stdout
    assert found == f"sizes: the program of {name} has {limit}.1 MB: the limit is {limit} MB\n"


def test_programs_contain_no_icu(tmp_path):
    made = package(tmp_path, "data-gateway", b"\0icudt76l-coll\0", 1000)
    found = process.run(ROOT / "scripts/sizes", made, code=1).stdout
    assert found == "sizes: the program of data-gateway contains ICU, see icudt76: nothing may link Foundation\n"


@pytest.fixture(scope="module")
def made(binary, tmp_path_factory) -> Path:
    """The set of the programs at hand."""
    output = tmp_path_factory.mktemp("dist")
    programs = ("--binary", binary, "--device-binary", binary.with_name("data-gateway-device"))
    process.run(ROOT / "scripts/dist", "--allow-changes", "--output", output, *programs, timeout=None)
    return output


def one(folder: Path, pattern: str) -> Path:
    """Returns the only file of the set whose name matches."""
    (file,) = folder.glob(pattern)
    return file


def test_set_has_the_documented_files(made):
    (version,) = re.findall(r"-([\d.]+)-oci-", " ".join(path.name for path in made.iterdir()))
    architecture = process.run("dpkg", "--print-architecture").stdout.strip()
    archives = [f"data-gateway{part}-{version}-linux-{architecture}" for part in ("", "-device")]
    archives.append(f"data-gateway-{version}-rootfs-{architecture}")
    expected = {f"{name}.{suffix}" for name in archives for suffix in ("tar.gz", "spdx.json")}
    expected |= {f"data-gateway{part}_{version}-1_{architecture}.deb" for part in ("", "-device")}
    expected.add(one(made, "data_gateway_device-*-none-any.whl").name)
    expected |= {f"data-gateway-{version}-oci-{architecture}.tar", "Dockerfile", "SHA256SUMS"}
    assert {path.name for path in made.iterdir()} == expected
    listed = {line.split("  ")[1] for line in (made / "SHA256SUMS").read_text().splitlines()}
    assert listed == expected - {"SHA256SUMS"}
    process.run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=made)


@pytest.mark.parametrize("name", ["data-gateway", "data-gateway-device"])
def test_tarball_runs_with_its_own_libraries(made, name, tmp_path):
    archive = one(made, f"{name}-[0-9]*-linux-*.tar.gz")
    process.run("tar", "-xzf", archive, "-C", tmp_path)
    folder = tmp_path / archive.name.removesuffix(".tar.gz")
    assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert "data-gateway" in process.run(folder / "bin/data-gateway", "version").stdout
    used = re.findall(r"=> (/\S+)", process.run("ldd", folder / "bin/data-gateway").stdout)
    others = {path.rsplit("/")[-1] for path in used if not Path(path).resolve().is_relative_to(folder.resolve())}
    system = r"lib(c|m|dl|rt|util|pthread|resolv|gcc_s|stdc\+\+)\.so\.\d+"
    assert not [library for library in others if not re.fullmatch(system, library)]
    assert (folder / "share/licenses/libcurl4/copyright").exists()
    assert (folder / "share/licenses/libpq5/copyright").exists() == (name == "data-gateway")
    assert (folder / "share/licenses/swift-runtime/LICENSE.txt").exists()


@pytest.mark.parametrize("pattern", ["data-gateway-[0-9]*-linux-*", "data-gateway-device-*", "*-rootfs-*"])
def test_sbom_has_the_required_fields(made, pattern):
    sbom = json.loads(one(made, f"{pattern}.spdx.json").read_text())
    required = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT"}
    assert required.items() <= sbom.items()
    assert sbom["documentNamespace"].startswith("urn:uuid:") and sbom["name"] and sbom["creationInfo"]["creators"]
    elements = [*sbom["packages"], *sbom["files"]]
    identifiers = [element["SPDXID"] for element in elements]
    assert len(set(identifiers)) == len(identifiers)
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", identifier) for identifier in identifiers)
    assert all(package["versionInfo"] and package["downloadLocation"] for package in sbom["packages"])
    assert {"libcurl4", "swift-runtime"} <= {package["name"] for package in sbom["packages"]}
    related = {relation["relatedSpdxElement"] for relation in sbom["relationships"]}
    assert related <= set(identifiers)
    checksums = {file["fileName"]: file["checksums"][1]["checksumValue"] for file in sbom["files"]}
    with tarfile.open(one(made, f"{pattern}.tar.gz")) as archive:
        contents = {re.sub(r"^[^/]*-linux-[^/]*/", "", entry.name): entry for entry in archive if entry.isfile()}
        # The document does not contain its own checksum.
        assert {f"./{name}" for name in contents if "share/sbom/" not in name} == set(checksums)
        program = contents["usr/bin/data-gateway" if "rootfs" in pattern else "bin/data-gateway"]
        digest = hashlib.sha256(archive.extractfile(program).read()).hexdigest()
    assert checksums[f"./{'usr/' if 'rootfs' in pattern else ''}bin/data-gateway"] == digest


def test_image_is_a_valid_layout(made):
    blobs = {}
    with tarfile.open(one(made, "*-oci-*.tar")) as archive:
        for entry in archive:
            assert entry.uid == entry.gid == 0 and not entry.uname
            if entry.isfile():
                blobs[entry.name] = archive.extractfile(entry).read()

    def blob(descriptor: dict) -> bytes:
        algorithm, digest = descriptor["digest"].split(":")
        data = blobs[f"blobs/{algorithm}/{digest}"]
        assert hashlib.sha256(data).hexdigest() == digest and len(data) == descriptor["size"]
        return data

    assert json.loads(blobs["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads(blobs["index.json"])["manifests"]
    manifest = json.loads(blob(entry))
    configuration = json.loads(blob(manifest["config"]))
    (layer,) = manifest["layers"]
    assert blob(layer) == one(made, "*-rootfs-*.tar.gz").read_bytes()
    unpacked = hashlib.sha256(gzip.decompress(blob(layer))).hexdigest()
    assert configuration["rootfs"]["diff_ids"] == [f"sha256:{unpacked}"]
    settings = configuration["config"]
    assert settings["User"] == "65532:65532" and "/var/lib/data-gateway" in settings["Volumes"]
    dockerfile = (made / "Dockerfile").read_text()
    exposed = re.search(r"(?m)^EXPOSE (.*)", dockerfile)[1].split()
    assert {f"{port}/tcp" for port in exposed} == settings["ExposedPorts"].keys()
    assert json.loads(re.search(r"(?m)^CMD (.*)", dockerfile)[1]) == settings["Cmd"]
    assert json.loads(re.search(r"(?m)^    CMD (.*)", dockerfile)[1]) == settings["Healthcheck"]["Test"][1:]


def test_configuration_of_the_image_is_valid(binary):
    process.run(binary, "config", "check", "--config", ROOT / "deploy/container/config")
