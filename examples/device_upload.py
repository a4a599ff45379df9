#!/usr/bin/env python3
"""Uploads a file as a device: fetches the device's key once, and sends the file in parts with an OSS client.

    examples/device_upload.py 261121-000001 drive.mcap --tag weather=rain

The file devices/ID/archebase-config.json keeps the key, in the form that the SDKs use.
"""

import argparse
import json
import os
import sys
from pathlib import Path

import alibabacloud_oss_v2 as oss
import grpc
import stubs

#: The tag under which clients send the source file's name.
FILE_NAME_TAG = "a206e337ecdf70a93bb611cf6a30c346.raw_file"
TIMEOUT = 20


def key_and_tags(arguments) -> tuple[str, dict[str, str]]:
    """The device's API key and tags: from the file of an earlier run, else from InitDevice (or ReinitDevice)."""
    path = config_path(arguments.device_id)
    if path.exists() and not arguments.reinit:
        config = json.loads(path.read_text())
        return config["api_key"], config["tags"]
    service = stubs.service("DeviceInitService", arguments.device_init)
    fields = {"device_id": arguments.device_id, "sdk_version": "example/1", "platform": sys.platform}
    if arguments.reinit:
        reply = service.ReinitDevice(stubs.gateway.ReinitDeviceRequest(**fields), timeout=TIMEOUT)
    else:
        reply = service.InitDevice(stubs.gateway.InitDeviceRequest(**fields), timeout=TIMEOUT)
    config = {"api_key": reply.api_key, "tags": dict(reply.tags)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(config, file)
    return config["api_key"], config["tags"]


def config_path(device_id: str) -> Path:
    return Path("devices") / device_id / "archebase-config.json"


def tag(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    return name, value


def send(issued, data: bytes) -> tuple[int, str]:
    """Sends the bytes to the object store with the issued credentials; returns the number of parts and the ETag."""
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
    size = issued.part_size_bytes
    if len(data) <= size:
        return 0, client.put_object(oss.PutObjectRequest(**target, body=data)).etag
    multipart = client.initiate_multipart_upload(oss.InitiateMultipartUploadRequest(**target)).upload_id
    parts = []
    for number, start in enumerate(range(0, len(data), size), start=1):
        piece = data[start : start + size]
        reply = client.upload_part(oss.UploadPartRequest(**target, upload_id=multipart, part_number=number, body=piece))
        parts.append(oss.UploadPart(part_number=number, etag=reply.etag))
        print(f"part {number}: {len(piece):,} bytes, ETag {reply.etag}", flush=True)
    whole = client.complete_multipart_upload(
        oss.CompleteMultipartUploadRequest(
            **target, upload_id=multipart, complete_multipart_upload=oss.CompleteMultipartUpload(parts=parts)
        )
    )
    return len(parts), whole.etag


def upload(arguments) -> None:
    data = arguments.file.read_bytes()
    key, tags = key_and_tags(arguments)
    session = stubs.service("AuthService", arguments.auth).ExchangeCredential(
        stubs.auth.ExchangeCredentialRequest(credential=key), timeout=TIMEOUT
    )
    metadata = stubs.bearer(session.access_token)
    uploads = stubs.service("DataGatewayService", arguments.gateway)
    created = uploads.CreateLogicalUpload(
        stubs.gateway.CreateLogicalUploadRequest(), metadata=metadata, timeout=TIMEOUT
    )
    issued = created.credentials
    print(f"upload {created.logical_upload_id}: key {issued.object_key}, parts of {issued.part_size_bytes:,} bytes")
    parts, etag = send(issued, data)
    uploads.CompleteUpload(
        stubs.gateway.CompleteUploadRequest(
            upload_id=created.upload_id,
            file_size=len(data),
            raw_tags=tags | dict(arguments.tag) | {FILE_NAME_TAG: arguments.file.name},
            completed_part_count=parts,
            oss_object_etag=etag,
            part_size_bytes=issued.part_size_bytes,
        ),
        metadata=metadata,
        timeout=TIMEOUT,
    )
    print(f"complete: {len(data):,} bytes, ETag {etag}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("device_id", help="the id that `data-gateway device register` printed")
    parser.add_argument("file", type=Path)
    parser.add_argument("--tag", type=tag, action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument(
        "--reinit", action="store_true", help="replace the device's key, because the earlier key was lost"
    )
    parser.add_argument("--device-init", default="127.0.0.1:50057", metavar="HOST:PORT")
    parser.add_argument("--auth", default="127.0.0.1:50051", metavar="HOST:PORT")
    parser.add_argument("--gateway", default="127.0.0.1:50053", metavar="HOST:PORT")
    arguments = parser.parse_args()
    try:
        upload(arguments)
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    except grpc.RpcError as error:
        print(f"the gateway refused: {stubs.explain(error)}", file=sys.stderr)
        if error.code() is grpc.StatusCode.UNAUTHENTICATED:
            path = config_path(arguments.device_id)
            print(f"this gateway does not accept the key in {path}; --reinit replaces the key", file=sys.stderr)
        return 1
    except oss.exceptions.BaseError as error:
        print(f"the object store refused: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
