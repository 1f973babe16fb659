#include "tools/tool_search.hpp"

#include "base/escape_unprintable.hpp"
#include "base/json_scan.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

namespace cellgate::tools {

namespace {

constexpr double k1 = 1.2; // how soon more of a word counts no more
constexpr double by_meaning = 0.5;
constexpr double by_beginning = 0.5;
constexpr std::size_t shortest_beginning = 3;
constexpr double least_of_best = 0.25; // what has less of the best one's points is not found
constexpr std::size_t max_summary_bytes = 160;

// A server that says a sentence of so many tools tells none of them from another by it.
constexpr int repeated = 3;
constexpr int max_schema_depth = 6;

struct SearchField {
    double weight;
    double b; // how much a long one counts less
};

constexpr std::array<SearchField, 8> search_fields{
    {{5, 0.3}, {2, 0}, {3, 0.3}, {3, 0.3}, {1, 0.75}, {1, 0.75}, {0.5, 0.75}, {1, 0.75}}};
using FieldTexts = std::array<std::string, search_fields.size()>;

// How many tools of its server have a sentence.
using Repetitions = std::map<std::pair<std::string_view, std::string_view>, int>;

Repetitions count_sentences(const std::vector<SearchedTool>& tools) {
    Repetitions counts;
    for (const SearchedTool& tool : tools) {
        const std::set<std::string_view> each(tool.sentences.begin(), tool.sentences.end());
        for (const std::string_view sentence : each) {
            ++counts[{tool.server, sentence}];
        }
    }
    return counts;
}

// Those of `search_fields`. The first sentence says what a tool does.
FieldTexts field_texts(const SearchedTool& tool, const Repetitions& repetitions) {
    std::string first;
    std::string rest;
    for (const std::string& sentence : tool.sentences) {
        if (repetitions.at({tool.server, sentence}) < repeated) {
            (first.empty() ? first : rest) += sentence + " ";
        }
    }
    return {tool.name,  tool.server, tool.title, first, tool.argument_names, rest, tool.argument_descriptions,
            tool.values};
}

// Words of queries that tell no tool from another.
constexpr std::string_view stop_words =
    "a about all an and any are as at be by can do for from give how i in into is it its let "
    "me my need of on or our out some that the them then this tool to up use want what when "
    "which with you";

// Each line: words that ask for the same in catalogues of tools.
constexpr std::array<std::string_view, 26> meanings{
    "delete remove erase drop destroy",
    "create make add new write",
    "update change modify edit set",
    "search find lookup query look",
    "get read show fetch retrieve view see display open",
    "list enumerate show",
    "directory folder dir",
    "file document",
    "image picture photo screenshot",
    "url page website web site link",
    "web internet online",
    "move rename",
    "send post submit",
    "run execute start launch trigger",
    "stop cancel close end abort quit",
    "status progress state check",
    "download fetch scrape",
    "monitor watch track",
    "message mail email",
    "repository repo",
    "click press tap",
    "type enter write fill input",
    "browser tab window",
    "near local nearby place",
    "add sum plus",
    "compress zip gzip",
};

std::string stem(std::string word) {
    const auto ends = [&](std::string_view ending, std::size_t rest) {
        return word.size() >= ending.size() + rest && word.ends_with(ending);
    };
    if (ends("ies", 2)) {
        return word.substr(0, word.size() - 3) + "y";
    }
    if (ends("sses", 2) || ends("xes", 2) || ends("ches", 2) || ends("shes", 2)) {
        return word.substr(0, word.size() - 2);
    }
    if (ends("s", 3) && !word.ends_with("ss") && !word.ends_with("us") && !word.ends_with("is")) {
        word.pop_back();
    }
    for (const std::string_view ending : {"ing", "ed"}) {
        if (ends(ending, 3)) {
            word.resize(word.size() - ending.size());
            if (word.size() > 3 && word[word.size() - 1] == word[word.size() - 2] && word.back() != 's' &&
                word.back() != 'l') {
                word.pop_back(); // running
            }
            break;
        }
    }
    if (ends("e", 3)) { // so that "create", "creating" and "created" are one
        word.pop_back();
    }
    return word;
}

// Of "readTextFile" and "read_text_file": read, text, file.
std::vector<std::string> stems_of(std::string_view text) {
    std::vector<std::string> stems;
    std::string word;
    char before = ' ';
    const auto end_word = [&] {
        if (!word.empty()) {
            stems.push_back(stem(std::exchange(word, {})));
        }
    };
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_upper = byte < 0x80 && std::isupper(byte) != 0;
        if (is_upper && std::islower(static_cast<unsigned char>(before)) != 0) {
            end_word();
        }
        if (byte >= 0x80 || std::isalnum(byte) != 0) {
            word += static_cast<char>(std::tolower(byte));
        } else {
            end_word();
        }
        before = c;
    }
    end_word();
    return stems;
}

bool tells_nothing(const std::string& stem) {
    static const std::set<std::string> stems = [] {
        const std::vector<std::string> words = stems_of(stop_words);
        return std::set<std::string>(words.begin(), words.end());
    }();
    return stems.contains(stem);
}

const std::multimap<std::string, std::string>& same_meanings() {
    static const std::multimap<std::string, std::string> table = [] {
        std::multimap<std::string, std::string> made;
        for (const std::string_view line : meanings) {
            const std::vector<std::string> words = stems_of(line);
            for (const std::string& one : words) {
                for (const std::string& other : words) {
                    if (one != other) {
                        made.emplace(one, other);
                    }
                }
            }
        }
        return made;
    }();
    return table;
}

// How often each stem is in each tool, by the weight of the field and less in a long one.
class ToolIndex {
  public:
    explicit ToolIndex(const std::vector<SearchedTool>& tools) : count_(static_cast<double>(tools.size())) {
        const Repetitions repetitions = count_sentences(tools);
        std::vector<FieldTexts> texts;
        for (const SearchedTool& tool : tools) {
            texts.push_back(field_texts(tool, repetitions));
        }
        for (std::size_t field = 0; field < search_fields.size(); ++field) {
            add(texts, field);
        }
    }

