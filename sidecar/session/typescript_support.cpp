#include "typescript_support.hpp"

#include "base/encoding.hpp"
#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "bootstrap_text.hpp"
#include "packages/npm_packages.hpp"
#include "typescript_failures.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::session {

namespace {

const VariableRules& rules_of_typescript() {
    static const VariableRules rules{
        "TypeScript",
        {"Infinity",   "NaN",    "abstract",   "arguments", "await",     "break",      "case",      "catch",
         "class",      "const",  "continue",   "debugger",  "default",   "delete",     "do",        "else",
         "enum",       "eval",   "export",     "extends",   "false",     "finally",    "for",       "function",
         "globalThis", "if",     "implements", "import",    "in",        "instanceof", "interface", "let",
         "new",        "null",   "package",    "private",   "protected", "public",     "return",    "static",
         "super",      "switch", "this",       "throw",     "true",      "try",        "typeof",    "undefined",
         "var",        "void",   "while",      "with",      "yield"},
        "",
        true};
    return rules;
}

std::string typescript_text(const std::string& text) {
    return to_json(text);
}

// Calls a function of transfer.js, as a statement without a value.
jupyter::KernelQuery typescript_call(std::string_view function, const std::string& arguments) {
    return jupyter::code_query(fmt::format("void {}.{}({});", transfer_js_text, function, arguments));
}

bool is_name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           byte == '_' || byte == '$' || static_cast<unsigned char>(byte) >= 0x80;
}

bool is_name(const std::string& text) {
    return !text.empty() && !(text.front() >= '0' && text.front() <= '9') &&
           std::all_of(text.begin(), text.end(), is_name_byte);
}

// The name at the cursor; empty if none is there, or that of a member.
std::string name_at(const std::string& code, std::int64_t cursor) {
    std::size_t at = 0;
    for (; cursor > 0 && at < code.size(); --cursor) {
        at += decode_utf8(std::string_view(code).substr(at)).length;
    }
    std::size_t end = at;
    while (at > 0 && is_name_byte(code[at - 1])) {
        --at;
    }
    while (end < code.size() && is_name_byte(code[end])) {
        ++end;
    }
    const bool of_member = at > 0 && code[at - 1] == '.' && (at < 2 || code[at - 2] != '.'); // ...name is none
    return of_member ? std::string() : code.substr(at, end - at);
}

// All names in scope: those of globals, and those that cells declared.
Task<std::set<std::string>> names_in_scope(const KernelAccess& kernel) {
    jupyter::KernelQuery query = jupyter::completion_query("", 0);
    const std::string reply = co_await kernel.ask(std::move(query));
    std::set<std::string> names;
    for (std::string& name : jupyter::read_completion(reply, 0).matches) {
        if (is_name(name)) {
            names.insert(std::move(name));
        }
    }
    co_return names;
}

// {"a": () => a, "b": () => b}
std::string readers_of(const std::set<std::string>& names) {
    std::string readers = "{";
    for (const std::string& name : names) {
        readers += fmt::format("{}: () => {}, ", typescript_text(name), name);
    }
    return readers + "}";
}

// Nothing if the code could not be run, as that of a second declaration.
Task<std::optional<ImportAnswer>> try_import(const KernelAccess& kernel, RawJson value,
                                             KernelAccess::MakeQueryOf make) {
    try {
        co_return co_await kernel.answer_to<ImportAnswer>(std::move(value), std::move(make));
    } catch (const Cancelled&) {
        throw;
    } catch (const Error& error) {
        if (error.code != ErrorCode::unsupported) {
            throw;
        }
    }
    co_return std::nullopt;
}

// `keyword`: "let" or "const".
KernelAccess::MakeQueryOf declaring(const std::string& keyword, const std::string& name) {
    return [keyword, name](const std::string& path, const std::string& source) {
        return jupyter::code_query(fmt::format("{} {} = {}.declared({}, {});", keyword, name, transfer_js_text,
                                               typescript_text(path), typescript_text(source)));
    };
}

KernelAccess::MakeQueryOf assigning(const std::string& name) {
    return [name](const std::string& path, const std::string& source) {
        return typescript_call("importVariable", fmt::format("{}, {}, (value) => {{ {} = value; }}",
                                                             typescript_text(path), typescript_text(source), name));
    };
}

