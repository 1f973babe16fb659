#pragma once
// `LoadedLibrary` is a library of the system that is loaded when it is first needed, because few runs of the program
// need it. It stays loaded.

#include <string>
#include <string_view>

namespace cellgate {

class LoadedLibrary {
  public:
    // `name` is the file ("libsodium.so.23"), `package` Debian's package of it; `needed_for` is what the message begins
    // with ("keeping a login"). Throws Error{store_failed} with a hint when there is none.
    LoadedLibrary(std::string name, std::string package, std::string_view needed_for);

    // Throws the same when it has no such function.
    template <class Function>
    void find(const char* symbol, Function& function) const {
        function = reinterpret_cast<Function>(address(symbol));
    }
    // Throws that error.
    [[noreturn]] void fail(std::string_view why) const;

  private:
    void* address(const char* symbol) const;

    std::string name_;
    std::string package_;
    std::string needed_for_;
    void* handle_;
};

} // namespace cellgate
