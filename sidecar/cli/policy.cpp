// `cellgate policy`: the rules of a workspace, and of all: list, add, try and remove them.

#include "protocol/messages/policy.hpp"

#include "argument_error.hpp"
#include "base/encoding.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/json_codec.hpp"
#include "base/json_scan.hpp"
#include "chosen_id.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "policy_text.hpp"
#include "record_text.hpp"
#include "running_sidecar.hpp"
#include "terminal_client.hpp"
#include "tool_remark.hpp"
#include "tools/rule_text.hpp"
#include "user_agrees.hpp"
#include "value_checks.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace cellgate::cli {

namespace {

struct PolicyArguments {
    std::string workspace = ".";
    std::string text; // a rule, an action or a rule's id
    std::vector<std::int64_t> seqs;
    std::string expires;
    std::string uses;
    std::map<std::string, std::string> of_requests; // "--bearer" and its value
    bool always = false;
    bool touch = false;
    bool yes = false;
    bool json = false;
    std::string unreached; // why the sidecar that runs cannot be asked
    int exit_code = 0;
};

bool names_tool(std::optional<protocol::ActionKind> kind) {
    return kind == protocol::ActionKind::tool || kind == protocol::ActionKind::host;
}

using PolicyAction = Task<void> (*)(PolicyArguments*, TerminalClient&);

// An action that is about a rule which the user typed.
template <PolicyAction action>
Task<void> with_typed_rule(PolicyArguments* arguments, TerminalClient& client) {
    try {
        co_await action(arguments, client);
    } catch (const Error& error) {
        rethrow_of_typed_rule(error);
    }
}

Task<void> list_rules(PolicyArguments* arguments, TerminalClient& client) {
    const Empty nothing;
    const protocol::PolicyListResult found = co_await client.sidecar().call<protocol::PolicyList>(nothing);
    for (const protocol::Rule& rule : found.rules) {
        fmt::print("{}\n", arguments->json ? to_json(rule) : rule_line(rule));
    }
    if (found.rules.empty() && !arguments->json) {
        fmt::print("there are no rules: each action is asked about; `cellgate policy add` makes one\n");
    }
}

// What the sidecar that runs answers, if one does: it knows what tools the servers have that it started. Else one in
// this process. `runs` says which.
template <class Method>
Task<typename Method::Result> ask_best(PolicyArguments* arguments, TerminalClient* client,
                                       typename Method::Params params, bool* runs) {
    std::unique_ptr<ByteStream> stream;
    try {
        daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
        stream = co_await find_running_sidecar(&client->loop(), std::move(paths));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        arguments->unreached = error.message;
    }
    *runs = stream != nullptr;
    if (!stream) {
        co_return co_await client->sidecar().call<Method>(std::move(params));
    }
    WorkspaceClient running(client->loop(), std::move(stream));
    co_return co_await running.ask<Method>(std::move(params));
}

// Where a rule or an action names a tool that is not there, or may not be.
Task<void> remark_tool(PolicyArguments* arguments, TerminalClient* client, std::string server,
                       std::optional<std::string> tool) {
    bool runs = false;
    const Empty nothing;
    const protocol::ToolServersListResult known =
        co_await ask_best<protocol::ToolServersList>(arguments, client, nothing, &runs);
    if (const std::string remark = tool_remark(known.servers, runs, server, tool); !remark.empty()) {
        fmt::print(stderr, "cellgate: {}\n", remark);
    }
    if (!arguments->unreached.empty()) {
        fmt::print(stderr, "cellgate: it is not compared with the tools of servers that run: {}\n",
                   escape_unprintable(arguments->unreached));
    }
}

Task<void> add_rule(PolicyArguments* arguments, TerminalClient& client) {
    protocol::PolicyParseParams text{arguments->text};
    text.text += arguments->expires.empty() ? "" : " --expires " + arguments->expires;
    text.text += arguments->touch ? " --touch" : "";
    text.text += arguments->uses.empty() ? "" : " --uses " + arguments->uses;
    for (const auto& [option, value] : arguments->of_requests) {
        if (!value.empty()) {
            text.text += fmt::format(" {} ", option);
            append_json_string(text.text, option == "--openapi" ? std::filesystem::absolute(value).string() : value);
        }
    }
    bool runs = false;
    protocol::PolicyParseResult parsed =
        co_await ask_best<protocol::PolicyParse>(arguments, &client, std::move(text), &runs);
    if (names_tool(parsed.rule.kind) && parsed.rule.server) {
        co_await remark_tool(arguments, &client, *parsed.rule.server, parsed.rule.tool);
    }
    protocol::PolicyPreviewParams asked{parsed.rule};
    const protocol::PolicyPreviewResult preview =
        co_await client.sidecar().call<protocol::PolicyPreview>(std::move(asked));
    std::FILE* remarks = arguments->json ? stderr : stdout;
    fmt::print(remarks, "{}\n{}\n", parsed.words, preview_words(parsed.rule.effect, preview));
    if (parsed.rule.effect == protocol::Effect::allow && preview.denied > 0 && !arguments->yes) {
        fmt::print(remarks, "It would have allowed what was denied: {}\n",
                   escape_unprintable(record_line(to_json(*preview.example))));
        const bool agreed = co_await user_agrees(&client.loop(), "Add it? [y/N] ", "adds it");
        if (!agreed) {
            fmt::print(remarks, "nothing was added\n");
            arguments->exit_code = 1;
            co_return;
        }
    }
    protocol::PolicyAddParams params;
    params.rule = std::move(parsed.rule);
    params.scope = arguments->always ? protocol::Scope::always : protocol::Scope::workspace;
    const protocol::Rule rule = co_await client.sidecar().call<protocol::PolicyAdd>(std::move(params));
    fmt::print("{}\n", arguments->json ? to_json(rule) : "added: cellgate policy remove " + rule.id);
}

Task<void> remove_rule(PolicyArguments* arguments, TerminalClient& client) {
    const Empty nothing;
    const protocol::PolicyListResult known = co_await client.sidecar().call<protocol::PolicyList>(nothing);
    std::vector<std::string> ids;
    std::transform(known.rules.begin(), known.rules.end(), std::back_inserter(ids),
                   [](const protocol::Rule& rule) { return rule.id; });
    protocol::PolicyRemoveParams params{chosen_id(ids, arguments->text, "rules", ErrorCode::rule_invalid)};
    const Empty result = co_await client.sidecar().call<protocol::PolicyRemove>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(result));
    }
}

