#include "base/loaded_library.hpp"

#include "base/error.hpp"

#include <fmt/format.h>

#include <dlfcn.h>

namespace cellgate {

LoadedLibrary::LoadedLibrary(std::string name, std::string package, std::string_view needed_for)
    : name_(std::move(name)), package_(std::move(package)), needed_for_(needed_for),
      handle_(::dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
        fail(::dlerror());
    }
}

void LoadedLibrary::fail(std::string_view why) const {
    throw Error(ErrorCode::store_failed, fmt::format("{} needs {}: {}", needed_for_, name_, why),
                fmt::format("On Debian and Ubuntu: sudo apt install {}", package_));
}

void* LoadedLibrary::address(const char* symbol) const {
    void* found = ::dlsym(handle_, symbol);
    if (found == nullptr) {
        fail(fmt::format("it has no {}", symbol));
    }
    return found;
}

} // namespace cellgate
