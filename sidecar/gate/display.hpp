#pragma once
// What a user reads before deciding. Every byte of the payload is there, nothing is cut, and no text in it can look
// like a line of ours: strings stand in quotes, or, when they have several lines, each line behind a "| "; a line that
// holds something hidden stands in quotes with that written out. What is wider than 76 columns goes on in lines that
// begin with "↳ ", so that no terminal breaks a line where its text wants it. Numbers are shown digit by digit as they
// came.

#include "protocol/messages/policy.hpp"

#include <string>
#include <vector>

namespace cellgate::gate {

// Throws Error{limit_exceeded} when it takes more than 24 MiB to show: what cannot be shown cannot be approved.
std::vector<std::string> display_lines(const protocol::Action& action);

// A tool server's words, safe to show: the title in one line of 76 columns, and each line of the description behind
// "> ", so that it cannot pass for a prompt, and at most 16 KiB of it.
protocol::Hints visible_hints(const protocol::Hints& hints);

} // namespace cellgate::gate
