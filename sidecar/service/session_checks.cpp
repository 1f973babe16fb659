#include "session_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace cellgate::service {

namespace {

constexpr std::size_t max_context_bytes = std::size_t{1} << 20;

// The latest code that ran without an error, up to the bound, in its order.
std::vector<std::string> context_of(const session::Session& session) {
    std::vector<std::string> context;
    std::size_t bytes = 0;
    const std::vector<std::shared_ptr<session::Execution>> executions = session.executions();
    for (auto each = executions.rbegin(); each != executions.rend(); ++each) {
        const session::Execution& execution = **each;
        if (execution.state != protocol::ExecutionState::finished ||
            execution.result.status != protocol::ExecutionStatus::ok) {
            continue;
        }
        bytes += execution.params.code.size();
        if (bytes > max_context_bytes) {
            break;
        }
        context.push_back(execution.params.code);
    }
    std::reverse(context.begin(), context.end());
    return context;
}

} // namespace

checks::CheckRequest SessionChecks::request_for(protocol::ValidateParams params) const {
    checks::CheckRequest request;
    request.code = std::move(params.code);
    std::optional<std::string> profile = std::move(params.profile);
    if (params.session_id) {
        const std::shared_ptr<session::Session> session = sessions_.find(*params.session_id);
        const std::string spoken = session->info().kernel.language;
        request.language = params.language.value_or(spoken);
        request.context = context_of(*session);
        request.python = session->python();
        profile = profile ? profile : session->options().profile;
    } else {
        request.language = params.language.value_or("python");
    }
    for (std::string& each : params.context.value_or(std::vector<std::string>{})) {
        request.context.push_back(std::move(each));
    }
    if (profile) {
        const protocol::Profile& found = profiles_.find(*profile);
        // One that asks about programs and restricts nothing makes no error of a command.
        request.has_profile = !found.ask_before_programs.value_or(false) || found.modules ||
                              found.validation == protocol::Validation::strict;
        request.modules = found.modules;
    }
    if (params.modules) {
        request.has_profile = true;
        request.modules = std::move(params.modules);
    }
    request.types = params.types.value_or(true);
    return request;
}

Task<protocol::ValidateResult> SessionChecks::validate(protocol::ValidateParams params) {
    checks::CheckRequest request = request_for(std::move(params));
    co_return co_await checks_.check(std::move(request));
}

Task<std::vector<protocol::Profile>> SessionChecks::profiles_here() const {
    std::vector<protocol::Profile> profiles = profiles_.all();
    std::set<std::string> modules;
    for (const protocol::Profile& profile : profiles) {
        for (const std::string& module : profile.modules.value_or(std::vector<std::string>{})) {
            modules.insert(module);
        }
    }
    checks::CheckRequest request;
    request.language = "python";
    request.types = false;
    for (const std::string& module : modules) {
        request.code += fmt::format("import {}\n", module);
    }
    const protocol::ValidateResult result = co_await checks_.check(std::move(request));
    std::set<std::string> missing;
    for (const protocol::Diagnostic& each : result.diagnostics) {
        if (each.rule == "import.not_found") {
            missing.insert(*std::next(modules.begin(), each.line));
        }
    }
    for (protocol::Profile& profile : profiles) {
        std::vector<std::string> absent;
        for (const std::string& module : profile.modules.value_or(std::vector<std::string>{})) {
            if (missing.contains(module)) {
                absent.push_back(module);
            }
        }
        if (!absent.empty()) {
            profile.not_installed = std::move(absent);
        }
    }
    co_return profiles;
}

bool SessionChecks::is_strict(const session::Session& session) const {
    const std::optional<std::string>& profile = session.options().profile;
    return profile && profiles_.find(*profile).validation == protocol::Validation::strict;
}

Task<void> SessionChecks::require_allowed(std::shared_ptr<session::Session> session, std::string code) {
    protocol::ValidateParams params;
    params.code = std::move(code);
    params.session_id = session->id();
    params.types = false; // they are no reason to refuse code
    const std::string profile = session->options().profile.value_or("");
    checks::CheckRequest request = request_for(std::move(params));
    const protocol::ValidateResult result = co_await checks_.check(std::move(request));
    if (result.checkers.empty()) {
        throw Error(ErrorCode::denied, fmt::format("the profile {} refuses code that nothing could look at", profile));
    }
    for (const protocol::Diagnostic& each : result.diagnostics) {
        if (each.severity == protocol::Severity::error) {
            throw Error(ErrorCode::denied,
                        fmt::format("the profile {} refuses this code: line {}: {} ({})", profile, each.line + 1,
                                    each.message, each.rule),
                        "change the code, or run it in a session of another profile");
        }
    }
}

} // namespace cellgate::service
