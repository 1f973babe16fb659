#include "protocol/sandbox_choice.hpp"

#include <utility>

namespace cellgate::protocol {

bool is_empty(const SandboxAdditions& additions) {
    return !additions.allow_read && !additions.allow_write && !additions.gpu;
}

void read(std::string_view text, const std::string& path, SandboxChoice& out) {
    if (json_type(text) != "object") {
        codec::read(text, path, out.isolated);
        return;
    }
    auto object = from_json<SandboxObject>(text, path);
    out.launcher = object.launcher;
    out.image = std::move(object.image);
    out.config_file = std::move(object.config_file);
    out.additions = {std::move(object.allow_read), std::move(object.allow_write), object.gpu};
}

void write(std::string& out, const SandboxChoice& value) {
    const SandboxAdditions& additions = value.additions;
    if (value.launcher || value.image || value.config_file || !is_empty(additions)) {
        append_json(out, SandboxObject{value.launcher, value.image, value.config_file, additions.allow_read,
                                       additions.allow_write, additions.gpu});
        return;
    }
    codec::write(out, value.isolated);
}

} // namespace cellgate::protocol
