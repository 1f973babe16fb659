#pragma once
// `Kernelspec` is Jupyter's description of an installed kernel (`<data dir>/kernels/<name>/kernel.json`). This module
// only reads files; nothing runs. An unusable spec is kept with the reason.

#include "base/environment.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

struct Kernelspec {
    std::string name;
    std::string directory; // the spec's own; `{resource_dir}` in argv
    std::string display_name;
    std::string language;
    std::vector<std::string> argv;
    Environment environment;            // in addition to the kernel's own
    bool interrupt_by_signal = false;   // SIGINT instead of a message: the default for specs
    bool tcp_only = false;              // `metadata` has {"cellgate": {"transport": "tcp"}}
    std::optional<std::string> problem; // why it is unusable; then only name and directory are set
};

// The directories that hold kernelspecs, in Jupyter's order: JUPYTER_PATH, the user's data directory, `share/jupyter`
// of each of `prefixes` (JUPYTER_PREFER_ENV_PATH puts these first), /usr/local/share/jupyter, /usr/share/jupyter.
std::vector<std::string> kernelspec_directories(const Environment& environment,
                                                const std::vector<std::string>& prefixes);

// All specs in `directories`; of several with the same name, the first.
std::vector<Kernelspec> load_kernelspecs(const std::vector<std::string>& directories);

// Case-insensitive, like Jupyter.
bool same_kernel_name(std::string_view a, std::string_view b);

} // namespace cellgate::jupyter
