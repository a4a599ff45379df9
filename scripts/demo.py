#!/usr/bin/env python3
"""`make demo`: the main job from end to end, on a gateway of its own that is gone when the demo ends.

An operator provisions a device on the command line; the device fetches its key, uploads a file in parts through the
store's real client, and says so; a user finds the file and downloads it; the bytes are compared.
"""

import argparse
import hashlib
import importlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import alibabacloud_oss_v2 as oss
import grpc
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[1]
LISTENERS = ("auth", "gateway", "admin", "device-init", "object-store", "ops")
PART_SIZE = 1024 * 1024
FILE_SIZE = 6 * 1024 * 1024 + 54321
#: The tag under which clients send the source file's name.
FILE_NAME_TAG = "a206e337ecdf70a93bb611cf6a30c346.raw_file"


def say(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n{text}", flush=True)


def detail(text: str) -> None:
    print(f"    {text}", flush=True)


class Demo:
    def __init__(self, binary: Path, directory: Path):
        self.binary = binary
        self.directory = directory
        self.password = secrets.token_urlsafe(16)
        self.server: subprocess.Popen | None = None
        self.listeners: dict[str, str] = {}

    # The server

    def start(self) -> None:
        say("Starting a gateway: embedded database, local object store, free ports, an empty data directory")
        # A small part size, so that a file of a few MiB goes in several parts; the default is 64 MiB.
        config = self.directory / "config.json5"
        config.write_text(json.dumps({"uploads": {"part_size_bytes": PART_SIZE}}))
        command = [self.binary, "serve", "--data-dir", self.directory / "data", "--config", config]
        for name in LISTENERS:
            command += [f"--{name}-listen", "127.0.0.1:0"]
        self.log = open(self.directory / "log", "wb")
        self.server = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=os.environ | {"DATA_GATEWAY_ADMIN_PASSWORD": self.password},
        )
        line = self.server.stdout.readline()
        if not line:
            raise RuntimeError("the gateway did not start:\n" + (self.directory / "log").read_text())
        self.listeners = json.loads(line)["listeners"]
        for name in LISTENERS:
            detail(f"{name:<14}{self.listeners[name]}")

    def stop(self) -> None:
        if self.server is None:
            return
        say("Stopping the gateway")
        self.server.send_signal(signal.SIGTERM)
        try:
            code = self.server.wait(30)
            detail(f"it drained and ended with exit code {code}")
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
            raise RuntimeError("the gateway did not end within 30 s of SIGTERM") from None

    # The operator

    def command(self, *arguments: str, input: str = "") -> str:
        detail("$ data-gateway " + " ".join(argument if " " not in argument else repr(argument) for argument in arguments))
        environment = os.environ | {
            "DATA_GATEWAY_ADMIN": self.listeners["admin"],
            "DATA_GATEWAY_AUTH": self.listeners["auth"],
            "DATA_GATEWAY_SESSION": str(self.directory / "session.json"),
        }
        done = subprocess.run(
            [str(self.binary), *arguments], input=input, capture_output=True, text=True, env=environment, timeout=30
        )
        if done.returncode != 0:
            raise RuntimeError(f"that failed with exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def provision(self) -> str:
        say("An operator signs in and registers a device")
        self.command("login", "--user", "admin", "--password-stdin", input=self.password + "\n")
        site = json.loads(self.command("site", "create", "Demo site", "--json"))
        suite = json.loads(
            self.command(
                "device", "suite", "create", "--site", str(site["site_id"]), "--display-name", "Demo suite", "--json"
            )
        )
        device = json.loads(
            self.command("device", "register", "--suite", suite["name"], "--display-name", "Demo robot", "--json")
        )
        detail(f"device {device['device_id']} is registered at site {site['site_id']}")
        return device["device_id"]

    # The device

    def stub(self, listener: str, module: str, service: str):
        channel = grpc.insecure_channel(self.listeners[listener])
        return getattr(importlib.import_module(module), f"{service}Stub")(channel)

    def upload(self, device_id: str, file: Path, run: str) -> None:
        auth, gateway = importlib.import_module("auth_pb2"), importlib.import_module("data_gateway_pb2")

        say("The device asks for its first key, exchanges it for a token, and opens an upload")
        init = self.stub("device-init", "data_gateway_pb2_grpc", "DeviceInitService").InitDevice(
            gateway.InitDeviceRequest(device_id=device_id, sdk_version="demo", platform=sys.platform), timeout=10
        )
        session = self.stub("auth", "auth_pb2_grpc", "AuthService").ExchangeCredential(
            auth.ExchangeCredentialRequest(credential=init.api_key), timeout=10
        )
        bearer = [("authorization", f"Bearer {session.access_token}")]
        uploads = self.stub("gateway", "data_gateway_pb2_grpc", "DataGatewayService")
        upload = uploads.CreateLogicalUpload(gateway.CreateLogicalUploadRequest(), metadata=bearer, timeout=10)
        issued = upload.credentials
        detail(f"upload {upload.logical_upload_id}, key {issued.object_key}, parts of {issued.part_size_bytes:,} bytes")

        data = file.read_bytes()
        say(f"It sends {file.name} ({len(data):,} bytes) in parts, through alibabacloud-oss-v2")
        client = oss.Client(
            oss.Config(
                region=issued.object_store_region,
                endpoint=issued.endpoint,
                credentials_provider=oss.credentials.StaticCredentialsProvider(
                    issued.sts_access_key_id, issued.sts_access_key_secret, issued.sts_security_token
                ),
            )
        )
        target = {"bucket": issued.bucket, "key": issued.object_key}
        multipart = client.initiate_multipart_upload(oss.InitiateMultipartUploadRequest(**target)).upload_id
        parts = []
        for number, start in enumerate(range(0, len(data), issued.part_size_bytes), start=1):
            piece = data[start : start + issued.part_size_bytes]
            reply = client.upload_part(
                oss.UploadPartRequest(**target, upload_id=multipart, part_number=number, body=piece)
            )
            parts.append(oss.UploadPart(part_number=number, etag=reply.etag))
            detail(f"part {number}: {len(piece):,} bytes, ETag {reply.etag}")
        whole = client.complete_multipart_upload(
            oss.CompleteMultipartUploadRequest(
                **target, upload_id=multipart, complete_multipart_upload=oss.CompleteMultipartUpload(parts=parts)
            )
        )
        uploads.CompleteUpload(
            gateway.CompleteUploadRequest(
                upload_id=upload.upload_id,
                file_size=len(data),
                raw_tags=dict(init.tags) | {FILE_NAME_TAG: file.name, "demo_run": run},
                completed_part_count=len(parts),
                oss_object_etag=whole.etag,
                part_size_bytes=issued.part_size_bytes,
            ),
            metadata=bearer,
            timeout=10,
        )
        detail(f"complete: ETag {whole.etag}")

    # The user

    def download(self, run: str) -> bytes:
        auth, gateway = importlib.import_module("auth_pb2"), importlib.import_module("data_gateway_pb2")
        say("A user signs in, finds the file by its tag, and downloads it with the URL that the gateway gives")
        login = self.stub("auth", "auth_pb2_grpc", "AuthService").Login(
            auth.LoginRequest(organization="system", user_name="admin", password=self.password), timeout=30
        )
        bearer = [("authorization", f"Bearer {login.access_token}")]
        objects = self.stub("gateway", "data_gateway_pb2_grpc", "DataGatewayObjectService")
        filter = f"status:verified raw_tags.demo_run={run}"
        (found,) = objects.ListObjects(
            gateway.ListObjectsRequest(filter=filter), metadata=bearer, timeout=10
        ).objects
        detail(f"ListObjects {filter}: {found.object_id}, {found.size_bytes:,} bytes")
        (location,) = objects.RequestDownload(
            gateway.RequestDownloadRequest(file_ids=[found.file_id]), metadata=bearer, timeout=10
        ).files
        request = urllib.request.Request(location.read.uri, headers=dict(location.read.headers))
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def run(self) -> None:
        generate_stubs(self.directory)
        self.start()
        file = self.directory / "drive-001.mcap"
        file.write_bytes(os.urandom(FILE_SIZE))
        run = secrets.token_hex(4)
        self.upload(self.provision(), file, run)
        received = self.download(run)
        if received != file.read_bytes():
            raise RuntimeError("what came back is not what was sent")
        detail(f"{len(received):,} bytes, SHA-256 {hashlib.sha256(received).hexdigest()}: equal to what was sent")


def generate_stubs(directory: Path) -> None:
    """Python stubs of the two services that the demo calls, as anybody makes them from protos/."""
    out = directory / "stubs"
    out.mkdir()
    protos = ROOT / "protos"
    files = [name for name in ("common.proto", "auth.proto", "data_gateway.proto")]
    well_known = Path(protoc.__file__).parent / "_proto"
    status = protoc.main(
        ["protoc", f"-I{well_known}", f"-I{protos}", f"--python_out={out}", f"--grpc_python_out={out}", *files]
    )
    if status != 0:
        raise RuntimeError("the stubs could not be made from protos/")
    sys.path.insert(0, str(out))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=Path, default=ROOT / ".build/debug/data-gateway")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="data-gateway-demo-") as directory:
        demo = Demo(arguments.binary.resolve(), Path(directory))
        try:
            demo.run()
        except (RuntimeError, grpc.RpcError, oss.exceptions.BaseError) as error:
            print(f"\nThe demo failed: {error}", file=sys.stderr)
            return 1
        finally:
            demo.stop()
    say("Done: provisioned, uploaded, listed, downloaded, and every byte compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
