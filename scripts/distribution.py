"""Parts of scripts/tarball and scripts/oci-image: Debian's packages, licenses, the SBOM, and archives with fixed bytes."""

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMON_LICENSES = Path("/usr/share/common-licenses")
#: What every supported system has: glibc, libgcc and libstdc++.
OF_THE_SYSTEM = re.compile(r"(lib(c|m|dl|rt|util|pthread|resolv|gcc_s|stdc\+\+)|ld-linux-[\w-]+)\.so\.\d+")
EXCEPTION = "Apache-2.0 WITH Swift-exception"


def output_of(*command) -> str:
    """Returns the output of a program that must succeed."""
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def source_time() -> int:
    """Returns the time of the last commit, which is the time of every file in an archive."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or output_of("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def program_version() -> str:
    """Returns the version in the sources."""
    source = (ROOT / "Sources/Platform/Basics/ProgramVersion.swift").read_text()
    return re.search(r'static let current = "(.*)"', source)[1]


def architecture() -> str:
    """Returns Debian's name of this machine's architecture, which OCI images use as well."""
    return output_of("dpkg", "--print-architecture").strip()


@dataclass(frozen=True)
class Component:
    """Software that an archive contains: a Debian package, or the Swift runtime."""

    name: str
    version: str
    #: The file with the license, or the licenses.
    license_file: Path
    license: str = "NOASSERTION"
    #: The package URL.
    purl: str | None = None


def debian_package(name: str) -> Component:
    """Returns an installed package."""
    fields = output_of("dpkg-query", "-Wf", "${Package} ${Version} ${Architecture}", name).split()
    package, version, machine = fields
    purl = f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={machine}"
    return Component(package, version, Path(f"/usr/share/doc/{package}/copyright"), purl=purl)


def owner_of(file: Path) -> Component:
    """Returns the package that installed a file; files of the Swift toolchain belong to the Swift runtime."""
    real = file.resolve()
    found = subprocess.run(["dpkg-query", "-S", f"*/{real.name}"], capture_output=True, text=True).stdout
    for line in found.splitlines():
        packages, _, path = line.rpartition(": ")
        # Packages of Debian 12 name /lib, which is a link to /usr/lib.
        if Path(path).resolve() == real:
            return debian_package(packages.split(",")[0])
    if "/swift/" in str(real):
        return swift_runtime()
    raise SystemExit(f"distribution: {file} belongs to no Debian package")


def swift_runtime() -> Component:
    """Returns the Swift runtime, its standard library and Foundation, which programs contain."""
    version = re.search(r"Swift version ([\d.]+)", output_of("swift", "--version"))[1]
    toolchain = Path(shutil.which("swift")).resolve().parents[1]
    return Component("swift-runtime", version, toolchain / "share/swift/LICENSE.txt", EXCEPTION)


def write_licenses(components: list[Component], folder: Path) -> None:
    """Writes the license of this program, those of the components, and the texts that Debian's copyright files refer to."""
    (folder / "data-gateway").mkdir(parents=True)
    shutil.copyfile(ROOT / "LICENSE", folder / "data-gateway/LICENSE")
    common = set()
    for component in components:
        (own := folder / component.name).mkdir()
        shutil.copyfile(component.license_file, own / component.license_file.name)
        text = component.license_file.read_text(errors="replace")
        common |= {name.rstrip(".") for name in re.findall(rf"{COMMON_LICENSES}/([\w.-]*\w)", text)}
    for name in sorted(common):
        if (COMMON_LICENSES / name).is_file():
            (folder / "common").mkdir(exist_ok=True)
            shutil.copyfile(COMMON_LICENSES / name, folder / "common" / name)


