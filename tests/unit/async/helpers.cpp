#include "helpers.hpp"

#include "base/names.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <stdlib.h>
#include <thread>
#include <unistd.h>

namespace cellgate::async {

const char* const escape_artists = "trap '' TERM INT HUP QUIT; "
                                   "setsid sh -c 'sleep 1000 & wait' & "
                                   "(setsid sleep 1000 &) & "
                                   "wait %2; sleep 1000";

namespace {

template <class Condition>
bool wait_for_condition(Condition condition) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10); !condition();) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::yield();
    }
    return true;
}

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

} // namespace

Task<std::string> read_all(ByteStream* stream) {
    std::string all;
    while (true) {
        const std::string chunk = co_await stream->read();
        if (chunk.empty()) {
            co_return all;
        }
        all += chunk;
    }
}

std::string new_mark() {
    return "MARK=" + random_id();
}

std::vector<int> marked_processes(const std::string& mark) {
    std::vector<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        // A zombie has no environment any more.
        if (name.find_first_not_of("0123456789") == std::string::npos &&
            read_file(entry.path() / "environ").find(mark) != std::string::npos) {
            found.push_back(std::stoi(name));
        }
    }
    return found;
}

bool wait_for_marked(const std::string& mark, std::size_t count) {
    return wait_for_condition([&] { return marked_processes(mark).size() == count; });
}

bool wait_for_end(int pid) {
    return wait_for_condition([pid] {
        const std::string status = read_file("/proc/" + std::to_string(pid) + "/status");
        return status.empty() || status.find("State:\tZ") != std::string::npos;
    });
}

Command shell(std::string script, const std::string& mark) {
    Command command;
    command.argv = {"sh", "-c", std::move(script)};
    command.environment["PATH"] = ::getenv("PATH");
    if (!mark.empty()) {
        command.environment["MARK"] = mark.substr(mark.find('=') + 1);
    }
    return command;
}

} // namespace cellgate::async
