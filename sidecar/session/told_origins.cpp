#include "told_origins.hpp"

#include <algorithm>

namespace cellgate::session {

namespace {

constexpr std::size_t most_words = 128;
constexpr std::size_t most_elders = 64;

} // namespace

void ToldOrigins::add(protocol::ChannelOriginParams told, const std::optional<std::string>& execution_id) {
    Word word;
    if (told.execution && told.execution == execution_id) {
        word.execution_id = execution_id;
        word.line = told.line;
    }
    word.socket = told.socket;
    if (!told.socket) {
        if (!told.thread || !told.children || told.children->size() > most_elders) {
            forget();
            return;
        }
        word.thread = *told.thread;
        word.elders = std::move(*told.children);
    }
    words_.push_front(std::move(word));
    if (words_.size() > most_words) {
        words_.pop_back();
    }
}

std::optional<std::int64_t> ToldOrigins::line_of(const egress::Caller& caller, const std::string& execution_id) const {
    const Word* word = find(caller);
    return word != nullptr && word->execution_id == execution_id ? word->line : std::nullopt;
}

const ToldOrigins::Word* ToldOrigins::find(const egress::Caller& caller) const {
    for (const Word& word : words_) {
        if (word.socket && word.socket == caller.socket) {
            return &word;
        }
    }
    for (const egress::Caller::Start& start : caller.starts) {
        if (const Word* word = find(start)) {
            return word;
        }
    }
    return nullptr;
}

const ToldOrigins::Word* ToldOrigins::find(const egress::Caller::Start& start) const {
    const Word* last = nullptr; // of any thread
    for (const Word& word : words_) {
        const bool elder = std::find(word.elders.begin(), word.elders.end(), start.process) != word.elders.end();
        if (word.socket || elder) {
            continue;
        }
        last = last == nullptr ? &word : last;
        if (word.thread == start.thread) {
            // When a thread ends, the system gives its programs to another one. Then the word of the thread that has
            // ended is the later one; it may also be one that was spoken at the same time.
            return word.same_place(*last) ? &word : nullptr;
        }
    }
    return nullptr;
}

} // namespace cellgate::session
