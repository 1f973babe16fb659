#include "start_question.hpp"

#include "base/error.hpp"
#include "base/json_value.hpp"
#include "server_errors.hpp"
#include "tools/elicitation_values.hpp"

#include <fmt/format.h>

#include <utility>

namespace cellgate::tools {

using protocol::ElicitationField;

protocol::Elicitation start_question(const CallContext& context, const std::string& server, std::string message,
                                     std::vector<ElicitationField> fields) {
    protocol::Elicitation question;
    question.server = server;
    question.session_id = context.session_id;
    question.execution_id = context.execution_id;
    if (context.agent) {
        question.agent = context.agent->name;
    }
    question.origin = context.origin;
    if (question.origin) {
        constexpr std::size_t max_line = 400;
        question.origin->text = shortened(question.origin->text, max_line);
    }
    question.message = std::move(message);
    question.fields = std::move(fields);
    return question;
}

ValuesCheck check_of(std::vector<ElicitationField> fields) {
    return [fields = std::move(fields)](const std::optional<RawJson>& values) {
        RawJson given = values ? *values : RawJson::checked("{}");
        check_values(fields, given);
        const JsonValue filled = parse_json_value(given.text());
        for (const JsonValue::Member& member : filled.members) {
            if (member.value.string.find('\0') != std::string::npos) {
                throw Error(ErrorCode::answer_invalid,
                            fmt::format("{}: expected no NUL character", shortened(member.name, max_question_title)));
            }
        }
        return given;
    };
}

} // namespace cellgate::tools
