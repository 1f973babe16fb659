#pragma once
// `Settings` are the content of a settings file of srt (@anthropic-ai/sandbox-runtime; ipybox's sandbox.json is one),
// read as it is. No key is ignored in silence: it is enforced, or a notice says that it is not and does no harm, or it
// is an error that says what to do. settings_mounts.hpp defines what the lists of paths mean, and that the result is
// never wider than what a user allowed: only a user may name such a file.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::sandbox {

// One entry of a list of paths. Relative ones are from the workspace, `~` is the user's home.
struct PathRule {
    std::string where; // filesystem.denyRead[0] ".env"
    std::string path;
    bool literal = false; // no character of it stands for others
    bool added = false;   // by a user, not in the file
};

// Which hosts a cell may reach; the texts are checked, in lower case, and for domain_covers() (domains.hpp).
struct NetworkSettings {
    bool configured = false;
    std::vector<std::string> allowed_domains;
    std::vector<std::string> denied_domains;
};

// What a user adds, beside or without a settings file. Paths without wildcards; relative ones are from the workspace,
// `~` is the user's home.
struct Additions {
    std::vector<std::string> allow_read;
    std::vector<std::string> allow_write;
    bool gpu = false;
    bool empty() const { return allow_read.empty() && allow_write.empty() && !gpu; }
};

struct Settings {
    std::string file; // absolute; empty: there are additions only
    std::string text; // of the file
    std::vector<PathRule> deny_read;
    std::vector<PathRule> allow_read;
    std::vector<PathRule> allow_write;
    std::vector<PathRule> deny_write;
    NetworkSettings network;
    bool gpu = false;                 // the devices of graphics cards are shown
    std::vector<std::string> notices; // what is not enforced, and why that does no harm
};

// `file` names the text in errors. Throws Error{config_invalid} with the path in the JSON and what to do.
Settings parse_settings(std::string_view text, const std::string& file);

// `file` is absolute. Reads a file of at most 1 MiB, and never blocks on a FIFO. Throws as parse_settings() does, also
// for a file that is missing or empty.
std::shared_ptr<const Settings> read_settings(const std::string& file);

// `file` may be nothing: then the workspace is writable, as without settings.
std::shared_ptr<const Settings> with_additions(std::shared_ptr<const Settings> file, const Additions& additions);

} // namespace cellgate::sandbox
