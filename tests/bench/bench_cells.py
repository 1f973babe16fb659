"""The code that cells of the bench run, and where both ends of a tool call run."""

import base64
import hashlib
import os

MESSAGE = "a message of a usual length for a tool's argument, " * 4

# Where the ends of a tool call run, in all cases: who calls at the first, the server at the second; cellgate is free.
# Left to the system, a direct call takes 17 µs when both ends happen to share a processor, and 100 µs when one has to
# wake the other up on a second one of a virtual machine: which of them is measured would be chance.
CALLER, SERVER = (str(sorted(os.sched_getaffinity(0))[end]) for end in (0, -1))

FLOOD_PIECE = 65536
PICTURE = base64.b64encode(bytes(range(256)) * 20480).decode()

PRINT = """
import sys
for i in range({pieces}):
    sys.stdout.write(chr(97 + i % 26) * {size})
    {after}
"""
SHOW = """
import base64
from IPython.display import display
display({"image/png": base64.b64encode(bytes(range(256)) * 20480).decode()}, raw=True)
"""
TAKE = f"""
import os, time
os.sched_setaffinity(0, {{{CALLER}}})
def take(count):
    samples = []
    for _ in range(count):
        begun = time.perf_counter()
        call()
        samples.append(time.perf_counter() - begun)
    print(*samples, sep="\\n")
"""
TOOL_CELL = f"""
from mcptools.everything import echo
def call():
    echo.run(message={MESSAGE!r})
{TAKE}
"""
HTTP_CELL = f"""
import os, requests
url = os.environ["BENCH_URL"] + "/echo"
def call():
    requests.post(url, json={{"message": {MESSAGE!r}}}).json()
{TAKE}
"""
REQUEST_CELL = f"""
import http.client, os, ssl
connection = http.client.HTTPSConnection("127.0.0.1", {{proxy}},
                                         context=ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"]))
connection.set_tunnel("localhost", {{port}})
def call():
    connection.request("POST", "/echo", {MESSAGE!r})
    assert connection.getresponse().read()
{TAKE}
"""


def printed(pieces):
    digest = hashlib.sha256()
    for i in range(pieces):
        digest.update(bytes([97 + i % 26]) * FLOOD_PIECE)
    return digest.hexdigest()
