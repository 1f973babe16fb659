#include "settings/glob.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fnmatch.h>
#include <set>

namespace cellgate::sandbox {

namespace {

namespace fs = std::filesystem;

class Expansion {
  public:
    Expansion(const std::string& pattern, const std::function<bool(const std::string&)>& enter, int& entries_left,
              std::size_t most)
        : pattern_(pattern), enter_(enter), entries_left_(entries_left), most_(most) {
        for (const fs::path& part : fs::path(pattern).relative_path()) {
            const bool again = part == "**" && !parts_.empty() && parts_.back() == "**";
            if (!part.empty() && part != "." && !again) {
                parts_.push_back(part.string());
            }
        }
    }

    std::vector<std::string> from(const std::string& base) {
        walk(base, 0);
        return {found_.begin(), found_.end()};
    }

  private:
    void walk(const fs::path& at, std::size_t next) {
        std::error_code ignored;
        if (next == parts_.size()) {
            add(at);
        } else if (parts_[next] == "..") {
            walk(at.parent_path(), next + 1);
        } else if (parts_[next] == "**") {
            walk(at, next + 1);
            each_entry(at, [&](const fs::directory_entry& entry) {
                if (!entry.is_symlink(ignored) && entry.is_directory(ignored)) {
                    walk(entry.path(), next);
                }
            });
        } else if (is_glob(parts_[next])) {
            each_entry(at, [&](const fs::directory_entry& entry) {
                if (::fnmatch(parts_[next].c_str(), entry.path().filename().c_str(), FNM_NOESCAPE) == 0) {
                    walk(entry.path(), next + 1);
                }
            });
        } else if (fs::exists(fs::symlink_status(at / parts_[next], ignored))) {
            walk(at / parts_[next], next + 1);
        }
    }

    template <class Use>
    void each_entry(const fs::path& directory, const Use& use) {
        if (!enter_(directory.string())) {
            return;
        }
        std::error_code error;
        for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
            if (--entries_left_ < 0) {
                throw Error(ErrorCode::sandbox_unavailable,
                            fmt::format("\"{}\" leads through more files and folders than can be looked at",
                                        escape_unprintable(pattern_)),
                            "Name a folder further down, or one without wildcards.");
            }
            use(*entry);
        }
    }

    void add(const fs::path& path) {
        found_.insert(path.string());
        if (found_.size() > most_) {
            throw Error(ErrorCode::sandbox_unavailable,
                        fmt::format("expected at most {} files and folders that match \"{}\", found more", most_,
                                    escape_unprintable(pattern_)),
                        "Name the folder that they are in.");
        }
    }

    const std::string& pattern_;
    const std::function<bool(const std::string&)>& enter_;
    int& entries_left_;
    std::size_t most_;
    std::vector<std::string> parts_;
    std::set<std::string> found_;
};

} // namespace

bool is_glob(std::string_view path) {
    return path.find_first_of("*?[") != std::string_view::npos;
}

std::vector<std::string> expand_glob(const std::string& base, const std::string& pattern,
                                     const std::function<bool(const std::string&)>& enter, int& entries_left,
                                     std::size_t most) {
    return Expansion(pattern, enter, entries_left, most).from(base);
}

} // namespace cellgate::sandbox