// The values that conditions say.
RawJson values_of(const std::map<std::string, protocol::Matcher>& conditions) {
    std::string members;
    for (const auto& [pointer, matcher] : conditions) {
        if (pointer.empty() && matcher.equals) {
            return *matcher.equals;
        }
        const std::optional<std::string> name = tools::argument_name(pointer);
        if (!matcher.equals || !name) {
            throw Error(
                ErrorCode::rule_invalid,
                fmt::format("expected the values of a call, found {}",
                            name ? "a condition" : "a place within an argument"),
                "such as: filesystem/read_file path=notes.txt, or kernel/run_program argv=[\"git\",\"status\"]");
        }
        members += members.empty() ? "" : ",";
        append_json_string(members, *name);
        members += ":" + matcher.equals->text();
    }
    return RawJson::checked("{" + members + "}");
}

// Adds what a request has besides its host.
void describe_request(protocol::Action& action, const protocol::RuleSpec& rule) {
    const std::vector<std::string> methods = rule.methods.value_or(std::vector<std::string>{"GET"});
    const std::vector<std::string> paths = rule.paths.value_or(std::vector<std::string>{"/"});
    if (methods.size() != 1 || paths.size() != 1) {
        throw Error(ErrorCode::rule_invalid, "expected one method and one path of a request, found several",
                    "such as: request api.github.com GET /repos/ada/plan");
    }
    const std::size_t query = paths.front().find('?');
    action.method = methods.front();
    action.path = paths.front().substr(0, query);
    if (query != std::string::npos) {
        action.query = paths.front().substr(query + 1);
    }
    if (rule.arguments) {
        action.body = values_of(*rule.arguments).text();
        action.body_bytes = static_cast<std::int64_t>(action.body->size());
    }
}

// As a call of the tool that the text names, a connection to its host, or a request.
protocol::Action action_of(const std::string& text) {
    const protocol::RuleSpec rule = tools::parse_rule("ask " + text, std::chrono::system_clock::now());
    protocol::Action action;
    action.kind = *rule.kind;
    action.protocol = rule.protocol;
    if (rule.host) {
        constexpr std::uint16_t https = 443;
        const std::optional<HostPattern> pattern = parse_host_pattern(*rule.host);
        action.host = pattern ? (pattern->below ? "*." : "") + pattern->host.name : *rule.host;
        action.port = pattern ? pattern->port.value_or(https) : https;
        if (rule.kind == protocol::ActionKind::request) {
            describe_request(action, rule);
        }
        return action;
    }
    action.server = rule.server;
    action.tool = rule.tool;
    action.arguments_text = values_of(rule.arguments.value_or(std::map<std::string, protocol::Matcher>()));
    return action;
}

