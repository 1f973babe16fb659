#include "server_secrets.hpp"

#include "base/json_value.hpp"
#include "base/scope_exit.hpp"
#include "config_inputs.hpp"
#include "server_errors.hpp"
#include "start_question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cellgate::tools {

namespace {

using protocol::ElicitationField;

ElicitationField field_of_secret(const std::string& name) {
    ElicitationField field;
    field.name = name;
    field.title = name;
    field.required = true;
    field.secret = true;
    field.minimum = 1;
    field.maximum = static_cast<double>(store::max_secret_value_bytes);
    return field;
}

std::string words_of(const std::vector<std::string>& names) {
    return fmt::format("the secret{} {}", names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

Error secret_missing(const std::string& server, const std::vector<std::string>& names, std::string_view why) {
    return Error(ErrorCode::denied,
                 fmt::format("the tool server {} needs {}, and {}", in_quotes(server), words_of(names), why),
                 fmt::format("cellgate secret add {}", names.front()));
}

} // namespace

ServerSecrets::Key ServerSecrets::key_of(const ServerSpec& spec) {
    return {spec.name, to_json(spec.config)};
}

Environment ServerSecrets::known(const ServerSpec& spec) const {
    const auto found = given_.find(key_of(spec));
    return found == given_.end() ? Environment() : found->second;
}

Task<Environment> ServerSecrets::take(CallContext context, ServerSpec spec) {
    while (true) {
        Looked looked = co_await look(spec);
        if (looked.missing.empty()) {
            for (const store::SecretEntry& entry : looked.found) {
                if (options_.on_secret_used) {
                    options_.on_secret_used(entry, spec.name);
                }
            }
            if (options_.known_secrets != nullptr) {
                for (const auto& [name, value] : looked.values) {
                    options_.known_secrets->add(name, value);
                }
            }
            given_[key_of(spec)] = looked.values;
            co_return std::move(looked.values);
        }
        if (const std::shared_ptr<Event> asked = asked_for(looked.missing)) {
            co_await asked->wait();
        } else {
            co_await ask(context, spec, std::move(looked.missing));
        }
    }
}

Task<ServerSecrets::Looked> ServerSecrets::look(ServerSpec spec) {
    Looked looked;
    const std::set<std::string> names = named_secrets(spec.config);
    for (const std::string& name : names) {
        std::optional<store::Secrets::Found> found;
        if (options_.secrets != nullptr) {
            found = co_await options_.secrets->find(name);
        }
        if (found) {
            looked.values[name] = std::move(found->value);
            looked.found.push_back(std::move(found->entry));
        } else {
            looked.missing.push_back(name);
        }
    }
    co_return looked;
}

std::shared_ptr<Event> ServerSecrets::asked_for(const std::vector<std::string>& names) const {
    for (const std::string& name : names) {
        if (const auto asking = asking_.find(name); asking != asking_.end()) {
            return asking->second;
        }
    }
    return nullptr;
}

Task<void> ServerSecrets::ask(CallContext context, ServerSpec spec, std::vector<std::string> names) {
    if (spec.source == protocol::ToolServerSource::agent) {
        throw secret_missing(spec.name, names, "no user is asked for it: an agent named the server");
    }
    if (options_.secrets == nullptr || options_.elicitor == nullptr || !options_.elicitor->can_ask()) {
        throw secret_missing(spec.name, names, "no editor or terminal is there to ask for it");
    }
    const auto over = std::make_shared<Event>();
    std::vector<ElicitationField> fields;
    for (const std::string& name : names) {
        fields.push_back(field_of_secret(name));
        asking_[name] = over;
    }
    const ScopeExit ended([&] {
        for (const std::string& name : names) {
            asking_.erase(name);
        }
        over->set();
    });
    std::string message =
        fmt::format("The tool server {} needs {}.\nWhat you answer is kept, encrypted, as yours for all workspaces: "
                    "`cellgate secret remove {}` forgets it.",
                    shortened(spec.name, max_question_title), words_of(names), names.front());
    protocol::Elicitation question = start_question(context, spec.name, std::move(message), fields);
    ValuesCheck check = check_of(std::move(fields));
    const ElicitationReply reply = co_await options_.elicitor->elicit(std::move(question), std::move(check));
    if (reply.action != protocol::ElicitationAction::accept) {
        throw secret_missing(spec.name, names, "no user gave it");
    }
    const JsonValue given = parse_json_value(reply.content->text());
    for (const std::string& name : names) {
        co_await keep(name, given.find(name)->string);
    }
}

Task<void> ServerSecrets::keep(std::string name, std::string value) {
    store::SecretEntry entry;
    entry.name = std::move(name);
    const store::SecretEntry kept = co_await options_.secrets->set(std::move(entry), std::move(value));
    if (options_.on_secret_kept) {
        options_.on_secret_kept(kept);
    }
}

} // namespace cellgate::tools
