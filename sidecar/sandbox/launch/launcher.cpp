#include "sandbox/launcher.hpp"

#include "launch/bwrap_launcher.hpp"
#include "launch/gvisor_launcher.hpp"
#include "launch/landlock_launcher.hpp"
#include "launch/none_launcher.hpp"

#include <algorithm>
#include <array>

namespace cellgate::sandbox {

namespace {

template <class Kind>
std::unique_ptr<Launcher> make(Environment environment) {
    return std::make_unique<Kind>(std::move(environment));
}

struct LauncherEntry {
    Isolation isolation;
    const IsolationTraits* traits;
    std::unique_ptr<Launcher> (*make)(Environment environment);
};

// Every kind is here: a new one needs its name in `Isolation` and a line.
constexpr std::array launchers = {
    LauncherEntry{Isolation::bwrap, &BwrapLauncher::traits, make<BwrapLauncher>},
    LauncherEntry{Isolation::gvisor, &GvisorLauncher::traits, make<GvisorLauncher>},
    LauncherEntry{Isolation::landlock, &LandlockLauncher::traits, make<LandlockLauncher>},
    LauncherEntry{Isolation::none, &NoneLauncher::traits, make<NoneLauncher>},
};

static_assert(launchers.size() == static_cast<std::size_t>(Isolation::none) + 1);

const LauncherEntry& entry_of(Isolation isolation) {
    return *std::find_if(launchers.begin(), launchers.end(),
                         [isolation](const LauncherEntry& each) { return each.isolation == isolation; });
}

} // namespace

const IsolationTraits& traits_of(Isolation isolation) {
    return *entry_of(isolation).traits;
}

std::vector<std::string> sandbox_names() {
    std::vector<std::string> names;
    for (const LauncherEntry& each : launchers) {
        if (each.traits->isolates) {
            names.emplace_back(each.traits->name);
        }
    }
    return names;
}

std::optional<Isolation> find_isolation(std::string_view name) {
    const auto* const entry = std::find_if(launchers.begin(), launchers.end(),
                                           [name](const LauncherEntry& each) { return each.traits->name == name; });
    return entry == launchers.end() ? std::nullopt : std::optional(entry->isolation);
}

std::unique_ptr<Launcher> make_launcher(Isolation isolation, Environment environment) {
    return entry_of(isolation).make(std::move(environment));
}

} // namespace cellgate::sandbox
