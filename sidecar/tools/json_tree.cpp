#include "json_tree.hpp"

#include "base/json_scan.hpp"
#include "decimal.hpp"

#include <algorithm>

namespace cellgate::tools {

namespace {

constexpr std::string_view space = " \t\r\n";

// Over text that check_json() found valid, so that nothing is checked again.
class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    JsonTree value() {
        skip_space();
        const std::size_t start = at_;
        JsonTree tree;
        switch (text_[at_]) {
        case '{':
            tree.type = JsonTree::Type::object;
            ++at_;
            while (next_is_not('}')) {
                std::string key = decode_json_string(string());
                skip_space();
                ++at_; // the colon
                tree.members.push_back({std::move(key), value()});
            }
            break;
        case '[':
            tree.type = JsonTree::Type::array;
            ++at_;
            while (next_is_not(']')) {
                tree.elements.push_back(value());
            }
            break;
        case '"':
            tree.type = JsonTree::Type::string;
            tree.string = decode_json_string(string());
            break;
        default:
            at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
            tree.type = text_[start] == 'n'                          ? JsonTree::Type::null
                        : text_[start] == 't' || text_[start] == 'f' ? JsonTree::Type::boolean
                                                                     : JsonTree::Type::number;
        }
        tree.text = text_.substr(start, at_ - start);
        return tree;
    }

  private:
    void skip_space() { at_ = std::min(text_.find_first_not_of(space, at_), text_.size()); }
    // Whether an array or object goes on; takes the comma, or the end.
    bool next_is_not(char end) {
        skip_space();
        if (text_[at_] == ',') {
            ++at_;
            skip_space();
        }
        if (text_[at_] == end) {
            ++at_;
            return false;
        }
        return true;
    }
    std::string_view string() {
        const std::size_t start = at_++;
        while (text_[at_] != '"') {
            at_ += text_[at_] == '\\' ? 2 : 1;
        }
        return text_.substr(start, ++at_ - start);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

const JsonTree* JsonTree::find(std::string_view name) const {
    const auto entry =
        std::find_if(members.begin(), members.end(), [&](const Member& member) { return member.name == name; });
    return entry == members.end() ? nullptr : &entry->value;
}

JsonTree parse_json_tree(std::string_view text) {
    return Parser(text).value();
}

bool equal(const JsonTree& a, const JsonTree& b) {
    if (a.type != b.type) {
        return false;
    }
    switch (a.type) {
    case JsonTree::Type::string:
        return a.string == b.string;
    case JsonTree::Type::number:
        return Decimal(a.text).compare(Decimal(b.text)) == 0;
    case JsonTree::Type::array:
        return std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), b.elements.end(), equal);
    case JsonTree::Type::object:
        return a.members.size() == b.members.size() &&
               std::all_of(a.members.begin(), a.members.end(), [&](const JsonTree::Member& member) {
                   const JsonTree* other = b.find(member.name);
                   return other != nullptr && equal(member.value, *other);
               });
    default:
        return a.text == b.text;
    }
}

} // namespace cellgate::tools
