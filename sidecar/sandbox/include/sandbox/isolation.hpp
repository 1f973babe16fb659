#pragma once
// `Isolation` is the kind of a sandbox, by its launcher; `IsolationTraits` are what such sandboxes offer and lack.
// Other modules ask the traits and never compare the kind, so that a launcher is added in this module alone. Only a
// user can choose another kind than the default.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox {

enum class Isolation {
    bwrap,    // bubblewrap: namespaces, allow-listed mounts, no capabilities
    gvisor,   // the same, and in them a kernel of its own that answers the code's system calls
    landlock, // Landlock and filters of system calls, without namespaces: weaker
    none,     // everything that the user can do
};

inline constexpr Isolation default_isolation = Isolation::bwrap;

struct IsolationTraits {
    std::string_view name;    // in the protocol and on the command line
    bool isolates = false;    // false: code has all rights of the user
    bool weaker = false;      // it holds less than the default: its limitations say what
    bool mounts = false;      // what is not shown is absent; false: a guard refuses it
    bool own_network = false; // one in which the way out, a proxy, can be reached
    bool installs = false;    // packages that cellgate installs are seen in it
    bool agents = false;      // agents may run code in a user's session that has it
    // What it lacks compared with the default, for users to read before they choose it. SECURITY.md describes each.
    std::span<const std::string_view> limitations = {};
};

const IsolationTraits& traits_of(Isolation isolation);

// The names of those that isolate, the default first.
std::vector<std::string> sandbox_names();
std::optional<Isolation> find_isolation(std::string_view name);

} // namespace cellgate::sandbox
