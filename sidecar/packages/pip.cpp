#include "packages/pip.hpp"

#include "base/escape_unprintable.hpp"
#include "packages/packages.hpp"
#include "short_queue.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <string_view>

namespace cellgate::packages {

namespace {

constexpr const char* system_python = "/usr/bin/python3";

// What a user's environment says about where packages come from.
constexpr std::array pip_variables = {
    "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_TRUSTED_HOST",   "PIP_PROXY",  "PIP_CERT",
    "SSL_CERT_FILE", "SSL_CERT_DIR",        "REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy",
    "no_proxy",      "HTTP_PROXY",          "HTTPS_PROXY",        "NO_PROXY"};
// Of these, the ones that name a file or folder.
constexpr std::array pip_certificates = {"PIP_CERT", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"};

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

} // namespace

Task<std::optional<std::string>> PipFinder::find_runner(Python python) {
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
Task<std::optional<std::string>> PipFinder::ask_for_runner(Python python) {
    async::Command command;
    command.argv = {python.executable, "-I", "-c",
                    "import importlib.util, os, sys\n"
                    "found = importlib.util.find_spec('pip')\n"
                    "if not (found and found.submodule_search_locations): sys.exit(3)\n"
                    "print(os.path.join(found.submodule_search_locations[0], '__pip-runner__.py'))"};
    sandbox::BuildProfile nothing = profile_;
    nothing.read_only = python.folders;
    TakeLine nobody;
    const BuildOutcome ran = co_await runner_.run(std::move(command), std::move(nothing), std::move(nobody));
    constexpr int without = 3;
    if (!ran.status.success() && ran.status.code != without) {
        throw Error(ErrorCode::config_invalid, fmt::format("{} could not be asked whether it has pip: {}; {}",
                                                           escape_unprintable(python.executable), ran.status.describe(),
                                                           packages::last_words(ran.errors, "ERROR: ")));
    }
    if (!ran.status.success()) {
        co_return std::nullopt;
    }
    co_return ran.printed.substr(0, ran.printed.find('\n'));
}

Task<std::vector<std::string>> PipFinder::find(Python python, bool source_builds) {
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

Pip::Pip(PipFinder& finder, const store::Directories& directories, std::string root, const Environment& environment,
         Python python, std::vector<std::string> packages, bool source_builds)
    : finder_(finder), directories_(directories), root_(std::move(root)),
      index_settings_(chosen_variables(environment, pip_variables)), python_(std::move(python)),
      packages_(std::move(packages)), source_builds_(source_builds) {}

Task<std::vector<std::string>> Pip::find_command() {
    std::vector<std::string> command = co_await finder_.find(python_, source_builds_);
    for (const char* part : {"install", "--target"}) {
        command.emplace_back(part);
    }
    command.push_back(std::string(sandbox::build_place) + "/packages");
    if (!source_builds_) {
        command.emplace_back("--only-binary");
        command.emplace_back(":all:");
    }
    for (const char* part : {"--no-input", "--disable-pip-version-check", "--no-cache-dir", "--"}) {
        command.emplace_back(part);
    }
    command.insert(command.end(), packages_.begin(), packages_.end());
    co_return command;
}

// No file says what pip does: those of the user are not there, and one of a virtual environment may be anybody's.
Environment Pip::environment() const {
    Environment environment = index_settings_;
    environment.insert({{"PIP_CONFIG_FILE", "/dev/null"},
                        {"PIP_KEYRING_PROVIDER", "disabled"},
                        {"PIP_NO_COLOR", "1"},
                        {"PIP_PROGRESS_BAR", "off"},
                        {"PIP_ROOT_USER_ACTION", "ignore"},
                        {"TMPDIR", std::string(sandbox::build_place) + "/tmp"}});
    return environment;
}

std::vector<std::string> Pip::read_only() const {
    std::vector<std::string> paths = python_.folders;
    const std::vector<std::string> certificates = existing_files(index_settings_, pip_certificates);
    paths.insert(paths.end(), certificates.begin(), certificates.end());
    return paths;
}

std::unique_ptr<PackageFolder> Pip::open_folder() const {
    return std::make_unique<Packages>(directories_, root_, python_);
}

std::string Pip::last_words(const std::string& errors) const {
    return packages::last_words(errors, "ERROR: ");
}

} // namespace cellgate::packages
