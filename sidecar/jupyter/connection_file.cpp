#include "jupyter/connection_file.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/host.hpp"
#include "base/json_codec.hpp"
#include "base/regular_file.hpp"
#include "connection_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fnmatch.h>
#include <optional>
#include <vector>

namespace cellgate::jupyter {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_connection_bytes = std::size_t{64} << 10;
constexpr JsonLimits file_limits{16, max_connection_bytes};

std::string variable(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

fs::path runtime_directory(const Environment& environment) {
    if (const std::string given = variable(environment, "JUPYTER_RUNTIME_DIR"); !given.empty()) {
        return given;
    }
    if (const std::string data = variable(environment, "JUPYTER_DATA_DIR"); !data.empty()) {
        return fs::path(data) / "runtime";
    }
    const std::string xdg = variable(environment, "XDG_DATA_HOME");
    const fs::path data = xdg.empty() ? fs::path(variable(environment, "HOME")) / ".local/share" : fs::path(xdg);
    return data / "jupyter/runtime";
}

// The newest file that matches, if any.
std::optional<std::string> newest_match(const fs::path& directory, const std::string& pattern) {
    std::optional<std::string> newest;
    fs::file_time_type newest_time;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
        const std::string name = entry.path().filename();
        const fs::file_time_type time = entry.last_write_time(ignored);
        if (::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0 && entry.is_regular_file(ignored) &&
            (!newest || time > newest_time)) {
            newest = entry.path();
            newest_time = time;
        }
    }
    return newest;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
    throw Error(ErrorCode::kernel_not_found, fmt::format("{} is no connection file of a kernel that can be used: {}",
                                                         escape_unprintable(path), what));
}

std::string endpoint_of(const std::string& path, const ConnectionFields& given, std::int64_t port) {
    if (given.transport == "ipc") {
        const fs::path prefix = fs::path(path).parent_path() / given.ip; // an absolute one is taken as it is
        return fmt::format("ipc://{}-{}", prefix.string(), port);
    }
    const bool all = given.ip == "*" || given.ip == "0.0.0.0" || given.ip == "::"; // where it listens, not an address
    const std::optional<Host> host = parse_host(all ? "127.0.0.1" : given.ip);
    if (!host || port < 1 || port > 65535) {
        refuse(path, fmt::format("expected a host and a port, found {} and {}", escape_unprintable(given.ip), port));
    }
    return "tcp://" + to_string(Endpoint{*host, static_cast<std::uint16_t>(port)});
}

} // namespace

std::string find_connection_file(const std::string& name, const Environment& environment) {
    if (name.starts_with('/')) {
        return name;
    }
    if (name.starts_with("~/")) {
        return variable(environment, "HOME") + name.substr(1);
    }
    const fs::path directory = runtime_directory(environment);
    std::vector<std::string> patterns = {name, "*" + name + "*"};
    if (name.empty()) {
        patterns = {"kernel-*.json"};
    }
    for (const std::string& pattern : patterns) {
        if (std::optional<std::string> found = newest_match(directory, pattern)) {
            return *found;
        }
    }
    throw Error(ErrorCode::kernel_not_found,
                fmt::format("expected the connection file of a kernel that runs, found none that matches \"{}\" in {}",
                            escape_unprintable(patterns.front()), escape_unprintable(directory.string())),
                "In a running kernel, %connect_info names its connection file.");
}

ExistingKernel read_connection_file(const std::string& path) {
    const RegularFile file = read_regular_file(path, max_connection_bytes);
    if (file.error != 0) {
        throw system_error(ErrorCode::kernel_not_found,
                           fmt::format("cannot read the connection file {}", escape_unprintable(path)), file.error);
    }
    if (const std::optional<JsonProblem> problem = check_json(file.bytes, file_limits)) {
        refuse(path, fmt::format("expected JSON, found {}", problem->what));
    }
    ConnectionFields given;
    try {
        given = from_json<ConnectionFields>(file.bytes, "connection file");
    } catch (const Error& error) {
        refuse(path, error.message);
    }
    if (given.transport != "tcp" && given.transport != "ipc") {
        refuse(path, fmt::format("expected the transport tcp or ipc, found {}", escape_unprintable(given.transport)));
    }
    if (given.key.empty() || given.signature_scheme != "hmac-sha256") {
        refuse(path, "expected a key for hmac-sha256, without which everybody who reaches its ports could run code");
    }
    ExistingKernel kernel;
    kernel.connection.file = path;
    kernel.connection.key = given.key;
    kernel.connection.endpoints = {{Channel::shell, endpoint_of(path, given, given.shell_port)},
                                   {Channel::iopub, endpoint_of(path, given, given.iopub_port)},
                                   {Channel::stdin_, endpoint_of(path, given, given.stdin_port)},
                                   {Channel::control, endpoint_of(path, given, given.control_port)},
                                   {Channel::heartbeat, endpoint_of(path, given, given.hb_port)}};
    kernel.name = given.kernel_name.value_or(fs::path(path).stem().string());
    return kernel;
}

} // namespace cellgate::jupyter
