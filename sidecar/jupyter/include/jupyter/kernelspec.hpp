#pragma once
// Kernelspecs: how Jupyter describes a kernel that is installed (`<data dir>/kernels/<name>/kernel.json`), and where it
// looks for them. Only files are read here; nothing runs. A spec that cannot be used is kept with the reason.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::jupyter {

using Environment = std::map<std::string, std::string>;

struct Kernelspec {
    std::string name;
    std::string directory; // the spec's own; `{resource_dir}` in argv
    std::string display_name;
    std::string language;
    std::vector<std::string> argv;
    Environment environment;            // beside the one that the kernel gets anyway
    bool interrupt_by_signal = false;   // by SIGINT, not by a message: the default for specs
    std::optional<std::string> problem; // why it cannot be used; then only name and directory are set
};

// The directories that hold kernelspecs, in Jupyter's order: JUPYTER_PATH, the user's data directory, `share/jupyter`
// of each of `prefixes` (JUPYTER_PREFER_ENV_PATH puts these first), /usr/local/share/jupyter, /usr/share/jupyter.
std::vector<std::string> kernelspec_directories(const Environment& environment,
                                                const std::vector<std::string>& prefixes);

// All specs in `directories`; of two with one name, the first.
std::vector<Kernelspec> load_kernelspecs(const std::vector<std::string>& directories);

// Without case, as Jupyter compares.
bool same_kernel_name(std::string_view a, std::string_view b);

} // namespace cellgate::jupyter
