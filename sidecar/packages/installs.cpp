#include "packages/installs.hpp"

#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "gate/gate.hpp"
#include "packages/credentials.hpp"
#include "packages/requirements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

namespace cellgate::packages {

namespace {

constexpr const char* system_python = "/usr/bin/python3";
constexpr std::size_t max_output_bytes = std::size_t{16} << 10; // of what is kept: the end
constexpr std::size_t max_line_bytes = 200;

// What a user's environment says about where packages come from.
constexpr std::array index_variables = {
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST",   "PIP_PROXY",  "PIP_CERT",
    "SSL_CERT_FILE", "SSL_CERT_DIR",        "REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy",
    "no_proxy",      "HTTP_PROXY",          "HTTPS_PROXY",        "NO_PROXY"};
// Of these, the ones that name a file or folder.
constexpr std::array certificate_variables = {"PIP_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"};

Environment index_settings(const Environment& environment) {
    Environment chosen;
    for (const char* name : index_variables) {
        const auto found = environment.find(name);
        if (found != environment.end() && !found->second.empty()) {
            chosen.insert(*found);
        }
    }
    return chosen;
}

// pip asks for wheels, but a wheel can name a source package by its URL, and pip would build that. So pip's process can
// start no other one. What pip itself would start (to learn the system's name, say) it can do without.
constexpr const char* without_builds =
    R"(import runpy, sys
def refuse(event, _):
    if event in ("os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
                 "os.system", "pty.spawn", "subprocess.Popen"):
        raise OSError("a package wanted to run code to be built: "
                      "only wheels are taken; "
                      "a user can allow source builds")
sys.addaudithook(refuse)
)";
constexpr const char* own_pip = R"(runpy.run_module("pip", run_name="__main__", alter_sys=True))";
// As pip does it itself for --python, which would start another process.
constexpr const char* other_pip = R"(runpy.run_path(sys.argv.pop(1), run_name="__main__"))";

std::vector<std::string> pip_arguments(const InstallRequest& request) {
    std::vector<std::string> arguments = {"install", "--target", std::string(sandbox::build_place) + "/packages"};
    if (!request.source_builds) {
        arguments.insert(arguments.end(), {"--only-binary", ":all:"});
    }
    arguments.insert(arguments.end(), {"--no-input", "--disable-pip-version-check", "--no-cache-dir", "--"});
    arguments.insert(arguments.end(), request.packages.begin(), request.packages.end());
    return arguments;
}

// The end of a text, from the beginning of a line.
std::string end_of(const std::string& text, bool cut) {
    const std::size_t start = text.size() > max_output_bytes ? text.size() - max_output_bytes : 0;
    if (start == 0 && !cut) {
        return text;
    }
    const std::size_t line = text.find('\n', start);
    return "[…]\n" + (line == std::string::npos ? std::string() : text.substr(line + 1));
}

// What pip itself calls the error, or its last words.
std::string last_words(const std::string& errors) {
    std::string words;
    std::string error;
    std::size_t start = 0;
    while (start < errors.size()) {
        const std::size_t end = std::min(errors.find('\n', start), errors.size());
        const std::string line = errors.substr(start, end - start);
        if (line.find_first_not_of(" \r") != std::string::npos) {
            words = line;
        }
        if (line.starts_with("ERROR: ")) {
            error = line;
        }
        start = end + 1;
    }
    return escape_unprintable(without_credentials(error.empty() ? words : error).substr(0, 2 * max_line_bytes));
}

std::string denial(const gate::Decision& decision) {
    const bool user = decision.by == protocol::ResolvedBy::user;
    return (user ? "nothing was installed, a user said no: " : "nothing was installed: ") + decision.reason;
}

constexpr std::size_t max_waiting = 16;

void require_short_queue(const Mutex& mutex, std::string_view what) {
    if (mutex.waiting() >= max_waiting) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("expected at most {} that wait for {}, found as many already", max_waiting, what),
                    "try again when those have ended");
    }
}

} // namespace

// A program in the build sandbox that has ended.
struct Installs::Ran {
    async::ExitStatus status;
    std::string printed; // on stdout, its end
    std::string output;  // the end of stdout, then that of stderr, as clients may see it
    std::string errors;
    std::vector<std::string> layers;
};

struct Installs::Running {
    std::unique_ptr<async::Process> process;
    std::function<void(const std::string&)> on_line;
    std::string text;
    bool cut = false;
    std::string line;
    Event ended;

    void take(const std::string& bytes) {
        text += bytes;
        if (text.size() > 2 * max_output_bytes) {
            text.erase(0, text.size() - max_output_bytes);
            cut = true;
        }
        for (const char c : bytes) {
            if (c != '\n') {
                line += std::string(line.size() < max_output_bytes ? 1 : 0, c);
            } else if (!line.empty()) {
                if (on_line) {
                    on_line(escape_unprintable(without_credentials(line).substr(0, max_line_bytes)));
                }
                line.clear();
            }
        }
    }
};

