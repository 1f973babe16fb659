#pragma once
// `SandboxChoice` is the choice whether a kernel or a tool server runs in a sandbox, in which one, and which paths of
// the user it sees there.

#include "base/error.hpp"
#include "base/json_codec.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellgate::protocol {

enum class SandboxKind { bwrap, landlock, none };
inline constexpr EnumNames<SandboxKind, 3> enum_names(SandboxKind) {
    return {{{SandboxKind::bwrap, "bwrap"}, {SandboxKind::landlock, "landlock"}, {SandboxKind::none, "none"}}};
}

// Of a sandbox. The second is weaker, and a user's to choose.
enum class SandboxLauncher { bwrap, landlock };
inline constexpr EnumNames<SandboxLauncher, 2> enum_names(SandboxLauncher) {
    return {{{SandboxLauncher::bwrap, "bwrap"}, {SandboxLauncher::landlock, "landlock"}}};
}

// Beside, or without, a settings file.
struct SandboxAdditions {
    std::optional<std::vector<std::string>> allow_read;
    std::optional<std::vector<std::string>> allow_write;
    std::optional<bool> gpu;
    static constexpr bool closed = true;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("allowRead", self.allow_read);
        visit("allowWrite", self.allow_write);
        visit("gpu", self.gpu);
    }
    bool empty() const { return !allow_read && !allow_write && !gpu; }
};

// true, false, or an object: in the sandbox, in none, or in the sandbox by a launcher, a settings file and what is
// added.
struct SandboxChoice {
    bool isolated = true;
    std::optional<SandboxLauncher> launcher = {}; // of sessions
    std::optional<std::string> config_file;
    SandboxAdditions additions = {}; // of sessions
};
struct SandboxObject {
    std::optional<SandboxLauncher> launcher;
    std::optional<std::string> config_file;
    SandboxAdditions additions;
    static constexpr bool closed = true;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("launcher", self.launcher);
        visit("configFile", self.config_file);
        SandboxAdditions::fields(self.additions, visit);
    }
};
inline void read(std::string_view text, const std::string& path, SandboxChoice& out) {
    if (json_type(text) == "object") {
        SandboxObject object = from_json<SandboxObject>(text, path);
        if (!object.launcher && !object.config_file && object.additions.empty()) {
            throw Error(ErrorCode::invalid_params,
                        path + ": expected launcher, configFile, allowRead, allowWrite or gpu");
        }
        out.launcher = object.launcher;
        out.config_file = std::move(object.config_file);
        out.additions = std::move(object.additions);
        return;
    }
    codec::read(text, path, out.isolated);
}
inline void write(std::string& out, const SandboxChoice& value) {
    if (value.launcher || value.config_file || !value.additions.empty()) {
        append_json(out, SandboxObject{value.launcher, value.config_file, value.additions});
        return;
    }
    codec::write(out, value.isolated);
}

} // namespace cellgate::protocol
