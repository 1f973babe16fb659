#include "kernel_access.hpp"
#include "temp_folder.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/stat.h>

using namespace cellgate;
using namespace cellgate::session;

namespace {

Task<std::string> reply() {
    co_return "{}";
}

// A kernel that does `act` with the path of its answer, which is the query's content.
KernelAccess access_of(std::function<void(const std::string& path)> act, const std::string& directory) {
    KernelAccess::Ask ask = [act = std::move(act)](const jupyter::KernelQuery& query) {
        act(query.content);
        return reply();
    };
    return KernelAccess(std::move(ask), run_inline, directory);
}

Task<void> ask_into(const KernelAccess* kernel, std::string* found) {
    KernelAccess::MakeQuery make = [](const std::string& path) { return jupyter::KernelQuery{"execute", path}; };
    try {
        const RawJson answer = co_await kernel->answer<RawJson>(std::move(make));
        *found = answer.text();
    } catch (const Error& error) {
        *found = error.message;
    }
}

std::string answer_of(std::function<void(const std::string& path)> act) {
    const TempFolder folder;
    const KernelAccess kernel = access_of(std::move(act), folder.path.string());
    std::string found;
    TaskScope scope;
    scope.spawn(ask_into(&kernel, &found));
    CHECK(std::filesystem::is_empty(folder.path));
    return found;
}

void write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
}

} // namespace

TEST_CASE("an answer is read from its file, which is removed") {
    CHECK(answer_of([](const std::string& path) { write(path, R"({"a": 1})"); }) == R"({"a": 1})");
    CHECK(answer_of([](const std::string&) {}) == "the kernel failed to answer");
    CHECK(answer_of([](const std::string& path) { write(path, "{"); }).starts_with("the kernel's answer is none"));
}

TEST_CASE("what is no file of the kernel's own is not read") {
    const TempFolder elsewhere;
    const std::string secret = elsewhere.at("secret");
    write(secret, R"("secret")");
    CHECK(answer_of([&](const std::string& path) { write(path, R"("secret")"); }) == R"("secret")"); // the control
    const std::string refused = "the kernel's answer is not in a regular file";
    CHECK(answer_of([&](const std::string& path) { std::filesystem::create_symlink(secret, path); }) == refused);
    CHECK(answer_of([&](const std::string& path) { ::mkfifo(path.c_str(), 0600); }) == refused);
}

TEST_CASE("an answer beyond the limit is refused with both sizes") {
    const std::string found = answer_of([](const std::string& path) {
        write(path, "");
        std::filesystem::resize_file(path, 100 << 20);
    });
    CHECK(found == "the value has 104857600 bytes as JSON; at most 67108864 are copied");
}
