#pragma once
// Which lines the code in a kernel said are about to connect, or to start a program that may (`network/origin` of
// schemas/channel.json), and which of them a connection came from. It is what the code says; what cannot be told for
// certain from it is not told at all.
//
// Each word comes before what it is about, so none is waited for. A socket is known by its number. A program is one
// that the thread which started it started after its last word that does not name the program among its elders.

#include "egress/caller.hpp"
#include "protocol/messages/network.hpp"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace cellgate::session {

class ToldOrigins {
  public:
    // `execution_id`: which one runs, by our own records. The last 128 words are kept.
    void add(protocol::ChannelOriginParams told, const std::optional<std::string>& execution_id);
    // Later words may be missing: then the earlier ones cannot be trusted.
    void forget() { words_.clear(); }

    // The line of the execution that runs.
    std::optional<std::int64_t> line_of(const egress::Caller& caller, const std::string& execution_id) const;

  private:
    struct Word {
        std::optional<std::string> execution_id;
        std::optional<std::int64_t> line;
        std::optional<std::int64_t> socket;
        std::int64_t thread = 0;
        std::vector<std::int64_t> elders;

        bool same_place(const Word& other) const { return execution_id == other.execution_id && line == other.line; }
    };

    const Word* find(const egress::Caller& caller) const;
    const Word* find(const egress::Caller::Start& start) const;

    std::deque<Word> words_; // the last one first
};

} // namespace cellgate::session
