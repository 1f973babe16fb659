// generate_wrappers_tool SERVER DIRECTORY [typescript] < tools.json: writes the package of the tools (a JSON array as
// in the result of tools/list) into DIRECTORY, and prints its modules and what was skipped as one JSON object.

#include "wrappers/generate.hpp"
#include "wrappers/write_package.hpp"

#include <iostream>
#include <iterator>
#include <string>

using namespace cellgate;

int main(int argc, char** argv) {
    if (argc != 3 && argc != 4) {
        std::cerr << "generate_wrappers_tool SERVER DIRECTORY [typescript] < tools.json\n";
        return 2;
    }
    try {
        const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
        const RawJson tools = RawJson::parse(text);
        const wrappers::Package package =
            wrappers::generate(argv[1], from_json<std::vector<protocol::ToolSpec>>(tools, "tools"),
                               argc == 4 ? wrappers::Language::typescript : wrappers::Language::python);
        wrappers::write_package(package, argv[2]);
        Json report = {{"package", package.package}, {"modules", Json::array()}, {"skipped", Json::array()}};
        for (const wrappers::Module& module : package.modules) {
            report["modules"].push_back({{"tool", module.tool},
                                         {"module", module.module},
                                         {"path", module.path},
                                         {"function", module.function}});
        }
        for (const wrappers::Skipped& skipped : package.skipped) {
            report["skipped"].push_back({{"tool", skipped.tool}, {"reason", skipped.reason}});
        }
        std::cout << report.dump() << '\n';
        return 0;
    } catch (const Error& error) {
        std::cerr << error.message << '\n' << error.hint << '\n';
        return 1;
    }
}
