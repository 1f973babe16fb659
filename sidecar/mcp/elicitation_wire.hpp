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

// What we can answer. In the modern era a server may also make a task of a call.
inline constexpr std::string_view legacy_capabilities = R"({"elicitation":{"form":{},"url":{}},"roots":{}})";
inline constexpr std::string_view modern_capabilities =
    R"({"elicitation":{"form":{},"url":{}},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}})";

// From the params of elicitation/create. Throws Error{invalid_params}.
ElicitationQuestion read_question(const RawJson& params);

// The result of elicitation/create. `action`: accept, decline or cancel.
struct ElicitResult {
    std::string action;
    std::optional<RawJson> content;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("action", self.action);
        visit("content", self.content);
    }
};

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
// From an object `inputRequests`, by the server's keys. Throws Error{invalid_params}.
std::vector<std::pair<std::string, InputRequest>> read_input_requests(std::string_view requests);

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
