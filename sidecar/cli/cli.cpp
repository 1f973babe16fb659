#include "cli/cli.hpp"

#include "all_commands.hpp"
#include "argument_error.hpp"
#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "config_file.hpp"
#include "parse_error_text.hpp"
#include "program_to_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

namespace cellgate::cli {

namespace {

// How the protocol's errors name a parameter, which the command's reader has not written.
constexpr std::string_view parameter_prefix = "params.";

void explain(const Error& error) {
    std::string_view message = error.message;
    message.remove_prefix(message.starts_with(parameter_prefix) ? parameter_prefix.size() : 0);
    fmt::print(stderr, "cellgate: {}\n", escape_unprintable(message, true));
    if (!error.hint.empty()) {
        fmt::print(stderr, "  {}\n", escape_unprintable(error.hint, true));
    }
}

// The words for the parser, last one first, as it takes them. Words after `--` go to the invocation; `help` and
// `help run` become --help and `run --help`. Throws ArgumentError for help of no subcommand.
std::vector<std::string> words_to_parse(const CLI::App& app, int argc, char** argv, Invocation& invocation) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (const auto dashes = std::find(words.begin(), words.end(), "--"); dashes != words.end()) {
        invocation.server_command.emplace(dashes + 1, words.end());
        words.erase(dashes, words.end());
    }
    if (!words.empty() && words.front() == "help") {
        words.erase(words.begin());
        const auto option =
            std::find_if(words.begin(), words.end(), [](const auto& word) { return word.starts_with('-'); });
        named_subcommand(app, {words.begin(), option});
        words.emplace_back("--help");
    }
    std::reverse(words.begin(), words.end());
    return words;
}

// Whether it refuses a value of a request: those are made of what the user typed.
bool is_of_arguments(const Error& error) {
    return error.code == ErrorCode::invalid_params && error.message.starts_with(parameter_prefix);
}

// Flushes stdout here, where a failure can still be reported. A closed pipe is not a failure.
int flush_output(int exit_code) {
    const bool failed_before = std::ferror(stdout) != 0; // that failure was reported already
    if (std::fflush(stdout) != 0 && errno != EPIPE) {
        explain(Error(ErrorCode::internal_error,
                      fmt::format("the output cannot be written: {}", std::generic_category().message(errno))));
        return 1;
    }
    return failed_before && exit_code == 0 ? 1 : exit_code;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App app("Runs agent-written code in a sandboxed Jupyter kernel; nothing leaves it before you said yes.",
                 "cellgate");
    app.set_version_flag("--version", "cellgate " CELLGATE_VERSION);
    app.require_subcommand(1);
    Invocation invocation;
    invocation.program = program_to_call(argv[0]);
    add_commands(app, invocation);
    use_config_file(app);
    app.footer("`cellgate help SUBCOMMAND` lists its options."); // not theirs
    try {
        std::vector<std::string> words = words_to_parse(app, argc, argv, invocation);
        // Before --help, which would be answered whatever else there is.
        if (const auto unknown = unknown_subcommand(app, words)) {
            fmt::print(stderr, "cellgate: {}\n", *unknown);
            return 2;
        }
        app.parse(words);
        if (invocation.server_command && !invocation.takes_server_command) {
            throw CLI::ExtrasError(std::vector<std::string>{"--"});
        }
    } catch (const ArgumentError& error) {
        explain(error);
        return 2;
    } catch (const CLI::ConfigError& error) {
        explain(config_file_error(app, error));
        return 2;
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == 0) { // help, the version
            return app.exit(error);
        }
        fmt::print(stderr, "{}", parse_error_text(app, error));
        return 2;
    }
    try {
        return flush_output(invocation.run());
    } catch (const ArgumentError& error) {
        explain(error);
        return 2;
    } catch (const Error& error) {
        explain(error);
        return is_of_arguments(error) ? 2 : 1;
    } catch (const std::exception& error) {
        explain(Error(ErrorCode::internal_error, error.what()));
        return 1;
    }
}

} // namespace cellgate::cli
