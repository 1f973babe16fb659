"""The rules find what they are about and leave its neighbours alone: for each, samples that break it and, as the
control, the nearest that do not."""

import unittest

import co_await
import names
import prose
import rules
import sizes

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
        return [str(fault) for fault in rules.faults({path: text})]

    def assert_fault(self, path, text, what):
        self.assertTrue(any(what in fault for fault in self.faults(path, text)), self.faults(path, text))

    def assert_fine(self, path, text):
        self.assertEqual(self.faults(path, text), [])

    def test_a_library_stays_in_its_module(self):
        self.assert_fault("sidecar/jupyter/a.cpp", "#include <uv.h>\n", "belongs to the module async")
        self.assert_fault("sidecar/async/a.cpp", "#include <zmq.hpp>\n", "belongs to tests and the bench")
        self.assert_fault("sidecar/gate/a.cpp", " # include <nlohmann/json.hpp>\n", "belongs to the module base")
        self.assert_fine("sidecar/async/a.cpp", "#include <uv.h>\n")
        self.assert_fine("tests/unit/a.cpp", "#include <zmq.hpp>\n")
        self.assert_fine("sidecar/base/a.cpp", "#include <nlohmann/json.hpp>\n")

    def test_an_include_does_not_go_around_the_include_roots(self):
        self.assert_fault("sidecar/gate/a.cpp", '#include "../async/loop.cpp"\n', "around the include roots")
        self.assert_fine("sidecar/gate/a.cpp", '#include "gate/rule.hpp"\n')

    def test_no_callback_and_no_libuv_type_leaves_async(self):
        header = "#pragma once\n// `A` is a stream.\n"
        path = "sidecar/async/include/async/a.hpp"
        self.assert_fault(path, header + "uv_stream_t* stream();\n", "uv_stream_t")
        self.assert_fault(path, header + "#include <uv.h>\n", "shows libuv")
        self.assert_fault(path, header + "void read(std::function<void(int)> done);\n", "a callback leaves")
        self.assert_fine(path, header + "// uv_stream_t is inside.\nstruct uv_loop_s;\n")
        self.assert_fine(path, header + "Task<void> run_blocking_job(std::function<void()> work);\n")
        self.assert_fine("sidecar/async/uv_handle.hpp", header + "uv_stream_t* stream();\n")

    def test_only_the_sandbox_compares_kinds_of_sandboxes(self):
        for code in ("if (a.kind == sandbox::Isolation::none) {}", "bool b = Isolation::bwrap != kind;",
                     "switch (k) { case protocol::SandboxKind::none: break; }"):
            self.assert_fault("sidecar/session/a.cpp", code, "a kind of sandbox")
            self.assert_fine("sidecar/sandbox/a.cpp", code)
        self.assert_fine("sidecar/session/a.cpp", "options.kind = sandbox::Isolation::none; // == Isolation::none\n")

    def test_a_header_opens_with_its_paragraph(self):
        self.assert_fault("sidecar/base/a.hpp", "#pragma once\n#include <map>\n", "opens with a paragraph")
        self.assert_fault("sidecar/base/a.hpp", "// `A` is a stream.\nstruct A;\n", "#pragma once")
        self.assert_fine("sidecar/base/a.hpp", "#pragma once\n\n// `A` is a stream.\nstruct A;\n")
        self.assert_fine("sidecar/base/a.cpp", "int a;\n")

    def test_a_header_opens_with_a_subject_and_a_verb(self):
        for opening in (
            "What paths resolve to. Looking at one can block.",
            "Messages in a stream of bytes. Two framings: one, two.",
            "Paths as the mount table sees them: absolute.",
            "Why a sandbox is as it is: the causes.",
            "One connection, from its first byte to its last.",
            "Looks out for the first line of a request.",
            "`Peer`: one conversation.",
            "The gate: it is the one that decides.",
        ):
            with self.subTest(opening=opening):
                self.assert_fault("sidecar/base/a.hpp", f"#pragma once\n// {opening}\nstruct A;\n", "has no subject")
        for opening in (
            "`Peer` is one JSON-RPC conversation: typed calls.",
            "`Mutex` and `Semaphore` are what coroutines wait for.",
            "`sha256`, `hmac` and\n// `base64` turn bytes into text.",
            "Peer is one conversation.",
            "RuleBook holds the rules.",
            "read_file() reads a whole file.",
            "The gate is the policy decision point.",
            "Notes are remarks on a cell's output.",
        ):
            with self.subTest(opening=opening):
                self.assert_fine("sidecar/base/a.hpp", f"#pragma once\n// {opening}\nstruct A;\n")

    def test_no_file_names_the_machine_it_was_written_on(self):
        for text in ("see /" + "work/main", "cd '/" + "tmp/w/x'", "at /" + "work."):
            self.assert_fault("README.md", text + "\n", "a path of one machine")
        self.assert_fine("README.md", "/workspace/a /home/ada/work/b /tmp/wheel https://example.org/work/x\n")

    def test_no_file_names_a_registry(self):
        self.assert_fault("tests/package-lock.json", '"https://registry.npm' + 'js.org/a"', "package registry")
        self.assert_fine("README.md", "https://www.debian.org/ https://www.npmjs.com/\n")

    def test_a_document_names_files_that_exist(self):
        others = ("docs/images/a.png", "docs/b.md", "tests/unit/gate/a_test.cpp", "schemas/$.json")

        def found(text, path="docs/a.md"):
            return [str(fault) for fault in rules.faults({path: text}, others)]

        for text, what in (
            ("See `tests/unit/gate/b_test.cpp`.", "there is no tests/unit/gate/b_test.cpp"),
            ("`python3 tests/unit/x.py FILE`", "there is no tests/unit/x.py"),
            ("in `tests/unit/gates/`", "there is no tests/unit/gates/"),
            ("`tests/*/a_test.py`", "there is no tests/*/a_test.py"),
            ("`tests/unit/<module>/b.cpp`", "there is no tests/unit/<module>/b.cpp"),
            ("one\n[b](c.md#part)", "docs/a.md:2: there is no docs/c.md"),
            ("![a](../images/a.png)", "there is no images/a.png"),
        ):
            with self.subTest(text=text):
                self.assertEqual(len(found(text)), 1)
                self.assertIn(what, found(text)[0])
        for text in (
            "`tests/unit/gate/a_test.cpp`, `tests/unit/gate`, `tests/unit/` and `/tests/x`",
            "`build/tests/unit/x` and `tests` and tests/unit/x",
            "`tests/*/a_test.cpp`, `tests/unit/<module>/a_test.cpp`, `schemas/$.json`, `vi tests/unit/gate/a_test.cpp`",
            "[b](b.md#part) [here](#part) ![a](images/a.png) [c](https://example.org/c.md)",
        ):
            with self.subTest(text=text):
                self.assertEqual(found(text), [])
        self.assertEqual(found("`tests/gone.py`", "CHANGELOG.md"), [])
        self.assertEqual(found("# `tests/gone.py`\n", "docs/a.py"), [])



