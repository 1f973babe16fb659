#pragma once
// `raw_jupyter` is Jupyter's wire protocol without any checks, for the floor and for the fake kernel. It trusts the
// other side.

#include "worker.hpp"

#include <nettle/hmac.h>
#include <zmq.h>

#include <array>

namespace bench {

inline std::string sign(const std::string& key, std::initializer_list<std::string_view> parts) {
    hmac_sha256_ctx context;
    hmac_sha256_set_key(&context, key.size(), reinterpret_cast<const unsigned char*>(key.data()));
    for (const std::string_view part : parts) {
        hmac_sha256_update(&context, part.size(), reinterpret_cast<const unsigned char*>(part.data()));
    }
    std::array<unsigned char, SHA256_DIGEST_SIZE> digest{};
    hmac_sha256_digest(&context, digest.size(), digest.data());
    return to_hex(digest);
}

inline void send_frames(void* socket, const std::vector<std::string>& frames) {
    for (std::size_t i = 0; i < frames.size(); ++i) {
        zmq_send(socket, frames[i].data(), frames[i].size(), i + 1 < frames.size() ? ZMQ_SNDMORE : 0);
    }
}

// Empty when there is none now.
inline std::vector<std::string> receive_frames(void* socket) {
    std::vector<std::string> frames;
    bool more = true;
    while (more) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            break;
        }
        frames.emplace_back(static_cast<const char*>(zmq_msg_data(&frame)), zmq_msg_size(&frame));
        more = zmq_msg_more(&frame) != 0;
        zmq_msg_close(&frame);
    }
    return frames;
}

// The text of a string member of a flat header, without escapes.
inline std::string_view member(std::string_view json, std::string_view name) {
    const std::string quoted = '"' + std::string(name) + '"';
    std::size_t at = json.find(quoted);
    if (at == std::string_view::npos) {
        return {};
    }
    at = json.find('"', at + quoted.size()) + 1;
    return json.substr(at, json.find('"', at) - at);
}

inline std::string header(std::string_view id, std::string_view type) {
    std::string text = R"({"msg_id":")";
    text += id;
    text += R"(","msg_type":")";
    text += type;
    text += R"(","session":"bench","username":"bench","date":"2000-01-01T00:00:00.000000Z","version":"5.3"})";
    return text;
}

inline void send_message(void* socket, const std::string& key, std::vector<std::string> identities,
                         const std::string& head, std::string_view parent, std::string_view content) {
    identities.emplace_back("<IDS|MSG>");
    identities.push_back(sign(key, {head, parent, "{}", content}));
    identities.push_back(head);
    identities.emplace_back(parent);
    identities.emplace_back("{}");
    identities.emplace_back(content);
    send_frames(socket, identities);
}

struct Message {
    std::vector<std::string> identities;
    std::string header;
    std::string parent;
    std::string content;
};

// False when there is none now.
inline bool receive_message(void* socket, Message& message) {
    std::vector<std::string> frames = receive_frames(socket);
    std::size_t at = 0;
    while (at < frames.size() && frames[at] != "<IDS|MSG>") {
        ++at;
    }
    if (frames.size() < at + 6) {
        return false;
    }
    message.header = std::move(frames[at + 2]);
    message.parent = std::move(frames[at + 3]);
    message.content = std::move(frames[at + 5]);
    frames.resize(at);
    message.identities = std::move(frames);
    return true;
}

} // namespace bench
