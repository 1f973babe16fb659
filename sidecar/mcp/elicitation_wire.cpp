#include "elicitation_wire.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"

#include <fmt/format.h>

namespace cellgate::mcp {

namespace {

constexpr std::size_t max_input_requests = 16;
constexpr std::size_t max_request_state = std::size_t{1} << 20;

Error broken(std::string message) {
    return Error(ErrorCode::invalid_params, std::move(message));
}

struct QuestionParams {
    std::optional<std::string> mode;
    std::string message;
    std::optional<RawJson> requested_schema;
    std::optional<std::string> url;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("mode", self.mode);
        visit("message", self.message);
        visit("requestedSchema", self.requested_schema);
        visit("url", self.url);
    }
};

struct PageParams {
    std::string elicitation_id;
    std::string url;
    std::string message;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("elicitationId", self.elicitation_id);
        visit("url", self.url);
        visit("message", self.message);
    }
};

struct PagesData {
    std::vector<PageParams> elicitations;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("elicitations", self.elicitations);
    }
};

struct InputRequestParams {
    std::string method;
    std::optional<RawJson> params;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("method", self.method);
        visit("params", self.params);
    }
};

} // namespace

ElicitationQuestion read_question(const RawJson& params) {
    auto read = from_json<QuestionParams>(params, "params");
    ElicitationQuestion question;
    question.message = std::move(read.message);
    const std::string mode = read.mode.value_or("form");
    if (mode == "url") {
        if (!read.url) {
            throw broken("params.url: expected the page to open, found none");
        }
        question.url = std::move(read.url);
        return question;
    }
    if (mode != "form") {
        throw broken("params.mode: expected \"form\" or \"url\"");
    }
    if (!read.requested_schema || !read.requested_schema->is_object()) {
        throw broken("params.requestedSchema: expected an object");
    }
    question.requested_schema = std::move(*read.requested_schema);
    return question;
}

RawJson answer_result(const ElicitationAnswer& answer) {
    ElicitResult result;
    switch (answer.action) {
    case ElicitationAction::accept:
        result.action = "accept";
        result.content = answer.content;
        break;
    case ElicitationAction::decline:
        result.action = "decline";
        break;
    case ElicitationAction::cancel:
        result.action = "cancel";
        break;
    }
    return to_raw_json(result);
}

std::vector<PageToVisit> read_pages(const RawJson& data) {
    std::vector<PageToVisit> pages;
    for (PageParams& page : from_json<PagesData>(data, "data").elicitations) {
        pages.push_back({std::move(page.elicitation_id), std::move(page.url), std::move(page.message)});
    }
    if (pages.empty()) {
        throw broken("data.elicitations: expected at least one page");
    }
    return pages;
}

std::vector<std::pair<std::string, InputRequest>> read_input_requests(std::string_view requests) {
    if (json_type(requests) != "object") {
        throw broken("inputRequests: expected an object");
    }
    std::vector<std::pair<std::string, InputRequest>> read;
    for (const auto& [key, request] : json_members(requests)) {
        auto params = from_json<InputRequestParams>(request, "inputRequests." + key);
        read.emplace_back(key, InputRequest{std::move(params.method), params.params.value_or(RawJson::checked("{}"))});
    }
    if (read.size() > max_input_requests) {
        throw broken(fmt::format("inputRequests: expected at most {}", max_input_requests));
    }
    return read;
}

std::optional<InputRequired> read_input_required(const RawJson& result) {
    if (!result.is_object() || json_member_text(result.text(), "resultType") != "input_required") {
        return std::nullopt;
    }
    InputRequired read;
    const std::string_view requests = json_member(result.text(), "inputRequests");
    const std::string_view state = json_member(result.text(), "requestState");
    if (!state.empty()) {
        if (json_type(state) != "string" || state.size() > max_request_state) {
            throw broken(fmt::format("requestState: expected a string of at most {} bytes", max_request_state));
        }
        read.request_state = RawJson::checked(std::string(state));
    }
    if (!requests.empty()) {
        read.requests = read_input_requests(requests);
    } else if (!read.request_state) {
        throw broken("expected inputRequests or a requestState, found neither");
    }
    return read;
}

RawJson roots_result(const std::string& folder) {
    if (folder.empty()) {
        return RawJson::checked(R"({"roots":[]})");
    }
    std::string text = R"({"roots":[{"uri":)";
    append_json_string(text, file_uri(folder));
    text += R"(,"name":)";
    append_json_string(text, folder.substr(folder.rfind('/') + 1));
    return RawJson::checked(text + "}]}");
}

} // namespace cellgate::mcp
