// Resources of the server: texts that a client reads, and mostly its user attaches.

#include "base/escape_unprintable.hpp"
#include "server_call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cellgate::mcp {

namespace {

struct ResourceEntry {
    std::string uri;
    std::string name;
    std::string title;
    std::string description;
    std::string mime_type = "application/json";
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("name", self.name);
        visit("title", self.title);
        visit("description", self.description);
        visit("mimeType", self.mime_type);
    }
};

struct ResourceContents {
    std::string uri;
    std::string mime_type = "application/json";
    std::string text;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
        visit("mimeType", self.mime_type);
        visit("text", self.text);
    }
};

struct ReadRequest {
    std::string uri;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("uri", self.uri);
    }
};

std::string resource_uri(const Resource& resource) {
    return "cellgate://" + resource.name;
}

Task<RawJson> no_templates(Era era) {
    co_return cacheable(era, R"("resourceTemplates":[])");
}

} // namespace

void Server::add_resource_requests() {
    peer_.on_raw_request("resources/list",
                         [this](RawJson params, std::string) { return list_resources(std::move(params)); });
    peer_.on_raw_request("resources/templates/list",
                         [this](RawJson params, std::string) { return no_templates(caller_of(params).era); });
    peer_.on_raw_request("resources/read",
                         [this](RawJson params, std::string) { return read_resource(std::move(params)); });
}

Task<RawJson> Server::list_resources(RawJson params) const {
    const Caller caller = caller_of(params);
    std::string list;
    for (const Resource& each : description_.resources) {
        const ResourceEntry entry{resource_uri(each), each.name, each.title, each.description};
        list += (list.empty() ? "" : ",") + to_json(entry);
    }
    co_return cacheable(caller.era, fmt::format(R"("resources":[{}])", list));
}

Task<RawJson> Server::read_resource(RawJson params) {
    Caller caller = caller_of(params);
    const Era era = caller.era;
    const auto request = from_json<ReadRequest>(params, "params");
    const auto found = std::find_if(description_.resources.begin(), description_.resources.end(),
                                    [&](const Resource& each) { return resource_uri(each) == request.uri; });
    if (found == description_.resources.end()) {
        throw Error(ErrorCode::invalid_params,
                    fmt::format("there is no resource \"{}\"", escape_unprintable(request.uri.substr(0, 100))));
    }
    caller.takes_forms = false; // a user who attaches it is asked nothing
    std::shared_ptr<ToolCall> call = std::make_shared<Call>(*this, std::move(caller), std::move(params));
    const RawJson value = co_await found->read(std::move(call));
    ResourceContents contents;
    contents.uri = request.uri;
    contents.text = value.text();
    co_return cacheable(era, fmt::format(R"("contents":[{}])", to_json(contents)), std::chrono::milliseconds::zero());
}

} // namespace cellgate::mcp
