#include "machine.hpp"

#include "base/unique_fd.hpp"
#include "watchdog.hpp"

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace cellgate::sandbox {

namespace fs = std::filesystem;

namespace {

constexpr const char* prelude = R"(
import ctypes, os, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
H, W, S = os.environ["H"], os.environ["W"], os.environ["S"]
def T(attack):
    try:
        result = attack()
    except BaseException as error:
        print("HELD", type(error).__name__, error)
    else:
        print("ESCAPED" if result else "HELD", result)
)";

Task<void> run_to_end(async::Loop* loop, async::Command command, Ran* ran) {
    std::unique_ptr<async::Process> process = async::start_process(*loop, std::move(command));
    process->close_stdin();
    ran->out = co_await read_to_end(&process->stdio());
    ran->status = co_await process->exited();
    ran->error = process->stderr_tail();
}

} // namespace

void on_loop(const std::function<Task<void>(async::Loop&)>& main) {
    async::Loop loop;
    loop.run(main(loop));
}

UniqueFd listen_unix(const std::string& name) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(socket.get(), 8) != 0) {
        throw std::runtime_error("cannot listen at " + name);
    }
    return socket;
}

Task<std::string> read_to_end(ByteStream* stream) {
    std::string all;
    while (true) {
        std::string chunk = co_await stream->read();
        if (chunk.empty()) {
            co_return all;
        }
        all += chunk;
    }
}

Machine::Machine(std::string workspace_name) {
    std::string pattern = (fs::temp_directory_path() / "cellgate-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
        throw std::runtime_error("mkdtemp");
    }
    root = pattern;
    home = root / "home";
    workspace = root / workspace_name;
    session_dir = root / "sessions" / "1";
    fs::create_directories(workspace);
    fs::create_directories(home);
    fs::create_directories(session_dir);
    fs::permissions(session_dir, fs::perms::owner_all);
    write(home / ".ssh/id_rsa", "CANARY");
    write(home / ".bashrc", "user's\n");
    write(workspace / "data.txt", "data");
    write(workspace / ".env", "CANARY");
    write(workspace / ".envrc", "CANARY");
    write(workspace / "deploy/.env.production", "CANARY");
    write(workspace / "deploy/secrets/prod", "CANARY");
    fs::create_symlink("secrets/prod", workspace / "deploy/.env");
    write(workspace / ".git/config", "[core]\n");
    write(workspace / ".git/hooks/pre-commit.sample", "");
    write(workspace / ".mcp.json", "{}");
    write(workspace / "part/.vscode/tasks.json", "{}");
    write(workspace / "mcptools/fs/read_file.py", "user's\n");
    profile.workspace = workspace;
    profile.session_dir = session_dir;
    environment = {{"HOME", home}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}};
}

Machine::~Machine() {
    std::error_code ignored;
    fs::remove_all(root, ignored);
}

Ran Machine::python(Isolation isolation, const std::string& program) {
    async::Command command;
    command.argv = {"/usr/bin/python3", "-c", prelude + program};
    return run(isolation, std::move(command));
}

Ran Machine::run(Isolation isolation, async::Command command) {
    command.environment.insert(variables.begin(), variables.end());
    command.environment.insert({{"H", home}, {"W", workspace}, {"S", session_dir}});
    std::unique_ptr<Launcher> launcher = make_launcher(isolation, environment);
    const Launch launch = launcher->wrap(std::move(command), profile);
    return start(*launcher, launch, patience);
}

Ran Machine::start(const Launcher& launcher, const Launch& launch, std::chrono::seconds patience) {
    Ran ran;
    ran.layers = launch.layers;
    const Watchdog watchdog(patience);
    async::Loop loop;
    loop.run(run_to_end(&loop, launch.command, &ran));
    ran.status = launcher.exit_of(ran.status);
    if (launch.group) {
        ran.memory_kills = launch.group->memory_kills();
        ran.memory_limit_was_met = launch.group->memory_limit_was_met();
    }
    return ran;
}

void Machine::write(const fs::path& path, const std::string& content) const {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
}

std::string Machine::read(const fs::path& path) const {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

std::string Machine::picture_of_workspace() const {
    std::vector<std::string> lines;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(workspace)) {
        lines.push_back(entry.path().string() + (entry.is_regular_file() ? " " + read(entry.path()) : "/"));
    }
    std::sort(lines.begin(), lines.end());
    std::string picture;
    for (const std::string& line : lines) {
        picture += line + "\n";
    }
    return picture;
}

} // namespace cellgate::sandbox
