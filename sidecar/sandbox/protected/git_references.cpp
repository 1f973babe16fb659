#include "protected/git_references.hpp"

#include "base/regular_file.hpp"
#include "base/text.hpp"
#include "mounts/symlink_chain.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_bytes = 1 << 20; // of a file that is read
constexpr int max_files = 32;              // that include each other

struct Setting {
    std::string section; // in lower case, without what follows in quotes
    std::string name;    // in lower case
    std::string value;
};

std::string content_of(const std::string& path) {
    return read_regular_file(path, max_bytes).bytes;
}

std::string without_space(std::string_view text) {
    return std::string(trim(text, " \t\r\n"));
}

// The text of one line up to its end or a comment, with what it has in quotes, and with the lines that it goes on in.
std::string take_value(std::string_view text, std::size_t& at) {
    std::string value;
    bool quoted = false;
    for (; at < text.size() && (text[at] != '\n' || quoted); ++at) {
        const char c = text[at];
        if (c == '\\' && at + 1 < text.size()) {
            const char next = text[++at];
            value += next == '\n' ? "" : next == 'n' ? "\n" : next == 't' ? "\t" : std::string(1, next);
        } else if (c == '"') {
            quoted = !quoted;
        } else if (!quoted && (c == '#' || c == ';')) {
            at = std::min(text.find('\n', at), text.size());
            break;
        } else {
            value += c;
        }
    }
    return without_space(value);
}

std::vector<Setting> settings_in(const std::string& text) {
    std::vector<Setting> settings;
    std::string section;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (std::isspace(static_cast<unsigned char>(c)) != 0) {
            ++at;
        } else if (c == '#' || c == ';') {
            at = std::min(text.find('\n', at), text.size());
        } else if (c == '[') {
            const std::size_t end = std::min(text.find_first_of(" \t\"]\n.", at), text.size());
            section = lower(text.substr(at + 1, end - at - 1));
            bool quoted = false;
            for (at = end; at < text.size() && text[at] != '\n' && (text[at] != ']' || quoted); ++at) {
                quoted = text[at] == '"' ? !quoted : quoted;
                at += text[at] == '\\' ? 1 : 0;
            }
            ++at;
        } else {
            const std::size_t end = std::min(text.find_first_of("=\n", at), text.size());
            const std::string name = lower(without_space(std::string_view(text).substr(at, end - at)));
            at = end;
            std::string value;
            if (at < text.size() && text[at] == '=') {
                value = take_value(text, ++at);
            }
            settings.push_back({section, name, std::move(value)});
        }
    }
    return settings;
}

// The words of a command, each of which may be a file.
std::vector<std::string> words_of(const std::string& command) {
    constexpr std::string_view between = " \t\r\n;|&<>()'\"!=";
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

    // git runs what many keys name, and more with each version: so what is in a value is a reference whatever the key
    // is.
    void configuration(const std::string& file) {
        if (++files_ > max_files) {
            return;
        }
        const std::string folder = fs::path(file).parent_path();
        for (Setting& setting : settings_in(content_of(file))) {
            const bool includes = setting.section == "include" || setting.section == "includeif";
            if (includes && setting.name == "path") {
                references.push_back({folder, setting.value});
                const std::string included = resolve_symlinks(folder, setting.value).end;
                if (!included.empty()) {
                    configuration(included);
                }
            } else if (setting.section == "core" && setting.name == "hookspath") {
                references.push_back({worktree_, setting.value});
            }
            for (std::string& word : words_of(setting.value)) {
                references.push_back({worktree_, std::move(word), true});
            }
            references.push_back({worktree_, std::move(setting.value), true});
        }
    }

  private:
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