class Names(unittest.TestCase):
    def found(self, path, text):
        return [what for _, what in names.faults(path, text)]

    def assert_old(self, path, text, new):
        with self.subTest(path=path, text=text):
            self.assertTrue(any(new in what for what in self.found(path, text)), self.found(path, text))

    def assert_fine(self, path, text):
        with self.subTest(path=path, text=text):
            self.assertEqual(self.found(path, text), [])

    def test_a_name_that_means_nothing_else_is_refused_everywhere(self):
        for path in ("sidecar/base/a.cpp", "editors/vscode/src/a.ts", "editors/neovim/lua/a.lua", "tests/dev/a.py",
                     "docs/a.md", "schemas/protocol.json", "CMakeLists.txt", "dev"):
            self.assert_old(path, "a person answers", "user")
            self.assert_old(path, "the rule of the house", "codebase")
        self.assert_old("sidecar/service/a.hpp", "// As told_origins says.", "ConnectionAttribution")
        self.assert_old("sidecar/async/a.cpp", "x = most_bytes;", "max_…")
        self.assert_old("editors/vscode/src/a.ts", "const mostBytes = 1;", "max…")
        self.assert_old("docs/a.md", "**Decided lately** lists", "decision history")
        self.assert_old("schemas/protocol.json", '"guarded-files"', "protected-files")

    def test_it_is_refused_as_a_whole_word_only(self):
        self.assert_fine("docs/a.md", "a warehouse, personal, outdoors, math.floor(x), room for two, almost_there")
        self.assert_fine("sidecar/base/a.cpp", "warehouse(); personal(); at_once_more(); utmost_bytes();")
        self.assert_old("sidecar/base/a.cpp", "close_doors(); gate_house(); isPerson(); by_person();", "user")

    def test_an_english_word_is_refused_as_the_identifier_where_it_was(self):
        for path, text, new in (
            ("sidecar/egress/a.cpp", "co_await part();", "drain_and_close"),
            ("sidecar/helper/a.cpp", "if (policy.keeps(place)) {}", "denies_create"),
            ("sidecar/egress/a.hpp", "struct Route {};", "Upstream"),
            ("sidecar/sandbox/a.cpp", "apply(Hold{1});", "ResourceLimits"),
            ("sidecar/gate/a.cpp", "const Place place{};", "RequestContext"),
            ("tests/unit/store/a.cpp", "struct Place {};", "RequestContext"),
            ("sidecar/session/a.cpp", "std::shared_ptr<Start> start;", "KernelInstance"),
            ("editors/neovim/lua/cellgate/a.lua", "apart[id] = true", "ungrouped"),
            ("editors/neovim/lua/cellgate/a.lua", "---@param item cellgate.Waiting", "PendingApproval"),
            ("editors/vscode/src/a.ts", "private offer: Offer = {};", "PageState"),
            ("editors/vscode/src/a.ts", 'import { a } from "../life/b";', "connectionStatus"),
            ("tests/integration/a.py", "class Files(Place): pass", "TestWorkspace"),
            ("tests/integration/a.py", "# until PATIENCE is over", "TIMEOUT"),
        ):
            self.assert_old(path, text + "\n", new)
        for path, text in (
            ("sidecar/egress/a.cpp", "// The last part (of it) keeps to the Route.\nlog(\"Hold on\");"),
            ("sidecar/gate/a.cpp", "co_await part(); Hold hold; Route route; policy.keeps(1);"),
            ("sidecar/helper/a.cpp", "Place place; Caller caller;"),
            ("sidecar/session/a.cpp", "const egress::ConnectionSource::Start& start;"),
            ("editors/neovim/lua/cellgate/a.lua", "-- set apart\nlocal words = 'x sets it apart'"),
            ("editors/vscode/src/a.ts", "// Offer what waits. Choices stay: Offer both.\nconst text = 'Standing';"),
            ("tests/integration/a.py", "# Place it\ntext = 'Place'"),
            ("sidecar/mcp/a.cpp", "return at_once(1);"),
        ):
            self.assert_fine(path, text + "\n")

    def test_files_are_not_called_by_old_names(self):
        self.assert_old("editors/neovim/lua/cellgate/opened.lua", "", "open_files.lua")
        self.assert_old("editors/vscode/src/comforts/index.ts", "", "kernelAssist")
        self.assert_fine("editors/neovim/lua/cellgate/open_files.lua", "")

    def test_the_history_and_words_of_others_keep_theirs(self):
        self.assert_fine("CHANGELOG.md", "The role `person` is now `user`.")
        self.assert_fine("tests/fixtures/mcp-tools/a.json", '"a person in the house"')


