#include "watchdog.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <signal.h>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace cellgate::sandbox {

namespace fs = std::filesystem;

namespace {

// Empty of what this user may not read, or of a process that has ended.
std::string read(const fs::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

// Of every process, by its parent. One that ends meanwhile is left out.
std::multimap<pid_t, pid_t> children_of_all() {
    std::multimap<pid_t, pid_t> children;
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
        const std::string name = entry.path().filename();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        const std::string stat = read(entry.path() / "stat");
        std::istringstream after(stat.substr(std::min(stat.rfind(')') + 1, stat.size())));
        char state = 0;
        pid_t parent = 0;
        if (after >> state >> parent) {
            children.emplace(parent, std::stoi(name));
        }
    }
    return children;
}

std::vector<pid_t> descendants() {
    const std::multimap<pid_t, pid_t> children = children_of_all();
    std::vector<pid_t> found{::getpid()};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [first, last] = children.equal_range(found[i]);
        for (auto each = first; each != last; ++each) {
            found.push_back(each->second);
        }
    }
    found.erase(found.begin());
    return found;
}

void tell(pid_t pid) {
    const fs::path folder = "/proc/" + std::to_string(pid);
    std::string command = read(folder / "cmdline").substr(0, 300);
    for (char& c : command) {
        c = c == '\0' ? ' ' : c;
    }
    std::fprintf(stderr, "process %d: %s\n", pid, command.c_str());
    std::error_code error;
    for (fs::directory_iterator task(folder / "task", error), end; !error && task != end; task.increment(error)) {
        const fs::path& thread = task->path();
        std::fprintf(stderr, "  thread %s %s: waits in %s, system call %s  %s\n", thread.filename().c_str(),
                     read(thread / "comm").c_str(), read(thread / "wchan").c_str(), read(thread / "syscall").c_str(),
                     read(thread / "stack").c_str());
    }
}

} // namespace

Watchdog::Watchdog(std::chrono::seconds patience)
    : thread_([this, patience] {
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, patience, [this] { return ended_; })) {
              return;
          }
          std::fprintf(stderr, "a program did not end within %lld s\n", static_cast<long long>(patience.count()));
          const std::vector<pid_t> late = descendants();
          for (const pid_t pid : late) {
              tell(pid);
          }
          for (const pid_t pid : late) {
              ::kill(pid, SIGKILL);
          }
          if (!changed_.wait_for(lock, std::chrono::seconds(30), [this] { return ended_; })) {
              std::fprintf(stderr, "and something that is no child any more holds its output\n");
              std::abort();
          }
      }) {}

Watchdog::~Watchdog() {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

} // namespace cellgate::sandbox
