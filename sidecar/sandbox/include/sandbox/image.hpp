#pragma once
// `Image` is the files of a container's image, as a folder (images/images.hpp makes it): the system of a sandbox, in
// place of the machine's. They are shown read-only, to launchers that mount. What the machine has otherwise (programs,
// libraries, interpreters, packages) is not there then; the workspace, the home and all else is as in every sandbox.

#include "base/environment.hpp"
#include "base/unique_fd.hpp"

#include <optional>
#include <string>

namespace cellgate::sandbox {

struct Image {
    std::string name; // as a user named it
    std::string id;
    std::string root;        // absolute, canonical: nothing changes it while `lock` is held
    Environment environment; // of its configuration: where its programs find programs and libraries, and the language
    UniqueFd lock;
};

// The path in the image of a program that a user named: an absolute path, or a name on the image's PATH. Its links are
// followed in the image, and kept in the path. Blocks.
std::optional<std::string> find_program(const Image& image, const std::string& name);

} // namespace cellgate::sandbox