class Sizes(unittest.TestCase):
    def found(self, path, text):
        return [(line, what.split(" has ")[0]) for line, what in sizes.faults(path, text)]

    def assert_function(self, path, before, opening, closing, name):
        """With 60 lines it is fine, with 61 it is not."""
        for lines, found in ((60, []), (61, [(before.count("\n") + 1, name)])):
            text = before + opening + "\n" * (lines - opening.count("\n") - 1) + closing + "\n"
            with self.subTest(opening=opening, lines=lines):
                self.assertEqual(self.found(path, text), found)

    def test_no_file_has_more_than_500_lines(self):
        for path in ("sidecar/base/a.cpp", "tests/a.hpp", "editors/a.ts", "tests/a.mjs", "editors/a.lua", "tests/a.py"):
            self.assertEqual(self.found(path, "\n" * 501), [(1, "the file")])
            self.assertEqual(self.found(path, "\n" * 500), [])
        self.assertEqual(self.found("docs/a.md", "\n" * 501), [])

    def test_what_a_program_makes_and_tables_of_system_calls_may_be_longer(self):
        for path, text in (
            ("editors/a.ts", "// Every message. Made from schemas/ by `generate.py`; a change belongs there.\n"),
            ("editors/a.lua", "---@meta\n-- Made from schemas/protocol.json by a.py; do not edit.\n"),
            ("tests/a.py", "# Generated by b.py.\n"),
            ("sidecar/sandbox/filters/guard_rules.cpp", ""),
        ):
            self.assertEqual(self.found(path, text + "\n" * 501), [])
        self.assertEqual(self.found("tests/a.py", "x = 1\n# Generated by b.py.\n" + "\n" * 500), [(1, "the file")])
        self.assertEqual(self.found("sidecar/sandbox/filter.cpp", "\n" * 501), [(1, "the file")])

    def test_functions_of_cpp_have_at_most_60_lines(self):
        for before, opening, name in (
            ("int a;\n", "int f() {", "f"),
            ("namespace a::b {\n\n", "template <class T>\nTask<int> Gate::ask(T x, int n = g({1})) const noexcept {",
             "Gate::ask"),
            ("struct A : B<C> {\npublic:\n", "explicit A(int x) : a_{x}, b_(x), c_{{x}} {", "A"),
            ("class A final {\nint a{1};\n", "bool operator()(int x) const {", "operator"),
            ("enum class E { a, b };\nconst int table[] = {1, 2};\n", "auto f(std::function<int()> g) -> std::vector<int> {", "f"),
            ('// a "brace" {\nconst char* c = "{"; char d = \'{\';\n', "static void f(\n    int a,\n    int b) {", "f"),
            ("#define X {\n", 'TEST_CASE("a; {b}") {', '"a; {b}"'),
            ('extern "C" {\n', "void f() try {", "f"),
            ("int a;\n", "const auto f = [](int n) {", "f"),
        ):
            self.assert_function("sidecar/base/a.cpp", before, opening, "}", name)

    def test_a_lambda_counts_with_its_function_and_a_scope_is_no_function(self):
        inner = "void f() {\n  g([] {" + "\n" * 58 + "  });\n}\n"
        self.assertEqual(self.found("a.cpp", inner), [(1, "f")])
        members = "struct A {\n" + "void f() {}\n" * 70 + "};\nconst int table[] = {" + "1,\n" * 70 + "};\n"
        self.assertEqual(self.found("a.cpp", members), [])

    def test_functions_of_lua_have_at_most_60_lines(self):
        for opening in ("local function f(a)", "function M.f()", "M.f = function()", "local function f() if x then y() end"):
            name = {"l": "f", "f": "M.f", "M": "M.f ="}[opening[0]]
            self.assert_function("a.lua", "local a = 'function' -- if\nfor _ in x do while y do z() end end\n", opening, "end", name)
        text = "it('a', function()\nrepeat\n local s = [[ end ]]" + "\n" * 58 + "until x\nend)"
        self.assertEqual([line for line, _ in self.found("a.lua", text)], [1])

    def test_functions_of_python_have_at_most_60_lines(self):
        self.assert_function("a.py", "class A:\n    x = 1\n", "    def f(self):\n        pass", "        pass", "f")
        self.assert_function("a.py", "", "async def f(\n    a,\n):\n    pass", "    pass", "f")

    def test_what_is_long_in_typescript_is_left_to_eslint(self):
        self.assertEqual(self.found("a.ts", "function f() {" + "\n" * 70 + "}\n"), [])


