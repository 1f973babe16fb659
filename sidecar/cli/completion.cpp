// `cellgate completion`: the scripts by which shells complete its command line, and the internal `cellgate complete`,
// which those ask: so there is one set of rules, made from the subcommands and options themselves.

#include "command_tree.hpp"
#include "commands.hpp"
#include "value_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace cellgate::cli {

namespace {

const std::map<std::string, std::string_view> scripts{
    {"bash", R"(# Completion of cellgate's command line in bash. To have it: source <(cellgate completion bash)
_cellgate() {
    local word
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        case $word in
            :files) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -f -- "$2") ;;
            :folders) compopt -o filenames && mapfile -t COMPREPLY < <(compgen -d -- "$2") ;;
            *) COMPREPLY+=("$word") ;;
        esac
    done < <("$1" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _cellgate cellgate
)"},
    {"zsh", R"(#compdef cellgate
# Completion of cellgate's command line in zsh. To have it: source <(cellgate completion zsh)
_cellgate() {
    local word description
    local -a candidates
    while IFS=$'\t' read -r word description; do
        case $word in
            :files) _files; return ;;
            :folders) _files -/; return ;;
            *) candidates+=("${word//:/\\:}:$description") ;;
        esac
    done < <("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    _describe cellgate candidates
}
if [ "$funcstack[1]" = _cellgate ]; then
    _cellgate "$@"
else
    compdef _cellgate cellgate
fi
)"},
    {"fish", R"(# Completion of cellgate's command line in fish. To have it: cellgate completion fish | source
function __cellgate_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] complete -- $words[2..-1] "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $current
            case :folders
                __fish_complete_directories $current
            case '*'
                echo $line
        end
    end
end
complete -c cellgate -f -a '(__cellgate_complete)'
)"},
};

struct Candidate {
    std::string word;
    std::string description; // its first line
};

std::string first_sentence(const std::string& text) {
    return text.substr(0, text.find_first_of("\n\t"));
}

// A file is the shell's to find.
std::vector<Candidate> values_of(const CLI::Option& option) {
    const std::string name = value_name(option);
    if (name == "DIR") {
        return {{":folders", {}}};
    }
    if (name.find("FILE") != std::string::npos || name.find("PATH") != std::string::npos) {
        return {{":files", {}}};
    }
    std::vector<Candidate> values;
    for (std::size_t at = 0; name.find('|') != std::string::npos && at <= name.size();) {
        const std::size_t end = std::min(name.find('|', at), name.size());
        values.push_back({name.substr(at, end - at), {}});
        at = end + 1;
    }
    return values;
}

// Where the command line is at the word that is completed.
struct CursorContext {
    const CLI::App* command = nullptr;
    std::size_t positionals = 0;
    const CLI::Option* option = nullptr; // its value is to come
    bool behind_dashes = false;          // a command, that is

    void read(const std::string& word) {
        if (behind_dashes || std::exchange(option, nullptr) != nullptr) {
            return;
        }
        if (word == "--") {
            behind_dashes = true;
        } else if (word.starts_with('-')) {
            const CLI::Option* named = command->get_option_no_throw(word);
            option = named != nullptr && takes_value(*named) ? named : nullptr;
        } else if (const CLI::App* next = find_subcommand(*command, word)) {
            command = next;
        } else {
            ++positionals;
        }
    }

    std::vector<Candidate> candidates(bool of_options) const {
        if (behind_dashes) {
            return {{":files", {}}};
        }
        if (option != nullptr) {
            return values_of(*option);
        }
        std::vector<Candidate> found;
        if (of_options) {
            for (const CLI::Option* each : named_options_of(*command)) {
                found.push_back({names_of(*each).back(), first_sentence(each->get_description())});
            }
            return found;
        }
        for (const CLI::App* each : subcommands_of(*command)) {
            found.push_back({each->get_name(), first_sentence(each->get_description())});
        }
        const std::vector<const CLI::Option*> all = positionals_of(*command);
        if (positionals < all.size()) {
            const std::vector<Candidate> values = values_of(*all[positionals]);
            found.insert(found.end(), values.begin(), values.end());
        }
        return found;
    }
};

int print_candidates(const CLI::App& app, const std::vector<std::string>& words) {
    CursorContext place{&app};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (i > 0 || words[i] != "help") { // `help` is before the subcommand that it explains
            place.read(words[i]);
        }
    }
    const std::string begun = words.empty() ? std::string() : words.back();
    for (const Candidate& each : place.candidates(begun.starts_with('-'))) {
        if (each.word.starts_with(':') || each.word.starts_with(begun)) {
            fmt::print("{}{}{}\n", each.word, each.description.empty() ? "" : "\t", each.description);
        }
    }
    return 0;
}

} // namespace

void add_completion(CLI::App& app, Invocation& invocation) {
    auto shell = std::make_shared<std::string>();
    CLI::App* command =
        app.add_subcommand("completion", "Print the script by which a shell completes the command line");
    command->add_option("SHELL", *shell, "bash, zsh or fish")
        ->required()
        ->check(one_of({"bash", "zsh", "fish"}))
        ->type_name("bash|zsh|fish");
    command->callback([shell, &invocation] {
        invocation.run = [shell] {
            fmt::print("{}", scripts.at(*shell));
            return 0;
        };
    });

    CLI::App* completing = app.add_subcommand("complete", "What can stand for the last of the words after --");
    completing->group(""); // internal
    completing->callback([&app, &invocation] {
        invocation.takes_server_command = true;
        invocation.run = [&app, &invocation] {
            return print_candidates(app, invocation.server_command.value_or(std::vector<std::string>{}));
        };
    });
}

} // namespace cellgate::cli
