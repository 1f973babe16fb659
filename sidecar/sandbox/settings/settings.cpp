#include "sandbox/settings.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/raw_json.hpp"
#include "base/regular_file.hpp"
#include "base/suggest.hpp"
#include "sandbox/domains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace cellgate::sandbox {

namespace {

constexpr std::size_t max_file_bytes = std::size_t{1} << 20;
constexpr std::size_t max_list_entries = 1'000;
constexpr std::size_t max_text_bytes = 4'096; // as the system's longest path
constexpr std::size_t shown_length = 100;

enum class Treatment {
    enforced,
    notice,  // not enforced, and nothing is wider for it
    refused, // asks for what would not happen, or does not exist: an error unless it asks for nothing
};

struct Key {
    std::string_view name;
    Treatment treatment;
    std::string_view word; // of a notice, why; of a refusal, what to do
};

constexpr std::string_view only_macos = "it is for macOS only";
constexpr std::string_view own_programs = "cellgate finds or brings what its sandbox needs";
constexpr std::string_view no_tls = "cellgate does not look into encrypted connections. Remove it.";
constexpr std::string_view own_proxy = "cellgate's network is its own proxy. Remove it.";
constexpr std::string_view no_credentials =
    "cellgate masks no credentials: the sandbox hides secrets and has a clean environment instead. Remove it.";
constexpr std::string_view stricter = "cellgate does not check this. Remove it if you can do without.";
constexpr std::string_view weaker = "cellgate's sandbox is not made weaker. Remove it.";

constexpr Key top_keys[] = {
    {"network", Treatment::enforced, ""},
    {"filesystem", Treatment::enforced, ""},
    {"credentials", Treatment::refused, no_credentials},
    {"ignoreViolations", Treatment::notice, only_macos},
    {"enableWeakerNestedSandbox", Treatment::refused, weaker},
    {"allowNestedUserNamespaces", Treatment::refused, weaker},
    {"enableWeakerNetworkIsolation", Treatment::notice, only_macos},
    {"allowAppleEvents", Treatment::notice, only_macos},
    {"allowPty", Treatment::notice, only_macos},
    {"windows", Treatment::notice, "it is for Windows only"},
    {"ripgrep", Treatment::notice, own_programs},
    {"seccomp", Treatment::notice, own_programs},
    {"bwrapPath", Treatment::notice, own_programs},
    {"socatPath", Treatment::notice, own_programs},
    {"mandatoryDenySearchDepth", Treatment::notice, "cellgate searches folders of every depth for what it guards"},
    {"javaAgentJarPath", Treatment::notice, "cellgate adds nothing to Java programs"},
    {"git", Treatment::notice, "cellgate changes no settings of git"},
};
constexpr Key network_keys[] = {
    {"allowedDomains", Treatment::enforced, ""},
    {"deniedDomains", Treatment::enforced, ""},
    {"allowLocalBinding", Treatment::enforced, ""},
    {"deniedDomainReasons", Treatment::notice, "a denied host is denied without its text"},
    {"allowUnixSockets", Treatment::notice, only_macos},
    {"allowMachLookup", Treatment::notice, only_macos},
    {"strictAllowlist", Treatment::refused,
     "A host that no list names is asked about. Remove it, or add \"*\" to deniedDomains if no host is to be asked "
     "about."},
    {"deniedResolvedAddresses", Treatment::refused, stricter},
    {"allowAllUnixSockets", Treatment::refused, weaker},
    {"httpProxyPort", Treatment::refused, own_proxy},
    {"socksProxyPort", Treatment::refused, own_proxy},
    {"mitmProxy", Treatment::refused, own_proxy},
    {"parentProxy", Treatment::refused, own_proxy},
    {"filterRequest", Treatment::refused, stricter},
    {"allowPlaintextHeaderSet", Treatment::refused, stricter},
    {"stripResponseHeaders", Treatment::refused, stricter},
    {"refuseOpaqueTunnels", Treatment::refused, stricter},
    {"requireHostMatch", Treatment::refused, stricter},
    {"ambiguousRequestTarget", Treatment::refused, stricter},
    {"tlsTerminate", Treatment::refused, no_tls},
};
constexpr Key filesystem_keys[] = {
    {"denyRead", Treatment::enforced, ""},
    {"allowRead", Treatment::enforced, ""},
    {"allowWrite", Treatment::enforced, ""},
    {"denyWrite", Treatment::enforced, ""},
    {"disabled", Treatment::refused, "A session without a sandbox is `sandbox: false`, or --no-sandbox."},
    {"allowGitConfig", Treatment::notice, "what git obeys stays read-only"},
};

// `false`, `[]`, `{}` and the like, also in parts.
bool asks_for_nothing(std::string_view value) {
    if (json_type(value) == "object") {
        const std::vector<std::pair<std::string, std::string_view>> members = json_members(value);
        return std::all_of(members.begin(), members.end(), [](const auto& m) { return asks_for_nothing(m.second); });
    }
    return value == "false" || value == "null" || value == "\"\"" ||
           (json_type(value) == "array" && json_elements(value).empty());
}

class Reader {
  public:
    Reader(const std::string& file, Settings& settings) : file_(file), settings_(settings) {}

