#pragma once
// Where a path leads, as the system would follow it, and all that it goes through: whoever can exchange a link on the
// way, or make what is not there yet, decides what is found in the end.

#include <string>
#include <vector>

namespace cellgate::sandbox {

struct SymlinkChain {
    std::vector<std::string> links; // the places of the links on the way, each without links itself
    std::string end;                // what it leads to, without links; empty: nothing is there
    std::string missing;            // the place that a file would have to be made in, or a folder for it; else empty
};

// `text` is taken from `folder`, which is absolute and without links. Reads nothing but links. Of a loop, the links.
SymlinkChain resolve_symlinks(const std::string& folder, const std::string& text);

} // namespace cellgate::sandbox
