"""The rules find what they are about and leave its neighbours alone: for each, samples that break it and, as the
control, the nearest that do not."""

import unittest

import co_await
import rules

AGGREGATES = co_await.aggregates(["struct Point { int x = 0; Point* next(); };", "struct Named { Named(int); };"])


def co_await_faults(statement):
    return [what for _, what in co_await.faults(f"Task<void> f() {{\n{statement}\n}}\n", AGGREGATES)]


class CoAwait(unittest.TestCase):
    def assert_fault(self, what, *statements):
        for statement in statements:
            with self.subTest(statement=statement):
                self.assertIn(what, co_await_faults(statement))

    def assert_fine(self, *statements):
        for statement in statements:
            with self.subTest(statement=statement):
                self.assertEqual(co_await_faults(statement), [])

    def test_braced_lists_are_found_in_and_around_it(self):
        self.assert_fault(
            co_await.LIST,
            "co_await g({1, 2});",
            "co_await g(Point{1});",
            "co_await g(Point{.x = 1});",
            "auto r = co_await a.b(std::move(c), std::vector<int>{1});",
            "co_await Sleep{Point{1}};",
            "use(Point{1}, co_await g());",
            "use(co_await g(), {1});",
            "Point p{1, co_await g()};",
            "Point p = {co_await g()};",
            "co_return Point{co_await g()};",
            "co_return {co_await g(), 1};",
            "if (const int n = co_await g({1}); n) { h(); }",
            "for (auto x : co_await g({1})) { h(); }",
            "if (x) { h(); } co_await g({1});",
            "auto t = [](int n) -> Task<void> { co_await g({n}); };",
            "co_await g(\n    a,\n    {b});",
        )

    def test_temporaries_of_aggregates_are_found_without_braces_too(self):
        self.assertEqual(AGGREGATES, {"Point"})
        self.assert_fault("a temporary of the aggregate Point", "co_await g(Point(1));", "use(Point(), co_await g());")
        self.assert_fine("co_await g(Named(1));", "co_await g(point(1));", "Point p(co_await g());")

    def test_lambdas_that_capture_values_are_found(self):
        self.assert_fault(
            co_await.LAMBDA, "co_await g([x] { h(x); });", "co_await g([&a, b = 1](int) { h(b); });", "co_await g([=] {});"
        )
        self.assert_fine("co_await g([&] { h({1}); });", "co_await g([&x, this]() -> int { return P{1}.x; });",
                         "co_await g([] { return a ? b : c; });", "co_await g(values[x]);")

    def test_conditional_operators_are_found(self):
        self.assert_fault(
            co_await.CONDITIONAL,
            "x = y ? co_await g() : h();",
            "x = (co_await g()) ? y : z;",
            "co_return y ? co_await g() : h();",
        )
        self.assert_fine("x = y ? 1 : 2; co_await g();", "if (a ? b : c) { co_await g(); }", "if (a ? b : c) co_await g();")

    def test_bare_conditions_are_found(self):
        self.assert_fault(
            co_await.CONDITION,
            "if (co_await g()) { h(); }",
            "if (!co_await g() && y) { h(); }",
            "while (!(co_await a.read()).empty()) {}",
            "} else if (co_await g()) { h(); ",
            "do { h(); } while (co_await g());",
            "switch (co_await g()) { default: break; }",
            "if (y == co_await g()) { h(); }",
        )
        self.assert_fine(
            "if (const bool ended = co_await g(); !ended) { h(); }",
            "while (std::optional<Frame> frame = co_await a->receive()) { h(*frame); }",
            "while (y) { co_await g(); }",
            "for (const auto& x : co_await g()) { h(x); }",
        )

    def test_what_is_fine_is_left_alone(self):
        self.assert_fine(
            "co_await g();",
            "co_await Sleep{clock, until};",
            "Point p{1}; co_await g(std::move(p));",
            "co_await g(std::string(\"{\"), 'x', 1'000);",
            "// co_await g({1});\nco_await g(); /* {1} */",
            'co_await g(R"({"a": ? 1})");',
            "if (y) { Point p{1}; } else { co_await g(); }",
            "const Point p = co_await g(a[1], b(2));",
            "try { co_await g(); } catch (const Error& error) { h(Point{1}); }",
            "switch (y) { case 1: co_await g(); break; default: h({1}); }",
            "for (int n : {1, 2}) co_await g(n);",
            "auto t = [](int n) -> Task<void> { co_await g(n); };",
            "Awaiter operator co_await() && { return Awaiter{handle_, false}; }",
        )

    def test_a_fault_is_reported_at_its_line(self):
        self.assertEqual(co_await.faults("Task<void> f() {\n  co_await g(\n    {1});\n}\n"), [(3, co_await.LIST)])