    Error invalid(const std::string& path, std::string_view why, std::string hint = {}) const {
        return Error(ErrorCode::config_invalid,
                     fmt::format("{}: {}{}{}", escape_unprintable(file_), path, path.empty() ? "" : ": ", why),
                     std::move(hint));
    }

    void read(std::string_view text) {
        const Members members = object(text, "", top_keys);
        const std::string_view network = required(members, "", "network");
        const std::string_view filesystem = required(members, "", "filesystem");

        const Members hosts = object(network, "network", network_keys);
        settings_.network.configured = true;
        settings_.network.allowed_domains =
            domains(required(hosts, "network.", "allowedDomains"), "network.allowedDomains", DomainList::allowed);
        settings_.network.denied_domains =
            domains(required(hosts, "network.", "deniedDomains"), "network.deniedDomains", DomainList::denied);
        if (const std::string_view* value = find(hosts, "allowLocalBinding");
            value != nullptr && !boolean(*value, "network.allowLocalBinding")) {
            settings_.notices.push_back(fmt::format("{}: network.allowLocalBinding: false is not enforced: what a "
                                                    "cell binds is reached from within its own sandbox alone",
                                                    escape_unprintable(file_)));
        }

        const Members paths = object(filesystem, "filesystem", filesystem_keys);
        settings_.deny_read = rules(required(paths, "filesystem.", "denyRead"), "filesystem.denyRead");
        settings_.allow_write = rules(required(paths, "filesystem.", "allowWrite"), "filesystem.allowWrite");
        settings_.deny_write = rules(required(paths, "filesystem.", "denyWrite"), "filesystem.denyWrite");
        if (const std::string_view* value = find(paths, "allowRead")) {
            settings_.allow_read = rules(*value, "filesystem.allowRead");
        }
    }

  private:
    using Members = std::vector<std::pair<std::string, std::string_view>>;

