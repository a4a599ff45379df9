"""A plugin of pytest for a public suite of S3: its tests get buckets of the configuration instead of creating them.

A test that creates a bucket gets a configured one, which was never used before in the run, and one that deletes it may do so
if it is empty. `SUITE_RESULTS` names a file that gets a line for each test: its outcome and its name.
"""

import os

import botocore.client
from botocore.exceptions import ClientError

#: The names of the configured buckets begin with this, and end with a number from 1.
PREFIX = "suite-"
#: The parameters of a CreateBucket for which a configured bucket is as good.
PLAIN = {"Bucket", "CreateBucketConfiguration"}

created: set[str] = set()
original = botocore.client.BaseClient._make_api_call


def call(client, operation: str, params: dict):
    name = params.get("Bucket")
    match operation:
        case "CreateBucket" if params.keys() <= PLAIN and name not in created:
            try:
                return original(client, operation, params)
            except ClientError as error:
                if error.response["Error"]["Code"] != "BucketAlreadyOwnedByYou":
                    raise
                created.add(name)
                return {"Location": f"/{name}", "ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}}}
        case "DeleteBucket" if name in created:
            if original(client, "ListObjects", {"Bucket": name, "MaxKeys": 1}).get("Contents"):
                refuse(operation, "BucketNotEmpty", 409)
            created.discard(name)
            return {"ResponseMetadata": {"HTTPStatusCode": 204, "HTTPHeaders": {}}}
        case "DeleteObjects" if "BypassGovernanceRetention" in params:
            # The clean-up of the suite; no object has a lock.
            return original(client, operation, {k: v for k, v in params.items() if k != "BypassGovernanceRetention"})
        case "ListBuckets" if not params:
            response = original(client, operation, params)
            # The suite empties every bucket that is listed, after each test.
            response["Buckets"] = [bucket for bucket in response["Buckets"] if bucket["Name"] in created]
            return response
        case _ if operation != "CreateBucket" and name and name.startswith(PREFIX) and name not in created:
            refuse(operation, "NoSuchBucket", 404)
    return original(client, operation, params)


def refuse(operation: str, code: str, status: int) -> None:
    raise ClientError(
        {"Error": {"Code": code, "Message": code}, "ResponseMetadata": {"HTTPStatusCode": status}}, operation
    )


botocore.client.BaseClient._make_api_call = call


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        with open(os.environ["SUITE_RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{report.outcome} {report.nodeid.split('/')[-1]}\n")
