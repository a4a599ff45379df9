"""Writes oss.json: requests signed by alibabacloud-oss-v2 1.4 and oss2 2.19, at a fixed time.

python oss.py oss.json
"""

import datetime
import json
import sys
from urllib.parse import quote, urlsplit

import oss2
import oss2.auth
import oss2.http
import oss2.utils
from alibabacloud_oss_v2.credentials import Credentials
from alibabacloud_oss_v2.signer.v1 import SignerV1
from alibabacloud_oss_v2.signer.v4 import SignerV4
from alibabacloud_oss_v2.types import HttpRequest, SigningContext

AK, SK, TOKEN = "STS.0123456789ABCDEF01234567", "secret-of_43~chars", "dG9rZW4_-x"
WHEN = datetime.datetime(2026, 11, 21, 8, 9, 10, tzinfo=datetime.UTC)
KEYS = ["uploads/2026/11/21/019aa", "a b+c&d?e#f%g", "ü/日本//x/", "~-_.!*'()", "%2F%20", "q=1&r"]
out = []


def add(client, version, mode, method, bucket, key, target, headers):
    out.append(
        {
            "client": client,
            "version": version,
            "mode": mode,
            "method": method,
            "bucket": bucket,
            "key": key,
            "target": target,
            "headers": dict(headers.items()),
        }
    )


# --- alibabacloud-oss-v2
ops = [
    ("GET", "", {}),
    ("PUT", "", {"Content-Type": "application/octet-stream", "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg=="}),
    ("PUT", "partNumber=3&uploadId=0AF%2Bx%20y", {"Content-Type": "application/xml"}),
    ("POST", "uploads&encoding-type=url", {}),
    ("GET", "uploadId=U1&max-parts=1&part-number-marker=", {"Range": "bytes=0-9"}),
]
for signer, version in ((SignerV4(), "v4"), (SignerV1(), "v1")):
    for region in ("", "cn-test"):
        if version == "v1" and region:
            continue
        for key in KEYS:
            for method, query, headers in ops:
                for presign in (False, True):
                    url = "http://h/b-1/" + quote(key, safe="/~") + ("?" + query if query else "")
                    req = HttpRequest(method, url, headers=dict(headers))
                    ctx = SigningContext(
                        product="oss",
                        region=region,
                        bucket="b-1",
                        key=key,
                        request=req,
                        credentials=Credentials(AK, SK, TOKEN),
                        signing_time=WHEN,
                    )
                    ctx.auth_method_query = presign
                    if presign:
                        ctx.expiration_time = WHEN + datetime.timedelta(seconds=900)
                    if version == "v4" and "Range" in headers:
                        ctx.additional_headers = {"range", "zz-missing"}
                    signer.sign(ctx)
                    u = urlsplit(req.url)
                    add(
                        "alibabacloud-oss-v2",
                        version,
                        "presigned" if presign else "header",
                        method,
                        "b-1",
                        key,
                        u.path + ("?" + u.query if u.query else ""),
                        req.headers,
                    )


# --- oss2
class FrozenDT(datetime.datetime):
    @classmethod
    def utcnow(cls):
        return WHEN.replace(tzinfo=None)


oss2.auth.datetime = FrozenDT
oss2.utils.http_date = lambda timeval=None: "Sat, 21 Nov 2026 08:09:10 GMT"
oss2.auth.time.time = lambda: WHEN.timestamp()
pops = [
    ("GET", {}, {}),
    ("PUT", {}, {"Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==", "Content-Type": "text/plain"}),
    ("PUT", {"partNumber": "3", "uploadId": "U+1"}, {}),
    ("POST", {"uploads": ""}, {}),
    ("GET", {"uploadId": "U1", "max-parts": "1", "part-number-marker": ""}, {}),
    ("GET", {"response-content-type": "a/b"}, {"x-oss-meta-a": "1", "Range": "bytes=0-9"}),
]
for version in ("v1", "v4"):
    auth = oss2.StsAuth(AK, SK, TOKEN, auth_version=version)
    for key in KEYS:
        for method, params, headers in pops:
            for presign in (False, True):
                req = oss2.http.Request(
                    method,
                    "http://h/b-1/" + quote(key, safe="/~"),
                    params=dict(params),
                    headers=dict(headers),
                    region="cn-x",
                    product="oss",
                )
                if presign:
                    url = auth._sign_url(req, "b-1", key, 900)
                else:
                    auth._sign_request(req, "b-1", key)
                    # as requests sends it
                    import requests

                    p = requests.Request(method, req.url, params=req.params).prepare()
                    url = p.url
                u = urlsplit(url)
                hs = {k: v for k, v in req.headers.items() if k.lower() not in ("user-agent", "accept-encoding")}
                if presign:
                    hs.pop("date", None)
                    hs.pop("Date", None)
                add(
                    "oss2",
                    version,
                    "presigned" if presign else "header",
                    method,
                    "b-1",
                    key,
                    u.path + ("?" + u.query if u.query else ""),
                    hs,
                )
head = {"accessKeyID": AK, "secret": SK, "securityToken": TOKEN, "signedAt": int(WHEN.timestamp())}
with open(sys.argv[1], "w") as file:
    file.write(json.dumps(head)[:-1] + ', "vectors": [\n')
    file.write(",\n".join(json.dumps(vector, ensure_ascii=False) for vector in out) + "\n]}\n")