    // The points of each tool for a stem.
    void score(const std::string& wanted, double factor, std::map<std::size_t, double>& points) const {
        const auto found = stems_.find(wanted);
        if (found == stems_.end()) {
            return;
        }
        const double in = static_cast<double>(found->second.size());
        const double rarity = std::log(1 + (count_ - in + 0.5) / (in + 0.5));
        for (const auto& [tool, frequency] : found->second) {
            double& sum = points[tool];
            sum = std::max(sum, factor * rarity * frequency / (k1 + frequency));
        }
    }

    std::vector<std::string> beginning_with(const std::string& start) const {
        std::vector<std::string> found;
        for (auto at = stems_.lower_bound(start); at != stems_.end() && at->first.starts_with(start); ++at) {
            found.push_back(at->first);
        }
        return found;
    }

  private:
    void add(const std::vector<FieldTexts>& tools, std::size_t field) {
        const auto& [weight, b] = search_fields[field];
        std::vector<std::vector<std::string>> stems;
        double words = 0;
        for (const FieldTexts& texts : tools) {
            stems.push_back(stems_of(texts[field]));
            words += static_cast<double>(stems.back().size());
        }
        const double usual = std::max(1.0, words / std::max(1.0, count_));
        for (std::size_t i = 0; i < tools.size(); ++i) {
            const double length = static_cast<double>(stems[i].size());
            for (std::string& each : stems[i]) {
                stems_[std::move(each)][i] += weight / (1 - b + b * length / usual);
            }
        }
    }