Task<void> test_action(PolicyArguments* arguments, TerminalClient& client) {
    protocol::PolicyExplainParams params;
    params.action = action_of(arguments->text);
    if (names_tool(params.action.kind) && params.action.server) {
        co_await remark_tool(arguments, &client, *params.action.server, params.action.tool);
    }
    const protocol::PolicyExplainResult found =
        co_await client.sidecar().call<protocol::PolicyExplain>(std::move(params));
    if (arguments->json) {
        fmt::print("{}\n", to_json(found));
        co_return;
    }
    fmt::print("{}: {}\n", effect_word(found.effect), escape_unprintable(found.reason));
    if (found.rule) {
        fmt::print("{}\n", rule_line(*found.rule));
    }
}

Task<void> suggest_rule(PolicyArguments* arguments, TerminalClient& client) {
    protocol::PolicySuggestParams params{arguments->seqs};
    const protocol::PolicyParseResult found =
        co_await client.sidecar().call<protocol::PolicySuggest>(std::move(params));
    protocol::PolicyPreviewParams asked{found.rule};
    const protocol::PolicyPreviewResult preview =
        co_await client.sidecar().call<protocol::PolicyPreview>(std::move(asked));
    fmt::print("{}\n", arguments->json ? to_json(found.rule) : rule_line(found.rule));
    fmt::print(arguments->json ? stderr : stdout, "{}\n", preview_words(found.rule.effect, preview));
}

// What rules of one effect alone have.
void add_options_by_effect(CLI::App& command, PolicyArguments& arguments) {
    command.add_flag("--touch", arguments.touch, "Of an ask rule: a yes is confirmed by a touch of your security key");
    constexpr std::pair<const char*, const char*> of_requests[] = {
        {"--bearer", "Of an inspect rule: '${secret:NAME}', put in as a token"},
        {"--basic", "Likewise: 'USER:${secret:NAME}', as a user and a password"},
        {"--header", "Likewise: 'X-Key: ${secret:NAME}', as a header"},
        {"--query", "Likewise: 'key=${secret:NAME}', as a parameter of the URL"},
        {"--aws",
         "Likewise: '${secret:ID}:${secret:KEY}', with which requests are signed for AWS; a session token may be "
         "a third part"},
        {"--variable", "The variable in which code finds a placeholder of it, for programs that want a token"},
        {"--openapi", "Of an inspect rule: an OpenAPI document of the host, whose operations questions then name"},
        {"--operation", "Of a rule about requests to such a host, in place of methods and path: an operation's ID"}};
    for (const auto& [option, meaning] : of_requests) {
        command.add_option(option, arguments.of_requests[option], meaning)->type_name("TEXT");
    }
}

void add_options_of_add(CLI::App& adding, PolicyArguments& arguments) {
    adding
        .add_option("RULE", arguments.text,
                    "allow, ask, deny, inspect or review, and what: 'deny filesystem/move_file', 'allow network "
                    "example.org', 'inspect request api.github.com', 'review gmail/*', 'ask output'")
        ->required()
        ->type_name("");
    adding.add_flag("--always", arguments.always, "For all workspaces; default: for this one");
    adding.add_option("--expires", arguments.expires, "It ends after so long: 30s, 90m, 12h, 7d")->type_name("TIME");
    adding.add_option("--uses", arguments.uses, "It ends after so many actions that it allowed")->type_name("COUNT");
    add_options_by_effect(adding, arguments);
    adding.add_flag("--yes", arguments.yes, "Do not ask about a rule that would have allowed what was denied");
    adding.footer(tools::rule_help);
}

} // namespace

void add_policy(CLI::App& app, Invocation& invocation) {
    CLI::App* command =
        app.add_subcommand("policy", "Rules for what code may do: list, add, try, suggest or remove them");
    Parts<PolicyArguments> parts(*command, invocation, with_client(list_rules));
    parts.add("list", "List the rules in force", with_client(list_rules));

    CLI::App& adding = parts.add("add", "Add a rule, after saying what it would have covered lately",
                                 with_client(with_typed_rule<add_rule>));
    add_options_of_add(adding, parts.arguments());

    CLI::App& trying = parts.add("test", "Say what would happen to a call, a connection or a request; nothing is done",
                                 with_client(with_typed_rule<test_action>));
    trying.alias("explain");
    trying
        .add_option("ACTION", parts.arguments().text,
                    "'filesystem/read_file path=notes.txt', 'network example.org:443', "
                    "'request api.github.com GET /repos/x'")
        ->required()
        ->type_name("");

    parts
        .add("suggest", "Print the narrowest rule that covers past actions; nothing is added",
             with_client(suggest_rule))
        .add_option("NUMBER", parts.arguments().seqs, "The number of an entry, as `cellgate record list` shows it")
        ->required()
        ->check(whole_number(0))
        ->type_name("");

    parts.add("remove", "Remove a rule", with_client(remove_rule))
        .add_option("ID", parts.arguments().text, "As list shows it, or a beginning of it that no other has")
        ->required()
        ->type_name("");
}

} // namespace cellgate::cli
