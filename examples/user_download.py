#!/usr/bin/env python3
"""Lists objects as a user, and downloads them with the URLs that the gateway returns.

    examples/user_download.py 'raw_tags.weather=rain' --to downloads

The variable DATA_GATEWAY_PASSWORD contains the password; if it is not set, the program asks for the password.
"""

import argparse
import getpass
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import grpc
import stubs

TIMEOUT = 30


def objects(service, metadata, filter: str):
    """Returns every object that matches the filter, over all pages, newest first."""
    page_token = ""
    while True:
        page = service.ListObjects(
            stubs.gateway.ListObjectsRequest(filter=filter, page_token=page_token), metadata=metadata, timeout=TIMEOUT
        )
        yield from page.objects
        if not (page_token := page.next_page_token):
            return


def download(arguments) -> None:
    password = os.environ.get("DATA_GATEWAY_PASSWORD") or getpass.getpass(f"password of {arguments.user}: ")
    login = stubs.service("AuthService", arguments.auth).Login(
        stubs.auth.LoginRequest(organization=arguments.organization, user_name=arguments.user, password=password),
        timeout=TIMEOUT,
    )
    metadata = stubs.bearer(login.access_token)
    service = stubs.service("DataGatewayObjectService", arguments.gateway)
    has_found = False
    for found in objects(service, metadata, arguments.filter):
        has_found = True
        print(f"{found.file_id}  {found.name}  {found.size_bytes:,} bytes  ETag {found.etag}")
        if arguments.to is None:
            continue
        (location,) = service.RequestDownload(
            stubs.gateway.RequestDownloadRequest(file_ids=[found.file_id]), metadata=metadata, timeout=TIMEOUT
        ).files
        request = urllib.request.Request(location.read.uri, headers=dict(location.read.headers))
        # Other files may have the same name.
        folder = arguments.to / found.file_id
        folder.mkdir(parents=True, exist_ok=True)
        with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
            with open(folder / found.name, "wb") as file:
                shutil.copyfileobj(answer, file)
    if not has_found:
        print("no objects match the filter")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("filter", nargs="?", default="", help="the filter, for example 'weather=rain size>1MiB'")
    parser.add_argument(
        "--to",
        type=Path,
        metavar="FOLDER",
        help="download each object to FOLDER/FILE_ID, under its name; without this option, only list",
    )
    parser.add_argument("--user", default="admin")
    parser.add_argument("--organization", default="system")
    parser.add_argument("--auth", default="127.0.0.1:50051", metavar="HOST:PORT")
    parser.add_argument("--gateway", default="127.0.0.1:50053", metavar="HOST:PORT")
    try:
        download(parser.parse_args())
    except grpc.RpcError as error:
        print(f"the gateway refused: {stubs.explain(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
