#include "record/entry.hpp"

#include "base/encoding.hpp"
#include "base/json_codec.hpp"
#include "record/canonical_json.hpp"

namespace cellgate::record {

namespace {

// The fields of an entry, in the order of their names.
struct WrittenEntry {
    std::string actor;
    RawJson data;
    std::optional<std::string> executionId;
    std::int64_t seq;
    std::optional<std::string> sessionId;
    std::string time;
    std::string type;

    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("actor", self.actor);
        visit("data", self.data);
        visit("executionId", self.executionId);
        visit("seq", self.seq);
        visit("sessionId", self.sessionId);
        visit("time", self.time);
        visit("type", self.type);
    }
};

RawJson as_text(const RawJson& data) {
    std::string wrapped = "{\"text\":";
    append_json_string(wrapped, data.text());
    return RawJson::checked(wrapped + '}');
}

} // namespace

std::string entry_json(const NewEntry& entry, std::int64_t seq) {
    WrittenEntry written{entry.actor, entry.data, entry.execution_id, seq, entry.session_id, to_rfc3339(entry.time),
                         entry.type};
    try {
        return canonical_json(to_json(written));
    } catch (const Error&) {
        written.data = as_text(entry.data);
        return canonical_json(to_json(written));
    }
}

} // namespace cellgate::record
