"""What a caller writes arrives at the tool, and what the tool answers arrives at the caller."""

import asyncio
import json
import os
import sys
import unittest

from fake_channel import FakeChannel


def exact(value):
    """JSON text in which 1, 1.0 and true differ and the order of keys does not matter."""
    return json.dumps(value, sort_keys=True)


class RoundTrip(unittest.TestCase):
    def setUp(self):
        self.channel = FakeChannel(lambda params: self.answer)
        self.answer = {"content": []}
        os.environ["CELLGATE_CHANNEL"] = self.channel.path
        self.addCleanup(os.environ.pop, "CELLGATE_CHANNEL")
        self.addCleanup(self.channel.close)

    def received(self):
        return self.channel.requests[-1]["arguments"]

    def check_arguments(self, wrapper, written):
        """However they are passed: as a dict, as Params, by keyword, and to run_async."""
        self.answer = {"content": [{"type": "text", "text": "{}"}]}
        typed = wrapper.Params.from_dict(written)
        self.assertEqual(exact(typed.to_dict()), exact(written))
        wrapper.run(written)
        self.assertEqual(exact(self.received()), exact(written))
        wrapper.run(typed)
        self.assertEqual(exact(self.received()), exact(written))
        named = {name: getattr(typed, name) for name in wrapper.Params.__slots__}
        if typed.extra:
            named["extra"] = typed.extra
        wrapper.run(**named)
        self.assertEqual(exact(self.received()), exact(written))
        asyncio.run(wrapper.run_async(**named))
        self.assertEqual(exact(self.received()), exact(written))

    def check_result(self, wrapper, answered):
        self.answer = {"content": [], "structuredContent": answered}
        result = wrapper.run({})
        plain = sys.modules["mcptools._runtime"]._plain(result, "")  # also of what is no class
        self.assertEqual(exact(plain), exact(answered))
        return result
