#include "server_inputs.hpp"

#include "base/json_codec.hpp"
#include "base/json_value.hpp"
#include "base/scope_exit.hpp"
#include "config_inputs.hpp"
#include "server_errors.hpp"
#include "start_question.hpp"
#include "tools/elicitation_values.hpp"

#include <fmt/format.h>

namespace cellgate::tools {

namespace {

using protocol::ElicitationField;
using protocol::ServerInput;

constexpr std::size_t max_description = 2000;

ElicitationField field_of(const ServerInput& input) {
    ElicitationField field;
    field.name = input.id;
    field.title = shortened(input.id, max_question_title);
    if (input.description) {
        field.description = shortened(*input.description, max_description, true);
    }
    field.required = true;
    if (input.type == protocol::ServerInputType::pick_string) {
        field.type = protocol::ElicitationFieldType::choice;
        field.options.emplace();
        for (const std::string& option : *input.options) {
            field.options->push_back({option, shortened(option, max_question_title)});
        }
    } else if (input.password.value_or(false)) {
        field.secret = true;
    }
    if (input.default_value && !field.secret) {
        field.initial = to_raw_json(*input.default_value);
        if (problem_of_value(field, parse_json_value(field.initial->text()))) {
            field.initial.reset();
        }
    }
    return field;
}

std::string names_of_inputs(const std::vector<ServerInput>& inputs) {
    std::string names;
    for (const ServerInput& input : inputs) {
        names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", shortened(input.id, max_question_title));
    }
    return names;
}

Error not_given(const std::string& server, const std::vector<ServerInput>& inputs, std::string_view why) {
    return Error(
        ErrorCode::denied,
        fmt::format("the tool server {} needs {}, and {}", in_quotes(server), names_of_inputs(inputs), why),
        fmt::format("Call again to be asked, or write ${{VAR}} in place of ${{input:{}}}, and set that variable "
                    "where cellgate is started.",
                    shortened(inputs.front().id, max_question_title)));
}

} // namespace

ServerInputs::Key ServerInputs::key_of(const ServerSpec& spec, const ServerInput& input) {
    return {spec.file ? "file " + *spec.file : "server " + spec.name, to_json(input)};
}

std::vector<ServerInput> ServerInputs::missing(const ServerSpec& spec) const {
    std::vector<ServerInput> inputs = needed_inputs(spec.config);
    std::erase_if(inputs, [&](const ServerInput& input) { return values_.contains(key_of(spec, input)); });
    return inputs;
}

Environment ServerInputs::known(const ServerSpec& spec) const {
    Environment known;
    for (const ServerInput& input : needed_inputs(spec.config)) {
        if (const auto value = values_.find(key_of(spec, input)); value != values_.end()) {
            known[input.id] = value->second;
        }
    }
    return known;
}

void ServerInputs::forget_passwords(const ServerSpec& spec) {
    for (const ServerInput& input : needed_inputs(spec.config)) {
        if (input.password.value_or(false)) {
            values_.erase(key_of(spec, input));
        }
    }
}

std::shared_ptr<Event> ServerInputs::asked_for(const ServerSpec& spec, const std::vector<ServerInput>& inputs) const {
    for (const ServerInput& input : inputs) {
        if (const auto asking = asking_.find(key_of(spec, input)); asking != asking_.end()) {
            return asking->second;
        }
    }
    return nullptr;
}

Task<Environment> ServerInputs::take(CallContext context, ServerSpec spec) {
    while (true) {
        std::vector<ServerInput> inputs = missing(spec);
        if (inputs.empty()) {
            co_return known(spec);
        }
        if (const std::shared_ptr<Event> asked = asked_for(spec, inputs)) {
            co_await asked->wait();
        } else {
            co_await ask(context, spec, std::move(inputs));
        }
    }
}

Task<void> ServerInputs::ask(CallContext context, ServerSpec spec, std::vector<ServerInput> inputs) {
    if (elicitor_ == nullptr || !elicitor_->can_ask()) {
        throw not_given(spec.name, inputs, "no editor or terminal is there to ask for it");
    }
    const auto over = std::make_shared<Event>();
    std::vector<ElicitationField> fields;
    for (const ServerInput& input : inputs) {
        fields.push_back(field_of(input));
        asking_[key_of(spec, input)] = over;
    }
    const ScopeExit ended([&] {
        for (const ServerInput& input : inputs) {
            asking_.erase(key_of(spec, input));
        }
        over->set();
    });
    std::string message = fmt::format("{} needs {} before it starts.\nWhat you answer is kept until cellgate ends, and "
                                      "never stored.",
                                      shortened(spec.name, max_question_title), fields.size() == 1 ? "this" : "these");
    protocol::Elicitation question = start_question(context, spec.name, std::move(message), fields);
    ValuesCheck check = check_of(std::move(fields));
    const ElicitationReply reply = co_await elicitor_->elicit(std::move(question), std::move(check));
    if (reply.action != protocol::ElicitationAction::accept) {
        throw not_given(spec.name, inputs, "no user gave it");
    }
    const JsonValue given = parse_json_value(reply.content->text());
    for (const ServerInput& input : inputs) {
        values_[key_of(spec, input)] = given.find(input.id)->string;
    }
}

} // namespace cellgate::tools
