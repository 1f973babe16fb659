#include "jupyter/interpreter.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

using namespace cellgate;
using namespace cellgate::jupyter;
using namespace std::chrono_literals;
using cellgate::jupyter::test::TempDirectory;
namespace fs = std::filesystem;

namespace {

// A Python installation as far as files can tell: a program, and a standard library beside it.
void install_python(const TempDirectory& directory, const std::string& prefix) {
    directory.write(prefix + "/lib/python3.11/os.py", "");
    fs::create_directories(directory / (prefix + "/bin"));
    fs::copy_file("/bin/true", directory / (prefix + "/bin/python3.11"));
    fs::create_symlink("python3.11", directory / (prefix + "/bin/python3"));
}

void make_venv(const TempDirectory& directory, const std::string& prefix, const std::string& base,
               const std::string& config) {
    fs::create_directories(directory / (prefix + "/bin"));
    fs::create_symlink(directory / (base + "/bin/python3"), directory / (prefix + "/bin/python"));
    directory.write(prefix + "/pyvenv.cfg", config);
}

struct Probe {
    std::optional<Interpreter> interpreter;
    std::optional<Error> error;
};

Task<void> probe_into(async::Loop* loop, std::string path, Duration timeout, Probe* result) {
    try {
        result->interpreter = co_await probe_interpreter(*loop, path, timeout);
    } catch (const Error& error) {
        result->error = error;
    }
}

Probe probe(const std::string& path, Duration timeout = 20s) {
    async::Loop loop;
    Probe result;
    loop.run(probe_into(&loop, path, timeout, &result));
    return result;
}

} // namespace

TEST_CASE("files tell an installation's prefix, version and ipykernel") {
    const TempDirectory directory;
    install_python(directory, "py");
    Interpreter interpreter = inspect_interpreter(directory / "py/bin/python3");
    CHECK(interpreter.executable == directory / "py/bin/python3");
    CHECK(interpreter.prefix == directory / "py");
    CHECK(interpreter.base_prefix == directory / "py");
    CHECK(interpreter.version == "3.11");
    CHECK(interpreter.kind == InterpreterKind::other);
    CHECK(interpreter.has_ipykernel == false);
    directory.write("py/lib/python3.11/site-packages/ipykernel/__init__.py", "");
    CHECK(inspect_interpreter(directory / "py/bin/python3").has_ipykernel == true);
}

TEST_CASE("a virtual environment is seen with its own packages, and the base's only when it says so") {
    const TempDirectory directory;
    install_python(directory, "py");
    make_venv(directory, "venv", "py", "home = /x\ninclude-system-site-packages = false\nversion = 3.11.2\n");
    directory.write("py/lib/python3.11/site-packages/ipykernel/__init__.py", "");
    Interpreter interpreter = inspect_interpreter(directory / "venv/bin/python");
    CHECK(interpreter.prefix == directory / "venv");
    CHECK(interpreter.base_prefix == directory / "py");
    CHECK(interpreter.kind == InterpreterKind::venv);
    CHECK(interpreter.has_ipykernel == false);
    directory.write("venv/pyvenv.cfg", "include-system-site-packages = true\n");
    CHECK(inspect_interpreter(directory / "venv/bin/python").has_ipykernel == true);
}

TEST_CASE("the hint is the command that works for this kind of interpreter") {
    const TempDirectory directory;
    install_python(directory, "py");
    make_venv(directory, "ve nv", "py", "home = /x\n");
    make_venv(directory, "uv", "py", "home = /x\nuv = 0.5.1\n");
    install_python(directory, "conda");
    fs::create_directories(directory / "conda/conda-meta");
    const auto hint = [&](const std::string& path) { return no_ipykernel(inspect_interpreter(path), false).hint; };
    CHECK(hint(directory / "ve nv/bin/python") ==
          "Install it with: '" + directory / "ve nv/bin/python" + "' -m pip install ipykernel");
    CHECK(hint(directory / "uv/bin/python") ==
          "Install it with: uv pip install --python " + directory / "uv/bin/python" + " ipykernel");
    CHECK(hint(directory / "conda/bin/python3") ==
          "Install it with: conda install -p " + directory / "conda" + " ipykernel");
    CHECK(no_ipykernel(inspect_interpreter(directory / "uv/bin/python"), false)
              .message.find(directory / "uv/bin/python") != std::string::npos);
}

TEST_CASE("Debian's own interpreter is known with its ipykernel, and apt is its installer") {
    const Interpreter interpreter = inspect_interpreter("/usr/bin/python3");
    CHECK(interpreter.prefix == "/usr");
    CHECK(interpreter.kind == InterpreterKind::system);
    CHECK(interpreter.has_ipykernel == true);
    CHECK(no_ipykernel(interpreter, false).hint == "Install it with: sudo apt install python3-ipykernel");
}

TEST_CASE("a link to a program in somebody's home makes that home no prefix") {
    const TempDirectory directory;
    fs::create_directories(directory / "home/bin");
    fs::copy_file("/bin/true", directory / "home/bin/tool");
    fs::create_directories(directory / "ws/.venv/bin");
    fs::create_symlink(directory / "home/bin/tool", directory / "ws/.venv/bin/python");
    directory.write("ws/.venv/pyvenv.cfg", "home = " + directory / "home/bin" + "\n");
    CHECK(inspect_interpreter(directory / "ws/.venv/bin/python").base_prefix.empty());
    CHECK_FALSE(inspect_interpreter(directory / "ws/.venv/bin/python").has_ipykernel);
    // Control: with a standard library there, it is one.
    directory.write("home/lib/python3.11/os.py", "");
    CHECK(inspect_interpreter(directory / "ws/.venv/bin/python").base_prefix == directory / "home");
}

