#include "process_signal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace cellgate::jupyter {

namespace {

std::vector<int> children_of(int pid) {
    std::ifstream file(fmt::format("/proc/{0}/task/{0}/children", pid));
    std::vector<int> children;
    for (int child = 0; file >> child;) {
        children.push_back(child);
    }
    return children;
}

// A kernel that takes this name is not found, which harms only itself.
bool is_launcher(int pid) {
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    // The helper stays in between where there is a limit of processor time.
    return std::getline(file, name) && (name == "bwrap" || name == "cellgate-helper");
}

} // namespace

void interrupt_process(int supervisor) {
    int parent = supervisor;
    std::vector<int> children = children_of(parent);
    while (!children.empty() && is_launcher(children.front())) {
        parent = children.front();
        children = children_of(parent);
    }
    if (children.empty()) {
        return;
    }
    const int kernel = children.front();
    const int fd = static_cast<int>(::syscall(SYS_pidfd_open, kernel, 0));
    if (fd < 0) {
        return;
    }
    // The pid may have been reused before the pidfd was opened.
    children = children_of(parent);
    if (std::find(children.begin(), children.end(), kernel) != children.end()) {
        ::syscall(SYS_pidfd_send_signal, fd, SIGINT, nullptr, 0);
    }
    ::close(fd);
}

} // namespace cellgate::jupyter