    static const std::string_view* find(const Members& members, std::string_view name) {
        const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == name; });
        return found == members.end() ? nullptr : &found->second;
    }

    // `prefix`: "network."
    std::string_view required(const Members& members, const std::string& prefix, std::string_view name) const {
        const std::string_view* value = find(members, name);
        if (value == nullptr) {
            throw invalid(fmt::format("{}{}", prefix, name), "expected it, found nothing",
                          "network needs allowedDomains and deniedDomains, filesystem needs denyRead, allowWrite and "
                          "denyWrite; each may be [].");
        }
        return *value;
    }

    Error unknown(const std::string& path, const std::string& name, std::span<const Key> keys) const {
        std::vector<std::string> names;
        std::transform(keys.begin(), keys.end(), std::back_inserter(names),
                       [](const Key& key) { return std::string(key.name); });
        const std::string nearest = nearest_name(name, names);
        return invalid(path, "there is no such setting",
                       nearest.empty() ? "Remove it: what is not known is not enforced."
                                       : fmt::format("Did you mean {}?", nearest));
    }

    Members object(std::string_view value, const std::string& path, std::span<const Key> keys) {
        if (json_type(value) != "object") {
            throw invalid(path, fmt::format("expected an object, found {} {}", article(value), json_type(value)));
        }
        Members members = json_members(value);
        for (const auto& [name, member] : members) {
            const std::string at =
                path + (path.empty() ? "" : ".") + escape_unprintable(std::string_view(name).substr(0, shown_length));
            const auto key =
                std::find_if(keys.begin(), keys.end(), [&name = name](const Key& each) { return each.name == name; });
            if (key == keys.end()) {
                throw unknown(at, name, keys);
            }
            if (key->treatment == Treatment::enforced || asks_for_nothing(member)) {
                continue;
            }
            if (key->treatment == Treatment::refused) {
                throw invalid(at,
                              fmt::format("{} is not supported", escape_unprintable(member.substr(0, shown_length))),
                              std::string(key->word));
            }
            settings_.notices.push_back(fmt::format("{} is not used: {}", at, key->word));
        }
        return members;
    }

    static std::string_view article(std::string_view value) {
        const std::string_view type = json_type(value);
        return type == "object" || type == "array" ? "an" : "a";
    }

    bool boolean(std::string_view value, const std::string& path) const {
        if (json_type(value) != "boolean") {
            throw invalid(path, fmt::format("expected true or false, found {} {}", article(value), json_type(value)));
        }
        return value == "true";
    }

    std::vector<std::string_view> list(std::string_view value, const std::string& path) const {
        if (json_type(value) != "array") {
            throw invalid(path, fmt::format("expected an array, found {} {}", article(value), json_type(value)));
        }
        std::vector<std::string_view> elements = json_elements(value);
        if (elements.size() > max_list_entries) {
            throw invalid(path,
                          fmt::format("expected at most {} entries, found {}", max_list_entries, elements.size()));
        }
        return elements;
    }

    std::string text(std::string_view value, const std::string& path) const {
        if (json_type(value) != "string") {
            throw invalid(path, fmt::format("expected a string, found {} {}", article(value), json_type(value)));
        }
        std::string decoded = decode_json_string(value);
        if (decoded.empty() || decoded.size() > max_text_bytes || decoded.find('\0') != std::string::npos) {
            throw invalid(path, fmt::format("expected a text of 1 to {} bytes without NUL", max_text_bytes));
        }
        return decoded;
    }

    std::vector<PathRule> rules(std::string_view value, const std::string& path) const {
        std::vector<PathRule> result;
        for (const std::string_view element : list(value, path)) {
            const std::string at = fmt::format("{}[{}]", path, result.size());
            PathRule rule;
            if (json_type(element) == "object") {
                std::optional<std::string> given;
                for (const auto& [name, member] : json_members(element)) {
                    if (name == "path") {
                        given = text(member, at + ".path");
                    } else if (name == "literal" && member == "true") {
                        rule.literal = true;
                    } else {
                        throw invalid(at, "expected a string, or an object with \"path\" and \"literal\": true");
                    }
                }
                if (!given || !rule.literal) {
                    throw invalid(at, "expected a string, or an object with \"path\" and \"literal\": true");
                }
                rule.path = std::move(*given);
            } else {
                rule.path = text(element, at);
            }
            rule.where = fmt::format("{} \"{}\"", at, escape_unprintable(rule.path));
            result.push_back(std::move(rule));
        }
        return result;
    }

    std::vector<std::string> domains(std::string_view value, const std::string& path, DomainList which) const {
        std::vector<std::string> result;
        for (const std::string_view element : list(value, path)) {
            const std::string at = fmt::format("{}[{}]", path, result.size());
            const std::string given = text(element, at);
            try {
                result.push_back(check_domain(given, which));
            } catch (const Error& error) {
                throw invalid(at, error.message, error.hint);
            }
        }
        return result;
    }

    const std::string& file_;
    Settings& settings_;
};

} // namespace

Settings parse_settings(std::string_view text, const std::string& file) {
    Settings settings;
    settings.file = file;
    Reader reader(file, settings);
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw reader.invalid("", "the file is empty", "Write the settings of a sandbox, or do not name the file.");
    }
    JsonLimits limits;
    limits.max_bytes = max_file_bytes;
    if (const std::optional<JsonProblem> problem = check_json(text, limits)) {
        throw reader.invalid("", fmt::format("expected JSON, found {} at byte {}", problem->what, problem->offset),
                             "It is strict JSON: no comments, and no comma before a closing bracket.");
    }
    settings.text = trim_json(text);
    reader.read(settings.text);
    return settings;
}

std::shared_ptr<const Settings> read_settings(const std::string& file) {
    const RegularFile read = read_regular_file(file, max_file_bytes + 1);
    const std::string shown = escape_unprintable(file);
    if (read.error == EINVAL) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected {} to be a file with settings", shown));
    }
    if (read.error != 0) {
        throw system_error(ErrorCode::config_invalid, "cannot read the settings of the sandbox in " + shown, read.error,
                           "Nothing was started: without the file, cellgate cannot know what it forbids.");
    }
    if (read.bytes.size() > max_file_bytes) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected {} to have at most {} bytes", shown, max_file_bytes));
    }
    return std::make_shared<const Settings>(parse_settings(read.bytes, file));
}

std::shared_ptr<const Settings> with_additions(std::shared_ptr<const Settings> file, const Additions& additions) {
    if (additions.empty()) {
        return file;
    }
    const auto all = file ? std::make_shared<Settings>(*file) : std::make_shared<Settings>();
    const auto add = [](const char* list, const std::vector<std::string>& paths, std::vector<PathRule>& rules) {
        for (const std::string& path : paths) {
            rules.push_back(
                {fmt::format("{} \"{}\" of the session", list, escape_unprintable(path)), path, true, true});
        }
    };
    add("allowRead", additions.allow_read, all->allow_read);
    add("allowWrite", additions.allow_write, all->allow_write);
    if (!file) {
        all->allow_write.push_back({"the workspace", ".", true, true});
    }
    all->gpu = additions.gpu;
    return all;
}

} // namespace cellgate::sandbox
