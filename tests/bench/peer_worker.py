"""What the Python workers of the bench share: see worker.hpp."""

import json
import sys
import time

now = time.perf_counter


def serve(sample):
    serve_many(lambda count: [sample() for _ in range(count)])


def serve_many(take):
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(take(int(line))), flush=True)
