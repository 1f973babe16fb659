#pragma once
// `read_records` and `read_streams` read the output of an execution from the journal, for the agent that ran it.

#include "protocol/messages/executions.hpp"
#include "sidecar_client.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cellgate::agent {

// An output as nbformat has it.
struct Output {
    std::string output_type;
    std::optional<std::string> name; // of a stream: stdout, stderr
    std::optional<std::string> text;
    std::optional<std::map<std::string, RawJson>> data; // by MIME type
    std::optional<std::vector<std::string>> traceback;
    std::optional<std::string> ename;
    std::optional<std::string> evalue;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("output_type", self.output_type);
        visit("name", self.name);
        visit("text", self.text);
        visit("data", self.data);
        visit("traceback", self.traceback);
        visit("ename", self.ename);
        visit("evalue", self.evalue);
    }
};

struct ReadingEnd {
    bool complete = false; // the execution has finished, and there is no more
    bool stopped = false;  // `take` wanted no more
    std::string withheld;  // in a line, why what follows is not the agent's to see; empty: nothing is
};

// Calls `take` with each record from `from_seq` on, until it returns false. Throws what output/read does.
Task<ReadingEnd> read_records(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf,
                              std::string execution_id, std::int64_t from_seq,
                              std::function<bool(const protocol::OutputRecord& record)> take);

// Removes terminal control sequences (colours, movements, titles) and what a line held before a carriage return, with
// which it begins again: a progress bar is its last state. A carriage return stays where it overwrites what came before
// the text, or what follows it.
std::string plain_text(std::string_view text);
// Appends such a text. Returns by how many characters `text` grew.
std::ptrdiff_t append_written(std::string& text, std::string_view written);

// The bytes of the first `count` characters of `text`.
std::size_t bytes_of_characters(std::string_view text, std::size_t count);

// The output of an execution, by where it was written.
struct Streams {
    std::string out;
    std::string err;
    std::string traceback;                            // of the error that ended it
    std::optional<std::string> value;                 // of the last expression, as text
    std::vector<std::map<std::string, RawJson>> data; // of each thing that was displayed, and of the value
    std::string withheld;                             // as above
};

// Each text is cut at `characters`, and says so.
Task<Streams> read_streams(SidecarClient* sidecar, std::shared_ptr<mcp::ToolCall> on_behalf, std::string execution_id,
                           std::size_t characters);

// The text of that MIME type; nothing if it is none.
std::optional<std::string> text_of_data(const std::map<std::string, RawJson>& data, const std::string& type);
// What is to be read of a thing that was displayed: its plain text, or where that only names an object
// ("<IPython.core.display.Markdown object>") its Markdown, LaTeX or JSON.
std::optional<std::string> readable_text(const std::map<std::string, RawJson>& data);

} // namespace cellgate::agent