class Prose(unittest.TestCase):
    def found(self, path, text):
        return [(line, what.split("”")[0][1:]) for line, what in prose.faults(path, text)]

    def test_words_to_avoid_are_found_in_comments_documents_and_messages(self):
        for path, text in (
            ("a.cpp", "int a; // Every client is told.\n"),
            ("a.cpp", 'throw Error("every client is told");\n'),
            ("a.ts", "/** Every client is told. */\n"),
            ("a.ts", "show(`every client is told`);\n"),
            ("a.lua", "local a --- Every client is told.\n"),
            ("a.py", '"""Every client is told."""\n'),
            ("a.md", "Every client is told.\n"),
            ("schemas/protocol.json", '{"description": "Every client is told."}\n'),
        ):
            with self.subTest(path=path, text=text):
                self.assertEqual(self.found(path, text), [(1, "is told")])
        text = "It goes with the session. Whoever asks. Nobody. It leads to a file. Read anew. It can be had. It lies in a folder.\n"
        self.assertEqual(len(self.found("a.md", text)), 7)

    def test_a_phrase_may_be_cut_by_a_new_line(self):
        self.assertEqual(self.found("a.cpp", "// Every client is\n    // told.\n"), [(1, "is told")])
        self.assertEqual(self.found("a.lua", "-- Every client is\n-- told.\n"), [(1, "is told")])

    def test_code_and_neighbours_are_left_alone(self):
        for path, text in (
            ("a.cpp", "const int nobody = whoever(anew); // nothing\n"),
            ("a.py", 'nobody = 1\npwd.getpwnam("nobody")\n'),
            ("a.md", "Streams are told apart, and told from others: they are told from them. It stands for one. It goes without. The name `nobody` is the system's.\n"),
            ("CMakeLists.txt", "# nobody\n"),
        ):
            with self.subTest(path=path, text=text):
                self.assertEqual(self.found(path, text), [])


if __name__ == "__main__":
    unittest.main()
