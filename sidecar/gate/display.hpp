#pragma once
// display_lines() is the text that a user reads before deciding. It shows every byte of the payload, and no text in the
// payload can look like a line of cellgate's own. A string is quoted; a string of several lines has each line behind a
// "| ", and a line with hidden characters is quoted with these escaped. A line wider than 76 columns continues in lines
// that begin with "↳ ", so the text cannot choose where a terminal breaks it. Numbers are shown digit by digit as they
// were sent.

#include "gate/action.hpp"
#include "protocol/messages/policy.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cellgate::gate {

// Throws Error{limit_exceeded} when the lines take more than 24 MiB: a user cannot approve what cannot be shown.
std::vector<std::string> display_lines(const Action& action);

// A visible line of cellgate's own in the width of the others.
std::vector<std::string> own_lines(std::string_view line);

// The beginning of the display, which names the action.
std::vector<std::string> title_lines(const Action& action);

// A tool server's title and description, safe to show: the title in one line of 76 columns; at most 16 KiB of the
// description, each line behind "> ", so that it cannot pass for a prompt.
protocol::Hints visible_hints(const protocol::Hints& hints);

} // namespace cellgate::gate
