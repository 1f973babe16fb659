// `cellgate man`: the manual page, in roff, made from the subcommands and options themselves.

#include "base/encoding.hpp"
#include "command_tree.hpp"
#include "commands.hpp"
#include "parse_error_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

namespace cellgate::cli {

namespace {

// Text as roff takes it; `keep_lines`: with its line breaks.
std::string roff(std::string_view text, bool keep_lines = false) {
    std::string out;
    for (bool at_start = true; !text.empty();) {
        const DecodedCodePoint next = decode_utf8(text);
        const char c = text.front();
        if (at_start && (c == '.' || c == '\'')) {
            out += "\\&";
        }
        at_start = c == '\n' && keep_lines;
        if (next.code_point >= 0x80) {
            out += fmt::format("\\[u{:04X}]", static_cast<std::uint32_t>(next.code_point));
        } else if (c == '\n' && !keep_lines) {
            out += ' ';
        } else {
            out += c == '\\' ? "\\e" : c == '-' ? "\\-" : c == '~' ? "\\(ti" : c == '^' ? "\\(ha" : std::string(1, c);
        }
        text.remove_prefix(next.length);
    }
    return out;
}

std::string bold(std::string_view text) {
    return "\\fB" + roff(text) + "\\fR";
}

void add_options(std::string& page, const CLI::App& app) {
    for (const CLI::Option* option : positionals_of(app)) {
        page += ".TP\n\\fI" + roff(value_name(*option)) + "\\fR\n" + roff(option->get_description()) + "\n";
    }
    for (const CLI::Option* option : named_options_of(app)) {
        std::string names;
        for (const std::string& name : names_of(*option)) {
            names += (names.empty() ? "" : ", ") + bold(name);
        }
        page += ".TP\n" + names + (takes_value(*option) ? " \\fI" + roff(value_name(*option)) + "\\fR" : "") + "\n" +
                roff(option->get_description()) + "\n";
    }
}

// `words`: how it is called, with all before it.
void add_command(std::string& page, const CLI::App& app, const std::string& words) {
    page += ".SS " + roff(words) + "\n" + roff(app.get_description()) + ".\n.PP\n" + bold(words) + " " +
            roff(usage_of(app)) + "\n";
    add_options(page, app);
    if (!app.get_footer().empty()) {
        page += ".PP\n.nf\n" + roff(app.get_footer(), true) + "\n.fi\n";
    }
    for (const CLI::App* part : subcommands_of(app)) {
        add_command(page, *part, words + " " + part->get_name());
    }
}

std::string manual_page(const CLI::App& app, const std::vector<std::string>& names) {
    const CLI::App* one = names.empty() ? nullptr : &named_subcommand(app, names);
    const std::string title = one == nullptr ? "cellgate" : fmt::format("cellgate {}", fmt::join(names, " "));
    std::string page = fmt::format(".TH \"{}\" 1 \"\" \"cellgate {}\"\n", roff(title), CELLGATE_VERSION);
    const CLI::App& described = one == nullptr ? app : *one;
    page += ".SH NAME\n" + roff(title) + " \\- " + roff(described.get_description()) + "\n";
    page += ".SH SYNOPSIS\n" + bold(title) + " " + roff(usage_of(described)) + "\n.SH COMMANDS\n";
    if (one != nullptr) {
        add_command(page, *one, title);
    } else {
        for (const CLI::App* each : subcommands_of(app)) {
            add_command(page, *each, "cellgate " + each->get_name());
        }
    }
    return page + ".SH EXIT STATUS\n"
                  ".TP\n.B 0\nIt did what was asked.\n"
                  ".TP\n.B 1\nIt did not, or what it was asked about is not so; standard error says why.\n"
                  ".TP\n.B 2\nThe arguments are wrong.\n"
                  ".TP\n.B 130\nCtrl\\-C ended the cells that ran.\n";
}

} // namespace

void add_man(CLI::App& app, Invocation& invocation) {
    auto names = std::make_shared<std::vector<std::string>>();
    CLI::App* command =
        app.add_subcommand("man", "Print the manual page, of all or of one subcommand: cellgate man | man -l -");
    command->add_option("COMMAND", *names, "A subcommand, and one of its own")->type_name("");
    command->callback([&app, names, &invocation] {
        invocation.run = [&app, names] {
            fmt::print("{}", manual_page(app, *names));
            return 0;
        };
    });
}

} // namespace cellgate::cli
