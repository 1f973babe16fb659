#include "profiles.hpp"

#include "config_file.hpp"
#include "session/session_limits.hpp"

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

namespace cellgate::service {

namespace {

constexpr const char* profiles_may_hold =
    "It may hold `default` and `profiles`; a profile may hold extends, description, modules, domains, limits, "
    "askBeforePrograms and validation (docs/checking.md); or remove the file.";

constexpr const char* minimal_modules =
    "math random datetime json re time calendar uuid collections itertools functools operator bisect heapq copy "
    "dataclasses enum typing string textwrap unicodedata difflib decimal fractions statistics cmath base64 binascii "
    "hashlib hmac secrets html html.parser xml.etree.ElementTree csv configparser urllib.parse abc contextlib types";
constexpr const char* data_modules = "numpy pandas scipy matplotlib seaborn sklearn statsmodels plotly sympy pyarrow "
                                     "os io sys warnings pathlib tempfile "
                                     "shutil glob zipfile tarfile gzip logging sqlite3 pickle array struct zoneinfo";
constexpr const char* web_modules = "httpx requests urllib http aiohttp websocket websockets ftplib smtplib email "
                                    "socket ssl asyncio mimetypes bs4 lxml";

struct FileProfile {
    static constexpr bool closed = true;
    std::optional<std::string> extends;
    std::optional<std::string> description;
    std::optional<std::vector<std::string>> modules;
    std::optional<std::vector<std::string>> domains;
    std::optional<protocol::Limits> limits;
    std::optional<bool> ask_before_programs;
    std::optional<protocol::Validation> validation;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("extends", self.extends);
        visit("description", self.description);
        visit("modules", self.modules);
        visit("domains", self.domains);
        visit("limits", self.limits);
        visit("askBeforePrograms", self.ask_before_programs);
        visit("validation", self.validation);
    }
};

struct ProfilesFile {
    static constexpr bool closed = true;
    std::optional<std::string> default_name;
    std::optional<std::map<std::string, FileProfile>> profiles;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("default", self.default_name);
        visit("profiles", self.profiles);
    }
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream words(text);
    std::vector<std::string> all;
    for (std::string word; words >> word;) {
        all.push_back(word);
    }
    return all;
}

protocol::Profile built_in(const char* name, const char* description, const std::string& modules) {
    protocol::Profile profile;
    profile.name = name;
    profile.description = description;
    if (!modules.empty()) {
        profile.modules = words_of(modules);
    }
    profile.validation = protocol::Validation::advise;
    return profile;
}

std::vector<protocol::Profile> built_in_profiles() {
    const std::string minimal = minimal_modules;
    std::vector<protocol::Profile> all = {
        built_in("minimal", "plain computing: 40 modules of the standard library, 30 s", minimal),
        built_in("data-science", "tables, figures, statistics, files", minimal + " " + data_modules),
        built_in("web", "requests and what they return; hosts are still asked about", minimal + " " + web_modules),
        built_in("ask-programs", "you are asked before code starts a program, such as !git status", "")};
    all[0].validation = protocol::Validation::strict;
    all[0].limits.emplace().wall_seconds = 30;
    all[3].ask_before_programs = true;
    return all;
}

// A profile of the file may extend one that comes later in it.
class FileProfiles {
  public:
    FileProfiles(std::vector<protocol::Profile>& all, const std::map<std::string, FileProfile>& given)
        : all_(all), given_(given) {}

    void add(const std::string& name, int depth = 0) {
        if (find(name) != nullptr) {
            return;
        }
        const FileProfile& from = given_.at(name);
        protocol::Profile profile;
        profile.validation = protocol::Validation::advise;
        if (from.extends) {
            if (depth > 16) {
                throw Error(ErrorCode::config_invalid, fmt::format("the profile {} extends itself", name));
            }
            if (given_.contains(*from.extends)) {
                add(*from.extends, depth + 1);
            }
            const protocol::Profile* base = find(*from.extends);
            if (base == nullptr) {
                throw Error(ErrorCode::config_invalid,
                            fmt::format("the profile {} extends {}, which is not there", name, *from.extends));
            }
            profile = *base;
        }
        profile.name = name;
        profile.description = from.description.value_or(from.extends ? "extends " + *from.extends : "yours");
        if (from.modules) {
            std::vector<std::string> modules = profile.modules.value_or(std::vector<std::string>{});
            modules.insert(modules.end(), from.modules->begin(), from.modules->end());
            profile.modules = std::move(modules);
        }
        profile.domains = from.domains.value_or(profile.domains);
        if (from.limits) {
            profile.limits = session::with_changed(profile.limits.value_or(protocol::Limits{}), *from.limits);
        }
        if (from.ask_before_programs) {
            profile.ask_before_programs = from.ask_before_programs;
        }
        profile.validation = from.validation.value_or(profile.validation);
        all_.push_back(std::move(profile));
    }

  private:
    const protocol::Profile* find(const std::string& name) const {
        const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& each) { return each.name == name; });
        return found == all_.end() ? nullptr : &*found;
    }

    std::vector<protocol::Profile>& all_;
    const std::map<std::string, FileProfile>& given_;
};

} // namespace

Profiles::Profiles(const std::string& path) : all_(built_in_profiles()) {
    const auto built_in_count = static_cast<std::ptrdiff_t>(all_.size());
    const ProfilesFile file = read_config_file<ProfilesFile>(path, profiles_may_hold).value_or(ProfilesFile());
    const std::map<std::string, FileProfile> given = file.profiles.value_or(std::map<std::string, FileProfile>{});
    try {
        FileProfiles reader(all_, given);
        for (const auto& [name, profile] : given) {
            const bool taken = std::any_of(all_.begin(), all_.begin() + built_in_count,
                                           [&name = name](const auto& each) { return each.name == name; });
            if (taken) {
                throw Error(ErrorCode::config_invalid,
                            fmt::format("the profile {} is built in: choose another name", name));
            }
            reader.add(name);
        }
        default_ = file.default_name;
        if (default_) {
            find(*default_);
        }
    } catch (const Error& error) {
        throw Error(ErrorCode::config_invalid, fmt::format("{}: {}", path, error.message), profiles_may_hold);
    }
}

const protocol::Profile& Profiles::find(const std::string& name) const {
    std::string names;
    for (const protocol::Profile& each : all_) {
        if (each.name == name) {
            return each;
        }
        names += (names.empty() ? "" : ", ") + each.name;
    }
    throw Error(ErrorCode::config_invalid, fmt::format("expected a profile, one of {}, found \"{}\"", names, name));
}

std::optional<protocol::Profile> Profiles::default_profile() const {
    return default_ ? std::optional(find(*default_)) : std::nullopt;
}

void use_profile(session::SessionOptions& options, const protocol::Profile& profile) {
    options.profile = profile.name;
    options.domains = profile.domains;
    options.ask_before_programs = profile.ask_before_programs.value_or(false);
    options.limits = session::with_changed(profile.limits.value_or(protocol::Limits{}), options.limits);
}

} // namespace cellgate::service
