#pragma once
// `CarriedConnection` is a client's connection and one to the server that the client means, between which a bridge
// carries the bytes. Each side has what was read from it and the other has not taken yet.
//
// The two directions end one by one. A server that takes no more (it answered before an upload's end, say) is heard to
// its end; what the client sends meanwhile is thrown away, and its socket stays open until it ends: to close it with
// something unread would reset the connection, and destroy the answer. A client ends by a reset or after its own end.

#include <cstddef>
#include <poll.h>
#include <string>
#include <string_view>
#include <vector>

namespace cellgate::helper {

class CarriedConnection {
  public:
    // Owns both descriptors, which do not block. `preface` goes to the server before the client's bytes. `answer_bytes`
    // come from the server before what is for the client: the answer to a SOCKS5 request, which may refuse the client.
    CarriedConnection(int client, int server, std::string preface, std::size_t answer_bytes);
    CarriedConnection(const CarriedConnection&) = delete;
    CarriedConnection& operator=(const CarriedConnection&) = delete;
    ~CarriedConnection();

    static constexpr std::size_t sources = 2;
    // Adds what to poll for: that many sources.
    void ask(std::vector<pollfd>& polled) const;
    // False when it is over. `polled`: the sources that ask() added.
    bool carry(const pollfd* polled);

  private:
    struct Side {
        int fd;
        std::string waiting = {};
        std::size_t written = 0; // of it
        bool ended = false;
        bool told = false;      // the other side, of the end
        bool hung_up = false;   // nothing new comes from it or goes to it; something may be left to be read
        bool takes_more = true; // else what is for it is thrown away
    };

    // What follows returns false when the connection is over.

    // A client is reset by an error. The server's means that it closed with something of ours unread: its answer may be
    // there to be read all the same.
    bool hang_up(int side, bool with_error);
    void send_no_more_to_server();
    bool is_done(int side);
    bool read_from(int side);
    // Of the proxy to the request: a 0 follows the version in each of its two parts when it carries the request out.
    bool take_answer(std::string_view& got);
    // By a reset: an end of the stream could be taken for an empty answer.
    bool refuse_client() const;
    bool write_to(int side);

    Side sides_[2];
    std::size_t answer_left_; // bytes of the answer that are still to come; meanwhile the client is not read
    std::size_t answer_bytes_;
};

} // namespace cellgate::helper