Installs::Installs(async::Loop& loop, gate::Gate& gate, const store::Directories& directories, std::string root,
                   Environment environment)
    : loop_(loop), gate_(gate), directories_(directories), root_(std::move(root)),
      environment_(std::move(environment)) {}

sandbox::BuildProfile Installs::profile(const Python& python) const {
    sandbox::BuildProfile profile;
    profile.workspace = root_;
    profile.read_only = python.folders;
    profile.hidden = directories_.all();
    return profile;
}

Task<void> Installs::read_output(std::shared_ptr<Running> running) {
    while (true) {
        const std::string bytes = co_await running->process->stdio().read();
        if (bytes.empty()) {
            break;
        }
        running->take(bytes);
    }
    co_await running->process->exited();
    running->ended.set();
}

// Kills it unless it has ended.
Task<void> Installs::end_program(std::shared_ptr<Running> running, TaskScope* reading) {
    if (!running->ended.is_set()) {
        running->process->kill();
    }
    co_await reading->join();
}

Task<Installs::Ran> Installs::run(async::Command command, sandbox::BuildProfile profile,
                                  std::function<void(const std::string& line)> on_line) {
    std::function<sandbox::Launch()> wrap = [this, &command, &profile] {
        return sandbox::wrap_build(std::move(command), profile, environment_);
    };
    sandbox::Launch launch = co_await loop_.run_blocking(std::move(wrap));
    const auto running = std::make_shared<Running>();
    running->on_line = std::move(on_line);
    running->process = async::start_process(loop_, std::move(launch.command));
    running->process->close_stdin();
    TaskScope reading;
    reading.spawn(read_output(running));
    co_await finally(until_set(running->ended), end_program(running, &reading));
    Ran ran;
    ran.status = co_await running->process->exited();
    ran.errors = running->process->stderr_tail();
    ran.output =
        escape_unprintable(without_credentials(end_of(running->text, running->cut) + end_of(ran.errors, false)), true);
    ran.printed = std::move(running->text);
    ran.layers = std::move(launch.layers);
    co_return ran;
}

Task<std::optional<std::string>> Installs::find_runner(Python python) {
    const std::string executable = python.executable;
    if (const auto known = runners_.find(executable); known != runners_.end()) {
        co_return known->second;
    }
    require_short_queue(inspecting_, "a look at an interpreter");
    const Mutex::Lock lock = co_await inspecting_.lock();
    if (const auto known = runners_.find(executable); known != runners_.end()) {
        co_return known->second;
    }
    std::optional<std::string> found = co_await ask_for_runner(std::move(python));
    if (found) {
        runners_[executable] = *found;
    }
    co_return found;
}

// Without a network: nothing has been agreed to yet.
Task<std::optional<std::string>> Installs::ask_for_runner(Python python) {
    async::Command command;
    command.argv = {python.executable, "-I", "-c",
                    "import importlib.util, os, sys\n"
                    "found = importlib.util.find_spec('pip')\n"
                    "if not (found and found.submodule_search_locations): sys.exit(3)\n"
                    "print(os.path.join(found.submodule_search_locations[0], '__pip-runner__.py'))"};
    sandbox::BuildProfile nothing = profile(python);
    std::function<void(const std::string& line)> nobody;
    const Ran ran = co_await run(std::move(command), std::move(nothing), std::move(nobody));
    constexpr int without = 3;
    if (!ran.status.success() && ran.status.code != without) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("{} could not be asked whether it has pip: {}; {}",
                                escape_unprintable(python.executable), ran.status.describe(), last_words(ran.errors)));
    }
    if (!ran.status.success()) {
        co_return std::nullopt;
    }
    co_return ran.printed.substr(0, ran.printed.find('\n'));
}

// The command up to pip's own arguments. An interpreter without pip (a virtual environment of uv's, say) is served by
// the system's.
Task<std::vector<std::string>> Installs::find_pip(Python python, bool source_builds) {
    std::vector<std::string> command = {python.executable, "-I"};
    const std::optional<std::string> own = co_await find_runner(python);
    if (own) {
        command.emplace_back(source_builds ? "-m" : "-c");
        command.push_back(source_builds ? std::string("pip") : std::string(without_builds) + own_pip);
        co_return command;
    }
    std::error_code error;
    const bool other = python.executable != system_python && std::filesystem::exists(system_python, error);
    if (other) {
        Python of_the_system = python;
        of_the_system.executable = system_python;
        const std::optional<std::string> runner = co_await find_runner(std::move(of_the_system));
        if (runner && source_builds) {
            command.front() = system_python;
            for (const char* part : {"-m", "pip", "--python"}) {
                command.emplace_back(part);
            }
            command.push_back(python.executable);
            co_return command;
        }
        if (runner && std::filesystem::exists(*runner, error)) { // pip 22.3 and newer have it, and --python
            command.emplace_back("-c");
            command.push_back(std::string(without_builds) + other_pip);
            command.push_back(*runner);
            co_return command;
        }
    }
    throw Error(
        ErrorCode::config_invalid,
        fmt::format("expected pip in {} or in {}, found none", escape_unprintable(python.executable), system_python),
        fmt::format("Install it: `sudo apt install python3-pip`, or `{} -m ensurepip` for a virtual "
                    "environment.",
                    escape_unprintable(python.executable)));
}

