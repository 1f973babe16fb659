"""A server of S3 and DynamoDB over TLS, which verifies each signature by botocore and the real key."""

import base64
import hashlib
import json
from http.client import HTTPMessage
from urllib.parse import parse_qs, unquote, urlsplit

from api_server import Api
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY_ID = "AKIAREAL0EXAMPLE0KEY"
KEY = "re4l/K7MDENG+bPxRfiCYEXAMPLEKEYre4l0Key1"
TOKEN = "IQoJb3JpZ2luX2VjEXAMPLE/token+Of+A+Session//"
REGION = "eu-central-1"


def problem_of(method, path, headers: HTTPMessage, body, keys):
    """What AWS would not accept; nothing where all is well. It does not trust the sender about anything."""
    authorization = headers.get_all("Authorization") or []
    if len(authorization) != 1 or not authorization[0].startswith("AWS4-HMAC-SHA256 "):
        return "MissingAuthenticationToken"
    said = dict(part.strip().split("=", 1) for part in authorization[0].removeprefix("AWS4-HMAC-SHA256 ").split(","))
    key_id, date, region, service, end = said["Credential"].split("/")
    if key_id not in keys:
        return "InvalidAccessKeyId"
    secret, token = keys[key_id]
    if (date, region, end) != (headers["X-Amz-Date"][:8], REGION, "aws4_request"):
        return "CredentialScope"
    if headers.get_all("X-Amz-Security-Token") != (None if token is None else [token]):
        return "InvalidToken"
    listed = said["SignedHeaders"].split(";")
    if "host" not in listed or not {name.lower() for name in headers if name.lower().startswith("x-amz-")} <= set(listed):
        return "UnsignedHeaders"
    hashed = headers.get("X-Amz-Content-SHA256", "UNSIGNED-PAYLOAD" if service == "s3" else hashlib.sha256(body).hexdigest())
    if hashed not in ("UNSIGNED-PAYLOAD", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", hashlib.sha256(body).hexdigest()):
        return "XAmzContentSHA256Mismatch"
    request = AWSRequest(method=method, url=f"https://{headers['Host']}{path}", data=body)
    for name, value in headers.items():
        if name.lower() in listed:
            request.headers[name] = value
    request.context["timestamp"] = headers["X-Amz-Date"]
    auth = (S3SigV4Auth if service == "s3" else SigV4Auth)(Credentials(key_id, secret, token), service, region)
    expected = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    return None if expected == said["Signature"] else "SignatureDoesNotMatch"


def in_one_piece(body):
    """Of chunks that are not signed, with a checksum behind them."""
    piece, size = b"", None
    while size != 0:
        line, _, body = body.partition(b"\r\n")
        size = int(line, 16)
        piece, body = piece + body[:size], body[size + 2 if size else 0:]
    name, _, checksum = body.strip().decode().partition(":")
    assert (name, base64.b64decode(checksum)) == ("x-amz-checksum-sha256", hashlib.sha256(piece).digest()), body
    return piece


class Aws(Api):
    """Keeps what it was sent in the server's `objects`, by path, and whether it accepted it in `asked`."""

    def serve(self):
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size) if size else self.read_chunks()
        problem = problem_of(self.command, self.path, self.headers, body, self.server.keys)
        self.server.on_asked((self.command, self.path, problem or "accepted", dict(self.headers.items())))
        if problem:
            self.answer(403, f"<Error><Code>{problem}</Code><Message>{self.headers}</Message></Error>".encode())
        elif "X-Amz-Target" in self.headers:
            self.answer(200, json.dumps({"Item": {"sent": {"S": body.decode()}}}).encode())
        else:
            self.serve_s3(urlsplit(self.path), body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_PATCH = serve

    def serve_s3(self, url, body):
        objects = self.server.objects
        path = unquote(url.path)
        if self.command == "PUT":
            objects[path] = in_one_piece(body) if self.headers.get("Content-Encoding") == "aws-chunked" else body
            self.answer(200, b"")
        elif "list-type=2" in url.query:
            prefix = f"{path}/{parse_qs(url.query)['prefix'][0]}"
            keys = [key.removeprefix(path + "/") for key in objects if key.startswith(prefix)]
            found = "".join(f"<Contents><Key>{key}</Key></Contents>" for key in keys)
            self.answer(200, f"<ListBucketResult><KeyCount>{len(keys)}</KeyCount>{found}</ListBucketResult>".encode())
        elif path not in objects:
            self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        elif asked := self.headers.get("Range"):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            part = objects[path][int(first):int(last) + 1 if last else None]
            self.answer(206, part, {"Content-Range": f"bytes {first}-{int(first) + len(part) - 1}/{len(objects[path])}"})
        else:
            self.answer(200, objects[path])

    def answer(self, status, body, more=()):
        self.send_response(status)
        for name, value in dict(more).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
