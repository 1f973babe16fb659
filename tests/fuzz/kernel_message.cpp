// What a kernel sends, up to the records of the journal. The signature is always right: the code in the kernel has the
// key. Input: a line each of message type, header, parent header; then the content.

#include "base/hash.hpp"
#include "fuzzing.hpp"
#include "jupyter/output.hpp"
#include "jupyter/wire.hpp"
#include "output_reader.hpp"
#include "output_records.hpp"

#include <string>

using namespace cellgate;
using namespace cellgate::jupyter;
using cellgate::fuzz::require;

namespace {

constexpr std::string_view key = "key";

std::string member(const RawJson& object, std::string_view name) {
    for (const auto& [key, value] : json_members(object.text())) {
        if (key == name) {
            return json_type(value) == "string" ? decode_json_string(value) : "";
        }
    }
    return "";
}

void check_records(const Output& output) {
    constexpr std::size_t max_bytes = 16;
    const std::vector<RawJson> records = session::to_records(output, max_bytes);
    require(!records.empty(), "no output is lost");
    std::string text;
    for (const RawJson& record : records) {
        require(!check_json(record.text()), "every record is one valid JSON value");
        require(member(record, "output_type") == member(output.body, "output_type"), "records are of the same type");
        text += member(record, "text");
    }
    require(text == member(output.body, "text"), "joined, the texts are what was printed");
}

void check_content(const WireMessage& message) {
    require(!check_json(message.content) && json_type(message.content) == "object", "content is one JSON object");
    static_cast<void>(read_error(message.content));
    const std::optional<OutputType> type = output_type(message.header.msg_type);
    if (!type) {
        return;
    }
    try {
        const Output output = read_output(*type, message.content);
        require(!check_json(output.body.text()), "an output can be spliced: it is one valid JSON value");
        require(output.body.is_object() && member(output.body, "output_type") == message.header.msg_type,
                "an output says its type, once");
        check_records(output);
    } catch (const Error& error) {
        require(error.code == ErrorCode::parse_error, "what is no output is a parse error");
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    std::string header(input.line());
    const std::string parent(input.line());
    const std::string content(input.rest());
    const std::string signature = hmac_sha256(key, {header, parent, "{}", content});
    async::ZmqMessage frames{"topic", "<IDS|MSG>", signature, header, parent, "{}", content};
    WireReader reader{std::string(key)};
    try {
        check_content(reader.read(frames));
    } catch (const Error& error) {
        require(error.code == ErrorCode::parse_error || error.code == ErrorCode::invalid_params,
                "what is no message is a parse error");
    }
    bool refused = false;
    frames.back() += ' ';
    try {
        static_cast<void>(reader.read(std::move(frames)));
    } catch (const Error&) {
        refused = true;
    }
    require(refused, "a message with another signature is refused");
    return 0;
}