Task<gate::Decision> Installs::decide(const InstallRequest* request, std::vector<std::string> command) {
    gate::Install install;
    install.command = std::move(command);
    std::vector<std::string> names;
    for (const auto& [name, value] : index_settings(environment_)) {
        names.push_back(name);
    }
    if (!names.empty()) {
        install.environment_names = std::move(names);
    }
    gate::Request question;
    question.action = std::move(install);
    question.session_id = request->session_id;
    question.agent = request->agent;
    gate::Decision decision = co_await gate_.decide(std::move(question));
    if (!decision.allowed) {
        throw Error(ErrorCode::denied, denial(decision),
                    "asking again the same way will not change it; go on without the package, or talk to who said no");
    }
    co_return decision;
}

Task<protocol::PackagesInstallResult> Installs::build(InstallRequest request, std::vector<std::string> command,
                                                      const Packages* packages, const Packages::Build* build) {
    sandbox::BuildProfile where = profile(request.python);
    where.directory = build->directory;
    where.network = sandbox::Network::host;
    async::Command pip;
    pip.argv = std::move(command);
    pip.environment = index_settings(environment_);
    for (const char* name : certificate_variables) {
        const auto found = pip.environment.find(name);
        std::error_code error;
        if (found != pip.environment.end() && found->second.starts_with('/') &&
            std::filesystem::exists(found->second, error)) {
            where.read_only.push_back(found->second);
        }
    }
    // No file says what pip does: those of the user are not there, and one of a virtual environment may be anybody's.
    pip.environment.insert({{"PIP_CONFIG_FILE", "/dev/null"},
                            {"PIP_KEYRING_PROVIDER", "disabled"},
                            {"PIP_NO_COLOR", "1"},
                            {"PIP_PROGRESS_BAR", "off"},
                            {"PIP_ROOT_USER_ACTION", "ignore"},
                            {"TMPDIR", std::string(sandbox::build_place) + "/tmp"}});
    Ran ran = co_await run(std::move(pip), std::move(where), std::move(request.on_line));
    protocol::PackagesInstallResult result;
    result.output = std::move(ran.output);
    result.layers = std::move(ran.layers);
    if (!ran.status.success()) {
        result.status = protocol::InstallStatus::failed;
        result.reason = fmt::format("pip ended with {}: {}", ran.status.describe(), last_words(ran.errors));
        co_return result;
    }
    std::function<std::vector<protocol::InstalledPackage>()> publish = [packages, build] {
        return packages->publish(*build);
    };
    result.installed = co_await loop_.run_blocking(std::move(publish));
    co_return result;
}

Task<protocol::PackagesInstallResult> Installs::install(InstallRequest request) {
    require_requirements(request.packages, request.source_builds);
    std::vector<std::string> command = co_await find_pip(request.python, request.source_builds);
    const std::vector<std::string> arguments = pip_arguments(request);
    command.insert(command.end(), arguments.begin(), arguments.end());
    gate::Decision decision = co_await decide(&request, std::move(command));
    gate::OutcomeReport outcome = gate_.outcome_report(decision);
    // What was matched, hashed and shown; nothing else runs.
    command = std::move(std::get<gate::Install>(decision.action).command);
    protocol::PackagesInstallResult result =
        co_await gate::reporting_failure(outcome, install_allowed(std::move(request), std::move(command)));
    if (result.status == protocol::InstallStatus::failed) {
        outcome.failed(result.reason.value_or(""));
    } else {
        outcome.succeeded();
    }
    co_return result;
}

Task<protocol::PackagesInstallResult> Installs::install_allowed(InstallRequest request,
                                                                std::vector<std::string> command) {
    require_short_queue(building_, "an install");
    const Mutex::Lock lock = co_await building_.lock();
    const Packages packages(directories_, root_, request.python);
    std::function<Packages::Build()> begin = [&packages] { return packages.begin(); };
    const Packages::Build made = co_await loop_.run_blocking(std::move(begin));
    std::function<void()> discard = [&made] { Packages::discard(made); };
    co_return co_await finally(build(std::move(request), std::move(command), &packages, &made),
                               loop_.run_blocking(std::move(discard)));
}

} // namespace cellgate::packages
