"""Runs a command beside an HTTPS server of a private authority. Usage: beside_https_server.py PROCESSOR RELAY CODE WORD…

The server answers each request with the request's body. CODE is a cell; of it, and of the command's words, {port} stands
for the server's port and {code} for the file of that cell, in which {proxy} is the port of RELAY (`tls_relay`; "-": of the
sandbox). The authority is in SSL_CERT_FILE.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = """
const { readFileSync } = require("fs");
const pem = readFileSync(process.argv[1]);
const server = require("https").createServer({ key: pem, cert: pem }, (request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => response.end(Buffer.concat(parts)));
});
server.keepAliveTimeout = 600000;
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"""


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_certificates(folder):
    """The authority's certificate, and one for localhost with its key in one file."""
    authority, key, server = folder / "authority.crt", folder / "authority.key", folder / "server.pem"
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=bench", "-keyout", key, "-out", authority, "-addext", "keyUsage=critical,keyCertSign")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout",
            server, "-out", folder / "request")
    (folder / "extensions").write_text("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", folder / "request", "-CA", authority, "-CAkey", key, "-CAcreateserial", "-days", "2",
            "-extfile", folder / "extensions", "-out", folder / "certificate")
    with server.open("a") as file:
        file.write((folder / "certificate").read_text())
    return authority, server


def main():
    processor, relay, code, *command = sys.argv[1:]
    started = []
    with tempfile.TemporaryDirectory(prefix="cgb-tls") as name:
        folder = Path(name)
        authority, server = make_certificates(folder)

        def start(*words):
            started.append(subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                            env={**os.environ, "LD_PRELOAD": ""}))
            return started[-1].stdout.readline().strip()
        try:
            port = start("taskset", "-c", processor, "node", "-e", SERVER, str(server))
            proxy = start(relay, str(server), str(authority)) if relay != "-" else "3128"
            cell = folder / "cell.py"
            cell.write_text(Path(code).read_text().replace("{port}", port).replace("{proxy}", proxy))
            words = [word.replace("{code}", str(cell)).replace("{port}", port) for word in command]
            return subprocess.run(words, env={**os.environ, "SSL_CERT_FILE": str(authority)}).returncode
        finally:
            for process in started:
                process.kill()
                process.wait()
                process.stdout.close()


sys.exit(main())
