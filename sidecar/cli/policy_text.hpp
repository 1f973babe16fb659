#pragma once
// `policy_text` is rules in words, for a terminal: safe to show.

#include "protocol/messages/policy.hpp"

#include <string>
#include <string_view>

namespace cellgate::cli {

std::string_view effect_word(protocol::Effect effect);
// "deny  filesystem/write_file path=under:data". With the id before it, and where it comes from behind it.
std::string rule_line(const protocol::Rule& rule);
std::string rule_line(const protocol::RuleSpec& rule);
// "of the last 30 days it covers 3 actions that were allowed and 1 that was denied".
std::string preview_words(protocol::Effect effect, const protocol::PolicyPreviewResult& preview);

} // namespace cellgate::cli
