#include "mcp/http_service.hpp"

#include "base/json_scan.hpp"
#include "base/names.hpp"
#include "base/scope_exit.hpp"
#include "base/sync.hpp"
#include "base/text.hpp"
#include "http_answers.hpp"
#include "posted_request.hpp"
#include "server_wire.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>

namespace cellgate::mcp {

namespace {

using namespace std::chrono_literals;
using async::ServedReply;
using async::ServedRequest;

constexpr Duration prompt = 100ms; // an answer within it needs no stream
constexpr Duration between_comments = 15s;
constexpr Duration idle_limit = 1h;
constexpr Duration between_expiries = 1min;
constexpr std::size_t max_client_name_bytes = 200;

enum Status : int {
    accepted = 202,
    no_content = 204,
    bad_request = 400,
    not_found = 404,
    method_not_allowed = 405,
    not_acceptable = 406,
    unsupported_media_type = 415,
    unavailable = 503,
};

ServedReply json_reply(int status, std::string body) {
    return {status, {{"Content-Type", std::string(json_type_name)}}, std::move(body)};
}

ServedReply words(int status, std::string text) {
    return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(text)};
}

// The names of the media types in a field, in lower case, without their parameters.
std::vector<std::string> media_types(std::string_view field) {
    std::vector<std::string> types;
    for (const std::string_view each : split(field, ',')) {
        std::string type = lower(each.substr(0, each.find(';')));
        std::erase_if(type, [](char c) { return c == ' ' || c == '\t'; });
        if (!type.empty()) {
            types.push_back(std::move(type));
        }
    }
    return types;
}

bool takes_both_types(const ServedRequest& head) {
    const std::vector<std::string> types = media_types(head.only("accept").value_or(""));
    const auto takes = [&types](std::string_view type) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    return takes("*/*") || (takes(json_type_name) && takes(events_type_name));
}

bool brings_json(const ServedRequest& head) {
    const std::vector<std::string> types = media_types(head.only("content-type").value_or(""));
    return types.size() == 1 && types.front() == json_type_name;
}

// The code of an answer that is an error; 0 of a result.
int code_of_error(std::string_view answer) {
    const std::string_view text = json_member(json_member(answer, "error"), "code");
    int code = 0;
    std::from_chars(text.data(), text.data() + text.size(), code);
    return code;
}

std::string client_name_of(const protocol::Message& message) {
    const RequestMeta meta = from_json<OnlyMeta>(message.payload, "params").meta.value_or(RequestMeta{});
    return read_client_info(meta.client_info.value_or(RawJson())).name.substr(0, max_client_name_bytes);
}

} // namespace

HttpService::HttpService(Clock& clock, HttpGuard guard, MakeAgent make_agent)
    : clock_(clock), guard_(std::move(guard)), make_agent_(std::move(make_agent)) {
    expiry_.spawn(expire());
}

Task<void> HttpService::close() {
    expiry_.cancel();
    co_await expiry_.join();
    while (!agents_.empty()) {
        const Key key = agents_.begin()->first;
        remove(key);
    }
    co_await running_.join();
}

// ---- Requests -------------------------------------------------------------------------------------------------------

std::optional<ServedReply> HttpService::refuse(const ServedRequest& head) {
    if (std::optional<ServedReply> refusal = guard_.refuse(head)) {
        return refusal;
    }
    if (head.path != path) {
        return words(not_found, "cellgate answers at /mcp\n");
    }
    if (head.method != "POST" && head.method != "DELETE") {
        return ServedReply{method_not_allowed, {{"Allow", "POST, DELETE"}}};
    }
    if (head.method == "POST" && !takes_both_types(head)) {
        return words(not_acceptable, "Accept: expected application/json and text/event-stream\n");
    }
    if (head.method == "POST" && !brings_json(head)) {
        return words(unsupported_media_type, "Content-Type: expected application/json\n");
    }
    return std::nullopt;
}

Task<void> HttpService::answer(ServedRequest request, std::shared_ptr<async::HttpResponder> responder) {
    if (request.method == "DELETE") {
        responder->reply(end_session(request));
        co_return;
    }
    protocol::Message message;
    std::optional<ServedReply> refusal;
    try {
        message = protocol::parse_message(request.body);
        era_of_posted(request, message);
        client_name_of(message);
    } catch (const protocol::InvalidMessage& error) {
        refusal = json_reply(bad_request, error.id.is_null() ? protocol::error_text_without_id(error)
                                                             : protocol::error_text(error.id, error));
    } catch (const Error& error) {
        const int status = http_status_of(Era::modern, static_cast<int>(error.code));
        refusal = json_reply(status, message.id.is_null() ? protocol::error_text_without_id(error)
                                                          : protocol::error_text(message.id, error));
    }
    if (refusal) {
        responder->reply(std::move(*refusal));
        co_return;
    }
    co_await answer_message(std::move(request), std::move(message), std::move(responder));
}

ServedReply HttpService::end_session(const ServedRequest& request) {
    const std::optional<std::string> session = request.only("mcp-session-id");
    if (!session) {
        return words(bad_request, "Mcp-Session-Id: expected one\n");
    }
    const Key key{Era::legacy, *session};
    if (!find(key)) {
        return words(not_found, "there is no such session\n");
    }
    remove(key);
    return {no_content};
}

