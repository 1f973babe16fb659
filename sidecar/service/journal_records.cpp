#include "journal_records.hpp"

#include "large_data.hpp"

#include <utility>

namespace cellgate::service {

std::vector<protocol::OutputRecord> read_records(const store::JournalPage& page, std::size_t inline_limit) {
    std::vector<protocol::OutputRecord> records;
    for (store::JournalRecord& record : page.read()) {
        protocol::OutputRecord out;
        out.seq = record.seq;
        out.count = record.count;
        if (record.output) {
            out.output = std::move(record.output);
            fit_into_message(out, page.data_stem(record.seq), inline_limit);
        } else {
            out.skipped_bytes = record.bytes;
        }
        if (record.late) {
            out.late = true;
        }
        records.push_back(std::move(out));
    }
    return records;
}

} // namespace cellgate::service
