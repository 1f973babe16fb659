#include "base/error.hpp"
#include "named_variables.hpp"
#include "python_sandbox_settings.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace cellgate;
using namespace cellgate::agent;

namespace {

Error error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const Error& error) {
        return error;
    }
    FAIL("expected an error");
    return Error(ErrorCode::internal_error, "");
}

bool offers(const PythonSandboxSettings& settings, const std::string& module) {
    const std::vector<std::string> all = settings.modules();
    return std::find(all.begin(), all.end(), module) != all.end();
}

} // namespace

TEST_CASE("without variables: 30 seconds, at most 300, and the forty modules of the basic profile") {
    const PythonSandboxSettings settings = read_python_sandbox_settings({});
    CHECK(settings.timeout_of(std::nullopt) == 30);
    CHECK(settings.timeout_of(300.0) == 300);
    CHECK(error_of([&] { settings.timeout_of(300.5); }).code == ErrorCode::limit_exceeded);
    CHECK(error_of([&] { settings.timeout_of(0.0); }).code == ErrorCode::invalid_params);
    CHECK(settings.max_output_size == 1048576);
    CHECK_FALSE(settings.memory_bytes);
    CHECK(settings.modules().size() == 40);
}

TEST_CASE("the user's timeouts") {
    const auto timeout = [](Environment environment) {
        return read_python_sandbox_settings(environment).timeout_of(std::nullopt);
    };
    CHECK(timeout({{"SANDBOX_TIMEOUT", "20"}}) == 20);
    CHECK(timeout({{"SANDBOX_TIMEOUT", "20"}, {"SANDBOX_DEFAULT_TIMEOUT", "40"}}) == 40);
    CHECK(timeout({{"SANDBOX_MAX_TIMEOUT", "7"}}) == 7);
    CHECK(timeout({{"SANDBOX_TIMEOUT", ""}}) == 30);
}

TEST_CASE("a user can shorten outputs, and cannot lengthen them") {
    CHECK(read_python_sandbox_settings({{"SANDBOX_MAX_OUTPUT_SIZE", "500"}}).max_output_size == 500);
    CHECK(read_python_sandbox_settings({{"SANDBOX_MAX_OUTPUT_SIZE", "0.5"}}).max_output_size == 1);
    CHECK(read_python_sandbox_settings({{"SANDBOX_MAX_OUTPUT_SIZE", "1e12"}}).max_output_size == 1048576);
}

TEST_CASE("each variable offers its modules, and a list of one's own replaces all") {
    const PythonSandboxSettings some =
        read_python_sandbox_settings({{"SANDBOX_ENABLE_NETWORK", "True"}, {"SANDBOX_ENABLE_FILESYSTEM", "false"}});
    CHECK(offers(some, "requests"));
    CHECK(offers(some, "math"));
    CHECK_FALSE(offers(some, "pathlib"));
    CHECK_FALSE(offers(some, "numpy"));
    const PythonSandboxSettings own = read_python_sandbox_settings(
        {{"SANDBOX_ENABLE_NETWORK", "true"}, {"SANDBOX_ALLOWED_IMPORTS", "math, os.path,,json"}});
    CHECK(own.modules() == std::vector<std::string>{"math", "os.path", "json"});
}

TEST_CASE("a module is of a group with those below it") {
    const ModuleGroup group{"", "", {"os.path", "email"}};
    CHECK(group.has("email"));
    CHECK(group.has("email.mime.text"));
    CHECK_FALSE(group.has("os"));
    CHECK_FALSE(group.has("emails"));
}

TEST_CASE("sizes of memory are read as Docker writes them") {
    CHECK(parse_memory("128m") == 128U << 20);
    CHECK(parse_memory("2G") == std::uint64_t{2} << 30);
    CHECK(parse_memory("1024") == 1024);
    CHECK(parse_memory("5b") == 5);
    for (const char* text : {"", "m", "0", "-1m", "1.5g", "128mb", "128 m", "99999999999g", "1t"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_memory(text));
    }
}

TEST_CASE("a value that cannot be read is an error, not a default") {
    for (const auto& [name, value] : Environment{{"SANDBOX_MAX_TIMEOUT", "10s"},
                                                 {"SANDBOX_TIMEOUT", "0"},
                                                 {"SANDBOX_DEFAULT_TIMEOUT", "inf"},
                                                 {"SANDBOX_MAX_OUTPUT_SIZE", "-1"},
                                                 {"SANDBOX_DEFAULT_MEMORY_LIMIT", "128MB"},
                                                 {"SANDBOX_ENABLE_NETWORK", "yes"}}) {
        CAPTURE(name);
        const Error error = error_of([&] { read_python_sandbox_settings({{name, value}}); });
        CHECK(error.code == ErrorCode::config_invalid);
        CHECK(error.message.find(name) != std::string::npos);
    }
}

TEST_CASE("an unknown variable is an error that names those that there are") {
    const Error error = error_of([] { read_python_sandbox_settings({{"SANDBOX_TIMOUT", "5"}}); });
    CHECK(error.message.find("SANDBOX_TIMOUT") != std::string::npos);
    CHECK(error.hint.find("SANDBOX_TIMEOUT") != std::string::npos);
    CHECK_NOTHROW(read_python_sandbox_settings({{"SANDBOXES", "5"}, {"OTHER", ""}}));
}

TEST_CASE("a container is an error that says what there is instead, unless it is off or the usual image is named") {
    CHECK_NOTHROW(read_python_sandbox_settings({{"SANDBOX_ENABLE_CONTAINER_MODE", "false"}}));
    CHECK_NOTHROW(read_python_sandbox_settings({{"SANDBOX_CONTAINER_IMAGE", "python-sandbox:latest"}}));
    for (const auto& [name, value] :
         Environment{{"SANDBOX_ENABLE_CONTAINER_MODE", "true"}, {"SANDBOX_CONTAINER_IMAGE", "python:3.12"}}) {
        CAPTURE(name);
        CHECK(error_of([&] { read_python_sandbox_settings({{name, value}}); }).hint.find("cellgate run --image") !=
              std::string::npos);
    }
}
