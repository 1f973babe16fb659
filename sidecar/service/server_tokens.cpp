#include "server_tokens.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_value.hpp"
#include "jupyter/server_api.hpp"
#include "tools/elicitation_values.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::service {

namespace {

constexpr std::string_view secret_begin = "${secret:";
constexpr std::string_view token_field = "token";
constexpr double max_token_characters = 4096;

// The name in "${secret:NAME}".
std::optional<std::string> named_secret(const std::string& token) {
    if (!token.starts_with(secret_begin) || !token.ends_with('}')) {
        return std::nullopt;
    }
    return token.substr(secret_begin.size(), token.size() - secret_begin.size() - 1);
}

protocol::Elicitation question_about(const std::optional<std::string>& session_id, const std::string& refusal) {
    protocol::ElicitationField field;
    field.name = token_field;
    field.title = "token";
    field.required = true;
    field.secret = true;
    field.minimum = 1;
    field.maximum = max_token_characters;
    protocol::Elicitation question;
    question.server = "Jupyter server";
    question.session_id = session_id;
    question.message = fmt::format(
        "{}.\nWhich token is it to get? ${{secret:NAME}} takes a stored secret. What you answer is kept until "
        "cellgate ends, and never stored.",
        escape_unprintable(refusal));
    question.fields.emplace();
    question.fields->push_back(std::move(field));
    return question;
}

} // namespace

Task<std::string> ServerTokens::take(std::optional<std::string> session_id, protocol::KernelServer server,
                                     std::optional<std::string> refusal) {
    const std::string host = jupyter::server_host(server.url);
    std::string given;
    if (refusal && server.token) {
        throw Error(ErrorCode::denied, *refusal, "Look whether the token is the server's, and may start kernels.");
    }
    if (refusal) {
        typed_.erase(server.url);
        given = co_await ask(std::move(session_id), std::move(*refusal));
    } else if (server.token) {
        given = *server.token;
    } else if (const auto typed = typed_.find(server.url); typed != typed_.end()) {
        given = typed->second;
    }
    std::string token = given;
    if (std::optional<std::string> name = named_secret(given)) {
        token = co_await of_secret(std::move(*name), host);
    }
    if (refusal) {
        typed_[server.url] = std::move(given);
    }
    if (!token.empty()) {
        known_.add(host, token);
    }
    co_return token;
}

Task<std::string> ServerTokens::of_secret(std::string name, std::string host) {
    const std::optional<store::Secrets::Found> found = co_await secrets_.find(name);
    if (!found) {
        throw Error(ErrorCode::denied,
                    fmt::format("the Jupyter server {} is to get the secret {}, and there is none of that name", host,
                                escape_unprintable(name)),
                    fmt::format("cellgate secret add {}", escape_unprintable(name)));
    }
    record_.used(found->entry, host);
    co_return found->value;
}

Task<std::string> ServerTokens::ask(std::optional<std::string> session_id, std::string refusal) {
    const auto not_given = [&refusal](std::string_view why) {
        return Error(
            ErrorCode::denied, fmt::format("{}; it may want a token, and {}", refusal, why),
            "Give it as a secret: `cellgate secret add NAME`, and ${secret:NAME} as the token. `jupyter server "
            "list` shows that of your own server.");
    };
    if (!elicitations_.can_ask()) {
        throw not_given("no editor or terminal is there to ask for it");
    }
    protocol::Elicitation question = question_about(session_id, refusal);
    const std::vector<protocol::ElicitationField> fields = *question.fields;
    tools::ValuesCheck check = [fields](const std::optional<RawJson>& values) {
        RawJson given = values ? *values : RawJson::checked("{}");
        tools::check_values(fields, given);
        return given;
    };
    const tools::ElicitationReply reply = co_await elicitations_.elicit(std::move(question), std::move(check));
    if (reply.action != protocol::ElicitationAction::accept) {
        throw not_given("no user gave it");
    }
    const JsonValue given = parse_json_value(reply.content->text());
    co_return given.find(token_field)->string;
}

} // namespace cellgate::service
