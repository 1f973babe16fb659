#pragma once
// Where the sidecar keeps things, after the XDG base directories: state (journals), configuration (rules), the runtime
// directory (sockets), and data (packages that were installed). All of it is outside every workspace and 0700.

#include <map>
#include <string>
#include <vector>

namespace cellgate::store {

struct Directories {
    std::string state;   // $XDG_STATE_HOME/cellgate
    std::string config;  // $XDG_CONFIG_HOME/cellgate
    std::string runtime; // $XDG_RUNTIME_DIR/cellgate; without that variable a directory of this user's in /tmp
    std::string data;    // $XDG_DATA_HOME/cellgate

    // None of them is shown in a sandbox.
    std::vector<std::string> all() const { return {state, config, runtime, data}; }
};

// Names only; nothing is created. Throws Error{config_invalid} when neither HOME nor the XDG variables are set.
Directories find_directories(const std::map<std::string, std::string>& environment);

// Names what is kept for a workspace: `root` is its canonical path.
std::string key_of_root(const std::string& root);

// Makes `path` and its parents, the last one 0700. Throws Error{store_failed}, also when it is there but belongs to
// somebody else, is writable by others, or is a symbolic link.
void make_private_directory(const std::string& path);

// A new directory "<parent>/<prefix>XXXXXX", 0700.
std::string make_unique_directory(const std::string& parent, const std::string& prefix);

// 0700 for a directory of ours that a kernel may have closed; nothing for all else, links too.
void open_up_directory(const std::string& path);

// Removes what a kernel may have left, of any depth and number, without following links out of it. It may take long:
// off the loop, please. What cannot be removed is logged.
void remove_tree(const std::string& path);

} // namespace cellgate::store
