#pragma once
// `run_podman` runs podman as this user, to its end.

#include "async/loop.hpp"
#include "async/process.hpp"
#include "base/environment.hpp"

#include <functional>
#include <string>
#include <vector>

namespace cellgate::images {

struct PodmanRun {
    async::ExitStatus status;
    std::string errors; // the end of its stderr, on one line
};

enum class Streams { apart, joined }; // joined: stderr is a part of the output

// Cancelling ends it. Throws Error{config_invalid} where there is no podman.
Task<PodmanRun> run_podman(async::Loop& loop, const Environment& environment, std::vector<std::string> arguments,
                           std::function<void(const std::string& bytes)> on_output, Streams streams = Streams::apart);

// What it prints. Throws Error{config_invalid} with podman's words when it fails.
Task<std::string> ask_podman(async::Loop& loop, const Environment& environment, std::vector<std::string> arguments);

struct PodmanImage {
    std::string id;
    Environment environment; // of its configuration
};

// Throws Error{config_invalid} when podman does not have it.
Task<PodmanImage> inspect_image(async::Loop& loop, const Environment& environment, std::string name);

} // namespace cellgate::images