TEST_CASE("a link to a file in somebody's home that poses as the standard library makes that home no prefix") {
    const TempDirectory directory;
    directory.write("home/.ssh/keys/a/id", "");
    directory.write("home/.ssh/keys/os.py", "");
    install_python(directory, "ws/py");
    const std::string os = directory / "ws/py/lib/python3.11/os.py";
    for (const char* target : {"home/.ssh/keys/a/id", "home/.ssh/keys/os.py"}) {
        CAPTURE(target);
        fs::remove(os);
        fs::create_symlink(directory / target, os);
        const Interpreter interpreter = inspect_interpreter(directory / "ws/py/bin/python3");
        CHECK(interpreter.base_prefix.empty());
        CHECK(interpreter.prefix.empty());
    }
    // Control: a link to another installation does.
    install_python(directory, "real");
    fs::remove(os);
    fs::create_symlink(directory / "real/lib/python3.11/os.py", os);
    CHECK(inspect_interpreter(directory / "ws/py/bin/python3").base_prefix == directory / "real");
}

TEST_CASE("looking at a script or at nothing tells nothing, and runs nothing") {
    const TempDirectory directory;
    directory.write("bin/python3", "#!/bin/sh\ntouch " + directory / "ran" + "\n", true);
    CHECK_FALSE(inspect_interpreter(directory / "bin/python3").has_ipykernel);
    CHECK_FALSE(fs::exists(directory / "ran"));
    CHECK_FALSE(inspect_interpreter(directory / "none").has_ipykernel);
    probe(directory / "bin/python3"); // control: probing is what runs it
    CHECK(fs::exists(directory / "ran"));
}

TEST_CASE("an interpreter tells of itself when asked") {
    const TempDirectory directory;
    directory.write("bin/python3", "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n", true);
    const Probe found = probe(directory / "bin/python3");
    REQUIRE(found.interpreter);
    CHECK(found.interpreter->executable == "/usr/bin/python3");
    CHECK(found.interpreter->prefix == "/usr");
    CHECK(found.interpreter->kind == InterpreterKind::system);
    CHECK(found.interpreter->has_ipykernel == true);
}

TEST_CASE("an interpreter's word makes no directory a prefix") {
    const TempDirectory directory;
    fs::create_directories(directory / "secret");
    const auto claim = [&](const std::string& prefix, const std::string& base) {
        directory.write("python3",
                        "#!/bin/sh\necho\necho 'cellgate:{\"executable\":\"/x/python\",\"prefix\":\"" + prefix +
                            "\",\"base_prefix\":\"" + base + "\",\"version\":\"3.11.2\",\"ipykernel\":true}'\n",
                        true);
        return *probe(directory / "python3").interpreter;
    };
    CHECK(claim(directory / "secret", directory / "secret").prefix.empty());
    CHECK(claim(directory / "secret", "/usr").prefix == "/usr");
    CHECK(claim("/", "/").base_prefix == "/usr");       // on systems where /lib is /usr/lib
    directory.write("secret/lib/python3.11/os.py", ""); // control
    CHECK(claim(directory / "secret", directory / "secret").prefix == directory / "secret");
}

TEST_CASE("what is no Python, or does not answer, or answers nonsense, is refused and does not live on") {
    const TempDirectory directory;
    directory.write("sleeper", "#!/bin/sh\nexec sleep 1000\n", true);
    directory.write("liar", "#!/bin/sh\necho\necho 'cellgate:{'\n", true);
    directory.write("flood", "#!/bin/sh\nexec cat /dev/zero\n", true);
    CHECK(probe(directory / "sleeper", 50ms).error->message.find("did not answer") != std::string::npos);
    for (const std::string& path :
         {directory / "liar", directory / "flood", std::string("/bin/true"), directory / "none"}) {
        const Probe result = probe(path);
        REQUIRE(result.error);
        CHECK(result.error->code == ErrorCode::kernel_not_found);
        CHECK(result.error->message.find(path) != std::string::npos);
    }
}

TEST_CASE("a path is inside the workspace by its name, by the location of a link, and by its target") {
    const TempDirectory directory;
    directory.write("ws/tool", "");
    directory.write("wsx/tool", "");
    fs::create_symlink(directory / "ws", directory / "alias");
    fs::create_symlink(directory / "ws/tool", directory / "link-in");
    fs::create_symlink("/bin/true", directory / "ws/link-out");
    for (const std::string name :
         {"ws/tool", "ws/link-out", "alias/tool", "alias/link-out", "link-in", "wsx/../ws/new"}) {
        CAPTURE(name);
        CHECK(is_inside(directory / name, directory / "ws"));
        CHECK(is_inside(directory / name, directory / "ws/"));
    }
    CHECK_FALSE(is_inside(directory / "wsx/tool", directory / "ws"));
    CHECK_FALSE(is_inside(directory / "ws/../wsx/tool", directory / "ws"));
    CHECK_FALSE(is_inside("/usr/bin/python3", directory / "ws"));
}
