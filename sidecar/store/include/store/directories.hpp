#pragma once
// `Directories` are the sidecar's own directories, after the XDG base directories: state (journals), configuration
// (rules), runtime (sockets), and data (installed packages). All of them are outside every workspace and have mode
// 0700.

#include "base/private_files.hpp"

#include <map>
#include <string>
#include <vector>

namespace cellgate::store {

struct Directories {
    std::string state;   // $XDG_STATE_HOME/cellgate
    std::string config;  // $XDG_CONFIG_HOME/cellgate
    std::string runtime; // $XDG_RUNTIME_DIR/cellgate; without that variable a directory of this user's in /tmp
    std::string data;    // $XDG_DATA_HOME/cellgate

    // None of them is visible in a sandbox.
    std::vector<std::string> all() const { return {state, config, runtime, data}; }
};

// Names only; nothing is created. Throws Error{config_invalid} when neither HOME nor the XDG variables are set.
Directories find_directories(const std::map<std::string, std::string>& environment);

// The name of a workspace's subdirectory; `root` is the workspace's canonical path.
std::string key_of_root(const std::string& root);
// Of the record of what happens in that workspace.
std::string record_directory(const Directories& directories, const std::string& root);
// Of the states of that workspace's files.
std::string changes_directory(const Directories& directories, const std::string& root);
// Of the tools that were saved from that workspace's code.
std::string saved_tools_directory(const Directories& directories, const std::string& root);

using cellgate::make_private_directory;

// A new directory "<parent>/<prefix>XXXXXX", 0700.
std::string make_unique_directory(const std::string& parent, const std::string& prefix);

// Sets mode 0700 on a directory of this user whose permissions a kernel may have removed; ignores anything else,
// including links.
void open_up_directory(const std::string& path);

// Removes a tree that a kernel may have filled, of any depth and size, without following links out of it. Slow: run it
// with run_blocking. Files that cannot be removed are logged.
void remove_tree(const std::string& path);

} // namespace cellgate::store
