#include "tools/program_folders.hpp"

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/regular_file.hpp"
#include "jupyter/interpreter.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

namespace cellgate::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_first_line_bytes = 4096;
constexpr int max_interpreters = 4; // of a script, its interpreter, and so on
constexpr std::array<std::string_view, 6> system_folders = {"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"};

bool is_the_systems(const std::string& path) {
    return std::any_of(system_folders.begin(), system_folders.end(),
                       [&](std::string_view folder) { return is_within(path, folder); });
}

std::optional<std::string> real_path(const fs::path& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? std::nullopt : std::optional(real.string());
}

class Search {
  public:
    Search(const Environment& environment, const std::string& workspace)
        : environment_(environment), workspace_(workspace) {
        const auto home = environment.find("HOME");
        home_ = home == environment.end() ? std::nullopt : real_path(home->second);
    }

    // `only_python`: a cell may have written what names it.
    void program(const std::string& path, bool only_python = false, int depth = 0) {
        const std::optional<std::string> real = real_path(path);
        if (!real || depth == max_interpreters) {
            return;
        }
        const jupyter::Interpreter python = jupyter::inspect_interpreter(path);
        if (!python.prefix.empty()) {
            add(python.prefix);
            add(python.base_prefix);
            return;
        }
        const bool of_workspace = is_within(*real, workspace_);
        if (!of_workspace) {
            if (only_python || jupyter::is_inside(path, workspace_)) {
                return;
            }
            installation(*real); // links to it are made again in the sandbox
        }
        if (const std::optional<std::string> interpreter = interpreter_of(*real)) {
            program(*interpreter, of_workspace, depth + 1);
        }
    }

    std::vector<std::string> take() { return std::move(folders_); }

  private:
    void add(const fs::path& path) {
        const std::optional<std::string> real = real_path(path);
        if (real && !is_the_systems(*real) && !is_within(*real, workspace_) &&
            std::none_of(folders_.begin(), folders_.end(),
                         [&](const std::string& folder) { return is_within(*real, folder); })) {
            folders_.push_back(*real);
        }
    }

    void installation(const fs::path& program) {
        fs::path packages;
        for (const fs::path& part : program) {
            packages /= part;
            if (part == "node_modules") {
                add(packages);
                return;
            }
        }
        const fs::path folder = program.parent_path();
        if (folder.filename() != "bin" || real_path(folder.parent_path()) == home_) {
            add(program);
            return;
        }
        add(folder);
        add(folder.parent_path() / "lib");
    }

    // Of "#!/usr/bin/env -S node", node.
    std::optional<std::string> interpreter_of(const std::string& script) const {
        const RegularFile file = read_regular_file(script, max_first_line_bytes);
        const std::string_view text = file.bytes;
        if (!text.starts_with("#!")) {
            return std::nullopt;
        }
        std::istringstream line(std::string(text.substr(2, text.find('\n') - 2)));
        std::string word;
        line >> word;
        if (fs::path(word).filename() != "env") {
            return word;
        }
        while (line >> word && word.starts_with('-')) {
        }
        return find_program(word, environment_);
    }

    const Environment& environment_;
    const std::string& workspace_;
    std::optional<std::string> home_;
    std::vector<std::string> folders_;
};

} // namespace

std::vector<std::string> program_folders(const std::string& program, const Environment& environment,
                                         const std::string& workspace) {
    Search search(environment, workspace);
    search.program(program);
    return search.take();
}

std::string path_in_sandbox(const Environment& environment, const std::vector<std::string>& folders) {
    std::string shown;
    for (const std::string& entry : search_path(environment)) {
        const std::string real = real_path(entry).value_or(std::string());
        const bool seen =
            is_the_systems(real) || std::any_of(folders.begin(), folders.end(),
                                                [&](const std::string& folder) { return is_within(real, folder); });
        if (seen) {
            shown += (shown.empty() ? "" : ":") + entry;
        }
    }
    return shown;
}

} // namespace cellgate::tools
