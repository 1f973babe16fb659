#include "schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace cellgate::wrappers {

namespace {

constexpr std::size_t max_bytes = std::size_t{1} << 20;
constexpr std::size_t max_members = 1000;
constexpr int max_schema_depth = 64;
constexpr int max_references = 32;
constexpr std::size_t max_parts = 64;
constexpr std::size_t max_steps = 5'000'000;

// Members that do not narrow what a value may be.
constexpr std::array<std::string_view, 12> annotations{"$ref",    "$schema",     "$id",        "$comment",
                                                       "$defs",   "definitions", "title",      "description",
                                                       "default", "examples",    "deprecated", "format"};

SchemaNode build(std::string_view text, int depth) {
    if (depth > max_schema_depth) {
        throw Error(ErrorCode::wrapper_failed,
                    fmt::format("the schema is nested deeper than {} levels", max_schema_depth));
    }
    SchemaNode node{text, json_type(text), {}, {}};
    if (node.type == "object") {
        auto members = json_members(text);
        if (members.size() > max_members) {
            throw Error(ErrorCode::wrapper_failed, fmt::format("an object of the schema has {} members, more than {}",
                                                               members.size(), max_members));
        }
        for (auto& [name, value] : members) {
            node.members.push_back({std::move(name), build(value, depth + 1)});
        }
    } else if (node.type == "array") {
        for (const std::string_view value : json_elements(text)) {
            node.elements.push_back(build(value, depth + 1));
        }
    }
    return node;
}

bool says_more_than_a_reference(const SchemaNode& node) {
    return std::any_of(node.members.begin(), node.members.end(), [](const SchemaMember& member) {
        return std::find(annotations.begin(), annotations.end(), member.name) == annotations.end();
    });
}

// A segment of a JSON pointer in a URI fragment: %XX, then ~1 and ~0.
std::string decode_segment(std::string_view segment) {
    std::string bytes;
    for (std::size_t i = 0; i < segment.size(); ++i) {
        unsigned char value = 0;
        const std::string_view digits = segment.substr(std::min(i + 1, segment.size()), 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
        if (segment[i] == '%' && digits.size() == 2 && error == std::errc() && end == digits.data() + 2) {
            bytes += static_cast<char>(value);
            i += 2;
        } else {
            bytes += segment[i];
        }
    }
    std::string out;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (bytes[i] == '~' && i + 1 < bytes.size() && (bytes[i + 1] == '0' || bytes[i + 1] == '1')) {
            out += bytes[++i] == '0' ? '~' : '/';
        } else {
            out += bytes[i];
        }
    }
    return out;
}

} // namespace

const SchemaNode* SchemaNode::find(std::string_view name) const {
    for (const auto& [member, value] : members) {
        if (member == name) {
            return &value;
        }
    }
    return nullptr;
}

std::string SchemaNode::string_member(std::string_view name) const {
    const SchemaNode* value = find(name);
    return value != nullptr && value->type == "string" ? decode_json_string(value->text) : "";
}

SchemaDocument::SchemaDocument(RawJson schema) : text_(std::move(schema)) {
    if (text_.text().size() > max_bytes) {
        throw Error(ErrorCode::wrapper_failed,
                    fmt::format("the schema has {} bytes, more than {}", text_.text().size(), max_bytes));
    }
    root_ = build(trim_json(text_.text()), 0);
    collect_anchors(root_);
}

void SchemaDocument::collect_anchors(const SchemaNode& node) {
    if (std::string anchor = node.string_member("$anchor"); !anchor.empty()) {
        anchors_.emplace(std::move(anchor), &node);
    }
    for (const auto& [name, value] : node.members) {
        collect_anchors(value);
    }
    for (const SchemaNode& value : node.elements) {
        collect_anchors(value);
    }
}

void SchemaDocument::spend(std::size_t steps) const {
    spent_ += steps;
    if (spent_ > max_steps) {
        throw Error(ErrorCode::wrapper_failed, "the schema refers to itself in too many ways");
    }
}

const SchemaNode* SchemaDocument::target(const SchemaNode& reference) const {
    const std::string uri = reference.string_member("$ref");
    if (!uri.starts_with('#')) {
        return nullptr; // another document: nothing is fetched
    }
    if (uri.size() > 1 && uri[1] != '/') {
        const auto anchor = anchors_.find(std::string_view(uri).substr(1));
        return anchor == anchors_.end() ? nullptr : anchor->second;
    }
    const SchemaNode* node = &root_;
    std::string_view rest = std::string_view(uri).substr(1);
    while (node != nullptr && !rest.empty()) {
        spend(node->members.size());
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find('/'), rest.size());
        const std::string segment = decode_segment(rest.substr(0, end));
        rest.remove_prefix(end);
        if (node->type == "array") {
            const bool is_index =
                !segment.empty() && segment.size() < 6 && segment.find_first_not_of("0123456789") == std::string::npos;
            const std::size_t index = is_index ? std::stoul(segment) : node->elements.size();
            node = index < node->elements.size() ? &node->elements[index] : nullptr;
        } else {
            node = node->find(segment);
        }
    }
    return node;
}

const SchemaNode& SchemaDocument::resolve(const SchemaNode& node) const {
    const SchemaNode* at = &node;
    for (int i = 0; i < max_references; ++i) {
        spend(at->members.size());
        const SchemaNode* next = says_more_than_a_reference(*at) ? nullptr : target(*at);
        if (next == nullptr) {
            break;
        }
        at = next;
    }
    return *at;
}

void SchemaDocument::collect(const SchemaNode& node, SchemaParts& parts) const {
    if (parts.size() == max_parts || std::find(parts.begin(), parts.end(), &node) != parts.end()) {
        return;
    }
    spend(node.members.size());
    parts.push_back(&node);
    if (const SchemaNode* referred = target(node)) {
        collect(*referred, parts);
    }
    if (const SchemaNode* all = node.find("allOf")) {
        for (const SchemaNode& part : all->elements) {
            collect(part, parts);
        }
    }
}

SchemaParts SchemaDocument::parts(const SchemaNode& node) const {
    SchemaParts parts;
    collect(node, parts);
    return parts;
}

const SchemaNode* find_in(const SchemaParts& parts, std::string_view name) {
    for (const SchemaNode* part : parts) {
        if (const SchemaNode* found = part->find(name)) {
            return found;
        }
    }
    return nullptr;
}

void collect_property_names(const SchemaNode& node, std::set<std::string>& names) {
    for (const auto& [name, value] : node.members) {
        if (name == "properties") {
            for (const auto& [property, schema] : value.members) {
                names.insert(property);
            }
        }
        collect_property_names(value, names);
    }
    for (const SchemaNode& value : node.elements) {
        collect_property_names(value, names);
    }
}

} // namespace cellgate::wrappers