    double count_;
    std::map<std::string, std::map<std::size_t, double>> stems_;
};

// They end with a mark and a space, or with the line.
std::vector<std::string> sentences_of(std::string_view text) {
    std::vector<std::string> sentences;
    std::string sentence;
    const auto end = [&] {
        const std::size_t start = sentence.find_first_not_of(" \t\r");
        if (start != std::string::npos) {
            sentences.push_back(sentence.substr(start));
        }
        sentence.clear();
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool ends_line = text[i] == '\n';
        if (!ends_line) {
            sentence += text[i];
        }
        const bool is_mark = std::string_view(".!?:;").find(text[i]) != std::string_view::npos;
        if (ends_line || (is_mark && i + 1 < text.size() && text[i + 1] == ' ')) {
            end();
        }
    }
    end();
    return sentences;
}

void add_schema(SearchedTool& tool, std::string_view schema, int depth) {
    if (depth > max_schema_depth || schema.empty() || json_type(schema) != "object") {
        return;
    }
    for (const auto& [key, value] : json_members(schema)) {
        const std::string_view type = json_type(value);
        if (key == "properties" && type == "object") {
            for (const auto& [name, property] : json_members(value)) {
                tool.argument_names += name + " ";
                tool.argument_descriptions += json_member_text(property, "description").value_or("") + " ";
                add_schema(tool, property, depth + 1);
            }
        } else if (key == "items") {
            add_schema(tool, value, depth + 1);
        } else if ((key == "anyOf" || key == "oneOf" || key == "allOf") && type == "array") {
            for (const std::string_view each : json_elements(value)) {
                add_schema(tool, each, depth + 1);
            }
        } else if (key == "enum" && type == "array") {
            for (const std::string_view each : json_elements(value)) {
                tool.values += json_type(each) == "string" ? decode_json_string(each) + " " : std::string();
            }
        } else if (key == "const" && type == "string") {
            tool.values += decode_json_string(value) + " ";
        }
    }
}

} // namespace

SearchedTool searched_tool(const std::string& server, const protocol::ToolInfo& tool) {
    SearchedTool searched;
    searched.server = server;
    searched.name = tool.name;
    searched.title = tool.hints.title.value_or("");
    searched.sentences = sentences_of(tool.hints.description.value_or(""));
    add_schema(searched, tool.input_schema.text(), 0);
    return searched;
}

std::string summary_of(const protocol::ToolInfo& tool) {
    const std::string text = tool.hints.description.value_or(tool.hints.title.value_or(""));
    const std::size_t start = std::min(text.find_first_not_of(" \t\r\n"), text.size());
    std::string line = text.substr(start, text.find_first_of("\r\n", start) - start);
    if (line.size() > max_summary_bytes) {
        const std::size_t space = line.rfind(' ', max_summary_bytes);
        line.resize(space == std::string::npos ? max_summary_bytes : space);
        line += "…";
    }
    return escape_unprintable(line);
}

std::vector<std::size_t> search_tools(const std::vector<SearchedTool>& tools, std::string_view query,
                                      std::size_t limit) {
    const ToolIndex index(tools);
    std::map<std::size_t, double> sums;
    std::vector<std::string> wanted = stems_of(query);
    std::sort(wanted.begin(), wanted.end());
    wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    for (const std::string& word : wanted) {
        if (tells_nothing(word)) {
            continue;
        }
        std::map<std::size_t, double> points; // of this word: the best of its spellings
        index.score(word, 1, points);
        if (word.size() >= shortest_beginning) {
            for (const std::string& longer : index.beginning_with(word)) {
                index.score(longer, longer == word ? 1 : by_beginning, points);
            }
        }
        const auto [first, last] = same_meanings().equal_range(word);
        for (auto at = first; at != last; ++at) {
            index.score(at->second, by_meaning, points);
        }
        for (const auto& [tool, each] : points) {
            sums[tool] += each;
        }
    }
    std::vector<std::pair<double, std::size_t>> ranked;
    for (const auto& [tool, sum] : sums) {
        ranked.emplace_back(-sum, tool);
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<std::size_t> found;
    for (const auto& [sum, tool] : ranked) {
        if (found.size() < limit && sum <= least_of_best * ranked.front().first) { // both are negative
            found.push_back(tool);
        }
    }
    return found;
}

} // namespace cellgate::tools