struct Description {
    std::optional<std::string> text;

    template <class Self, class Visitor>
    static void fields(Self& self, Visitor& visit) {
        visit("text", self.text);
    }
};

} // namespace

KernelLaunch TypescriptSupport::launch(const LaunchPlace& place, Environment environment) const {
    KernelLaunch launch = PlainSupport::launch(place, std::move(environment));
    launch.environment.emplace("DENO_NO_UPDATE_CHECK", "1"); // it would connect by itself
    launch.environment.emplace("DENO_NO_PROMPT", "1");
    launch.packages = packages::NpmPackages(place.directories, place.workspace).shown();
    launch.node_modules = true;
    // Deno publishes idle, results and what is printed from three tasks. console.log() ends in this function, too.
    launch.print_function = "globalThis.Deno[globalThis.Deno.internal].core.print";
    return launch;
}

std::optional<std::string> TypescriptSupport::chdir_code(const std::string& directory) const {
    return fmt::format("Deno.chdir({})", typescript_text(directory));
}

FailureCauses TypescriptSupport::causes_of(const Failure& failure) const {
    return causes_of_typescript(failure);
}

Task<void> TypescriptSupport::on_started(const KernelAccess& kernel) {
    built_in_ = co_await names_in_scope(kernel);
}

Task<std::optional<jupyter::Variables>> TypescriptSupport::variables(const KernelAccess& kernel) const {
    std::set<std::string> declared = co_await names_in_scope(kernel);
    std::erase_if(declared, [this](const std::string& name) { return built_in_.contains(name); });
    KernelAccess::MakeQuery make = [&declared, this](const std::string& path) {
        return typescript_call(
            "variables", fmt::format("{}, {}, {}", typescript_text(path), readers_of(declared), readers_of(built_in_)));
    };
    const RawJson found = co_await kernel.answer<RawJson>(std::move(make));
    co_return jupyter::shown_variables(found);
}

Task<std::optional<std::string>> TypescriptSupport::inspect(const KernelAccess& kernel, std::string code,
                                                            std::int64_t cursor, std::int64_t /*detail_level*/) const {
    const std::string name = name_at(code, cursor);
    const std::set<std::string> names = co_await names_in_scope(kernel);
    if (!names.contains(name) || built_in_.contains(name)) {
        co_return std::nullopt;
    }
    KernelAccess::MakeQuery make = [&name](const std::string& path) {
        return typescript_call("inspect",
                               fmt::format("{}, {}, () => {}", typescript_text(path), typescript_text(name), name));
    };
    const Description found = co_await kernel.answer<Description>(std::move(make));
    std::optional<std::string> shown;
    if (found.text) {
        shown = jupyter::shown_description(*found.text);
    }
    co_return shown;
}

const VariableRules* TypescriptSupport::variable_rules() const {
    return &rules_of_typescript();
}

Task<ExportAnswer> TypescriptSupport::export_variable(const KernelAccess& kernel, std::string name) const {
    KernelAccess::MakeQuery make = [&name](const std::string& path) {
        return typescript_call("exportVariable",
                               fmt::format("{}, \"{}\", () => {}", typescript_text(path), name, name));
    };
    co_return co_await kernel.answer<ExportAnswer>(std::move(make));
}

// A variable keeps how it was declared: one of `let` and `var` is given the value, one of `const` is declared again. A
// global of Deno is left alone.
Task<ImportAnswer> TypescriptSupport::import_variable(const KernelAccess& kernel, std::string name,
                                                      RawJson value) const {
    const std::set<std::string> names = co_await names_in_scope(kernel);
    KernelAccess::MakeQueryOf make = assigning(name);
    if (!names.contains(name) || built_in_.contains(name)) {
        make = declaring("let", name);
    }
    std::optional<ImportAnswer> answer = co_await try_import(kernel, value, std::move(make));
    if (!answer || answer->constant) {
        make = declaring("const", name);
        answer = co_await try_import(kernel, value, std::move(make));
    }
    if (!answer) {
        answer.emplace();
        answer->problem = fmt::format("{} is declared there as something that cannot be given a value", name);
    }
    co_return std::move(*answer);
}

} // namespace cellgate::session
