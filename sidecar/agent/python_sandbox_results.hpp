#pragma once
// `CodeSuccess`, `CodeFailure` and `CodeValidation` are the results of execute_code and validate_code as Python Sandbox
// Server has them. Two versions of that server differ; these have the members of both.

#include "base/json_codec.hpp"
#include "output_reader.hpp"
#include "protocol/messages/executions.hpp"
#include "protocol/messages/kernels.hpp"
#include "python_sandbox_settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::agent {

using Texts = std::vector<std::string>;

// What execution_values.py shows.
struct ShownValues {
    RawJson result;
    Texts variables;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("result", self.result);
        visit("variables", self.variables);
    }
};

struct CodeSuccess {
    bool success = true;
    std::string execution_id;
    ShownValues shown;
    std::string out;
    std::string err;
    double execution_time = 0; // seconds, without waiting for a user
    Nullable<Texts> security_warnings;
    std::optional<std::string> withheld; // why the output is not the agent's to see
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("success", self.success);
        visit("execution_id", self.execution_id);
        ShownValues::fields(self.shown, visit);
        visit("stdout", self.out);
        visit("stderr", self.err);
        visit("execution_time", self.execution_time);
        visit("security_warnings", self.security_warnings);
        visit("withheld", self.withheld);
    }
};

struct CodeFailure {
    bool success = false;
    std::string error;
    std::string error_category; // request, syntax, security, runtime, timeout, resource, cancelled
    std::optional<std::string> execution_id;
    std::optional<double> timeout;
    std::optional<std::string> security_event;
    std::optional<Texts> security_warnings;
    std::optional<Texts> validation_errors;
    std::optional<std::string> traceback;
    std::optional<std::string> out;
    std::optional<std::string> err;
    std::optional<std::string> withheld;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("success", self.success);
        visit("error", self.error);
        visit("error_category", self.error_category);
        visit("execution_id", self.execution_id);
        visit("timeout", self.timeout);
        visit("security_event", self.security_event);
        visit("security_warnings", self.security_warnings);
        visit("validation_errors", self.validation_errors);
        visit("traceback", self.traceback);
        visit("stdout", self.out);
        visit("stderr", self.err);
        visit("withheld", self.withheld);
    }
};

struct CodeVerdict {
    bool valid = true;
    Texts errors;
    std::string message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("valid", self.valid);
        visit("errors", self.errors);
        visit("message", self.message);
    }
};

struct CodeAnalysis {
    std::int64_t line_count = 0;
    std::int64_t character_count = 0;
    std::string estimated_complexity;                  // low, medium, high; unknown of code that cannot be read
    std::optional<std::int64_t> cyclomatic_complexity; // what it is estimated by
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("line_count", self.line_count);
        visit("character_count", self.character_count);
        visit("estimated_complexity", self.estimated_complexity);
        visit("cyclomatic_complexity", self.cyclomatic_complexity);
    }
};

// A syntax error, as Python has it: line and offset are counted from 1.
struct SyntaxProblem {
    std::string error;
    std::int64_t line = 0;
    std::int64_t offset = 0;
    std::string text;
};

struct CodeValidation {
    CodeVerdict verdict;
    std::optional<SyntaxProblem> syntax;
    Texts security_issues;
    Texts warnings;
    CodeAnalysis analysis;
    Texts recommendations;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("valid", self.verdict.valid);
        visit("message", self.verdict.message);
        if (self.syntax) {
            visit("error", self.syntax->error);
            visit("line", self.syntax->line);
            visit("offset", self.syntax->offset);
            visit("text", self.syntax->text);
        }
        visit("security_issues", self.security_issues);
        visit("warnings", self.warnings);
        visit("validation", self.verdict);
        visit("analysis", self.analysis);
        visit("recommendations", self.recommendations);
    }
};

struct SandboxRun {
    std::string id; // of the execution
    std::string code;
    double timeout = 0;
    bool captures = true;
};

// `category`: see CodeFailure.
CodeFailure failed(std::string error, std::string category);

// Whether it is a reason not to run the code. A module that is not there is none: importing it fails.
bool refuses(const protocol::Diagnostic& found);
// What a user can do for a module that is not offered.
std::string remedy_for(const std::string& module);

// Of code that is not run for what was found in it. `offered`: by the settings; the call may allow fewer.
CodeFailure refusal_of(const SandboxRun& run, const protocol::ValidateResult& found, const ModuleGroup& offered);
// Of code that ran, and not to its end.
CodeFailure failure_of(const SandboxRun& run, const protocol::ExecuteResult& ended, Streams streams);
// What the sandbox refused to code that ran.
std::optional<Texts> warnings_of(const protocol::ExecuteResult& ended);
CodeValidation validation_of(const std::string& code, const protocol::ValidateResult& found);

} // namespace cellgate::agent
