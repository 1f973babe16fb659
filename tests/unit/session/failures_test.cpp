#include "install_notes.hpp"
#include "python_failures.hpp"

#include <doctest/doctest.h>

#include <cerrno>

using namespace cellgate;
using namespace cellgate::session;

namespace {

Failure failure(const std::string& ename, const std::string& evalue, std::vector<std::string> traceback = {},
                const std::string& printed = "", const std::string& code = "") {
    Failure failed;
    failed.error.ename = ename;
    failed.error.evalue = evalue;
    failed.error.traceback = std::move(traceback);
    failed.printed = printed;
    failed.code = code;
    return failed;
}

// "ERRNO PATH", each on a line.
std::string paths(const Failure& failed) {
    std::string text;
    for (const FailedPath& each : failed_paths(failed)) {
        text += std::to_string(each.error) + " " + each.path + "\n";
    }
    return text;
}

} // namespace

TEST_CASE("a module that an import did not find is found, and nothing else") {
    const auto packages = [](const std::string& evalue, const std::string& ename = "ModuleNotFoundError") {
        const std::optional<MissingModule> missing = missing_module(failure(ename, evalue));
        return missing ? missing->packages : std::vector<std::string>{};
    };
    using Names = std::vector<std::string>;
    CHECK(packages("No module named 'pandas'") == Names{"pandas"});
    CHECK(packages("No module named 'sklearn'") == Names{"scikit-learn"});
    for (const char* other :
         {"No module named 'pandas.nope'", "No module named 'json.x'; 'json' is not a package",
          "No module named pandas", "No module named '_tkinter'", "No module named 'tkinter'",
          "No module named 'distutils'", "No module named 'a b'", "No module named 'x; id'",
          "No module named '\u00e9t\u00e9'", "No module named '-r'", "No module named 'pandas'\n", ""}) {
        CAPTURE(std::string(other));
        CHECK(packages(other).empty());
    }
    CHECK(packages("No module named 'pandas'", "ImportError").empty());
    CHECK(packages("No module named '" + std::string(100'000, 'a') + "'").empty());
}

TEST_CASE("wrappers that were not generated are no package to download") {
    for (const char* module : {"mcptools", "mcptools.github"}) {
        const std::optional<MissingModule> missing =
            missing_module(failure("ModuleNotFoundError", std::string("No module named '") + module + "'"));
        REQUIRE(missing);
        CHECK(missing->name == module);
        CHECK(missing->packages.empty());
        CHECK(note_of_missing(*missing, std::nullopt).wrappers == module);
    }
    CHECK_FALSE(missing_module(failure("ModuleNotFoundError", "No module named 'mcptools.a.b'")));
}

TEST_CASE("the paths of Python's errors are found, and nothing else is taken for one") {
    const auto of_text = [](const std::string& evalue) { return paths(failure("OSError", evalue)); };
    CHECK(of_text("[Errno 2] No such file or directory: '/data/iris.csv'") == "2 /data/iris.csv\n");
    CHECK(of_text("[Errno 13] Permission denied: \"it's.txt\"") == "13 it's.txt\n");
    CHECK(of_text("[Errno 30] Read-only file system: 'a' -> '/usr/b'") == "30 a\n30 /usr/b\n");
    for (const char* none :
         {"No such file or directory: '/data'", "[Errno 2] No such file or directory: '/a\\x00b'", "[Errno 2] '/data'",
          "[Errno x] No such file: '/data'", "", "[Errno 2] No such file or directory: '/data' and more",
          "[Errno 99999999999999] No: '/data'"}) {
        CAPTURE(none);
        CHECK(of_text(none).empty());
    }
    CHECK(of_text("[Errno 2] No such file or directory: '" + std::string(100'000, 'a') + "'").empty());
}

TEST_CASE("the exceptions that an exception came from count too") {
    const std::vector<std::string> chained = {
        "\x1b[0;31mFileNotFoundError\x1b[0m                         Traceback (most recent call last)",
        "\x1b[0;31mFileNotFoundError\x1b[0m: [Errno 2] No such file or directory: '/data/x'",
        "\nThe above exception was the direct cause of the following exception:\n",
        "      1 print(\"OSError: [Errno 2] No such file or directory: '/no'\")\n",
        "\x1b[0;31mRuntimeError\x1b[0m: no"};
    CHECK(paths(failure("RuntimeError", "no", chained)) == "2 /data/x\n");
    CHECK(paths(failure("RuntimeError", "no", {std::string(1'000'000, 'x') + "\n", chained[1]})).empty());
    CHECK(paths(failure("RuntimeError", "no", {"\x1b[", "\x1b[0;31"})).empty());
    // What clears a line takes no text with it.
    CHECK(paths(failure("RuntimeError", "no",
                        {"\x1b[KFileNotFoundError: [Errno 2] No such file or directory: '/data/m'"})) == "2 /data/m\n");
}

TEST_CASE("a command that failed: what it complained about, and its words") {
    const std::string printed = "a line\ncat: /data/x: No such file or directory\n"
                                "touch: cannot touch '/usr/y': Read-only file system\nsee: /not/this\n";
    CHECK(paths(failure("CalledProcessError", "Command '['cat', '/data/x', 'b']' returned non-zero exit status 1.", {},
                        printed)) == "2 /data/x\n30 /usr/y\n");
    CHECK(paths(failure("CalledProcessError", "Command 'cat /data/z | wc' returned non-zero exit status 1.")) ==
          "2 /data/z\n");
    CHECK(paths(failure("ValueError", "no", {}, printed)).empty());
    CHECK(paths(failure("CalledProcessError", "Command '/a /b /c /d /e /f'")) == "2 /a\n2 /b\n2 /c\n2 /d\n");
}

TEST_CASE("sqlite names no path; the code may") {
    const std::string code = "import sqlite3\nname = \"/data/x.db\"\nsqlite3.connect(name, 'rel')";
    CHECK(paths(failure("OperationalError", "unable to open database file", {}, "", code)) == "2 /data/x.db\n");
    CHECK(paths(failure("OperationalError", "attempt to write a readonly database", {}, "", code)) ==
          "30 /data/x.db\n");
    CHECK(paths(failure("OperationalError", "no such table: x", {}, "", code)).empty());
}

TEST_CASE("a connection that bypassed the proxy is distinguished from one that it refused") {
    CHECK(bypassed_proxy(failure("OSError", "[Errno 101] Network is unreachable")));
    CHECK(bypassed_proxy(failure("gaierror", "[Errno -3] Temporary failure in name resolution")));
    CHECK(bypassed_proxy(failure("X", "no", {"OSError: [Errno 101] Network is unreachable"})));
    CHECK(bypassed_proxy(failure("CalledProcessError", "x", {}, "curl: (6) Could not resolve host: example.org")));
    CHECK_FALSE(bypassed_proxy(failure("X", "x", {}, "curl: (6) Could not resolve host: example.org")));
    CHECK_FALSE(bypassed_proxy(failure("URLError", "<urlopen error Tunnel connection failed: 403 no>")));
}

TEST_CASE("the last that was printed is kept, and not much of it") {
    LastPrinted printed;
    printed.add(RawJson::checked(R"({"output_type":"stream","name":"stderr","text":"lost"})"));
    for (int i = 0; i < 8; ++i) {
        printed.add(RawJson::checked(R"({"output_type":"stream","name":"stderr","text":"a\n"})"));
    }
    printed.add(RawJson::checked(R"({"text":")" + std::string(5'000, 'b') + "\"}"));
    CHECK(printed.text() == "a\na\na\na\na\na\na\na\n");
}
