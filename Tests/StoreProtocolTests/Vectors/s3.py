"""Writes s3.json: requests signed by botocore 1.44 for S3, at a fixed time.

python s3.py s3.json
"""

import datetime
import json
import sys
from urllib.parse import quote, urlsplit

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

AK, SK, TOKEN = "STS.0123456789ABCDEF01234567", "secret-of_43~chars", "dG9rZW4_-x"
WHEN = datetime.datetime(2026, 11, 21, 8, 9, 10)
KEYS = ["uploads/2026/11/21/019aa", "a b+c&d?e#f%g", "ü/日本//x/", "~-_.!*'()", "%2F%20", "q=1&r"]
OPERATIONS = [
    ("GET", "", {}, b""),
    ("HEAD", "", {"Range": "bytes=0-9", "If-Match": '"x"'}, b""),
    ("PUT", "", {"Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==", "x-amz-meta-note": "  two   blanks  "}, b"body"),
    ("PUT", "partNumber=3&uploadId=0AF%2Bx%20y&x-id=UploadPart", {"x-amz-checksum-crc32": "AAAAAA=="}, b"part"),
    ("POST", "uploads", {"x-amz-checksum-algorithm": "CRC32"}, b""),
    ("GET", "uploadId=U1&part-number-marker=&max-parts=1&encoding-type=url", {}, b""),
]
botocore.auth.get_current_datetime = lambda remove_tzinfo=True: WHEN
vectors = []
for region in ("us-east-1", "cn-test"):
    for style, base in (("path", "http://127.0.0.1:50080/b-1/"), ("host", "https://b-1.oss-cn-test.example.com/")):
        for key in KEYS:
            for method, query, headers, body in OPERATIONS:
                for mode, signer in (
                    ("header", botocore.auth.S3SigV4Auth),
                    ("presigned", botocore.auth.S3SigV4QueryAuth),
                ):
                    if (region == "cn-test") != (style == "host"):
                        continue
                    url = base + quote(key, safe="/~") + (f"?{query}" if query else "")
                    request = AWSRequest(method, url, headers=dict(headers), data=body if mode == "header" else b"")
                    request.context["client_config"] = None
                    if mode == "presigned":
                        signer(Credentials(AK, SK, TOKEN), "s3", region, expires=900).add_auth(request)
                    else:
                        signer(Credentials(AK, SK, TOKEN), "s3", region).add_auth(request)
                    parts = urlsplit(request.url)
                    vectors.append(
                        {
                            "client": "botocore",
                            "version": "v4",
                            "mode": mode,
                            "method": method,
                            "bucket": "b-1",
                            "key": key,
                            "target": parts.path + (f"?{parts.query}" if parts.query else ""),
                            "host": parts.netloc,
                            "headers": dict(request.headers.items()),
                        }
                    )
head = {
    "accessKeyID": AK,
    "secret": SK,
    "securityToken": TOKEN,
    "signedAt": int(WHEN.replace(tzinfo=datetime.UTC).timestamp()),
}
with open(sys.argv[1], "w") as file:
    file.write(json.dumps(head)[:-1] + ', "vectors": [\n')
    file.write(",\n".join(json.dumps(vector, ensure_ascii=False) for vector in vectors) + "\n]}\n")
