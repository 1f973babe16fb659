#include "lsp/client_connection.hpp"

#include "base/error.hpp"
#include "base/json_scan.hpp"
#include "base/raw_json.hpp"

namespace cellgate::cli::lsp {

std::string without_null_params(std::string text) {
    try {
        const RawJson message = RawJson::parse(text);
        if (!message.is_object() || json_member(message.text(), "params") != "null") {
            return text;
        }
        std::string rest;
        for (const auto& [name, value] : json_members(message.text())) {
            if (name == "params") {
                continue;
            }
            rest += rest.empty() ? "{" : ",";
            append_json_string(rest, name);
            rest += ":";
            rest += value;
        }
        return rest.empty() ? "{}" : rest + "}";
    } catch (const Error&) { // no JSON, which the reader says
        return text;
    }
}

} // namespace cellgate::cli::lsp
