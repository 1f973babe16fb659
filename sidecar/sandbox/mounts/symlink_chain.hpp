#pragma once
// `SymlinkChain` is the target of a path, as the system would resolve it, and all links on the way: a process that can
// exchange one of them, or create what is missing, decides what the path resolves to.

#include <string>
#include <utility>
#include <vector>

namespace cellgate::sandbox {

inline constexpr int max_links = 40; // on one way, as the kernel has it

struct SymlinkChain {
    using Link = std::pair<std::string, std::string>;
    std::vector<Link> links; // on the way: its place, without links itself, and what it holds
    std::string end;         // what it resolves to, without links; empty: nothing is there
    std::string missing;     // the place that a file would have to be made in, or a folder for it; else empty
    int error = 0;           // errno, where nothing is there
};

// `text` is taken from `folder`, which is absolute and without links. Reads nothing but links. Of a loop, the links.
SymlinkChain resolve_symlinks(const std::string& folder, const std::string& text);

} // namespace cellgate::sandbox
