// `cellgate approvals`: what waits for a user's answer, and the answers.

#include "approval_prompt.hpp"
#include "base/clock.hpp"
#include "base/encoding.hpp"
#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "base/json_codec.hpp"
#include "daemon/connect.hpp"
#include "duration_text.hpp"
#include "prompt_text.hpp"
#include "protocol/messages/policy.hpp"
#include "protocol/messages/stats.hpp"
#include "protocol/origin_text.hpp"
#include "running_sidecar.hpp"
#include "terminal.hpp"
#include "until_interrupted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

namespace cellgate::cli {

namespace {

constexpr std::size_t usual_columns_of_text = 80;
constexpr std::size_t lines_in_list = 3; // of an approval; `show` has all

struct ApprovalsArguments {
    std::string workspace = ".";
    std::string id;
    std::string reason;
    bool json = false;
    int exit_code = 1;

    std::vector<protocol::Approval> waiting; // oldest first
    std::function<void(const protocol::Approval&)> on_requested;
    std::function<void(const protocol::ApprovalResolvedParams&)> on_resolved;

    // Throws Error{approval_not_found}.
    const protocol::Approval& chosen() const {
        const auto is_meant = [this](const protocol::Approval& each) {
            return each.approval_id == id || ApprovalPrompt::short_id(each.approval_id) == id;
        };
        const auto found = std::find_if(waiting.begin(), waiting.end(), is_meant);
        if (found == waiting.end() || std::find_if(found + 1, waiting.end(), is_meant) != waiting.end()) {
            throw Error(ErrorCode::approval_not_found, fmt::format("no approval {} waits", escape_unprintable(id)),
                        "`cellgate approvals` lists those that do");
        }
        return *found;
    }
};

using ApprovalsAction = Task<void> (*)(WorkspaceClient*, ApprovalsArguments*);

Task<void> after_announcements(WorkspaceClient* client, ApprovalsArguments* arguments, ApprovalsAction action) {
    co_await client->call<protocol::Stats>(); // what waits was announced before its answer
    co_await action(client, arguments);
}

// What `ask` of a part is: not a coroutine, as the client has to know before it comes.
template <ApprovalsAction action>
Task<void> with_approvals(WorkspaceClient* client, ApprovalsArguments* arguments) {
    client->answer_approvals(
        [arguments](const protocol::Approval& approval) {
            arguments->waiting.push_back(approval);
            if (arguments->on_requested) {
                arguments->on_requested(approval);
            }
        },
        [arguments](const protocol::ApprovalResolvedParams& resolved) {
            std::erase_if(arguments->waiting,
                          [&](const auto& each) { return each.approval_id == resolved.approval_id; });
            if (arguments->on_resolved) {
                arguments->on_resolved(resolved);
            }
        });
    return after_announcements(client, arguments, action);
}

std::string age_words(const std::string& created_at) {
    const auto created = parse_rfc3339(created_at).value_or(std::chrono::system_clock::now());
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now() - created).count();
    return duration_text(seconds);
}

std::string approval_entry(const protocol::Approval& approval) {
    std::string text = fmt::format("{}  {}  {}", ApprovalPrompt::short_id(approval.approval_id),
                                   enum_name(approval.action.kind), age_words(approval.created_at));
    if (approval.session_id) {
        text += "  session " + escape_unprintable(*approval.session_id);
    }
    if (approval.agent) {
        text += "  agent " + escape_unprintable(*approval.agent);
    }
    text += "\n";
    const std::size_t shown = std::min<std::size_t>(approval.display.size(), lines_in_list);
    for (std::size_t i = 0; i < shown; ++i) {
        text += "    " + approval.display[i] + (i + 1 == shown && shown < approval.display.size() ? " …" : "") + "\n";
    }
    if (approval.origin) {
        text += "    " + protocol::origin_text(*approval.origin) + "\n";
    }
    return text;
}

std::string entry_or_json(const protocol::Approval& approval, const ApprovalsArguments& arguments) {
    return arguments.json ? to_json(approval) + "\n" : approval_entry(approval);
}

Task<void> list_approvals(WorkspaceClient* /*client*/, ApprovalsArguments* arguments) {
    for (const protocol::Approval& approval : arguments->waiting) {
        fmt::print("{}", entry_or_json(approval, *arguments));
    }
    if (arguments->waiting.empty() && !arguments->json) {
        fmt::print("nothing waits\n");
    }
    co_return;
}

void print_whole(const protocol::Approval& approval, const ApprovalsArguments& arguments) {
    if (arguments.json) {
        fmt::print("{}\n", to_json(approval));
        return;
    }
    fmt::print("{}\n", ApprovalPrompt::question_text(approval, usual_columns_of_text));
    for (const protocol::Choice& choice : approval.choices) {
        fmt::print("{}", prompt_lines("allow: " + choice.label, usual_columns_of_text));
    }
    const std::string id = ApprovalPrompt::short_id(approval.approval_id);
    fmt::print("to answer: cellgate approvals allow {}, or: cellgate approvals deny {}\n", id, id);
}

Task<void> show_approval(WorkspaceClient* /*client*/, ApprovalsArguments* arguments) {
    print_whole(arguments->chosen(), *arguments);
    co_return;
}

// At the terminal, where the whole action is shown first. Nothing is read from stdin: no program answers.
Task<void> allow_approval(WorkspaceClient* client, ApprovalsArguments* arguments) {
    const protocol::Approval approval = arguments->chosen();
    std::fflush(stdout);
    const std::unique_ptr<Terminal> terminal = Terminal::open(client->loop());
    if (!terminal) {
        throw Error(ErrorCode::denied, "there is no terminal to show it at",
                    "what is allowed is shown first; `cellgate approvals deny` needs no terminal");
    }
    OutputPrinter printer;
    PromptQueue prompts(*terminal, printer);
    arguments->exit_code = 1;
    arguments->on_resolved = [&](const protocol::ApprovalResolvedParams& resolved) {
        if (resolved.approval_id == approval.approval_id) {
            arguments->exit_code = resolved.decision == protocol::Verdict::allow ? 0 : 1;
            prompts.withdraw(ApprovalPrompt::prompt_id(resolved.approval_id));
            client->stop_waiting();
        }
    };
    prompts.add(std::make_shared<ApprovalPrompt>(
        approval,
        [client](protocol::ApprovalRespondParams params) {
            return client->call<protocol::ApprovalRespond>(std::move(params));
        },
        prompts));
    co_await finally(client->wait(), prompts.close());
    co_await terminal->close();
    fmt::print(stderr, "cellgate: {}\n", arguments->exit_code == 0 ? "it was allowed" : "it was not allowed");
}

Task<void> deny_approval(WorkspaceClient* client, ApprovalsArguments* arguments) {
    const protocol::Approval approval = arguments->chosen();
    protocol::ApprovalRespondParams params;
    params.approval_ids.push_back(approval.approval_id);
    params.decision = protocol::Verdict::deny;
    if (!arguments->reason.empty()) {
        params.reason = arguments->reason;
    }
    co_await client->call<protocol::ApprovalRespond>(std::move(params));
    fmt::print("{}{}", arguments->json ? "" : "denied: ", entry_or_json(approval, *arguments));
}

std::string resolved_line(const protocol::ApprovalResolvedParams& resolved) {
    return fmt::format("{}  {} by {}{}\n", ApprovalPrompt::short_id(resolved.approval_id),
                       resolved.decision == protocol::Verdict::allow ? "allowed" : "denied", enum_name(resolved.by),
                       resolved.reason ? ": " + escape_unprintable(*resolved.reason) : "");
}

// Prints, and ends when nothing reads it any more.
void print_followed(WorkspaceClient& client, const std::string& text) {
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (is_output_closed() || std::ferror(stdout) != 0) {
        std::clearerr(stdout);
        client.stop_waiting();
    }
}

Task<void> follow_approvals(WorkspaceClient* client, ApprovalsArguments* arguments) {
    arguments->on_requested = [&](const protocol::Approval& approval) {
        print_followed(*client, entry_or_json(approval, *arguments));
    };
    arguments->on_resolved = [&](const protocol::ApprovalResolvedParams& resolved) {
        print_followed(*client, arguments->json ? to_json(resolved) + "\n" : resolved_line(resolved));
    };
    if (!arguments->json) {
        fmt::print(stderr,
                   "cellgate: connected; to answer: cellgate approvals allow ID, or: cellgate approvals deny ID\n");
    }
    for (const protocol::Approval& approval : arguments->waiting) {
        print_followed(*client, entry_or_json(approval, *arguments));
    }
    co_await client->wait();
}

// The sidecar that runs, or is started: so the first question of a program does not come before this is there to show
// it.
Task<std::unique_ptr<ByteStream>> find_or_start_sidecar(async::Loop* loop, daemon::InstancePaths paths) {
    daemon::WorkspaceSidecarOptions options;
    options.workspace = paths.workspace;
    options.role = protocol::Role::user;
    std::unique_ptr<ByteStream> stream = co_await find_running_sidecar(loop, std::move(paths));
    if (!stream) {
        stream = co_await daemon::connect_to_workspace(*loop, std::move(options));
    }
    co_return std::move(stream);
}

// Those of one sidecar, and of each that starts later, as long as the output is read.
Task<void> follow_sidecars(async::Loop* loop, ApprovalsArguments* arguments) {
    constexpr Duration pause = std::chrono::milliseconds(50); // less than a kernel takes to start
    arguments->exit_code = 0;
    const daemon::InstancePaths paths = daemon::find_instance_paths(arguments->workspace, process_environment());
    std::unique_ptr<ByteStream> stream = co_await find_or_start_sidecar(loop, paths);
    for (bool told = false; !is_output_closed(); stream = co_await find_running_sidecar(loop, paths)) {
        if (stream) {
            arguments->waiting.clear();
            arguments->on_requested = nullptr; // of the last connection
            arguments->on_resolved = nullptr;
            WorkspaceClient client(*loop, std::move(stream));
            try {
                co_await client.run(with_approvals<follow_approvals>(&client, arguments));
            } catch (const Cancelled&) {
                throw;
            } catch (const Error&) {
                if (!client.was_cut()) {
                    throw;
                }
            }
            told = false;
            continue;
        }
        if (!std::exchange(told, true)) {
            fmt::print(stderr, "cellgate: no sidecar runs for {}; this waits for one\n",
                       escape_unprintable(paths.workspace));
        }
        co_await sleep_for(loop->clock(), pause);
    }
}

} // namespace

void add_approvals(CLI::App& app, Invocation& invocation) {
    CLI::App* command = app.add_subcommand("approvals", "What waits for your answer; show it whole, allow or deny it");
    const LoopTask<ApprovalsArguments> list = beside_sidecar(with_approvals<list_approvals>);
    Parts<ApprovalsArguments> parts(*command, invocation, list);
    parts.add("list", "List what waits for an answer", list);
    std::string& id = parts.arguments().id;
    parts.add("show", "Show one whole, and what can be answered", beside_sidecar(with_approvals<show_approval>), "ID",
              id);
    parts.add("allow", "Show one whole at the terminal and ask for the answer",
              beside_sidecar(with_approvals<allow_approval>), "ID", id);
    parts.add("deny", "Deny one", beside_sidecar(with_approvals<deny_approval>), "ID", id)
        .add_option("--reason", parts.arguments().reason, "Told to the code")
        ->type_name("TEXT");
    parts.add("follow", "Show them as they come and are answered, until Ctrl-C",
              [](async::Loop* loop, ApprovalsArguments* arguments) {
                  return until_interrupted(loop, follow_sidecars(loop, arguments));
              });
}

} // namespace cellgate::cli
