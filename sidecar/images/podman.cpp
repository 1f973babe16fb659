#include "podman.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "base/names.hpp"
#include "base/sync.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace cellgate::images {

namespace {

constexpr std::size_t max_error_bytes = 400;
constexpr std::size_t max_answer_bytes = std::size_t{16} << 20;

// The last lines of what podman said, on one.
std::string last_words(std::string text) {
    text.erase(text.find_last_not_of('\n') + 1);
    std::replace(text.begin(), text.end(), '\n', ' ');
    return escape_unprintable(text.size() > max_error_bytes ? text.substr(text.size() - max_error_bytes) : text);
}

std::string find_podman(const Environment& environment) {
    std::optional<std::string> podman = find_program("podman", environment);
    if (!podman) {
        throw Error(ErrorCode::config_invalid, "images need podman, and there is none on PATH",
                    "Install it: `sudo apt install podman` (Debian, Ubuntu), `sudo dnf install podman` (Fedora).");
    }
    return *podman;
}

Task<void> read_all(async::Process* process, std::function<void(const std::string&)> on_output) {
    std::string bytes;
    do {
        bytes = co_await process->stdio().read();
        if (!bytes.empty()) {
            on_output(bytes);
        }
    } while (!bytes.empty());
    co_await process->exited();
}

// Kills it unless it has ended.
Task<void> end(async::Process* process) {
    process->kill();
    co_await process->exited();
}

struct InspectedConfig {
    std::optional<std::vector<std::string>> env;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("Env", self.env);
    }
};

struct Inspected {
    std::string id;
    std::optional<InspectedConfig> config;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("Id", self.id);
        visit("Config", self.config);
    }
};

} // namespace

Task<PodmanRun> run_podman(async::Loop& loop, const Environment& environment, std::vector<std::string> arguments,
                           std::function<void(const std::string& bytes)> on_output, Streams streams) {
    std::function<std::string()> find = [&environment] { return find_podman(environment); };
    async::Command command;
    command.argv.push_back(co_await loop.run_blocking(std::move(find)));
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.environment = environment;
    command.stderr_to_stdout = streams == Streams::joined;
    const std::unique_ptr<async::Process> process = async::start_process(loop, std::move(command));
    process->close_stdin();
    co_await finally(read_all(process.get(), std::move(on_output)), end(process.get()));
    PodmanRun run;
    run.status = co_await process->exited();
    run.errors = last_words(process->stderr_tail());
    co_return run;
}

Task<std::string> ask_podman(async::Loop& loop, const Environment& environment, std::vector<std::string> arguments) {
    std::string answer;
    const std::string what = arguments.front() == "image" ? "image " + arguments.at(1) : arguments.front();
    std::function<void(const std::string&)> take = [&answer](const std::string& bytes) {
        answer += answer.size() <= max_answer_bytes ? bytes : "";
    };
    const PodmanRun run = co_await run_podman(loop, environment, std::move(arguments), std::move(take));
    if (!run.status.success()) {
        throw Error(ErrorCode::config_invalid, fmt::format("podman {} failed ({}): {}", what, run.status.describe(),
                                                           run.errors.empty() ? "it said nothing" : run.errors));
    }
    co_return answer;
}

Task<PodmanImage> inspect_image(async::Loop& loop, const Environment& environment, std::string name) {
    if (!is_image_name(name)) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected the name of an image, found \"{}\"", escape_unprintable(name)),
                    "Such as localhost/analysis:3.");
    }
    std::string answer;
    std::optional<std::string> failure;
    try {
        std::vector<std::string> arguments = {"image", "inspect", "--format", "json", name};
        answer = co_await ask_podman(loop, environment, std::move(arguments));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        if (error.message.find("image not known") == std::string::npos) {
            throw;
        }
        failure = error.message;
    }
    if (failure) {
        throw Error(
            ErrorCode::config_invalid,
            fmt::format("expected an image {} among those that podman has here, found none", name),
            fmt::format("`podman pull {}` fetches it from a registry, `cellgate image build DIR --tag {}` makes "
                        "one from a Containerfile; cellgate fetches none by itself.",
                        name, name));
    }
    PodmanImage image;
    const auto inspected = from_json<std::vector<Inspected>>(RawJson::parse(answer), "podman's answer");
    if (inspected.size() != 1 || !is_identifier(inspected.front().id)) {
        throw Error(ErrorCode::config_invalid, fmt::format("podman's answer about the image {} names no id", name));
    }
    image.id = inspected.front().id;
    const InspectedConfig config = inspected.front().config.value_or(InspectedConfig());
    for (const std::string& variable : config.env.value_or(std::vector<std::string>())) {
        const std::size_t equals = variable.find('=');
        if (equals != std::string::npos && equals > 0) {
            image.environment[variable.substr(0, equals)] = variable.substr(equals + 1);
        }
    }
    co_return image;
}

} // namespace cellgate::images
