#include "protected/git_references.hpp"

#include "base/regular_file.hpp"
#include "mounts/symlink_chain.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <sstream>
#include <string_view>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_bytes = 1 << 20; // of a file that is read
constexpr int max_files = 32;              // that include each other

std::string content_of(const std::string& path) {
    return read_regular_file(path, max_bytes).bytes;
}

std::string in_lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::string without_space(std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    const std::size_t end = text.find_last_not_of(" \t\r\n");
    return std::string(text.substr(begin, end == std::string_view::npos ? 0 : end + 1 - begin));
}

// The words of a command, each of which may be a file.
std::vector<std::string> words_of(const std::string& command) {
    constexpr std::string_view between = " \t\r;|&<>()'\"!=";
    std::vector<std::string> words;
    for (std::size_t at = 0; at < command.size();) {
        const std::size_t begin = std::min(command.find_first_not_of(between, at), command.size());
        at = std::min(command.find_first_of(between, begin), command.size());
        if (at > begin) {
            words.push_back(command.substr(begin, at - begin));
        }
    }
    return words;
}

// Without its quotes, and without a comment behind it.
std::string plain_value(const std::string& text) {
    std::string value;
    bool quoted = false;
    for (const char c : text) {
        if (!quoted && (c == '#' || c == ';')) {
            break;
        }
        quoted = c == '"' ? !quoted : quoted;
        value += c == '"' ? "" : std::string(1, c);
    }
    return without_space(value);
}

class Reading {
  public:
    explicit Reading(std::string worktree) : worktree_(std::move(worktree)) {}

    std::vector<GitReference> references;

    void repository(const std::string& folder) {
        const std::string shared = without_space(content_of(folder + "/commondir"));
        std::string common = folder;
        if (!shared.empty()) {
            references.push_back({folder, shared});
            const std::string end = resolve_symlinks(folder, shared).end;
            common = end.empty() ? folder : end;
        }
        for (const std::string& file : {common + "/config", folder + "/config.worktree"}) {
            configuration(file);
        }
    }

    // Line by line. git runs what many keys name, and more with each version: so a file is a reference whatever the key
    // is.
    void configuration(const std::string& file) {
        if (++files_ > max_files) {
            return;
        }
        const std::string folder = fs::path(file).parent_path();
        std::istringstream lines(content_of(file));
        for (std::string line; std::getline(lines, line);) {
            const std::size_t equals = line.find('=');
            if (equals != std::string::npos) {
                const std::string key = in_lower_case(line.substr(0, equals));
                read_value(without_space(std::string_view(key).substr(key.rfind(']') + 1)), line.substr(equals + 1),
                           folder);
            } else if (line.find('[') == std::string::npos) {
                read_value({}, line, folder); // it goes on with the value of the line before
            }
        }
    }

  private:
    void read_value(const std::string& key, const std::string& text, const std::string& folder) {
        const std::string value = plain_value(text);
        if (key == "path" && !value.empty()) {
            references.push_back({folder, value});
            const std::string included = resolve_symlinks(folder, value).end;
            if (!included.empty()) {
                configuration(included);
            }
        } else if (key == "hookspath" && !value.empty()) {
            references.push_back({worktree_, value});
        }
        references.push_back({worktree_, value, true});
        for (std::string& word : words_of(text)) {
            references.push_back({worktree_, std::move(word), true});
        }
    }

    std::string worktree_;
    int files_ = 0;
};

} // namespace

std::vector<GitReference> find_git_references(const std::string& place, const std::string& worktree) {
    Reading reading(worktree);
    std::error_code error;
    if (fs::is_directory(place, error)) {
        reading.repository(place);
        return std::move(reading.references);
    }
    constexpr std::string_view prefix = "gitdir:";
    const std::string text = content_of(place);
    if (text.starts_with(prefix)) {
        const std::string folder = fs::path(place).parent_path();
        const std::string path = without_space(std::string_view(text).substr(prefix.size()));
        reading.references.push_back({folder, path});
        const std::string end = resolve_symlinks(folder, path).end;
        if (!end.empty()) {
            reading.repository(end);
        }
    }
    return std::move(reading.references);
}

} // namespace cellgate::sandbox
