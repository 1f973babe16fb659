#include "saved_tools.hpp"

#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/names.hpp"
#include "base/private_files.hpp"
#include "base/suggest.hpp"
#include "tools/config.hpp"
#include "tools/rule_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace cellgate::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_bytes = std::size_t{8} << 20;
constexpr std::size_t max_code_bytes = std::size_t{1} << 20;
constexpr std::size_t max_rules = 100;
constexpr std::string_view suffix = ".json";

// The names in Python's code, comments and texts too, in their order.
std::vector<std::string_view> identifiers_in(std::string_view code) {
    const auto is_of_name = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
               (c & 0x80) != 0;
    };
    std::vector<std::string_view> words;
    while (!code.empty()) {
        const auto* const end = std::find_if_not(code.begin(), code.end(), is_of_name);
        const auto length = static_cast<std::size_t>(end - code.begin());
        if (length > 0) {
            words.push_back(code.substr(0, length));
        }
        code.remove_prefix(std::min(length + 1, code.size()));
    }
    return words;
}

// Refuses a name that is nowhere in the code, before anybody is asked: the run that finds the function comes after.
void require_mentioned(const std::string& name, const std::string& code) {
    const std::vector<std::string_view> words = identifiers_in(code);
    if (std::find(words.begin(), words.end(), name) != words.end() || code.find("import *") != std::string::npos) {
        return;
    }
    std::vector<std::string> functions;
    for (std::size_t i = 1; i < words.size(); ++i) {
        if (words[i - 1] == "def") {
            functions.emplace_back(words[i]);
        }
    }
    throw Error(ErrorCode::arguments_invalid,
                fmt::format("arguments.name: expected the name of a function in the code, found {}", name),
                did_you_mean(name, functions));
}

std::vector<protocol::RuleSpec> parsed(const std::vector<std::string>& rules, WallTime now) {
    std::vector<protocol::RuleSpec> specs;
    specs.reserve(rules.size());
    for (const std::string& rule : rules) {
        specs.push_back(parse_rule(rule, now));
    }
    return specs;
}

// May block. A file that cannot be read is left out, with a line in the log.
std::map<std::string, SavedTool> read_saved(const std::string& directory) {
    std::map<std::string, SavedTool> found;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
        if (entry.path().extension() != suffix) {
            continue;
        }
        try {
            const std::optional<std::string> text = read_private_file(entry.path().string(), max_file_bytes);
            auto tool = from_json<SavedTool>(RawJson::parse(text.value_or("")), "tool");
            if (tool.spec.name != entry.path().stem()) {
                throw Error(ErrorCode::config_invalid, fmt::format("it names the tool {}", tool.spec.name));
            }
            for (const protocol::RuleSpec& rule : parsed(tool.rules, WallTime{})) {
                if (rule.server && !tool.servers.contains(*rule.server)) {
                    throw Error(ErrorCode::config_invalid, fmt::format("it names no server {}", *rule.server));
                }
            }
            found.insert_or_assign(tool.spec.name, std::move(tool));
        } catch (const Error& problem) {
            log_warning("the saved tool in {} cannot be read: {}", entry.path().string(), problem.message);
        }
    }
    return found;
}

// To the gate: what it runs, and under which rules.
std::string identity_of(const SavedTool& tool) {
    return sha256(fmt::format("saved tool\n{}\n{}\n{}", tool.code.size(), tool.code, to_json(tool.rules)));
}

protocol::CallToolResult failure(std::string_view what) {
    std::string content = R"([{"type":"text","text":)";
    append_json_string(content, what);
    content += "}]";
    return {RawJson::checked(content), std::nullopt, true};
}

protocol::CallToolResult result_of(const SavedToolRun& run) {
    const std::string value = run.value ? run.value->text() : "null";
    std::string content = R"([{"type":"text","text":)";
    append_json_string(content, run.printed.empty() ? value : run.printed + "\n" + value);
    content += "}]";
    return {RawJson::checked(content), RawJson::checked(R"({"result":)" + value + "}"), false};
}

} // namespace

