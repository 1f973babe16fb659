#include "sandbox_check.hpp"

#include "async/process.hpp"
#include "base/escape_unprintable.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "egress/proxy.hpp"
#include "escapes_text.hpp"
#include "gate/gate.hpp"
#include "images/images.hpp"
#include "jupyter/interpreter.hpp"
#include "sandbox/launcher.hpp"
#include "store/directories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace cellgate::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using sandbox::Isolation;

constexpr Duration attempt_timeout = 20s;
constexpr Duration stop_grace = 2s;
constexpr std::size_t max_output_bytes = std::size_t{64} << 10;
constexpr std::size_t max_detail_bytes = 160;
constexpr std::string_view no_layer = "none";
constexpr std::string_view allowed_pattern = "*.allowed.invalid"; // by the proxy of the attempts

// As escapes/main.py lists it, with its names for the limits.
struct AttemptLimits {
    std::optional<std::uint64_t> processes;
    std::optional<std::uint64_t> seconds;
    std::optional<std::uint64_t> memory;
    std::optional<std::uint64_t> disk;
    std::optional<std::uint64_t> file;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("processes", self.processes);
        visit("seconds", self.seconds);
        visit("memory", self.memory);
        visit("disk", self.disk);
        visit("file", self.file);
    }
};

struct Attempt {
    std::string id;
    std::string layer;
    std::map<std::string, std::string> layer_of; // of other launchers; empty: nothing holds it there
    std::string title;
    bool control = false;
    AttemptLimits limits;
    std::optional<std::string> left;
    bool ends = false;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("id", self.id);
        visit("layer", self.layer);
        visit("layerOf", self.layer_of);
        visit("title", self.title);
        visit("control", self.control);
        visit("limits", self.limits);
        visit("left", self.left);
        visit("ends", self.ends);
    }
};

// Of those that a sandbox may have to do without (a launcher that lacks another one starts nothing).
bool is_missing(const std::string& layer, const std::vector<std::string>& layers) {
    return layer == "protected-names" && std::find(layers.begin(), layers.end(), layer) == layers.end();
}

struct AttemptFolders {
    std::string home;
    std::string workspace;
    std::string session;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("home", self.home);
        visit("workspace", self.workspace);
        visit("session", self.session);
    }
};

sandbox::Limits limits_of(const Attempt& attempt) {
    sandbox::Limits limits;
    limits.process_count = attempt.limits.processes;
    limits.cpu_seconds = attempt.limits.seconds;
    limits.memory_bytes = attempt.limits.memory;
    limits.disk_bytes = attempt.limits.disk;
    limits.file_bytes = attempt.limits.file;
    return limits;
}

// One that no workspace decides: it runs without the sandbox, too.
jupyter::Interpreter system_python() {
    for (const char* path : {"/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"}) {
        jupyter::Interpreter python = jupyter::inspect_interpreter(path);
        if (!python.prefix.empty()) {
            return python;
        }
    }
    throw Error(ErrorCode::kernel_not_found, "the attempts need Python, and there is no /usr/bin/python3",
                "On Debian and Ubuntu: sudo apt install python3");
}

