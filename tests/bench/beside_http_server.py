"""Runs a command beside an MCP server over HTTP. Usage: beside_http_server.py PROCESSOR SCRIPT COMMAND…

SCRIPT is server-everything. Its URL stands for {url} in COMMAND and in BENCH_OPTIONS.
"""

import os
import socket
import subprocess
import sys
import time

processor, script, *command = sys.argv[1:]
with socket.create_server(("127.0.0.1", 0)) as free:
    port = free.getsockname()[1]
server = subprocess.Popen(["taskset", "-c", processor, "node", script, "streamableHttp"], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, env={**os.environ, "PORT": str(port), "LD_PRELOAD": ""})
url = f"http://127.0.0.1:{port}/mcp"
try:
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        if server.poll() is not None:
            sys.exit("the server has ended")
        time.sleep(0.05)
    options = os.environ.get("BENCH_OPTIONS", "").replace("{url}", url)
    ended = subprocess.run([word.replace("{url}", url) for word in command], env={**os.environ, "BENCH_OPTIONS": options})
finally:
    server.kill()
    server.wait()
sys.exit(ended.returncode)
