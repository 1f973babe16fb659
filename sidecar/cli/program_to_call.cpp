#include "program_to_call.hpp"

#include <filesystem>
#include <system_error>

namespace cellgate::cli {

std::string program_to_call(std::string_view invoked_as) {
    if (invoked_as.find('/') == std::string_view::npos) {
        return std::string(invoked_as);
    }
    std::error_code error;
    const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe", error);
    const std::filesystem::path folder = std::filesystem::current_path(error);
    if (error) {
        return std::string(invoked_as);
    }
    const std::string relative = program.lexically_relative(folder).string();
    if (relative.empty() || relative.starts_with("..")) {
        return program.string();
    }
    return relative.find('/') == std::string::npos ? "./" + relative : relative;
}

std::string own_program() {
    std::error_code error;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "cellgate" : program.string();
}

} // namespace cellgate::cli