Task<void> HttpService::answer_message(ServedRequest request, protocol::Message message,
                                       std::shared_ptr<async::HttpResponder> responder) {
    const bool is_request = message.kind == protocol::Message::Kind::request;
    const Era era = era_of_posted(request, message);
    if (era == Era::modern && !is_request) {
        responder->reply({accepted}); // no notification of a client means anything in this era
        co_return;
    }
    const std::optional<std::string> session = request.only("mcp-session-id");
    const bool begins = era == Era::legacy && !session && is_request && message.method == "initialize";
    if (era == Era::legacy && !session && !begins) {
        responder->reply(words(bad_request, "Mcp-Session-Id: expected that of the answer to initialize\n"));
        co_return;
    }
    const std::string name = begins ? random_id() : era == Era::legacy ? *session : client_name_of(message);
    Key key{era, name};
    std::shared_ptr<Agent> agent = find(key);
    if (!agent && era == Era::legacy && !begins) {
        responder->reply(words(not_found, "there is no such session\n"));
        co_return;
    }
    if (!agent) {
        agent = add(key);
    }
    if (!agent) {
        responder->reply(words(unavailable, "too many agents are connected\n"));
    } else if (is_request) {
        co_await answer_request(std::move(key), std::move(agent), begins, std::move(message), std::move(responder));
    } else {
        agent->connection->post(message, std::move(request.body));
        responder->reply({accepted});
    }
}

Task<void> HttpService::answer_request(Key key, std::shared_ptr<Agent> agent, bool begins, protocol::Message message,
                                       std::shared_ptr<async::HttpResponder> responder) {
    const std::shared_ptr<PostedConnection> connection = agent->connection;
    const std::shared_ptr<PostedConnection::Stream> messages = connection->post_request(message);
    const ScopeExit dropped([&] {
        connection->drop(messages, key.first == Era::modern);
        agent->used = clock_.now();
    });
    responder->on_gone([messages] { messages->changed.notify(); });
    const auto has_begun = [&] { return !messages->messages.empty() || messages->ended || responder->is_gone(); };
    Task<void> begun = messages->changed.until(has_begun);
    co_await with_timeout(clock_, prompt, std::move(begun));
    if (!messages->ended || messages->messages.size() > 1) {
        co_await stream(connection, messages, responder);
        co_return;
    }
    const std::string text = connection->take(*messages).value_or("");
    if (text.empty()) {
        responder->reply({accepted}); // it was cancelled
        co_return;
    }
    const int code = code_of_error(text);
    ServedReply reply = json_reply(http_status_of(key.first, code), text);
    if (begins && code == 0) {
        reply.fields.emplace_back("Mcp-Session-Id", key.second);
    } else if (begins) {
        remove(key);
    }
    responder->reply(std::move(reply));
}

Task<void> HttpService::stream(std::shared_ptr<PostedConnection> connection,
                               std::shared_ptr<PostedConnection::Stream> stream,
                               std::shared_ptr<async::HttpResponder> responder) {
    responder->begin_stream({{"Content-Type", std::string(events_type_name)}, {"Cache-Control", "no-store"}});
    const auto has_news = [&] { return !stream->messages.empty() || stream->ended || responder->is_gone(); };
    while (!responder->is_gone()) {
        std::string event;
        if (const std::optional<std::string> message = connection->take(*stream)) {
            event = fmt::format("data: {}\n\n", *message);
        } else if (stream->ended) {
            break;
        } else {
            Task<void> news = stream->changed.until(has_news);
            const bool has_come = co_await with_timeout(clock_, between_comments, std::move(news));
            event = has_come ? "" : ":\n\n";
        }
        if (!event.empty()) {
            co_await responder->write(std::move(event));
        }
    }
    responder->end();
}

// ---- Agents ---------------------------------------------------------------------------------------------------------

std::shared_ptr<HttpService::Agent> HttpService::find(const Key& key) {
    const auto found = agents_.find(key);
    if (found == agents_.end()) {
        return nullptr;
    }
    found->second->used = clock_.now();
    return found->second;
}

std::shared_ptr<HttpService::Agent> HttpService::add(const Key& key) {
    if (agents_.size() >= max_agents) {
        const auto is_better = [](const auto& a, const auto& b) {
            const bool a_in_use = a.second->is_in_use();
            const bool b_in_use = b.second->is_in_use();
            return a_in_use != b_in_use ? b_in_use : a.second->used < b.second->used;
        };
        const auto least = std::min_element(agents_.begin(), agents_.end(), is_better);
        if (least->second->is_in_use()) {
            return nullptr;
        }
        const Key unused = least->first;
        remove(unused);
    }
    const auto agent = std::make_shared<Agent>();
    agent->connection = std::make_shared<PostedConnection>();
    agent->server = make_agent_(agent->connection);
    agent->used = clock_.now();
    agents_[key] = agent;
    running_.spawn(run(key, agent));
    return agent;
}

void HttpService::remove(const Key& key) {
    const auto found = agents_.find(key);
    if (found != agents_.end()) {
        const std::shared_ptr<Agent> agent = found->second;
        agents_.erase(found);
        agent->connection->close();
    }
}

Task<void> HttpService::run(Key key, std::shared_ptr<Agent> agent) {
    const ScopeExit ended([&] {
        const auto found = agents_.find(key);
        if (found != agents_.end() && found->second == agent) {
            agents_.erase(found);
        }
    });
    co_await agent->server->run();
}

Task<void> HttpService::expire() {
    while (true) {
        co_await sleep_for(clock_, between_expiries);
        const auto is_unused = [this](const auto& each) {
            return !each.second->is_in_use() && clock_.now() - each.second->used >= idle_limit;
        };
        auto unused = std::find_if(agents_.begin(), agents_.end(), is_unused);
        while (unused != agents_.end()) {
            const Key key = unused->first;
            remove(key);
            unused = std::find_if(agents_.begin(), agents_.end(), is_unused);
        }
    }
}

} // namespace cellgate::mcp
