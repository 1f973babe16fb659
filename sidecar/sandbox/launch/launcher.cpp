#include "sandbox/launcher.hpp"

#include "launch/bwrap_launcher.hpp"
#include "launch/landlock_launcher.hpp"
#include "launch/none_launcher.hpp"

#include <string_view>
#include <unistd.h>

namespace cellgate::sandbox {

std::unique_ptr<Launcher> make_launcher(Isolation isolation, Environment environment) {
    switch (isolation) {
    case Isolation::none:
        return std::make_unique<NoneLauncher>(std::move(environment));
    case Isolation::landlock:
        return std::make_unique<LandlockLauncher>(std::move(environment));
    case Isolation::bwrap:
        break;
    }
    return std::make_unique<BwrapLauncher>(std::move(environment));
}

Environment process_environment() {
    Environment result;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        std::string_view text = *entry;
        std::size_t equals = text.find('=');
        if (equals != std::string_view::npos) {
            result.emplace(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    return result;
}

} // namespace cellgate::sandbox