class Rules(unittest.TestCase):
    def faults(self, path, text):
        return list(rules.faults({path: text}))

    def assert_fault(self, path, text, what):
        self.assertTrue(any(what in fault for fault in self.faults(path, text)), self.faults(path, text))

    def assert_fine(self, path, text):
        self.assertEqual(self.faults(path, text), [])

    def test_a_library_stays_in_its_room(self):
        self.assert_fault("sidecar/jupyter/a.cpp", "#include <uv.h>\n", "belongs to the room async")
        self.assert_fault("sidecar/async/a.cpp", "#include <zmq.hpp>\n", "belongs to tests and the bench")
        self.assert_fault("sidecar/gate/a.cpp", " # include <nlohmann/json.hpp>\n", "belongs to the room base")
        self.assert_fine("sidecar/async/a.cpp", "#include <uv.h>\n")
        self.assert_fine("tests/unit/a.cpp", "#include <zmq.hpp>\n")
        self.assert_fine("sidecar/base/a.cpp", "#include <nlohmann/json.hpp>\n")

    def test_an_include_does_not_go_around_the_include_roots(self):
        self.assert_fault("sidecar/gate/a.cpp", '#include "../async/loop.cpp"\n', "around the include roots")
        self.assert_fine("sidecar/gate/a.cpp", '#include "gate/rule.hpp"\n')

    def test_no_callback_and_no_libuv_type_leaves_async(self):
        header = "#pragma once\n// What it is.\n"
        path = "sidecar/async/include/async/a.hpp"
        self.assert_fault(path, header + "uv_stream_t* stream();\n", "uv_stream_t")
        self.assert_fault(path, header + "#include <uv.h>\n", "shows libuv")
        self.assert_fault(path, header + "void read(std::function<void(int)> done);\n", "a callback leaves")
        self.assert_fine(path, header + "// uv_stream_t is inside.\nstruct uv_loop_s;\n")
        self.assert_fine(path, header + "Task<void> run_off_loop(std::function<void()> work);\n")
        self.assert_fine("sidecar/async/uv_handle.hpp", header + "uv_stream_t* stream();\n")

    def test_a_header_opens_with_its_paragraph(self):
        self.assert_fault("sidecar/base/a.hpp", "#pragma once\n#include <map>\n", "opens with a paragraph")
        self.assert_fault("sidecar/base/a.hpp", "// What it is.\nstruct A;\n", "#pragma once")
        self.assert_fine("sidecar/base/a.hpp", "#pragma once\n\n// What it is.\nstruct A;\n")
        self.assert_fine("sidecar/base/a.cpp", "int a;\n")

    def test_no_file_names_the_machine_it_was_written_on(self):
        for text in ("see /" + "work/main", "cd '/" + "tmp/w/x'", "at /" + "work."):
            self.assert_fault("README.md", text + "\n", "a path of one machine")
        self.assert_fine("README.md", "/workspace/a /home/ada/work/b /tmp/wheel https://example.org/work/x\n")

    def test_no_file_names_a_registry(self):
        self.assert_fault("tests/package-lock.json", '"https://registry.npm' + 'js.org/a"', "package registry")
        self.assert_fine("README.md", "https://www.debian.org/ https://www.npmjs.com/\n")


if __name__ == "__main__":
    unittest.main()
