"""S3 clients with the credentials of CreateLogicalUpload, or with a static key: boto3 and awscli with their default checksums."""

import os
import subprocess
import sys
from pathlib import Path

import boto3
import botocore.auth
import botocore.config
import botocore.credentials
import pytest
from botocore.awsrequest import AWSRequest
from botocore.exceptions import ClientError

from .oss import Credentials
from .raw import Response, fetch_url

#: S3 clients require a region; the store takes it from the signature.
REGION = "us-east-1"


def client(credentials: Credentials, authority: Path | None = None, **config):
    """Makes a boto3 client; `authority` signs the certificate of an https endpoint.

    The signature version is set for presigned URLs: for some regions boto3 still makes them with version 2.
    """
    return boto3.client(
        "s3",
        endpoint_url=credentials.endpoint,
        region_name=credentials.region or REGION,
        aws_access_key_id=credentials.access_key_id,
        aws_secret_access_key=credentials.secret,
        aws_session_token=credentials.token,
        verify=str(authority) if authority else None,
        config=botocore.config.Config(**({"signature_version": "s3v4", "retries": {"total_max_attempts": 1}} | config)),
    )


def send(
    credentials: Credentials,
    method: str,
    target: str,
    body: bytes = b"",
    headers: dict[str, str] | None = None,
    lifetime: int | None = None,
) -> Response:
    """Sends a request that boto3 would not make, signed by botocore: in the header or, with a lifetime in seconds, in the URL.

    `target` is the path with the query, percent-encoded.
    """
    request = AWSRequest(method, credentials.endpoint + target, dict(headers or {}), body)
    keys = botocore.credentials.Credentials(credentials.access_key_id, credentials.secret, credentials.token)
    if lifetime is None:
        botocore.auth.S3SigV4Auth(keys, "s3", REGION).add_auth(request)
    else:
        botocore.auth.S3SigV4QueryAuth(keys, "s3", REGION, expires=lifetime).add_auth(request)
    return fetch_url(request.url, method, body, headers=dict(request.headers.items()))


def aws(credentials: Credentials, directory: Path, *arguments, authority: Path | None = None):
    """Runs `aws …` with the issued part size, and returns the finished process."""
    config = directory / "aws-config"
    size = credentials.part_size
    config.write_text(f"[default]\ns3 =\n  multipart_chunksize = {size}\n  multipart_threshold = {size}\n")
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(directory),
        "AWS_CONFIG_FILE": str(config),
        "AWS_ACCESS_KEY_ID": credentials.access_key_id,
        "AWS_SECRET_ACCESS_KEY": credentials.secret,
        "AWS_REGION": credentials.region or REGION,
        "AWS_DEFAULT_REGION": credentials.region or REGION,
        "AWS_ENDPOINT_URL": credentials.endpoint,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_MAX_ATTEMPTS": "1",
    }
    if credentials.token:
        environment["AWS_SESSION_TOKEN"] = credentials.token
    if authority:
        environment["AWS_CA_BUNDLE"] = str(authority)
    command = [sys.executable, "-m", "awscli", *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def refused(step, *arguments, **named) -> tuple[int, str]:
    """Returns the status and the code of the refusal."""
    with pytest.raises(ClientError) as refusal:
        step(*arguments, **named)
    response = refusal.value.response
    return response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]


def refused_with(status: int, code: str, step, *arguments, **named) -> str:
    """Returns the message of the refusal."""
    with pytest.raises(ClientError) as refusal:
        step(*arguments, **named)
    response = refusal.value.response
    assert (response["ResponseMetadata"]["HTTPStatusCode"], response["Error"]["Code"]) == (status, code), str(
        refusal.value
    )
    return response["Error"]["Message"]
