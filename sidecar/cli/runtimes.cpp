// `cellgate runtimes`: the languages, profiles and sandboxes that sessions can have here.

#include "base/enum_name.hpp"
#include "base/escape_unprintable.hpp"
#include "commands.hpp"
#include "json_output.hpp"
#include "protocol/messages/kernels.hpp"
#include "terminal_client.hpp"
#include "workspace_option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

namespace cellgate::cli {

namespace {

struct RuntimesArguments {
    std::string workspace = ".";
    bool json = false;
};

void print_profile(const protocol::Profile& profile) {
    constexpr const char* validations[] = {"its code is not looked at", "findings in its code are advice",
                                           "code with an error in it is refused"};
    fmt::print("  {}: {}; {}\n", profile.name, escape_unprintable(profile.description),
               validations[static_cast<int>(profile.validation)]);
    if (profile.modules) {
        fmt::print("    {} modules", profile.modules->size());
        if (profile.not_installed) {
            fmt::print(", not installed: {}",
                       escape_unprintable(fmt::format("{}", fmt::join(*profile.not_installed, " "))));
        }
        fmt::print("\n");
    }
    if (profile.ask_before_programs.value_or(false)) {
        fmt::print("    asks before code starts a program\n");
    }
    if (!profile.domains.empty()) {
        fmt::print("    hosts: {}\n", escape_unprintable(fmt::format("{}", fmt::join(profile.domains, " "))));
    }
    if (profile.limits) {
        fmt::print("    limits: {}\n", to_json(*profile.limits));
    }
}

Task<void> list_runtimes(RuntimesArguments* arguments, TerminalClient& client) {
    const Empty nothing;
    const protocol::RuntimesResult found = co_await client.sidecar().call<protocol::Runtimes>(nothing);
    if (arguments->json) {
        fmt::print("{}\n", to_json(found));
        co_return;
    }
    fmt::print("languages\n");
    for (const protocol::Runtime& each : found.runtimes) {
        fmt::print("  {}: {}{}\n", escape_unprintable(each.language), escape_unprintable(each.kernel),
                   each.problem ? " (cannot be started: " + escape_unprintable(*each.problem) + ")" : "");
    }
    fmt::print("profiles\n");
    for (const protocol::Profile& each : found.profiles) {
        print_profile(each);
    }
    fmt::print("sandboxes\n");
    for (const protocol::LauncherInfo& each : found.launchers) {
        fmt::print("  {}{}\n", enum_name(each.name), each.problem ? ": " + escape_unprintable(*each.problem) : "");
    }
}

} // namespace

void add_runtimes(CLI::App& app, Invocation& invocation) {
    auto arguments = std::make_shared<RuntimesArguments>();
    CLI::App* command =
        app.add_subcommand("runtimes", "List the languages, profiles and sandboxes that sessions can have");
    add_root(*command, arguments->workspace);
    add_json(*command, arguments->json);
    run_on_loop(*command, invocation, arguments, with_client(list_runtimes));
}

} // namespace cellgate::cli
