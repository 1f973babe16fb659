#include "jupyter/interpreter.hpp"

#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/paths.hpp"
#include "base/regular_file.hpp"
#include "base/shell_words.hpp"
#include "base/sync.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace cellgate::jupyter {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

// The probe's answer. It does not import ipykernel.
constexpr std::string_view probe_code = R"(
import sys
try:
    from importlib.util import find_spec
    found = find_spec("ipykernel") is not None
except Exception:
    found = False
import json
answer = {"executable": sys.executable, "prefix": sys.prefix, "base_prefix": sys.base_prefix,
          "version": "%d.%d.%d" % sys.version_info[:3], "ipykernel": found}
sys.stdout.write("\ncellgate:" + json.dumps(answer) + "\n")
)";
constexpr std::string_view probe_mark = "\ncellgate:";
constexpr std::size_t max_answer_bytes = 1 << 20;

struct ProbeAnswer {
    std::string executable;
    std::string prefix;
    std::string base_prefix;
    std::string version;
    bool ipykernel = false;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("executable", self.executable);
        visit("prefix", self.prefix);
        visit("base_prefix", self.base_prefix);
        visit("version", self.version);
        visit("ipykernel", self.ipykernel);
    }
};

// The `key = value` lines of a pyvenv.cfg.
Environment read_pyvenv(const fs::path& path) {
    Environment values;
    constexpr std::size_t max_bytes = 65536;
    std::istringstream file(read_regular_file(path, max_bytes).bytes);
    const auto trimmed = [](std::string_view text) { return std::string(trim(text, " \t\r")); };
    constexpr int max_lines = 100;
    std::string line;
    for (int count = 0; count < max_lines && std::getline(file, line); ++count) {
        const std::size_t equals = line.find('=');
        if (equals != std::string::npos) {
            values[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
        }
    }
    return values;
}

bool is_elf(const fs::path& path) {
    constexpr std::string_view magic = "\x7f"
                                       "ELF";
    return read_regular_file(path, magic.size()).bytes == magic;
}

// "python3.11" in `<prefix>/lib`, of the version that `executable` has in its name, else the only one.
std::optional<std::string> library_of(const fs::path& prefix, const fs::path& executable) {
    std::error_code error;
    const std::string named = executable.filename();
    if (named.starts_with("python3.") && fs::is_regular_file(prefix / "lib" / named / "os.py", error)) {
        return named;
    }
    std::optional<std::string> only;
    for (fs::directory_iterator each(prefix / "lib", error), end; !error && each != end; each.increment(error)) {
        const std::string name = each->path().filename();
        std::error_code ignored;
        if (name.starts_with("python3.") && fs::is_regular_file(each->path() / "os.py", ignored)) {
            if (only) {
                return std::nullopt;
            }
            only = name;
        }
    }
    return only;
}

// The resolved prefix of the standard library; empty when `prefix` has none. Links may point to it (Debian's /lib, a
// link farm), but the target must be named like an installation: a link called os.py to a file in a home directory does
// not make the folder three levels above it a prefix.
std::string real_base_prefix(const fs::path& prefix, const fs::path& executable) {
    const std::optional<std::string> library = library_of(prefix, executable);
    if (!library) {
        return {};
    }
    std::error_code error;
    const fs::path os = fs::canonical(prefix / "lib" / *library / "os.py", error);
    const fs::path directory = os.parent_path().parent_path();
    const bool installed = !error && os.filename() == "os.py" && os.parent_path().filename() == *library &&
                           (directory.filename() == "lib" || directory.filename() == "lib64");
    const fs::path real = directory.parent_path();
    return !installed || real == "/" ? std::string() : real.string();
}

bool is_debian_system(const fs::path& base_prefix) {
    return base_prefix == "/usr" && fs::exists("/etc/debian_version") && fs::exists("/usr/lib/python3/dist-packages");
}

std::vector<fs::path> site_directories(const fs::path& prefix, const fs::path& library) {
    std::vector<fs::path> directories = {prefix / "lib" / library / "site-packages",
                                         prefix / "lib64" / library / "site-packages"};
    if (is_debian_system(prefix)) {
        directories.emplace_back("/usr/local/lib" / library / "dist-packages");
        directories.emplace_back("/usr/lib/python3/dist-packages");
    }
    return directories;
}

bool holds_ipykernel(const std::vector<fs::path>& directories) {
    return std::any_of(directories.begin(), directories.end(), [](const fs::path& directory) {
        std::error_code error;
        return fs::is_regular_file(directory / "ipykernel/__init__.py", error);
    });
}

// The directory with the pyvenv.cfg of `executable`, where Python itself looks for it; empty when there is none.
fs::path venv_of(const fs::path& executable) {
    std::error_code error;
    for (const fs::path& directory : {executable.parent_path(), executable.parent_path().parent_path()}) {
        if (fs::is_regular_file(directory / "pyvenv.cfg", error)) {
            return directory;
        }
    }
    return {};
}

InterpreterKind kind_of(const fs::path& prefix, const fs::path& base_prefix) {
    std::error_code error;
    if (fs::is_directory(prefix / "conda-meta", error)) {
        return InterpreterKind::conda;
    }
    const Environment pyvenv = read_pyvenv(prefix / "pyvenv.cfg");
    if (!pyvenv.empty()) {
        return pyvenv.contains("uv") ? InterpreterKind::uv_venv : InterpreterKind::venv;
    }
    return is_debian_system(base_prefix) ? InterpreterKind::system : InterpreterKind::other;
}

Error no_answer(const std::string& path, const std::string& found) {
    return Error(ErrorCode::kernel_not_found,
                 fmt::format("expected a Python 3 interpreter, found {}: {}", found, escape_unprintable(path)),
                 "Name an interpreter of Python 3.7 or later.");
}

Task<void> end(async::Process* process) {
    process->kill();
    co_await process->exited();
}

Task<std::string> read_answer(async::Process* process) {
    std::string answer;
    while (answer.size() < max_answer_bytes) {
        const std::string bytes = co_await process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        answer += bytes;
    }
    co_return answer;
}

} // namespace

