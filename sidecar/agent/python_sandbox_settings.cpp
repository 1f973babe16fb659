#include "python_sandbox_settings.hpp"

#include "base/error.hpp"
#include "base/escape_unprintable.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "named_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace cellgate::agent {

namespace {

constexpr const char* no_container =
    "code runs in cellgate's sandbox anyway; a session in an image is a user's to start: cellgate run --image";

constexpr const char* usual_image = "python-sandbox:latest"; // without a container mode, it says nothing

std::vector<std::string> names_in(std::string_view text, char separator) {
    std::vector<std::string> names;
    for (const std::string_view part : split(text, separator)) {
        std::string name(part);
        std::erase(name, ' ');
        if (!name.empty()) {
            names.push_back(std::move(name));
        }
    }
    return names;
}

NamedVariable number_into(const char* name, double& number) {
    return {name, [&number](const std::string& variable, const std::string& value) {
                number = read_number(variable, value);
            }};
}

} // namespace

bool ModuleGroup::has(std::string_view module) const {
    return std::any_of(modules.begin(), modules.end(), [&](const std::string& each) {
        return module == each || (module.starts_with(each) && module[each.size()] == '.');
    });
}

const std::vector<ModuleGroup>& module_groups() {
    static const std::vector<ModuleGroup> groups = {
        {"safe_stdlib", "",
         names_in("math random datetime json re time calendar uuid collections itertools functools operator "
                  "bisect heapq copy dataclasses enum typing string textwrap unicodedata difflib decimal "
                  "fractions statistics cmath base64 binascii hashlib hmac secrets html html.parser "
                  "xml.etree.ElementTree csv configparser urllib.parse abc contextlib types",
                  ' ')},
        {"data_science", "SANDBOX_ENABLE_DATA_SCIENCE",
         names_in("numpy pandas scipy matplotlib seaborn sklearn statsmodels plotly sympy", ' ')},
        {"network", "SANDBOX_ENABLE_NETWORK",
         names_in("httpx requests urllib.request aiohttp websocket ftplib smtplib email", ' ')},
        {"filesystem", "SANDBOX_ENABLE_FILESYSTEM",
         names_in("pathlib os.path tempfile shutil glob zipfile tarfile", ' ')},
    };
    return groups;
}

bool PythonSandboxSettings::offers(const ModuleGroup& group) const {
    return group.variable.empty() || std::find(groups.begin(), groups.end(), group.name) != groups.end();
}

std::vector<std::string> PythonSandboxSettings::modules() const {
    if (custom_modules) {
        return *custom_modules;
    }
    std::vector<std::string> all;
    for (const ModuleGroup& group : module_groups()) {
        if (offers(group)) {
            std::copy(group.modules.begin(), group.modules.end(), std::back_inserter(all));
        }
    }
    return all;
}

double PythonSandboxSettings::timeout_of(std::optional<double> asked) const {
    if (asked && *asked <= 0) {
        throw Error(ErrorCode::invalid_params, fmt::format("timeout: expected more than 0, found {}", *asked));
    }
    if (asked && *asked > max_timeout) {
        throw Error(ErrorCode::limit_exceeded,
                    fmt::format("timeout: expected at most {}, found {}", max_timeout, *asked),
                    "the user who configured this server can set SANDBOX_MAX_TIMEOUT");
    }
    return asked.value_or(std::min(default_timeout, max_timeout));
}

PythonSandboxSettings read_python_sandbox_settings(const Environment& environment) {
    PythonSandboxSettings settings;
    std::vector<NamedVariable> variables = {
        number_into("SANDBOX_TIMEOUT", settings.default_timeout),
        number_into("SANDBOX_DEFAULT_TIMEOUT", settings.default_timeout),
        number_into("SANDBOX_MAX_TIMEOUT", settings.max_timeout),
        {"SANDBOX_MAX_OUTPUT_SIZE",
         [&settings](const std::string& name, const std::string& value) {
             const double most = static_cast<double>(settings.max_output_size);
             settings.max_output_size =
                 static_cast<std::size_t>(std::max(1.0, std::min(most, read_number(name, value))));
         }},
        {"SANDBOX_DEFAULT_MEMORY_LIMIT",
         [&settings](const std::string& name, const std::string& value) {
             settings.memory_bytes = parse_memory(value);
             if (!settings.memory_bytes || *settings.memory_bytes < least_memory_bytes) {
                 throw Error(ErrorCode::config_invalid,
                             fmt::format("expected {} to be a size such as 128m, and at least 100m, found \"{}\"", name,
                                         escape_unprintable(value)));
             }
         }},
        {"SANDBOX_ALLOWED_IMPORTS",
         [&settings](const std::string&, const std::string& value) { settings.custom_modules = names_in(value, ','); }},
        {"SANDBOX_ENABLE_CONTAINER_MODE",
         [](const std::string& name, const std::string& value) {
             if (read_flag(name, value)) {
                 throw Error(ErrorCode::config_invalid, fmt::format("{}: there is no container mode", name),
                             no_container);
             }
         }},
        {"SANDBOX_CONTAINER_IMAGE",
         [](const std::string& name, const std::string& value) {
             if (value != usual_image) {
                 throw Error(ErrorCode::config_invalid, fmt::format("{}: there is no container mode", name),
                             no_container);
             }
         },
         false},
        {"SANDBOX_RUNTIME",
         [](const std::string& name, const std::string&) {
             log_info("{} is not read: srt sets it for the programs that it starts", name);
         },
         false},
        not_taken("SANDBOX_API_TOKEN", "the token of HTTP is in a file",
                  "write it there, and start with: cellgate mcp --http ADDRESS --token-file FILE"),
    };
    for (const ModuleGroup& group : module_groups()) {
        if (!group.variable.empty()) {
            variables.push_back(
                {std::string(group.variable), [&settings, &group](const std::string& name, const std::string& value) {
                     if (read_flag(name, value)) {
                         settings.groups.emplace_back(group.name);
                     }
                 }});
        }
    }
    read_variables(environment, "SANDBOX_", variables);
    return settings;
}

} // namespace cellgate::agent
