#include "program_to_call.hpp"

#include <doctest/doctest.h>

#include <filesystem>

using namespace cellgate::cli;

TEST_CASE("a program is called as the user can call it again") {
    CHECK(program_to_call("cellgate") == "cellgate");
    const std::filesystem::path before = std::filesystem::current_path();
    const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe");
    std::filesystem::current_path(program.parent_path().parent_path());
    CHECK(program_to_call("../x/cellgate") ==
          (program.parent_path().filename() / program.filename()).string()); // below the folder
    std::filesystem::current_path(program.parent_path());
    CHECK(program_to_call("./cellgate") == "./" + program.filename().string());
    std::filesystem::current_path("/proc/self");
    CHECK(program_to_call("./cellgate") == program.string()); // elsewhere
    std::filesystem::current_path(before);
}
