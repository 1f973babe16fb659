// A server's schema and a cell's arguments. Input: a line with the schema, then the arguments.

#include "tools/argument_check.hpp"

#include "base/raw_json.hpp"
#include "fuzzing.hpp"

using namespace cellgate;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    try {
        const RawJson schema = RawJson::parse(input.line());
        const RawJson arguments = RawJson::parse(input.rest());
        const std::optional<std::string> problem = tools::check_arguments(schema, arguments);
        fuzz::require(!problem || !problem->empty(), "a refusal says why");
        fuzz::require(problem == tools::check_arguments(schema, arguments), "the same arguments are judged the same");
        fuzz::require(!tools::check_arguments(RawJson::checked("{}"), arguments), "an empty schema allows everything");
    } catch (const Error& error) {
        fuzz::require(error.code == ErrorCode::parse_error, "only what is no JSON is an error");
    }
    return 0;
}
