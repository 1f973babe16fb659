#include "command_start.hpp"

#include "init.hpp"
#include "process_facts.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace cellgate::helper {

namespace {

constexpr int cannot_execute = 126;
constexpr int not_found = 127;

std::optional<Limit> parse_limit(const char* argument) {
    const std::string_view text = argument;
    const std::size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    const std::string_view digits = equals == std::string_view::npos ? "" : text.substr(equals + 1);
    Limit limit{.text = argument};
    rlim_t& value = limit.value.rlim_cur;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status != std::errc() || end != digits.data() + digits.size()) {
        return std::nullopt;
    }
    constexpr rlim_t last_seconds = 2; // after SIGXCPU, until SIGKILL
    limit.value.rlim_max = name == "cpu" ? value + last_seconds : value;
    constexpr std::pair<std::string_view, decltype(RLIMIT_CORE)> resources[] = {{"memory", RLIMIT_DATA},
                                                                                {"processes", RLIMIT_NPROC},
                                                                                {"open-files", RLIMIT_NOFILE},
                                                                                {"file-size", RLIMIT_FSIZE},
                                                                                {"cpu", RLIMIT_CPU}};
    for (const auto& [known, resource] : resources) {
        if (name == known) {
            limit.resource = resource;
            return limit;
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<Limit> take_limits(int argc, char** argv, int& next) {
    std::vector<Limit> limits;
    for (; next < argc && std::string_view(argv[next]) != "--"; ++next) {
        const std::optional<Limit> limit = parse_limit(argv[next]);
        if (!limit) {
            break;
        }
        limits.push_back(*limit);
    }
    return limits;
}

std::optional<rlim_t> cpu_seconds(const std::vector<Limit>& limits) {
    for (const Limit& limit : limits) {
        if (limit.resource == RLIMIT_CPU) {
            return limit.value.rlim_cur;
        }
    }
    return std::nullopt;
}

void die(const char* what, const char* of) {
    std::fprintf(stderr, "cellgate: cannot %s%s: %s\n", what, of, std::strerror(errno));
    ::_exit(cannot_prepare);
}

std::string must_read(const char* file) {
    std::optional<std::string> text = read_file(file);
    if (!text) {
        die("read ", file);
    }
    return std::move(*text);
}

void exec_command(const std::vector<Limit>& limits, char** command) {
    for (const Limit& limit : limits) {
        if (::setrlimit(limit.resource, &limit.value) != 0) {
            die("limit ", limit.text);
        }
    }
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::execvp(command[0], command);
    const int error = errno;
    std::fprintf(stderr, "cellgate: cannot start %s: %s\n", command[0], std::strerror(error));
    ::_exit(error == ENOENT ? not_found : cannot_execute);
}

} // namespace cellgate::helper
