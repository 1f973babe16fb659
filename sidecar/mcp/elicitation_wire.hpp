#pragma once
// `elicitation_wire` reads and writes MCP's messages about questions to the user: elicitation/create and its result in
// the legacy era, results of type `input_required` in the modern one, and the error that names pages to visit.

#include "base/raw_json.hpp"
#include "mcp/call_follower.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::mcp {

// The error of a tools/call that is refused until the user has visited pages.
inline constexpr int url_elicitation_required = -32042;

// What we can answer, as a member of an object: "{…}".
inline constexpr std::string_view client_capabilities = R"({"elicitation":{"form":{},"url":{}},"roots":{}})";

// From the params of elicitation/create. Throws Error{invalid_params}.
ElicitationQuestion read_question(const RawJson& params);
// An ElicitResult.
RawJson answer_result(const ElicitationAnswer& answer);

struct PageToVisit {
    std::string elicitation_id;
    std::string url;
    std::string message;
};
// From the data of the error url_elicitation_required. Throws Error{invalid_params}.
std::vector<PageToVisit> read_pages(const RawJson& data);

struct InputRequest {
    std::string method;
    RawJson params;
};
// A result of tools/call that asks for more input before the call goes on.
struct InputRequired {
    std::vector<std::pair<std::string, InputRequest>> requests; // by the server's keys
    std::optional<RawJson> request_state;                       // the server's, to be sent back as it is
};
// Nothing for any other result. Throws Error{invalid_params} for one that breaks MCP.
std::optional<InputRequired> read_input_required(const RawJson& result);

// A ListRootsResult with this folder; without any for an empty path.
RawJson roots_result(const std::string& folder);

} // namespace cellgate::mcp
