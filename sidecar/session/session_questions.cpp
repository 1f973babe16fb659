// What is asked of a session's kernel while it has nothing to run: queries, its variables, and copies of them.

#include "kernel_instance.hpp"
#include "session/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::session {

namespace {

// Queries that a kernel may leave unanswered before further ones are refused.
constexpr std::size_t max_unanswered = 8;
constexpr Duration query_timeout = std::chrono::seconds(10);
constexpr Duration copy_timeout = std::chrono::seconds(60); // of up to max_answer_bytes
constexpr const char* ask_again = "ask again when it has finished";
constexpr std::string_view own_prefix = "_cellgate";

std::size_t underscores_before(std::string_view name) {
    return std::min(name.find_first_not_of('_'), name.size());
}

// __cellgate_lines is the kernel's own, too.
bool is_our_name(std::string_view name) {
    const std::size_t underscores = underscores_before(name);
    return underscores > 0 && name.substr(underscores - 1).starts_with(own_prefix);
}

} // namespace

void Session::require_idle() const {
    if (!kernel_ready_.is_set() || queue_.running() || !queue_.empty()) {
        throw Error(ErrorCode::busy, fmt::format("the kernel of the session \"{}\" has something to run", options_.id),
                    ask_again);
    }
}

Task<std::string> Session::ask(jupyter::KernelQuery query, Duration timeout) {
    require_idle();
    const std::shared_ptr<KernelInstance> instance = instance_;
    if (instance->kernel->client().unanswered() >= max_unanswered) {
        throw Error(
            ErrorCode::busy,
            fmt::format("{} questions wait for the kernel of the session \"{}\" already", max_unanswered, options_.id),
            ask_again);
    }
    co_return co_await instance->kernel->client().ask(std::move(query), services_.loop.clock().now() + timeout);
}

KernelAccess Session::access(const KernelInstance& instance, Duration timeout) {
    return instance.access([this, timeout](jupyter::KernelQuery query) { return ask(std::move(query), timeout); });
}

Task<std::string> Session::ask(jupyter::KernelQuery query) {
    return ask(std::move(query), query_timeout);
}

Task<std::optional<std::string>> Session::inspect(std::string code, std::int64_t cursor, std::int64_t detail_level) {
    require_idle();
    const std::shared_ptr<KernelInstance> instance = instance_;
    const KernelAccess kernel = access(*instance, query_timeout);
    co_return co_await instance->language->inspect(kernel, std::move(code), cursor, detail_level);
}

Task<std::optional<jupyter::Variables>> Session::variables() {
    require_idle();
    const std::shared_ptr<KernelInstance> instance = instance_;
    const KernelAccess kernel = access(*instance, query_timeout);
    co_return co_await instance->language->variables(kernel);
}

void Session::require_variable_name(const std::string& name) const {
    require_idle();
    const VariableRules* rules = instance_->language->variable_rules();
    if (is_our_name(name)) {
        throw Error(ErrorCode::unsupported, fmt::format("{} is a name of cellgate's own", name));
    }
    if (rules != nullptr && std::find(rules->reserved.begin(), rules->reserved.end(), name) != rules->reserved.end()) {
        throw Error(ErrorCode::unsupported, fmt::format("{} is a reserved word of {}", name, rules->language),
                    "choose another name for the copy");
    }
    if (rules != nullptr && rules->first.find(name.front()) != std::string_view::npos) {
        throw Error(ErrorCode::unsupported,
                    fmt::format("{}: a name of {} does not begin with {}", name, rules->language, name.front()),
                    "choose another name for the copy");
    }
}

Task<VariableCopy> Session::export_variable(std::string name) {
    require_idle();
    const std::shared_ptr<KernelInstance> instance = instance_;
    const KernelAccess kernel = access(*instance, copy_timeout);
    ExportAnswer answer = co_await instance->language->export_variable(kernel, name);
    if (answer.missing) {
        throw Error(ErrorCode::unsupported, fmt::format("the session \"{}\" has no variable {}", options_.id, name));
    }
    if (answer.problem || !answer.value || !answer.type) {
        throw Error(ErrorCode::unsupported,
                    jupyter::shown_line(answer.problem.value_or("the kernel gave neither a value nor a reason")));
    }
    co_return VariableCopy{jupyter::shown_line(*answer.type), std::move(*answer.value), std::move(answer.wide)};
}

Task<void> Session::import_variable(std::string name, VariableCopy copy) {
    require_idle();
    const std::shared_ptr<KernelInstance> instance = instance_;
    const VariableRules* rules = instance->language->variable_rules();
    if (copy.wide && rules != nullptr && rules->rounds) {
        throw Error(ErrorCode::unsupported,
                    jupyter::shown_line(fmt::format("{}, which {} would round", *copy.wide, rules->language)),
                    "convert it to text first, e.g. str(...)");
    }
    const KernelAccess kernel = access(*instance, copy_timeout);
    const ImportAnswer answer = co_await instance->language->import_variable(kernel, name, std::move(copy.value));
    if (answer.problem) {
        throw Error(ErrorCode::unsupported, jupyter::shown_line(*answer.problem));
    }
}

} // namespace cellgate::session
