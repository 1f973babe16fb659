#include "sandbox/home.hpp"

namespace cellgate::sandbox {

std::string without_tilde(const std::string& path, const std::map<std::string, std::string>& environment) {
    const auto home = environment.find("HOME");
    const bool tilde = path == "~" || path.starts_with("~/");
    return tilde && home != environment.end() ? home->second + path.substr(1) : path;
}

} // namespace cellgate::sandbox