std::vector<std::string> escapes_argv(const std::string& python, std::vector<std::string> rest) {
    std::vector<std::string> argv = {python, "-I", "-c", std::string(escapes_text)};
    argv.insert(argv.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
    return argv;
}

gate::GateOptions gate_options(async::Loop& loop, const std::string& folder) {
    gate::GateOptions options;
    options.root = folder + "/places";
    options.policy_directory = folder + "/policy";
    options.run_blocking = [&loop](std::function<void()> work) { return loop.run_blocking(std::move(work)); };
    return options;
}

Task<void> kill_late(Clock* clock, async::Process* process) {
    co_await sleep_for(*clock, attempt_timeout);
    process->kill();
}

struct Ended {
    std::string line; // the first of what it printed
    async::ExitStatus status;
};

// Its standard output is closed by its end, or by the kill that comes when it takes too long.
Task<Ended> read_to_end(async::Process* process) {
    std::string output;
    std::string bytes = co_await process->stdio().read();
    while (!bytes.empty()) {
        output.append(bytes, 0, max_output_bytes - std::min(output.size(), max_output_bytes));
        bytes = co_await process->stdio().read();
    }
    Ended ended;
    ended.status = co_await process->exited();
    ended.line = output.substr(0, output.find('\n'));
    co_return ended;
}

Task<Ended> run_to_end(async::Loop* loop, async::Command command) {
    const std::unique_ptr<async::Process> process = async::start_process(*loop, std::move(command));
    TaskScope tasks;
    tasks.spawn(kill_late(&loop->clock(), process.get()));
    Task<Ended> reading = on_failure(read_to_end(process.get()), process->stop(Duration::zero()));
    co_return co_await finally(std::move(reading), cancel_and_join(tasks));
}

// `escapes/main.py stage`, which stays outside.
class Stage {
  public:
    Stage(async::Loop& loop, const std::string& python, const std::string& folder) {
        async::Command command;
        command.argv = escapes_argv(python, {"stage", folder});
        command.environment = {{"PATH", "/usr/bin:/bin"}};
        process_ = async::start_process(loop, std::move(command));
    }

    Task<RawJson> ask(std::string request) {
        process_->stdio().write(request + "\n");
        std::size_t end = received_.find('\n');
        while (end == std::string::npos) {
            const std::string bytes = co_await process_->stdio().read();
            if (bytes.empty()) {
                throw Error(ErrorCode::internal_error, fmt::format("the stage of the attempts ended: {}",
                                                                   escape_unprintable(process_->stderr_tail(), true)));
            }
            received_ += bytes;
            end = received_.find('\n');
        }
        RawJson answer = RawJson::parse(received_.substr(0, end));
        received_.erase(0, end + 1);
        co_return answer;
    }

    Task<void> close() { co_await process_->stop(stop_grace); }

  private:
    std::unique_ptr<async::Process> process_;
    std::string received_;
};

class SandboxChecker {
  public:
    SandboxChecker(async::Loop& loop, SandboxCheckOptions options, std::string folder)
        : loop_(loop), options_(std::move(options)), traits_(sandbox::traits_of(options_.isolation)),
          folder_(std::move(folder)), python_(system_python()), environment_(process_environment()),
          directories_(store::find_directories(environment_)), hidden_(directories_.all()),
          network_(egress::make_system_network(loop)), gate_(loop.clock(), gate_options(loop, folder_)) {
        environment_["CELLGATE_TEST_SECRET"] = "CANARY";
        protocol::RuleSpec rule;
        rule.effect = protocol::Effect::allow;
        rule.kind = protocol::ActionKind::network;
        rule.host = allowed_pattern;
        gate_.configure(std::move(rule), protocol::RuleSource::command_line);
    }

    Task<void> run(SandboxCheckReport* report) {
        if (!options_.image.empty()) {
            co_await open_image();
        }
        async::Command command;
        command.argv = escapes_argv(python_.executable, {"list"});
        const Ended listed = co_await run_to_end(&loop_, std::move(command));
        const auto attempts = from_json<std::vector<Attempt>>(listed.line, "the list of attempts");
        stage_.emplace(loop_, python_.executable, folder_ + "/places");
        for (const Attempt& attempt : attempts) {
            if (options_.on_progress) {
                options_.on_progress(attempt.id, report->checks.size() + 1, attempts.size());
            }
            SandboxCheck check{attempt.id, attempt.title, layer_here(attempt), {}, {}};
            if (traits_.isolates || attempt.control) {
                check.inside = co_await check_once(attempt, options_.isolation, &report->layers);
            }
            if (check.layer == no_layer && check.inside.status == CheckStatus::escaped) {
                check.inside.status = CheckStatus::lacking;
            }
            if (attempt.control) {
                check.without = co_await check_once(attempt, Isolation::none, nullptr);
            }
            const CheckStatus inside = check.inside.status;
            report->held = report->held && inside != CheckStatus::escaped && inside != CheckStatus::unclear;
            report->checks.push_back(std::move(check));
        }
    }

    Task<void> close() {
        if (stage_) {
            co_await stage_->close();
        }
        co_await gate_.close();
    }

  private:
    Task<void> open_image() {
        images::Images images(loop_, directories_, environment_);
        image_ = co_await images.open(options_.image, [](const std::string&) {});
        image_python_ = sandbox::find_program(*image_, "python3");
        if (!image_python_) {
            throw Error(ErrorCode::kernel_not_found,
                        fmt::format("the attempts need Python, and the image {} has no python3",
                                    escape_unprintable(options_.image)));
        }
    }

    // By which it is held, if it is.
    std::string layer_here(const Attempt& attempt) const {
        const auto other = attempt.layer_of.find(std::string(traits_.name));
        const std::string& layer = other == attempt.layer_of.end() ? attempt.layer : other->second;
        return layer.empty() ? std::string(no_layer) : layer;
    }

    Task<Outcome> check_once(const Attempt& attempt, Isolation isolation, std::vector<std::string>* layers) {
        std::string new_place = R"({"do":"new"})";
        const RawJson folders = co_await stage_->ask(std::move(new_place));
        Outcome outcome = co_await check_in(attempt, from_json<AttemptFolders>(folders, "the place"), folders.text(),
                                            isolation, layers);
        if (attempt.left && outcome.status == CheckStatus::held) {
            std::string look = fmt::format(R"({{"do":"left","what":"{}"}})", *attempt.left);
            const RawJson left = co_await stage_->ask(std::move(look));
            if (left.text() == "true") {
                outcome = Outcome{CheckStatus::escaped, "seen outside"};
            }
        }
        std::string drop = R"({"do":"drop"})";
        co_await stage_->ask(std::move(drop));
        co_return outcome;
    }

    Task<Outcome> check_in(const Attempt& attempt, AttemptFolders folders, std::string place_text, Isolation isolation,
                           std::vector<std::string>* layers) {
        sandbox::Profile profile;
        profile.workspace = folders.workspace;
        profile.session_dir = folders.session;
        profile.read_only = {python_.prefix, python_.base_prefix};
        profile.hidden = hidden_;
        profile.limits = limits_of(attempt);
        environment_["HOME"] = folders.home;
        async::Command command;
        std::string python = python_.executable;
        if (image_ && sandbox::traits_of(isolation).isolates) {
            profile.image = image_;
            profile.read_only.clear();
            command.environment = image_->environment;
            python = *image_python_;
        }
        command.argv = escapes_argv(python, {"attempt", attempt.id, std::move(place_text)});
        if (!sandbox::traits_of(isolation).own_network) {
            co_return co_await attempt_in(attempt, profile, std::move(command), isolation, layers);
        }
        profile.proxy = folders.session + "/net.sock";
        const std::unique_ptr<egress::Proxy> proxy = make_proxy(profile.proxy);
        TaskScope serving;
        serving.spawn(proxy->run());
        co_return co_await finally(attempt_in(attempt, profile, std::move(command), isolation, layers),
                                   end_proxy(proxy.get(), &serving));
    }

    static Task<void> end_proxy(egress::Proxy* proxy, TaskScope* serving) {
        proxy->close();
        co_await serving->join();
    }

    Task<Outcome> attempt_in(const Attempt& attempt, const sandbox::Profile& profile, async::Command command,
                             Isolation isolation, std::vector<std::string>* layers) {
        const std::unique_ptr<sandbox::Launcher> launcher = sandbox::make_launcher(isolation, environment_);
        Outcome outcome;
        std::optional<sandbox::Launch> launch;
        try {
            launch = launcher->wrap(std::move(command), profile);
        } catch (const Error& error) {
            if (error.code != ErrorCode::sandbox_unavailable || !profile.limits.any()) {
                throw;
            }
            // The limit is unavailable here, and no session would start with it.
            outcome.detail = escape_unprintable(error.message);
        }
        if (!launch) {
            co_return outcome;
        }
        if (sandbox::traits_of(isolation).isolates && is_missing(attempt.layer, launch->layers)) {
            outcome.detail = fmt::format("there is no layer {} here: see `cellgate doctor`", attempt.layer);
            co_return outcome;
        }
        if (layers != nullptr && !profile.limits.any()) {
            *layers = launch->layers;
        }
        Ended ended = co_await run_to_end(&loop_, std::move(launch->command));
        ended.status = launcher->exit_of(ended.status);
        co_return judge(attempt, ended);
    }

    static Outcome judge(const Attempt& attempt, const Ended& ended) {
        const std::string said = escape_unprintable(ended.line).substr(0, max_detail_bytes);
        if (said.starts_with("escaped")) {
            return Outcome{CheckStatus::escaped, said};
        }
        if (said.starts_with("held")) {
            return Outcome{CheckStatus::held, said};
        }
        const std::string how = "it ended with " + ended.status.describe();
        return Outcome{attempt.ends && ended.status.signal != 0 ? CheckStatus::held : CheckStatus::unclear, how};
    }

    std::unique_ptr<egress::Proxy> make_proxy(std::string path) {
        egress::ProxyOptions options;
        options.path = std::move(path);
        options.name = "the check";
        options.asker = [](const egress::ConnectionSource&) {
            gate::Request request;
            request.action = gate::Connection();
            return request;
        };
        return std::make_unique<egress::Proxy>(loop_, loop_.clock(), *network_, gate_, std::move(options));
    }

    async::Loop& loop_;
    SandboxCheckOptions options_;
    const sandbox::IsolationTraits& traits_;
    std::string folder_;
    jupyter::Interpreter python_;
    Environment environment_;
    store::Directories directories_;
    std::vector<std::string> hidden_;
    std::shared_ptr<const sandbox::Image> image_;
    std::optional<std::string> image_python_; // its path in there
    std::unique_ptr<egress::Network> network_;
    gate::Gate gate_; // without a user
    std::optional<Stage> stage_;
};

} // namespace

Task<SandboxCheckReport> check_sandbox(async::Loop& loop, SandboxCheckOptions options) {
    const std::string folder = store::make_unique_directory(fs::temp_directory_path(), "cellgate-check-");
    const ScopeExit remove([&folder] { store::remove_tree(folder); });
    fs::create_directory(folder + "/places");
    SandboxChecker checker(loop, std::move(options), folder);
    SandboxCheckReport report;
    co_await finally(checker.run(&report), checker.close());
    co_return report;
}

} // namespace cellgate::cli