SavedTools::SavedTools(async::Loop& loop, std::string directory, SavedToolRunner* runner, IdentityOf identity_of,
                       RequireFitting require_fitting, RecordedRules recorded_rules)
    : loop_(loop), directory_(std::move(directory)), runner_(runner), identity_of_(std::move(identity_of)),
      require_fitting_(std::move(require_fitting)), recorded_rules_(std::move(recorded_rules)) {
    if (!directory_.empty()) {
        take(read_saved(directory_));
    }
}

std::string SavedTools::file_of(const std::string& name) const {
    return fmt::format("{}/{}{}", directory_, name, suffix);
}

void SavedTools::take(std::map<std::string, SavedTool> saved) {
    saved_ = std::move(saved);
    std::vector<ToolPtr> tools;
    for (const auto& [name, tool] : saved_) {
        const ToolPtr before = find_tool(tools_, name);
        const ToolPtr now = make_tool(tool.spec, identity_of(tool));
        const bool is_same =
            before && before->identity == now->identity && before->server_identity == now->server_identity;
        tools.push_back(is_same ? before : now);
    }
    tools_ = std::move(tools);
}

// Other processes of this user save tools, too.
Task<void> SavedTools::refresh() {
    if (directory_.empty()) {
        co_return;
    }
    std::function<std::map<std::string, SavedTool>()> work = [this] { return read_saved(directory_); };
    std::map<std::string, SavedTool> found = co_await loop_.run_blocking(std::move(work));
    take(std::move(found));
}

Task<SaveToolParams> SavedTools::with_rules(SaveToolParams params) {
    std::vector<std::string> rules = params.rules.value_or(std::vector<std::string>{});
    for (const std::string& execution : params.rules_of.value_or(std::vector<std::string>{})) {
        std::vector<std::string> recorded = co_await recorded_rules_(execution);
        for (std::string& rule : recorded) {
            if (std::find(rules.begin(), rules.end(), rule) == rules.end()) {
                rules.push_back(std::move(rule));
            }
        }
    }
    params.rules = std::move(rules);
    params.rules_of.reset();
    co_return params;
}

void SavedTools::require_savable(const SaveToolParams& params) const {
    if (runner_ == nullptr || directory_.empty()) {
        throw Error(ErrorCode::unsupported, "this cellgate keeps no tools");
    }
    if (!is_variable_name(params.name) || params.name.starts_with('_')) {
        throw Error(ErrorCode::arguments_invalid,
                    "arguments.name: expected the name of a function in the code: letters, digits and _");
    }
    if (params.code.size() > max_code_bytes) {
        throw Error(ErrorCode::arguments_invalid, fmt::format("arguments.code: expected at most {} bytes, found {}",
                                                              max_code_bytes, params.code.size()));
    }
    require_mentioned(params.name, params.code);
    const std::vector<std::string> rules = params.rules.value_or(std::vector<std::string>{});
    if (rules.size() > max_rules) {
        throw Error(ErrorCode::arguments_invalid,
                    fmt::format("arguments.rules: expected at most {}, found {}", max_rules, rules.size()));
    }
    for (const protocol::RuleSpec& rule : parsed(rules, loop_.clock().wall())) {
        require_fitting_(rule);
        if (rule.uses || rule.expires_at) {
            throw Error(
                ErrorCode::arguments_invalid,
                "arguments.rules: expected rules without --uses and --expires, which would begin again with each run");
        }
        if (rule.server == saved_server_name) {
            throw Error(ErrorCode::arguments_invalid, "arguments.rules: a saved tool calls no saved tool");
        }
        if (rule.server && !identity_of_(*rule.server)) {
            throw Error(ErrorCode::arguments_invalid,
                        fmt::format("arguments.rules: there is no tool server \"{}\" of the user's",
                                    escape_unprintable(*rule.server)));
        }
    }
    if (params.test && !params.test->is_object()) {
        throw Error(ErrorCode::arguments_invalid, "arguments.test: expected the arguments of a call, an object");
    }
}

