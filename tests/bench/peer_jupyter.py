"""jupyter_client as its users use it, as a worker of the bench. Its arguments are one of

    cold KERNEL                 a sample is a new kernel (wait_for_ready) and the result of 1+1
    execute KERNEL CODE         a sample is one execute_interactive, with store_history
    output FILE SHA256          a sample is the time to the last byte of the cell's output, each message of it written
                                to a file and to a pipe, as who keeps output and passes it on has to
    cell FILE SERVER PROCESSOR  the cell's own samples: it prints N of them, one in a line; SERVER is a program, which
                                runs on PROCESSOR, and whose first line, a port, the cell finds in BENCH_URL
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

from jupyter_client import KernelManager
from peer_worker import now, serve, serve_many


def start(name="python3"):
    manager = KernelManager(kernel_name=name)
    manager.start_kernel()
    client = manager.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return manager, client


def require_ok(reply):
    if reply["content"]["status"] != "ok":
        sys.exit(f"a cell ended with {reply['content']}")


def execute(client, code, hook, timeout=600):
    require_ok(client.execute_interactive(code, store_history=True, allow_stdin=False, output_hook=hook,
                                          timeout=timeout))


def ignore(message):
    pass


def cold(name):
    def sample():
        begun = now()
        manager, client = start(name)
        execute(client, "1+1", ignore)
        seconds = now() - begun
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        return seconds

    serve(sample)


def run(name, code):
    manager, client = start(name)
    serve(lambda: timed(client, code))
    manager.shutdown_kernel(now=True)


def timed(client, code):
    begun = now()
    execute(client, code, ignore)
    return now() - begun


def text_of(message):
    content = message["content"]
    return content["text"] if message["msg_type"] == "stream" else content.get("data", {}).get("image/png", "")


def output(path, expected):
    manager, client = start()
    code = open(path).read()

    # Nothing when messages were dropped, beyond 1000 that wait: then even the idle may be gone.
    def attempt():
        messages = []
        with tempfile.TemporaryFile() as journal, subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                                                                   stdout=subprocess.DEVNULL) as reader:
            def keep(message):
                if message["msg_type"] in ("stream", "display_data"):
                    text = json.dumps(message["content"]).encode()
                    journal.write(text)
                    reader.stdin.write(text)
                    messages.append(message)

            begun = now()
            try:
                execute(client, code, keep, 30)
            except TimeoutError:
                return None
            journal.flush()
            reader.stdin.close()
            reader.wait()
            seconds = now() - begun
        if hashlib.sha256("".join(map(text_of, messages)).encode()).hexdigest() != expected:
            return None
        return seconds

    def sample():
        return attempt() or sample()

    serve(sample)
    manager.shutdown_kernel(now=True)


def cell(path, program, processor):
    server = subprocess.Popen(["taskset", "-c", processor, sys.executable, "-B", program], stdout=subprocess.PIPE,
                              text=True)
    os.environ["BENCH_URL"] = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    manager, client = start()
    execute(client, open(path).read(), ignore)

    def take(count):
        texts = []
        execute(client, f"take({count})", lambda message: texts.append(text_of(message)))
        return [float(line) for line in "".join(texts).split()]

    serve_many(take)
    manager.shutdown_kernel(now=True)
    server.terminate()
    server.wait()


{"cold": cold, "execute": run, "output": output, "cell": cell}[sys.argv[1]](*sys.argv[2:])
