"""The runtime in the package: calls over the tool channel, from threads, forks and event loops; errors and results."""

import asyncio
import gc
import inspect
import os
import pickle
import signal
import sys
import threading
import unittest
import weakref

from fake_channel import Denied, FakeChannel, text_result
from packages import generated, module

OBJECT = {"type": "object"}
SHAPES = {
    "oneOf": [
        {"type": "object", "required": ["kind", "r"], "properties": {"kind": {"const": "circle"}, "r": {}}},
        {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "dot"}}},
        {"type": "string"},
    ]
}
TOOLS = [
    {"name": "text", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}}},
    {
        "name": "typed",
        "inputSchema": {"type": "object", "properties": {"shapes": {"type": "array", "items": SHAPES}}},
        "outputSchema": {"type": "object", "properties": {"shape": SHAPES}, "required": ["shape"]},
    },
    {"name": "list", "inputSchema": OBJECT, "outputSchema": {"type": "array", "items": {"type": "integer"}}},
    {"name": "page", "inputSchema": OBJECT, "outputSchema": {"type": "object", "properties": {"content": {}}}},
    {
        "name": "optional",
        "inputSchema": {
            "type": "object",
            "properties": {
                "limit": {"type": "integer"},
                "label": {"type": ["string", "null"]},
                "wait": {"type": "number", "default": 30},
                "inner": {"type": "object", "properties": {"depth": {"type": "integer"}}},
            },
            "required": ["wait"],
        },
    },
    {"name": "closed", "inputSchema": {"type": "object", "additionalProperties": False}},
    {
        "name": "labels",
        "inputSchema": {"type": "object", "additionalProperties": {"type": "object", "properties": {"n": {}}}},
    },
]