Task<SaveToolResult> SavedTools::save(SaveToolParams params, CallContext context) {
    require_savable(params);
    require_no_run(context);
    SavedTool tool;
    tool.spec.name = params.name;
    tool.code = std::move(params.code);
    tool.rules = params.rules.value_or(std::vector<std::string>{});
    tool.saved_at = to_rfc3339(loop_.clock().wall());
    tool.saved_by = gate::name_of(context.agent);
    for (const protocol::RuleSpec& rule : parsed(tool.rules, loop_.clock().wall())) {
        if (rule.server) {
            tool.servers.insert_or_assign(*rule.server, identity_of_(*rule.server).value());
        }
    }
    SavedToolRun found = co_await run(tool, std::move(params.test), std::move(context));
    tool.spec.description = params.description.value_or(found.description);
    tool.spec.input_schema = found.input_schema;
    tool.spec.output_schema = found.output_schema;
    co_await refresh();
    SaveToolResult result{std::move(found.input_schema), std::move(found.output_schema), saved_.contains(params.name),
                          std::move(found.value)};
    std::function<void()> work = [this, &tool] {
        make_private_directory(directory_);
        write_private_file(directory_, file_of(tool.spec.name), to_json(tool));
    };
    co_await loop_.run_blocking(std::move(work));
    co_await refresh();
    co_return result;
}

Task<void> SavedTools::remove(std::string name) {
    co_await refresh();
    if (!saved_.contains(name)) {
        std::vector<std::string> names;
        for (const ToolPtr& each : tools_) {
            names.push_back(each->spec.name);
        }
        throw Error(ErrorCode::tool_not_found, fmt::format("there is no saved tool \"{}\"", escape_unprintable(name)),
                    did_you_mean(name, names));
    }
    const std::string file = file_of(name);
    std::function<void()> work = [&file] {
        if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
            throw system_error(ErrorCode::store_failed, fmt::format("cannot remove {}", file), errno);
        }
    };
    co_await loop_.run_blocking(std::move(work));
    co_await refresh();
}

// It would run in a session of its own, which could do the same, without end.
void SavedTools::require_no_run(const CallContext& context) const {
    if (context.session_id && runner_->is_run(*context.session_id)) {
        throw Error(ErrorCode::denied, "a saved tool calls no saved tool, and saves none");
    }
}

Task<void> SavedTools::check(ToolPtr /*tool*/, RawJson /*arguments*/) {
    co_return;
}

gate::Action SavedTools::action_of(const Tool& tool, RawJson arguments) const {
    return gate::ToolCall{std::string(saved_server_name), tool.spec.name, std::move(arguments), tool.server_identity,
                          tool.identity};
}

Task<SavedToolRun> SavedTools::run(SavedTool tool, std::optional<RawJson> arguments, CallContext context) {
    SavedToolCode code{tool.spec.name, tool.code, {}};
    for (protocol::RuleSpec& rule : parsed(tool.rules, loop_.clock().wall())) {
        std::optional<std::string> identity;
        if (rule.server) {
            identity = tool.servers.at(*rule.server);
        }
        code.rules.push_back({std::move(rule), std::move(identity)});
    }
    co_return co_await runner_->run(std::move(code), std::move(arguments), std::move(context));
}

Task<std::optional<protocol::CallToolResult>> SavedTools::call(ToolPtr tool, gate::Action allowed, CallContext context,
                                                               std::shared_ptr<mcp::CallFollower> /*follower*/) {
    require_no_run(context);
    const auto found = saved_.find(tool->spec.name);
    if (found == saved_.end() || identity_of(found->second) != tool->server_identity) {
        co_return std::nullopt;
    }
    std::string problem;
    try {
        SavedTool saved = found->second;
        std::optional<RawJson> arguments = std::move(std::get<gate::ToolCall>(allowed).arguments);
        const SavedToolRun done = co_await run(std::move(saved), std::move(arguments), std::move(context));
        co_return result_of(done);
    } catch (const Error& error) {
        if (error.code != ErrorCode::tool_server_failed) {
            throw;
        }
        problem = error.message;
    }
    co_return failure(problem);
}

Task<void> SavedTools::stop(std::string /*reason*/) {
    co_return; // its runs end with their calls
}

} // namespace cellgate::tools
