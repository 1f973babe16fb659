// Files that name tool servers, and their texts.
#include "base/escape_unprintable.hpp"
#include "base/regular_file.hpp"
#include "config_inputs.hpp"
#include "json_with_comments.hpp"
#include "near_miss.hpp"
#include "server_errors.hpp"
#include "tools/config.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <set>

namespace cellgate::tools {

namespace {

constexpr std::size_t max_file_bytes = std::size_t{1} << 20;
constexpr std::array files_of_a_workspace = {".mcp.json", ".vscode/mcp.json"};

ServerSpec read_server(const std::string& name, std::string_view text, const std::string& file,
                       const std::vector<protocol::ServerInput>& inputs) {
    ServerSpec spec;
    spec.name = name;
    spec.source = protocol::ToolServerSource::workspace_file;
    spec.file = file;
    try {
        spec.config = from_json<protocol::McpServerConfig>(text, name);
    } catch (const Error& error) {
        throw invalid_config(name, error.message);
    }
    for (const auto& [key, value] : json_members(text)) {
        if (key == "envFile") {
            throw invalid_config(name, "envFile is not supported", "Name the variables under env, as ${VAR}.");
        }
        if (const std::optional<std::string_view> meant = near_miss(key)) {
            throw invalid_config(name, fmt::format("expected \"{}\", found \"{}\"", *meant, escape_unprintable(key)));
        }
    }
    require_usable(spec);
    give_inputs(spec.config, inputs);
    return spec;
}

// Those of the file, for all its servers. One that cannot be read is a problem of the file.
std::vector<protocol::ServerInput> read_inputs(std::string_view file_text, const std::string& file,
                                               std::vector<std::string>& problems) {
    std::vector<protocol::ServerInput> inputs;
    for (const auto& [key, value] : json_members(file_text)) {
        if (key != "inputs") {
            continue;
        }
        if (json_type(value) != "array") {
            problems.push_back(fmt::format("{}: expected inputs to be an array, found {}", escape_unprintable(file),
                                           json_type(value)));
            continue;
        }
        for (const std::string_view input : json_elements(value)) {
            try {
                inputs.push_back(from_json<protocol::ServerInput>(input, "inputs"));
            } catch (const Error& error) {
                problems.push_back(fmt::format("{}: {}", escape_unprintable(file), error.message));
            }
        }
    }
    return inputs;
}

// The text of a file that may not be there. Throws Error{config_invalid}.
std::optional<std::string> read_file(const std::string& path) {
    RegularFile file = read_regular_file(path, max_file_bytes + 1);
    if (file.error == ENOENT || file.error == ENOTDIR) {
        return std::nullopt;
    }
    if (file.error == EINVAL) {
        throw Error(ErrorCode::config_invalid, fmt::format("expected {} to be a file", path));
    }
    if (file.error != 0) {
        throw system_error(ErrorCode::config_invalid, "cannot read " + path, file.error);
    }
    if (file.bytes.size() > max_file_bytes) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("expected {} to have at most {} bytes", path, max_file_bytes));
    }
    return std::move(file.bytes);
}

} // namespace

ConfigFile parse_config(std::string_view text, const std::string& file) {
    RawJson raw;
    try {
        raw = RawJson::parse(strip_comments(text));
    } catch (const Error& error) {
        throw Error(ErrorCode::config_invalid, fmt::format("{}: {}", escape_unprintable(file), error.message));
    }
    if (!raw.is_object()) {
        throw Error(ErrorCode::config_invalid,
                    fmt::format("{}: expected an object with mcpServers or servers, found {}", escape_unprintable(file),
                                raw.type()));
    }
    ConfigFile found;
    const std::vector<protocol::ServerInput> inputs = read_inputs(raw.text(), file, found.problems);
    std::set<std::string> names;
    for (const auto& [key, value] : json_members(raw.text())) {
        if (key != "mcpServers" && key != "servers") {
            continue;
        }
        if (json_type(value) != "object") {
            found.problems.push_back(fmt::format("{}: expected {} to be an object, found {}", escape_unprintable(file),
                                                 key, json_type(value)));
            continue;
        }
        for (const auto& [name, server] : json_members(value)) {
            try {
                if (!names.insert(name).second) {
                    throw invalid_config(name, "the file names it twice");
                }
                found.servers.push_back(read_server(name, server, file, inputs));
            } catch (const Error& error) {
                found.problems.push_back(fmt::format("{}: {}{}{}", escape_unprintable(file), error.message,
                                                     error.hint.empty() ? "" : ". ", error.hint));
            }
        }
    }
    return found;
}

ConfigFile read_workspace_config(const std::string& workspace) {
    ConfigFile all;
    std::set<std::string> names;
    for (const char* name : files_of_a_workspace) {
        const std::string path = workspace + "/" + name;
        try {
            const std::optional<std::string> text = read_file(path);
            if (!text) {
                continue;
            }
            ConfigFile found = parse_config(*text, path);
            for (ServerSpec& spec : found.servers) {
                if (names.insert(spec.name).second) {
                    all.servers.push_back(std::move(spec));
                } else {
                    all.problems.push_back(
                        fmt::format("{}: another file names the tool server \"{}\", too; that one counts",
                                    escape_unprintable(path), escape_unprintable(spec.name)));
                }
            }
            all.problems.insert(all.problems.end(), found.problems.begin(), found.problems.end());
        } catch (const Error& error) {
            all.problems.push_back(error.message);
        }
    }
    return all;
}

} // namespace cellgate::tools
