#pragma once
// `Lists` is the lists of a settings file; the functions use one in a sandbox and say what came of it.

#include "base/error.hpp"
#include "machine.hpp"
#include "sandbox/explain.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace cellgate::sandbox::settings_fixture {

namespace fs = std::filesystem;

struct Lists {
    std::string deny_read = "[]";
    std::string allow_read = "[]";
    std::string allow_write = R"(["."])";
    std::string deny_write = "[]";
};

inline void use(Machine& machine, const Lists& lists) {
    machine.profile.settings = std::make_shared<const Settings>(
        parse_settings(R"({"network": {"allowedDomains": [], "deniedDomains": []}, "filesystem": {"denyRead": )" +
                           lists.deny_read + R"(, "allowRead": )" + lists.allow_read + R"(, "allowWrite": )" +
                           lists.allow_write + R"(, "denyWrite": )" + lists.deny_write + "}}",
                       machine.root / "settings.json"));
}

inline Lists reading(const std::string& path) {
    Lists lists;
    lists.allow_read = "[\"" + path + "\"]";
    return lists;
}

inline Lists writing(const std::string& path) {
    Lists lists;
    lists.allow_write = "[\".\", \"" + path + "\"]";
    return lists;
}

inline Lists hiding(const std::string& path) {
    Lists lists;
    lists.deny_read = "[\"" + path + "\"]";
    return lists;
}

inline std::string refusal(Machine& machine, const Lists& lists) {
    use(machine, lists);
    try {
        async::Command command;
        command.argv = {"/bin/true"};
        make_launcher(Isolation::bwrap, machine.environment)->wrap(std::move(command), machine.profile);
    } catch (const Error& error) {
        CHECK(error.code == ErrorCode::config_invalid);
        CHECK_FALSE(error.hint.empty());
        return error.message + " " + error.hint;
    }
    return {};
}

inline std::string notices(Machine& machine, const Lists& lists) {
    use(machine, lists);
    async::Command command;
    command.argv = {"/bin/true"};
    std::string all;
    for (const std::string& each :
         make_launcher(Isolation::bwrap, machine.environment)->wrap(std::move(command), machine.profile).notices) {
        all += each + "\n";
    }
    return all;
}

inline bool mentions(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Whether `attack` succeeds in there.
inline bool works(Machine& machine, const std::string& attack) {
    const Ran ran = machine.python(Isolation::bwrap, "T(lambda: " + attack + ")");
    CHECK_MESSAGE((ran.out.starts_with("HELD") || ran.out.starts_with("ESCAPED")), ran.out, ran.error);
    return ran.out.starts_with("ESCAPED");
}

inline std::string reads(const fs::path& path) {
    return "open(r'" + path.string() + "').read()";
}

inline std::string writes(const fs::path& path) {
    return "open(r'" + path.string() + "', 'a').write('x')";
}

} // namespace cellgate::sandbox::settings_fixture