def spdx_id(text: str) -> str:
    """Returns an identifier with the characters that SPDX allows."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", text)


def spdx_package(component: Component) -> dict:
    """Returns the entry of a component."""
    entry = {
        "SPDXID": spdx_id(f"Package-{component.name}"),
        "name": component.name,
        "versionInfo": component.version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": component.license,
        "licenseComments": f"The text is in {component.name}/{component.license_file.name} of the folder licenses.",
        "copyrightText": "NOASSERTION",
    }
    if component.purl:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": component.purl}
        ]
    return entry


def spdx_files(folder: Path) -> list[dict]:
    """Returns an entry with checksums for each file of a folder, links excepted."""
    entries = []
    for number, file in enumerate(
        sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    ):
        data = file.read_bytes()
        entries.append(
            {
                "SPDXID": f"SPDXRef-File-{number}",
                "fileName": f"./{file.relative_to(folder)}",
                "checksums": [
                    {"algorithm": "SHA1", "checksumValue": hashlib.sha1(data, usedforsecurity=False).hexdigest()},
                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()},
                ],
                "licenseConcluded": "NOASSERTION",
                "copyrightText": "NOASSERTION",
            }
        )
    return entries


def sbom(name: str, folder: Path, components: list[Component]) -> str:
    """Returns the SBOM of a folder as SPDX 2.3 in JSON."""
    files = spdx_files(folder)
    main = spdx_id(f"Package-{name}")
    # SPDX defines this code: the digest of the files' digests in ascending order.
    digests = "".join(sorted(file["checksums"][0]["checksumValue"] for file in files))
    code = hashlib.sha1(digests.encode(), usedforsecurity=False).hexdigest()
    package = {
        "SPDXID": main,
        "name": name,
        "versionInfo": program_version(),
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": code},
        "hasFiles": [file["SPDXID"] for file in files],
        "licenseConcluded": "NOASSERTION",
        "licenseInfoFromFiles": ["NOASSERTION"],
        "licenseDeclared": "MIT",
        "copyrightText": "2026 The data-gateway authors",
    }
    packages = [package, *map(spdx_package, components)]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", main)]
    relations += [(main, "CONTAINS", entry["SPDXID"]) for entry in packages[1:]]
    created = datetime.fromtimestamp(source_time(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": name,
            # The same content has the same name.
            "documentNamespace": uuid.uuid5(uuid.NAMESPACE_OID, f"{name} {code}").urn,
            "creationInfo": {
                "created": created,
                "creators": ["Organization: The data-gateway authors", "Tool: scripts-dist"],
            },
            "documentDescribes": [main],
            "packages": packages,
            "files": files,
            "relationships": [
                {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}
                for one, kind, other in relations
            ],
        },
        indent=1,
    )


def add_entry(archive: tarfile.TarFile, path: Path, name: str, owners: dict[str, int]) -> None:
    """Adds a file, folder or link with the time of the last commit, and without the names of this machine's users."""
    entry = archive.gettarinfo(path, name)
    entry.mtime = source_time()
    entry.uid = entry.gid = owners.get(name, 0)
    entry.uname = entry.gname = ""
    # Two names of one file are two files.
    if entry.islnk():
        entry.type, entry.linkname, entry.size = tarfile.REGTYPE, "", path.stat().st_size
    if entry.isreg():
        with path.open("rb") as stream:
            archive.addfile(entry, stream)
    else:
        archive.addfile(entry)


def tar(folder: Path, top: str, owners: dict[str, int] | None = None) -> bytes:
    """Returns a tar archive of a folder's content, sorted by name, below `top` if that is not empty."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        if top:
            add_entry(archive, folder, top, {})
        for path in sorted(folder.rglob("*")):
            name = str(path.relative_to(folder))
            add_entry(archive, path, f"{top}/{name}" if top else name, owners or {})
    return buffer.getvalue()


def compress(data: bytes) -> bytes:
    """Compresses without a name and time; quickly if DIST_QUICK is set, which is for tests."""
    return gzip.compress(data, 1 if os.environ.get("DIST_QUICK") else 9, mtime=0)