class Runtime(unittest.TestCase):
    def setUp(self):
        self.channel = FakeChannel(lambda params: self.answer(params))
        self.answer = lambda params: text_result("ok")
        os.environ["CELLGATE_CHANNEL"] = self.channel.path
        package = generated("server", TOOLS)
        package.__enter__()
        for tool in TOOLS:
            setattr(self, tool["name"], module("server", tool["name"]))
        self.tools = __import__("mcptools")
        self.addCleanup(package.__exit__, None, None, None)
        self.addCleanup(os.environ.pop, "CELLGATE_CHANNEL", None)
        self.addCleanup(self.channel.close)

    def test_outside_of_cellgate_a_call_says_how_to_run_it(self):
        del os.environ["CELLGATE_CHANNEL"]
        with self.assertRaisesRegex(RuntimeError, "cellgate run FILE"):
            self.text.run()

    def test_calls_of_a_thread_share_a_connection_and_threads_do_not(self):
        self.text.run(a=1)
        self.text.run(a=2)
        self.assertEqual(self.channel.connections, 1)
        thread = threading.Thread(target=self.text.run, kwargs={"a": 3})
        thread.start()
        thread.join()
        self.assertEqual(self.channel.connections, 2)
        self.channel.wait_for(lambda: self.channel.open_connections == 1)  # the thread's ended with it

    def test_a_forked_child_has_its_own_connection(self):
        self.text.run(a="parent")
        child = os.fork()
        if child == 0:
            try:
                self.text.run(a="child")
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.text.run(a="parent")
        self.assertEqual(self.channel.connections, 2)
        self.assertEqual([each["arguments"]["a"] for each in self.channel.requests], ["parent", "child", "parent"])

    def test_an_interrupted_call_is_cancelled_and_the_next_one_works(self):
        released = threading.Event()
        self.answer = lambda params: released.wait(20) and text_result("late")

        main = threading.get_ident()

        def interrupt():
            self.channel.wait_for(lambda: self.channel.requests)
            while sys._current_frames()[main].f_code.co_name != "_receive":
                pass  # before that, closing the connection is all there is to do
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            self.text.run()
        self.channel.wait_for(lambda: self.channel.cancelled == [1])
        self.answer = lambda params: text_result("next")
        self.assertEqual(self.text.run(), "next")
        released.set()

    def test_many_async_calls_run_at_once_on_one_connection(self):
        barrier = threading.Barrier(50)

        def answer(params):
            barrier.wait(20)
            return text_result(str(params["arguments"]["a"]) * 100000)

        self.answer = answer

        async def main():
            return await asyncio.gather(*[self.text.run_async(a=number) for number in range(50)])

        self.assertEqual(asyncio.run(main()), [str(number) * 100000 for number in range(50)])
        self.assertEqual(self.channel.connections, 1)

    def test_a_large_async_argument_arrives_whole(self):
        large = "x" * (8 << 20)

        async def main():
            return await asyncio.gather(self.text.run_async(a=large), self.text.run_async(b=large))

        asyncio.run(main())
        self.assertEqual([each["arguments"] for each in self.channel.requests], [{"a": large}, {"b": large}])

    def test_a_cancelled_task_cancels_its_call_only(self):
        released = threading.Event()
        self.answer = lambda params: released.wait(20) and text_result("late")

        async def main():
            first = asyncio.ensure_future(self.text.run_async(a=1))
            second = asyncio.ensure_future(self.text.run_async(a=2))
            await asyncio.get_running_loop().run_in_executor(
                None, self.channel.wait_for, lambda: len(self.channel.requests) == 2
            )
            first.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await first
            await asyncio.get_running_loop().run_in_executor(
                None, self.channel.wait_for, lambda: self.channel.cancelled == [1]
            )
            released.set()
            return await second

        self.assertEqual(asyncio.run(main()), "late")

    def test_a_loop_that_ends_takes_its_connection_along(self):
        loop = asyncio.new_event_loop()
        loop.run_until_complete(self.text.run_async())
        gone = weakref.ref(loop)
        loop.close()
        del loop
        gc.collect()
        self.assertIsNone(gone())
        self.channel.wait_for(lambda: self.channel.open_connections == 0)

    def test_a_sidecar_that_goes_away_is_an_error_and_no_hang(self):
        def answer(params):
            self.channel.drop_connections()
            return text_result("never arrives")

        self.answer = answer
        for call in (self.text.run, lambda: asyncio.run(self.text.run_async())):
            with self.assertRaisesRegex(self.tools.ToolCallError, "connection to cellgate is gone") as caught:
                call()
            error = caught.exception
            self.assertTrue(error.__context__ is None or error.__suppress_context__)
        self.answer = lambda params: text_result("back")
        self.assertEqual(self.text.run(), "back")
        self.channel.close()
        os.environ["CELLGATE_CHANNEL"] = "/nowhere"
        thread_error = []

        def call():
            try:
                self.text.run()
            except self.tools.ToolCallError as error:
                thread_error.append(str(error))

        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
        self.assertIn("No such file", thread_error[0])

    def test_a_denied_call_raises_its_reason_and_nothing_else(self):
        def answer(params):
            raise Denied("not today")

        self.answer = answer
        for call in (self.text.run, lambda: asyncio.run(self.text.run_async())):
            with self.assertRaises(self.tools.ApprovalDenied) as caught:
                call()
            self.assertEqual(str(caught.exception), "not today")
            self.assertIsNone(caught.exception.__cause__)
            self.assertIsNone(caught.exception.__context__)
            again = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((type(again), str(again), again.kind), (self.tools.ApprovalDenied, "not today", "denied"))
            self.assertEqual((again.server, again.tool), ("server", "text"))

    def test_what_the_connection_does_is_no_error_of_the_tool(self):
        def answer(params):
            raise ValueError("the server died")

        self.answer = answer
        for call in (self.text.run, lambda: asyncio.run(self.text.run_async())):
            with self.assertRaises(self.tools.ToolConnectionError) as caught:
                call()
            error = caught.exception
            self.assertEqual(str(error), "server.text: the server died (restart it)")
            self.assertEqual((error.kind, error.server, error.tool), ("toolServerFailed", "server", "text"))
            self.assertNotIsInstance(error, (self.tools.ApprovalDenied, self.tools.ToolError))
            self.assertIsInstance(error, self.tools.ToolCallError)

    def test_what_the_server_answers_is_a_tool_error_that_tells_which_tool(self):
        self.answer = lambda params: {**text_result("no such file"), "isError": True}
        for tool in (self.text, self.typed):
            with self.assertRaises(self.tools.ToolError) as caught:
                tool.run()
            name = tool.__name__.rpartition(".")[2]
            error = pickle.loads(pickle.dumps(caught.exception))
            self.assertEqual((str(error), error.message), (f"server.{name}: no such file", "no such file"))
            self.assertEqual((error.server, error.tool), ("server", name))
        self.answer = lambda params: {"content": [], "isError": True}
        with self.assertRaisesRegex(self.tools.ToolError, "^server.text: the tool failed and said nothing"):
            self.text.run()

    def test_text_comes_as_text_and_other_content_as_blocks(self):
        self.answer = lambda params: {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        self.assertEqual(self.text.run(), "a\nb")
        self.answer = lambda params: {"content": []}
        self.assertEqual(self.text.run(), "")
        self.answer = lambda params: {"content": [], "structuredContent": {"a": 1}}
        self.assertEqual(self.text.run(), '{"a": 1}')
        content = [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": {"priority": 1}},
            {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
            {"type": "resource_link", "uri": "file:///x", "name": "x", "size": 3},
            {"type": "resource", "resource": {"uri": "file:///x", "text": "y"}, "_meta": {"z": 1}},
            {"type": "hologram", "depth": 3},
        ]
        self.answer = lambda params: {"content": content}
        blocks = self.text.run()
        self.assertEqual([block.to_dict() for block in blocks], content)
        text, image, audio, link, resource, unknown = blocks
        self.assertIsInstance(image, self.tools.ImageContent)
        self.assertEqual((image.mime_type, image.data, image.annotations), ("image/png", "aGk=", {"priority": 1}))
        self.assertEqual(image._repr_mimebundle_()["image/png"], "aGk=")
        self.assertIs(text.annotations, self.tools.UNSET)
        self.assertEqual((audio.mime_type, link.uri, link.size), ("audio/wav", "file:///x", 3))
        self.assertEqual(resource.resource["text"], "y")
        self.assertEqual(unknown.extra, {"depth": 3})
        self.assertEqual(blocks.text, "a\ny")
        self.answer = lambda params: text_result("plain")
        answer = self.text.run()
        self.assertEqual((answer, answer.text, type(answer.text)), ("plain", "plain", str))

    def test_blocks_show_themselves_and_never_as_base64(self):
        large = "aGk5" * 25000
        blob = {"uri": "file:///x", "mimeType": "image/png", "blob": large}
        self.answer = lambda params: {
            "content": [
                {"type": "image", "data": large, "mimeType": "image/png"},
                {"type": "audio", "data": large, "mimeType": 'audio/wav"><script>'},
                {"type": "resource", "resource": blob},
                {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"},
                {"type": "resource", "resource": {"uri": "file:///y", "text": "the text"}},
                {"type": "image", "data": large, "mimeType": "text/html"},
                {"type": "hologram", "data": large, "parts": [large]},
                {"type": "text", "text": "word " * 1000},
            ]
        }
        blocks = self.text.run()
        self.assertLess(len(repr(blocks)), 3000)
        self.assertIn("<ImageContent image/png, 75,000 bytes>", repr(blocks))
        image, audio, embedded, drawing, text, no_image, unknown, words = [each._repr_mimebundle_() for each in blocks]
        self.assertEqual((image["image/png"], embedded["image/png"]), (large, large))
        self.assertEqual(image["text/plain"], "<ImageContent image/png, 75,000 bytes>")
        self.assertIn("<audio controls src=\"data:audio/wav&quot;&gt;&lt;script&gt;;base64,aGk5", audio["text/html"])
        self.assertEqual(drawing["image/svg+xml"], "<svg/>")
        self.assertEqual(text, {"text/plain": "the text"})
        self.assertEqual([list(each) for each in (no_image, unknown)], [["text/plain"]] * 2)
        self.assertEqual(words, {"text/plain": "word " * 1000})

    def test_ipython_displays_each_block_and_those_beside_a_structure(self):
        from IPython.core.interactiveshell import InteractiveShell
        from IPython.utils.capture import capture_output

        shell = InteractiveShell.instance()
        self.addCleanup(InteractiveShell.clear_instance)
        shell.user_ns.update(text=self.text, typed=self.typed)
        image = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
        self.answer = lambda params: {
            "content": [{"type": "text", "text": "a"}, image],
            "structuredContent": {"shape": "line"},
        }
        with capture_output() as shown:
            shell.run_cell("text.run()")
        self.assertEqual([output.data["text/plain"] for output in shown.outputs], ["a", "<ImageContent image/png, 2 bytes>"])
        self.assertEqual(shown.outputs[1].data["image/png"], "aGk=")
        with capture_output() as shown:
            shell.run_cell("typed.run()")
        self.assertEqual(shown.outputs[0].data["image/png"], "aGk=")
        self.assertIn("Result(shape='line')", shown.stdout + repr([each.data for each in shown.outputs[1:]]))

    def test_a_result_has_the_blocks_that_came_beside_its_structure(self):
        content = [{"type": "text", "text": "{}"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]
        self.answer = lambda params: {"content": content, "structuredContent": {"shape": "line"}}
        result = self.typed.run()
        self.assertEqual([block.to_dict() for block in result.content], content)
        self.assertEqual((result.content.text, result.to_dict()), ("{}", {"shape": "line"}))
        self.assertEqual(result, self.typed.Result.from_dict({"shape": "line"}))
        self.assertEqual(self.typed.Result.from_dict({}).content, [])
        self.answer = lambda params: {"content": content, "structuredContent": {"content": "of the page"}}
        page = self.page.run()
        self.assertEqual((page.content, len(page.content_)), ("of the page", 2))

    def test_none_leaves_out_what_takes_no_null(self):
        self.optional.run(limit=None, label=None, wait=None, inner=None)
        self.assertEqual(self.channel.requests[-1]["arguments"], {"label": None})
        self.optional.run(inner={"depth": 1})
        self.assertEqual(self.channel.requests[-1]["arguments"], {"inner": {"depth": 1}})
        self.optional.run({"limit": None})  # a dict is in the tool's own words
        self.assertEqual(self.channel.requests[-1]["arguments"], {"limit": None})

    def test_structured_results_are_typed_and_lose_nothing(self):
        for shape, kind in (
            ({"kind": "circle", "r": 2**70, "more": None}, self.typed.Shape),
            ({"kind": "dot"}, self.typed.Shape_2),
            ("line", str),
            ({"kind": "star"}, dict),
        ):
            structured = {"shape": shape, "unknown": [1.0, 1]}
            self.answer = lambda params: {"content": [], "structuredContent": structured}
            result = self.typed.run()
            self.assertIsInstance(result.shape, kind)
            self.assertEqual(repr(result.to_dict()), repr(structured))
        self.answer = lambda params: {"content": [], "structuredContent": [1, 2]}
        self.assertEqual(self.list.run(), [1, 2])
        self.answer = lambda params: text_result('{"shape": "from text"}')
        self.assertEqual(self.typed.run().shape, "from text")
        self.answer = lambda params: text_result("no structure at all")
        with self.assertRaisesRegex(self.tools.ToolError, "^server.typed: .*no structure at all"):
            self.typed.run()

    def test_absent_null_and_default_are_three_things(self):
        self.text.run(a=None)
        self.assertEqual(self.channel.requests[-1]["arguments"], {"a": None})
        self.text.run(a=self.tools.UNSET, b=0)
        self.assertEqual(self.channel.requests[-1]["arguments"], {"b": 0})
        params = self.text.Params.from_dict({"b": None})
        self.assertIs(params.a, self.tools.UNSET)
        self.assertIsNone(params.b)

    def test_numbers_go_as_they_were_written(self):
        self.text.run(a=[1, 1.0, 2**80, -0.0, True])
        self.assertIn(b'"a":[1,1.0,1208925819614629174706176,-0.0,true]', self.channel.raw_lines[-1])

    def test_an_integer_that_python_does_not_read_fails_its_call_only(self):
        self.channel.rewrite = lambda text: text.replace('"BIG"', "9" * 5000)
        self.answer = lambda params: {"content": [], "structuredContent": {"shape": params["arguments"]["x"]}}

        async def main():
            calls = [self.typed.run_async(extra={"x": x}) for x in ("small", "BIG", "small")]
            return await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 60)

        for _ in range(2):
            with self.assertRaisesRegex(self.tools.ToolCallError, "cannot be read.*4300 digits"):
                self.typed.run({"x": "BIG"})
            self.assertEqual(self.typed.run({"x": "small"}).shape, "small")
            first, failure, last = asyncio.run(main())
            self.assertEqual((first.shape, last.shape), ("small", "small"))
            self.assertEqual((type(failure), failure.kind), (self.tools.ToolCallError, "resultInvalid"))

    def test_properties_without_a_name_go_through_extra(self):
        self.text.run(a=1, extra={"x-y": 2})
        self.assertEqual(self.channel.requests[-1]["arguments"], {"a": 1, "x-y": 2})
        with self.assertRaisesRegex(TypeError, "extra repeats the property 'a'"):
            self.text.run(a=1, extra={"a": 2})
        with self.assertRaises(TypeError):
            self.closed.run(extra={"a": 2})
        self.closed.run({"a": 2})  # the server judges
        labels = self.labels.Params.from_dict({"red": {"n": 1}})
        self.assertEqual(labels.extra["red"].n, 1)
        self.labels.run(labels)
        self.assertEqual(self.channel.requests[-1]["arguments"], {"red": {"n": 1}})

    def test_what_json_would_change_in_silence_is_refused(self):
        ring = []
        ring.append(ring)
        for value, message in (
            (float("nan"), "not JSON"),
            (float("inf"), "not JSON"),
            ({1: "a"}, r"arguments\.a: the key 1 is not a string"),
            ({"b": [object()]}, r"arguments\.a\.b\[0\]: object is not a JSON value"),
            (b"bytes", "bytes is not a JSON value"),
            ([self.tools.UNSET], "UNSET cannot stand inside"),
            ("\ud800", "surrogate"),
            (ring, "nested too deeply"),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), message):
                self.text.run(a=value)
        with self.assertRaisesRegex(TypeError, "not several of them"):
            self.text.run({"a": 1}, a=2)
        with self.assertRaisesRegex(TypeError, "expected Params or a dict, not str"):
            self.text.run("a")
        self.assertEqual(self.channel.requests, [])

    def test_help_names_the_arguments(self):
        self.assertEqual(list(inspect.signature(self.text.run).parameters), ["a", "b", "extra"])

    def test_a_wrong_argument_is_told_with_those_that_there_are(self):
        with self.assertRaises(TypeError) as caught:
            self.text.run(path="x")
        self.assertIn("text.run()", str(caught.exception))
        self.assertIn("'path'; it takes a, b", str(caught.exception))
        self.assertIsNone(caught.exception.__cause__)
        with self.assertRaisesRegex(TypeError, "'x'; it takes no named argument"):
            self.closed.run(x=1)
        self.assertEqual(self.channel.requests, [])

    def test_the_line_is_the_nearest_one_in_a_cell(self):
        cell = "\n".join(["import mcptools.server.text as text", "def call():", "    return text.run()", ""])
        later = "call()\n"
        namespace = {}
        exec(compile(cell, "/tmp/ipykernel_17/123.py", "exec"), namespace)
        exec(compile(later, "/tmp/ipykernel_17/456.py", "exec"), namespace)
        self.assertEqual((self.channel.requests[-1]["line"], self.channel.requests[-1]["execution"]), (2, None))
        self.text.run()
        self.assertIsNone(self.channel.requests[-1]["line"])


if __name__ == "__main__":
    unittest.main()
