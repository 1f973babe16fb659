#include "r_support.hpp"

#include "base/json.hpp"
#include "base/json_codec.hpp"
#include "bootstrap_text.hpp"

#include <fmt/format.h>

namespace cellgate::session {

namespace {

const VariableRules& rules_of_r() {
    static const VariableRules rules{"R",
                                     {"FALSE", "Inf", "NA", "NA_character_", "NA_complex_", "NA_integer_", "NA_real_",
                                      "NULL", "NaN", "TRUE", "break", "else", "for", "function", "if", "in", "next",
                                      "repeat", "while"},
                                     "_",
                                     true};
    return rules;
}

std::string r_text(const std::string& text) {
    return to_json(text);
}

// Calls a function of transfer.r.
jupyter::KernelQuery r_call(std::string_view function, const std::string& arguments) {
    return jupyter::code_query(fmt::format("invisible({}${}({}))", transfer_r_text, function, arguments));
}

} // namespace

Task<std::optional<jupyter::Variables>> RSupport::variables(const KernelAccess& kernel) const {
    KernelAccess::MakeQuery make = [](const std::string& path) { return r_call("variables", r_text(path)); };
    const RawJson found = co_await kernel.answer<RawJson>(std::move(make));
    co_return jupyter::shown_variables(found);
}

const VariableRules* RSupport::variable_rules() const {
    return &rules_of_r();
}

Task<ExportAnswer> RSupport::export_variable(const KernelAccess& kernel, std::string name) const {
    KernelAccess::MakeQuery make = [&name](const std::string& path) {
        return r_call("export_variable", fmt::format("{}, \"{}\"", r_text(path), name));
    };
    co_return co_await kernel.answer<ExportAnswer>(std::move(make));
}

Task<ImportAnswer> RSupport::import_variable(const KernelAccess& kernel, std::string name, RawJson value) const {
    KernelAccess::MakeQueryOf make = [&name](const std::string& path, const std::string& source) {
        return r_call("import_variable", fmt::format("{}, \"{}\", {}", r_text(path), name, r_text(source)));
    };
    co_return co_await kernel.answer_to<ImportAnswer>(std::move(value), std::move(make));
}

} // namespace cellgate::session
