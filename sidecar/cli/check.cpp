// `cellgate check FILE`: what is wrong with code, before it runs.

#include "base/escape_unprintable.hpp"
#include "base/files.hpp"
#include "base/json_codec.hpp"
#include "checked_source.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/kernels.hpp"
#include "protocol/not_checked.hpp"
#include "terminal_client.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <memory>
#include <string_view>

namespace cellgate::cli {

namespace {

struct CheckArguments {
    std::string workspace = ".";
    std::string file;
    std::string language;
    std::string profile;
    bool fix = false;
    bool json = false;
    int exit_code = 0;
};

constexpr const char* severity_names[] = {"error", "warning", "info"};

constexpr std::string_view mended_state = "mended";

// `state`: its severity, or that it is mended.
void print_finding(const CheckArguments& arguments, const CheckedSource& source, const protocol::Diagnostic& found,
                   std::string_view state) {
    fmt::print("{}: {}: {} [{}]\n", source.place_of(arguments.file, found), state, escape_unprintable(found.message),
               escape_unprintable(found.rule));
    if (state == mended_state) {
        return;
    }
    if (found.install) {
        std::string names;
        for (const std::string& name : *found.install) {
            names += " " + escape_unprintable(name);
        }
        fmt::print("  to install it: cellgate install{}\n", names);
    }
    if (found.edits) {
        fmt::print("  --fix mends it\n");
    }
}

// As the protocol has it, and the file.
void print_as_json(const std::string& file, const protocol::Diagnostic& found) {
    std::string line = R"({"file":)";
    append_json_string(line, file);
    fmt::print("{},{}\n", line, to_json(found).substr(1));
}

void replace_text(const std::string& path, const std::string& text) {
    ReplacementFile file(AT_FDCWD, path + ".", 0644);
    if (!file.valid() || !write_all(file.fd(), text) || !file.commit(path)) {
        throw system_error(ErrorCode::store_failed, fmt::format("cannot write {}", path), errno);
    }
}

// The findings, and that nothing read the code. What would find more is noted in `source`.
std::vector<protocol::Diagnostic> findings_of(protocol::ValidateResult result, CheckedSource& source) {
    if (std::optional<protocol::Diagnostic> unread = protocol::not_checked(result)) {
        result.diagnostics.push_back(std::move(*unread));
        return std::move(result.diagnostics);
    }
    for (const std::string& missing : result.missing.value_or(std::vector<std::string>{})) {
        source.note_missing(missing);
    }
    return std::move(result.diagnostics);
}

struct Findings {
    std::vector<protocol::Diagnostic> all;
    std::vector<std::string> unchecked; // why nothing looked at a language
};

// Looks at each piece of the file that is of one language.
Task<Findings> check_pieces(const CheckArguments* arguments, TerminalClient* client, CheckedSource* source) {
    Findings findings;
    for (const CheckedPiece& piece : source->pieces()) {
        protocol::ValidateParams params;
        params.code = piece.code;
        params.language = piece.language;
        if (!arguments->profile.empty()) {
            params.profile = arguments->profile;
        }
        protocol::ValidateResult result;
        try {
            result = co_await client->sidecar().call<protocol::Validate>(std::move(params));
        } catch (const Error& error) {
            if (error.code != ErrorCode::unsupported) {
                throw;
            }
            findings.unchecked.push_back(error.message);
            continue;
        }
        std::vector<protocol::Diagnostic> found = findings_of(std::move(result), *source);
        std::move(found.begin(), found.end(), std::back_inserter(findings.all));
    }
    co_return std::move(findings);
}

// Writes what mends the findings, and says which were mended; false if none was.
bool mend_file(const CheckArguments& arguments, CheckedSource& source, const Findings& findings) {
    const std::vector<std::size_t> mended = source.apply(findings.all);
    if (mended.empty()) {
        return false;
    }
    replace_text(arguments.file, source.text());
    for (const std::size_t each : mended) {
        print_finding(arguments, source, findings.all[each], mended_state);
    }
    return true;
}

Task<void> check(CheckArguments* arguments, TerminalClient& client) {
    CheckedSource source(read_source_file(arguments->file), arguments->language);
    if (!source.has_language()) {
        arguments->exit_code = refuse_language(arguments->file, "Name it: cellgate check --language NAME FILE");
        co_return;
    }
    Findings findings = co_await check_pieces(arguments, &client, &source);
    if (arguments->fix && mend_file(*arguments, source, findings)) {
        source = CheckedSource(read_source_file(arguments->file), arguments->language);
        findings = co_await check_pieces(arguments, &client, &source); // what is left
    }
    for (const protocol::Diagnostic& each : findings.all) {
        arguments->exit_code = each.severity == protocol::Severity::error ? 1 : arguments->exit_code;
        if (arguments->json) {
            print_as_json(arguments->file, each);
        } else {
            print_finding(*arguments, source, each, severity_names[static_cast<int>(each.severity)]);
        }
    }
    for (const std::string& why : findings.unchecked) {
        client.printer().note("cellgate: " + why);
        arguments->exit_code = 1;
    }
    for (const std::string& missing : source.missing()) {
        client.printer().note("cellgate: more would be found by " + escape_unprintable(missing));
    }
}

} // namespace

void add_check(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<CheckArguments>();
    CLI::App* command = app.add_subcommand(
        "check", "Look at the code of a file without running it: syntax, imports, dangerous patterns, types. The exit "
                 "status is 1 if there is an error, or if nothing could look at code of the file");
    command->add_option("FILE", arguments->file, "As for `cellgate run`")
        ->required()
        ->check(existing_file())
        ->type_name("");
    add_root(*command, arguments->workspace);
    command->add_option("--language", arguments->language, "Of the file, if its ending does not say")
        ->type_name("NAME");
    command
        ->add_option("--profile", arguments->profile,
                     "What it does not offer, and what is dangerous, are errors: see `cellgate runtimes`")
        ->type_name("NAME");
    CLI::Option* fix = command->add_flag(
        "--fix", arguments->fix,
        "Write what mends the findings into the file; those that are mended are listed, and what is left");
    add_json(*command, arguments->json)->excludes(fix);
    run_on_loop(*command, invocation, arguments, with_client(check));
}

} // namespace cellgate::cli
