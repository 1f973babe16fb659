#include "python_sandbox_results.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "python_sandbox_settings.hpp"
#include "run_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace cellgate::agent {

namespace {

using protocol::ExecutionStatus;

constexpr std::string_view not_allowed_rule = "import.not_allowed";
// Cyclomatic complexity, as McCabe (1976) and later practice grade it.
constexpr std::int64_t max_low_complexity = 10;
constexpr std::int64_t max_medium_complexity = 20;

// Python would not compile it.
bool is_syntax(const protocol::Diagnostic& found) {
    return found.rule.starts_with("syntax") || found.rule == "source.encoding";
}

std::string error_line(const protocol::Diagnostic& found) {
    return fmt::format("Line {}: {}", found.line + 1, found.message);
}

// The message ends with the module's name.
std::string module_of(const protocol::Diagnostic& not_allowed) {
    return not_allowed.message.substr(not_allowed.message.rfind(' ') + 1);
}

std::string line_at(std::string_view code, std::int64_t line) {
    for (; line > 0 && code.find('\n') != std::string_view::npos; --line) {
        code.remove_prefix(code.find('\n') + 1);
    }
    return std::string(code.substr(0, code.find('\n')));
}

std::string grade_of(const std::optional<std::int64_t>& complexity) {
    if (!complexity) {
        return "unknown";
    }
    return *complexity <= max_low_complexity ? "low" : *complexity <= max_medium_complexity ? "medium" : "high";
}

CodeAnalysis analysis_of(const std::string& code, const std::optional<std::int64_t>& complexity) {
    CodeAnalysis analysis;
    analysis.line_count = 1 + std::count(code.begin(), code.end(), '\n');
    analysis.character_count = static_cast<std::int64_t>(count_characters(code));
    analysis.estimated_complexity = grade_of(complexity);
    analysis.cyclomatic_complexity = complexity;
    return analysis;
}

void add_finding(CodeValidation& result, const protocol::Diagnostic& found, const std::string& code) {
    if (is_syntax(found)) {
        if (!result.syntax) {
            result.syntax = SyntaxProblem{"Syntax error: " + found.message, found.line + 1, found.column + 1,
                                          line_at(code, found.line)};
        }
        result.verdict.errors.push_back(error_line(found));
    } else if (found.rule == not_allowed_rule) {
        const std::string module = module_of(found);
        result.verdict.errors.push_back(fmt::format("Line {}: Import '{}' is not allowed", found.line + 1, module));
        result.recommendations.push_back(module + ": " + remedy_for(module));
    } else if (refuses(found)) {
        result.security_issues.push_back(error_line(found));
        result.verdict.errors.push_back(error_line(found));
    } else {
        result.warnings.push_back(error_line(found));
    }
    for (const protocol::TextEdit& edit : found.edits.value_or(std::vector<protocol::TextEdit>{})) {
        result.recommendations.push_back(fmt::format("Line {}: insert {}", edit.line + 1, to_json(edit.new_text)));
    }
}

} // namespace

CodeFailure failed(std::string error, std::string category) {
    CodeFailure failure;
    failure.error = std::move(error);
    failure.error_category = std::move(category);
    return failure;
}

bool refuses(const protocol::Diagnostic& found) {
    return found.severity == protocol::Severity::error && found.rule != "import.not_found";
}

std::string remedy_for(const std::string& module) {
    for (const ModuleGroup& group : module_groups()) {
        if (!group.variable.empty() && group.has(module)) {
            return fmt::format("the user who configured this server can offer it by {}=true", group.variable);
        }
    }
    return "the user who configured this server can offer it by SANDBOX_ALLOWED_IMPORTS, which names all modules";
}

CodeFailure refusal_of(const SandboxRun& run, const protocol::ValidateResult& found, const ModuleGroup& offered) {
    CodeFailure failure = failed("Code failed security validation", "security");
    failure.execution_id = run.id;
    failure.validation_errors.emplace();
    Texts blocked;
    for (const protocol::Diagnostic& each : found.diagnostics) {
        if (!refuses(each)) {
            continue;
        }
        failure.validation_errors->push_back(error_line(each));
        if (is_syntax(each)) {
            failure.error = fmt::format("Syntax error: {} (line {})", each.message, each.line + 1);
            failure.error_category = "syntax";
        } else if (each.rule == not_allowed_rule) {
            blocked.push_back(module_of(each));
        }
    }
    if (!blocked.empty()) {
        const std::string& module = blocked.front();
        const std::string why = offered.has(module) ? "it is not in this call's allowed_imports" : remedy_for(module);
        failure.error = fmt::format("Import of '{}' is not allowed in sandbox; {}", module, why);
        failure.security_event = "blocked_import";
        failure.security_warnings.emplace();
        for (const std::string& module : blocked) {
            failure.security_warnings->push_back("Blocked import attempt: " + module);
        }
    }
    return failure;
}

std::optional<Texts> warnings_of(const protocol::ExecuteResult& ended) {
    if (!ended.notes) {
        return std::nullopt;
    }
    Texts warnings;
    for (const protocol::Note& note : *ended.notes) {
        warnings.push_back(fmt::format("Blocked operation: {}; {}", note.text, advice_of(note)));
    }
    return warnings;
}

CodeFailure failure_of(const SandboxRun& run, const protocol::ExecuteResult& ended, Streams streams) {
    CodeFailure failure = failed(ended.reason.value_or("the code was stopped"), "resource");
    if (ended.status == ExecutionStatus::timeout) {
        failure = failed("Execution timeout", "timeout");
        failure.timeout = run.timeout;
    } else if (ended.status == ExecutionStatus::cancelled) {
        failure.error_category = "cancelled";
    } else if (ended.status == ExecutionStatus::oom) {
        failure.error = "Memory limit exceeded: " + failure.error;
    } else if (ended.error) {
        const std::string& name = ended.error->ename;
        failure = failed(plain_text(ended.error->evalue), name == "MemoryError" ? "resource" : "runtime");
        failure.error = failure.error.empty() ? name : failure.error;
        failure.traceback = std::move(streams.traceback);
    }
    failure.execution_id = run.id;
    failure.security_warnings = warnings_of(ended);
    if (run.captures) {
        failure.out = std::move(streams.out);
        failure.err = std::move(streams.err);
    }
    if (!streams.withheld.empty()) {
        failure.withheld = std::move(streams.withheld);
    }
    return failure;
}

CodeValidation validation_of(const std::string& code, const protocol::ValidateResult& found) {
    CodeValidation result;
    result.analysis = analysis_of(code, found.complexity);
    for (const protocol::Diagnostic& each : found.diagnostics) {
        add_finding(result, each, code);
    }
    CodeVerdict& verdict = result.verdict;
    verdict.valid = verdict.errors.empty();
    if (verdict.valid) {
        verdict.message = "Code passed validation";
    } else {
        verdict.message = result.syntax ? "Code contains a syntax error" : "Code contains restricted operations";
    }
    return result;
}

} // namespace cellgate::agent
