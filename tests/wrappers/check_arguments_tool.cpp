// check_arguments_tool < LINES: each line is a JSON array of a schema and arguments; for each, a line with what the
// check of a call's arguments finds, empty when it lets them pass.

#include "base/escape_unprintable.hpp"
#include "tools/argument_check.hpp"

#include <iostream>
#include <string>

using namespace cellgate;

int main() {
    std::string line;
    while (std::getline(std::cin, line)) {
        const RawJson pair = RawJson::parse(line);
        const auto parts = json_elements(pair.text());
        const RawJson schema = RawJson::checked(std::string(parts.at(0)));
        const RawJson arguments = RawJson::checked(std::string(parts.at(1)));
        std::cout << escape_unprintable(tools::check_arguments(schema, arguments).value_or("")) << '\n';
    }
}
