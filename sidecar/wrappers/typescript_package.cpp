#include "package_writer.hpp"
#include "runtime_text.hpp"
#include "typescript_module.hpp"
#include "typescript_text.hpp"

#include <fmt/format.h>

namespace cellgate::wrappers {

namespace {

constexpr std::string_view ts_updates = R"(
/** The contents of the resource now, and after each of its changes. Each time is a call of its own. */
export async function* updates(uri: string, options: $.CallOptions = {{}}): AsyncGenerator<$.Answer> {{
  while (true) yield await {}({{ uri }}, options);
}}
)";

std::string ts_own_lines(const std::string& server) {
    return fmt::format("{}// Of the server {}.\n", typescript_header, typescript_literal(server));
}

std::string ts_group(const std::string& group, const std::vector<GroupMember>& members, bool updates) {
    std::string imports = updates ? "import type * as $ from \"../_runtime.ts\";\n" : "";
    std::string exports;
    std::string subscribe;
    for (const GroupMember& member : members) {
        const std::string name = typescript_function(member.name);
        exports += fmt::format("export {{ {} as {} }} from \"./{}.ts\";\n", member.module->function, name,
                               member.module->module);
        if (name == "subscribe") {
            subscribe = member.module->function;
            imports += updates ? fmt::format("import {{ {} }} from \"./{}.ts\";\n", subscribe, member.module->module)
                               : std::string();
        }
    }
    return fmt::format("{}/** The {} of the server. */\n{}\n{}{}", typescript_header, group, imports, exports,
                       updates ? fmt::format(fmt::runtime(ts_updates), subscribe) : "");
}

std::string ts_server(const Package& package, const std::vector<const protocol::ToolSpec*>& tools) {
    std::string text = ts_own_lines(package.server) +
                       doc_comment(fmt::format("The tools of the server `{}`.", package.server), 0) + "\n";
    for (std::size_t i = 0; i < tools.size(); ++i) {
        text += doc_comment(first_line(tools[i]->description.value_or("")), 0);
        text +=
            fmt::format("export {{ {} }} from \"./{}.ts\";\n", package.modules[i].function, package.modules[i].module);
    }
    return text;
}

std::vector<File> ts_shared() {
    return {{"mcptools/_runtime.ts", fmt::format("{}{}", typescript_header, typescript_runtime_text)}};
}

} // namespace

const PackageWriter& typescript_writer() {
    static constexpr PackageWriter writer{".ts",    "index.ts", ts_own_lines, typescript_module,
                                          ts_group, ts_server,  ts_shared};
    return writer;
}

} // namespace cellgate::wrappers