Interpreter inspect_interpreter(const std::string& path) {
    Interpreter interpreter;
    interpreter.executable = path;
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    if (error || !is_elf(real)) {
        return interpreter; // A script, such as pyenv's shims, decides only when it runs.
    }
    interpreter.base_prefix = real_base_prefix(real.parent_path().parent_path(), real);
    if (interpreter.base_prefix.empty()) {
        return interpreter;
    }
    const std::optional<std::string> library = library_of(interpreter.base_prefix, real);
    if (!library) {
        return interpreter;
    }
    interpreter.version = library->substr(std::string_view("python").size());
    const fs::path venv = venv_of(path);
    interpreter.prefix = venv.empty() ? interpreter.base_prefix : venv.string();
    interpreter.kind = kind_of(interpreter.prefix, interpreter.base_prefix);
    std::vector<fs::path> sites = site_directories(interpreter.prefix, *library);
    if (!venv.empty() && read_pyvenv(venv / "pyvenv.cfg")["include-system-site-packages"] == "true") {
        const std::vector<fs::path> base = site_directories(interpreter.base_prefix, *library);
        sites.insert(sites.end(), base.begin(), base.end());
    }
    interpreter.has_ipykernel = holds_ipykernel(sites);
    return interpreter;
}

Task<Interpreter> probe_interpreter(async::Loop& loop, std::string path, Duration timeout) {
    async::Command command;
    command.argv = {path, "-I", "-c", std::string(probe_code)};
    const char* search = std::getenv("PATH");
    const char* home = std::getenv("HOME");
    command.environment = {{"LANG", "C.UTF-8"},
                           {"PATH", search != nullptr ? search : "/usr/bin:/bin"}, // for shims, which are scripts
                           {"HOME", home != nullptr ? home : "/"}};
    command.cwd = "/"; // so that no file of a workspace (`.python-version`) is found
    std::unique_ptr<async::Process> process;
    try {
        process = async::start_process(loop, std::move(command));
    } catch (const Error& error) {
        throw no_answer(path, error.message);
    }
    Task<std::optional<std::string>> reading = with_timeout(loop.clock(), timeout, read_answer(process.get()));
    const std::optional<std::string> answer = co_await finally(std::move(reading), end(process.get()));
    if (!answer) {
        throw no_answer(path, fmt::format("a program that did not answer within {} seconds", to_seconds(timeout)));
    }
    const std::size_t start = answer->rfind(probe_mark);
    const std::string_view text =
        start == std::string::npos ? "" : std::string_view(*answer).substr(start + probe_mark.size());
    if (check_json(text)) {
        throw no_answer(path, "a program that did not answer as Python 3");
    }
    ProbeAnswer said = from_json<ProbeAnswer>(text, "the interpreter's answer");
    Interpreter interpreter;
    interpreter.executable = said.executable.starts_with('/') ? std::move(said.executable) : path;
    interpreter.version = std::move(said.version);
    interpreter.has_ipykernel = said.ipykernel;
    // Its own answer is not enough to make a directory visible to a kernel.
    interpreter.base_prefix = real_base_prefix(said.base_prefix, interpreter.executable);
    if (said.prefix != said.base_prefix && !read_pyvenv(fs::path(said.prefix) / "pyvenv.cfg").empty()) {
        interpreter.prefix = std::move(said.prefix);
    } else {
        interpreter.prefix = interpreter.base_prefix;
    }
    interpreter.kind = kind_of(interpreter.prefix, interpreter.base_prefix);
    co_return interpreter;
}

Error no_ipykernel(const Interpreter& interpreter, bool from_workspace) {
    const std::string python = shell_word(interpreter.executable);
    std::string command;
    switch (interpreter.kind) {
    case InterpreterKind::system:
        command = "sudo apt install python3-ipykernel";
        break;
    case InterpreterKind::uv_venv:
        command = fmt::format("uv pip install --python {} ipykernel", python);
        break;
    case InterpreterKind::conda:
        command = fmt::format("conda install -p {} ipykernel", shell_word(interpreter.prefix));
        break;
    case InterpreterKind::venv:
    case InterpreterKind::other:
        command = fmt::format("{} -m pip install ipykernel", python);
        break;
    }
    return Error(
        ErrorCode::kernel_not_found,
        fmt::format("expected ipykernel in the interpreter {}, found none", escape_unprintable(interpreter.executable)),
        fmt::format("{}nstall it with: {}",
                    from_workspace ? "It is in the workspace, where code in a kernel may have put it, and this runs it "
                                     "outside the sandbox. If the environment is yours, i"
                                   : "I",
                    escape_unprintable(command)));
}

bool is_inside(const std::string& path, const std::string& workspace) {
    std::error_code error;
    const fs::path here = fs::absolute(path).lexically_normal();
    fs::path lexical = fs::absolute(workspace).lexically_normal();
    if (!lexical.has_filename()) {
        lexical = lexical.parent_path(); // "/a/" is "/a"
    }
    const std::string real_workspace = fs::weakly_canonical(lexical, error);
    const fs::path real_name = fs::weakly_canonical(here.parent_path(), error) / here.filename();
    const fs::path real = fs::weakly_canonical(here, error);
    return is_within(here.native(), lexical.native()) || is_within(real_name.native(), real_workspace) ||
           is_within(real.native(), real_workspace);
}

} // namespace cellgate::jupyter
