#include "jupyter/kernelspec.hpp"

#include "base/json_codec.hpp"
#include "base/regular_file.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cellgate::jupyter {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

struct SpecExtension {
    std::optional<std::string> transport;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("transport", self.transport);
    }
};

struct SpecMetadata {
    std::optional<SpecExtension> cellgate;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("cellgate", self.cellgate);
    }

    bool is_tcp() const { return cellgate && cellgate->transport == "tcp"; }
};

struct SpecFile {
    std::vector<std::string> argv;
    std::string display_name;
    std::string language;
    std::optional<Environment> env;
    std::optional<std::string> interrupt_mode;
    std::optional<SpecMetadata> metadata;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("argv", self.argv);
        visit("display_name", self.display_name);
        visit("language", self.language);
        visit("env", self.env);
        visit("interrupt_mode", self.interrupt_mode);
        visit("metadata", self.metadata);
    }
};

std::string get(const Environment& environment, const std::string& name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
}

bool is_on(const std::string& value) {
    constexpr std::string_view off[] = {"", "no", "n", "false", "off", "0", "0.0"};
    return std::find(std::begin(off), std::end(off), lower(value)) == std::end(off);
}

bool is_kernel_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
               c == '-';
    });
}

std::string read_file(const fs::path& path) {
    RegularFile file = read_regular_file(path, max_file_bytes + 1);
    if (file.error != 0) {
        throw system_error(ErrorCode::kernel_not_found, fmt::format("cannot read {}", path.string()), file.error);
    }
    return std::move(file.bytes);
}

Kernelspec load(const fs::path& directory) {
    Kernelspec spec;
    spec.name = directory.filename();
    spec.directory = directory;
    try {
        const JsonLimits limits{64, max_file_bytes};
        SpecFile file =
            from_json<SpecFile>(RawJson::parse(read_file(directory / "kernel.json"), limits), "kernel.json");
        if (file.argv.empty() || file.argv.front().empty()) {
            throw Error(ErrorCode::kernel_not_found, "kernel.json.argv: expected a command, found none");
        }
        spec.display_name = std::move(file.display_name);
        spec.language = std::move(file.language);
        spec.argv = std::move(file.argv);
        spec.environment = std::move(file.env).value_or(Environment());
        spec.interrupt_by_signal = file.interrupt_mode.value_or("signal") != "message";
        spec.tcp_only = file.metadata && file.metadata->is_tcp();
    } catch (const Error& error) {
        spec.problem = error.message;
    }
    return spec;
}

} // namespace

std::vector<std::string> kernelspec_directories(const Environment& environment,
                                                const std::vector<std::string>& prefixes) {
    std::vector<std::string> directories;
    const auto add = [&](const fs::path& directory) {
        const std::string path = fs::absolute(directory).lexically_normal();
        if (std::find(directories.begin(), directories.end(), path) == directories.end()) {
            directories.push_back(path);
        }
    };
    const fs::path home = get(environment, "HOME");
    const auto add_user = [&] {
        const std::string data = get(environment, "JUPYTER_DATA_DIR");
        const std::string xdg = get(environment, "XDG_DATA_HOME");
        if (!data.empty()) {
            add(fs::path(data) / "kernels");
        } else if (!xdg.empty()) {
            add(fs::path(xdg) / "jupyter/kernels");
        }
        if (!home.empty()) {
            add(home / ".local/share/jupyter/kernels");
        }
    };
    const auto add_prefixes = [&] {
        for (const std::string& prefix : prefixes) {
            if (prefix != "/usr" && prefix != "/usr/local") {
                add(fs::path(prefix) / "share/jupyter/kernels");
            }
        }
    };
    const std::string extra = get(environment, "JUPYTER_PATH");
    for (std::size_t start = 0; start < extra.size();) {
        const std::size_t end = std::min(extra.find(':', start), extra.size());
        if (end > start) {
            add(fs::path(extra.substr(start, end - start)) / "kernels");
        }
        start = end + 1;
    }
    if (is_on(get(environment, "JUPYTER_PREFER_ENV_PATH"))) {
        add_prefixes();
        add_user();
    } else {
        add_user();
        add_prefixes();
    }
    add("/usr/local/share/jupyter/kernels");
    add("/usr/share/jupyter/kernels");
    if (!home.empty()) {
        const std::string ipython = get(environment, "IPYTHONDIR");
        add((ipython.empty() ? home / ".ipython" : fs::path(ipython)) / "kernels");
    }
    return directories;
}

std::vector<Kernelspec> load_kernelspecs(const std::vector<std::string>& directories) {
    std::vector<Kernelspec> specs;
    for (const std::string& directory : directories) {
        std::vector<fs::path> entries;
        std::error_code error; // A directory that is not there, or closed to us, holds no kernels for us.
        for (fs::directory_iterator each(directory, error), end; !error && each != end; each.increment(error)) {
            if (is_kernel_name(each->path().filename().string()) && fs::exists(each->path() / "kernel.json", error)) {
                entries.push_back(each->path());
            }
        }
        std::sort(entries.begin(), entries.end());
        for (const fs::path& entry : entries) {
            const std::string name = lower(entry.filename().string());
            const bool taken = std::any_of(specs.begin(), specs.end(),
                                           [&](const Kernelspec& spec) { return lower(spec.name) == name; });
            if (!taken) {
                specs.push_back(load(entry));
            }
        }
    }
    return specs;
}

bool same_kernel_name(std::string_view a, std::string_view b) {
    return lower(a) == lower(b);
}

} // namespace cellgate::jupyter
