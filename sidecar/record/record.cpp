#include "record/record.hpp"

#include "base/json_codec.hpp"
#include "base/log.hpp"
#include "record_writer.hpp"

#include <utility>

namespace cellgate::record {

namespace {

constexpr std::string_view own_actor = "cellgate";
constexpr std::size_t max_later = 100; // entries that wait for another one

struct GapData {
    std::int64_t dropped;
    std::string error;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("dropped", self.dropped);
        visit("error", self.error);
    }
};

struct PrunedData {
    std::int64_t firstKept;
    template <class Self, class Visit>
    static void fields(Self& self, Visit& visit) {
        visit("firstKept", self.firstKept);
    }
};

template <class Data>
NewEntry own_entry(WallTime time, std::string_view type, const Data& data) {
    return {time, std::string(type), std::string(own_actor), std::nullopt, std::nullopt, to_raw_json(data)};
}

// Entries that are written in one transaction, and what became of them.
struct Batch {
    std::int64_t first = 0; // ticket
    bool has_gap = false;   // its first entry says what was dropped, and has no ticket
    WriteRequest request;
    std::vector<StoredEntry> stored;
    std::optional<Error> error;
    Event done;

    std::int64_t count() const { return static_cast<std::int64_t>(request.entries.size()) - (has_gap ? 1 : 0); }
    bool has(std::int64_t ticket) const { return ticket >= first && ticket < first + count(); }
};

Task<void> until_done(std::shared_ptr<Batch> batch) {
    co_await batch->done.wait();
    if (batch->error) {
        throw *batch->error;
    }
}

Task<void> done() {
    co_return;
}

Task<void> failed(Error error) {
    throw error;
    co_return;
}

// The tickets of entries that were refused lately.
struct Refused {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::optional<Error> error;

    void add(const Batch& batch) {
        first = batch.first == end ? first : batch.first;
        end = batch.first + batch.count();
        error = batch.error;
    }
    bool has(std::int64_t ticket) const { return ticket >= first && ticket < end; }
};

} // namespace

struct Record::Impl {
    RecordOptions options;
    std::function<void(const StoredEntry&)> listener;
    std::unique_ptr<RecordWriter> writer; // the job's while one runs; none after a failure
    std::shared_ptr<Batch> current;       // what the job writes
    std::shared_ptr<Batch> next;
    Refused refused;
    std::int64_t next_ticket = 0;
    std::int64_t dropped = 0;        // entries, since the last one that was stored
    std::optional<Error> last_error; // while some are dropped
    WallTime last_time;
    bool running = false;
    TaskScope scope;

    explicit Impl(RecordOptions given) : options(std::move(given)) {}

    void open() { writer = std::make_unique<RecordWriter>(options.directory, options.origin, options.checkpoint_copy); }

    Batch& next_batch() {
        if (!next) {
            next = std::make_shared<Batch>();
            next->first = next_ticket;
            if (dropped > 0 && !current) {
                next->has_gap = true;
                next->request.entries.push_back(own_entry(last_time, gap_type, GapData{dropped, last_error->message}));
            }
        }
        return *next;
    }

    std::int64_t append(NewEntry entry, Durability durability, std::int64_t first_kept) {
        last_time = entry.time;
        Batch& batch = next_batch();
        batch.request.entries.push_back(std::move(entry));
        batch.request.durability = std::max(batch.request.durability, durability);
        batch.request.first_kept = std::max(batch.request.first_kept, first_kept);
        if (batch.request.durability != Durability::later || batch.request.entries.size() >= max_later) {
            start();
        }
        return next_ticket++;
    }

    void start() {
        if (!std::exchange(running, true)) {
            scope.spawn(write_batches());
        }
    }

    Task<void> write_batches() {
        while (next) {
            current = std::exchange(next, nullptr);
            if (!write_here(*current)) {
                std::function<void()> work = [this, batch = current] { write(*batch); };
                co_await options.run_blocking(std::move(work));
            }
            const std::shared_ptr<Batch> batch = std::exchange(current, nullptr);
            if (batch->error) {
                refuse_all(batch);
            } else {
                report(*batch);
            }
        }
        running = false;
    }

    // On the loop, as journals are written: going to another thread and back takes longer than a quick write. False if
    // that is no quick one, or did not work at once.
    bool write_here(Batch& batch) {
        if (!writer || !writer->is_quick(batch.request)) {
            return false;
        }
        try {
            batch.stored = writer->write_quickly(batch.request);
            return true;
        } catch (const Error&) {
            writer.reset(); // the job opens it again, and waits
            return false;
        }
    }

    // In the job.
    void write(Batch& batch) {
        try {
            if (!writer) {
                open();
            }
            batch.stored = writer->write(batch.request);
        } catch (const Error& error) {
            batch.error = error;
            writer.reset();
        }
    }

    void report(Batch& batch) {
        dropped = 0;
        last_error.reset();
        if (listener) {
            for (const StoredEntry& entry : batch.stored) {
                listener(entry);
            }
        }
        batch.done.set();
    }

    // With what came meanwhile: it would fail, too.
    void refuse_all(const std::shared_ptr<Batch>& batch) {
        const Error error = *batch->error;
        if (!last_error || last_error->message != error.message) {
            log_warning("nothing is recorded: {}", error.message);
        }
        last_error = error;
        for (const std::shared_ptr<Batch>& each : {batch, std::exchange(next, nullptr)}) {
            if (each) {
                each->error = error;
                refused.add(*each);
                dropped += each->count();
                each->done.set();
            }
        }
    }

    Task<void> stored(std::int64_t ticket) {
        if (next && next->has(ticket)) {
            start();
        }
        for (const std::shared_ptr<Batch>& batch : {current, next}) {
            if (batch && batch->has(ticket)) {
                return until_done(batch);
            }
        }
        return refused.has(ticket) ? failed(*refused.error) : done();
    }

    Task<std::int64_t> prune(Pruning pruning) {
        PruningPlan plan;
        std::function<void()> work = [&plan, this, &pruning] { plan = plan_pruning(options.directory, pruning); };
        co_await shielded(options.run_blocking(std::move(work)));
        if (plan.first_kept > plan.first) {
            const std::int64_t ticket = append(own_entry(pruning.now, pruned_type, PrunedData{plan.first_kept}),
                                               Durability::synced, plan.first_kept);
            co_await stored(ticket);
        }
        co_return plan.first_kept - plan.first;
    }

    Task<void> close() {
        co_await scope.join();
        if (next || dropped > 0) {
            next_batch();
            start();
            co_await scope.join();
        }
        std::optional<Error> error = last_error;
        std::function<void()> work = [this, &error] { close_writer(error); };
        co_await shielded(options.run_blocking(std::move(work)));
        if (error) {
            throw *error;
        }
    }

    // In the job.
    void close_writer(std::optional<Error>& error) {
        try {
            if (writer) {
                writer->write(WriteRequest{{}, Durability::synced, 0, true});
            }
        } catch (const Error& failed) {
            error = failed;
        }
        writer.reset();
    }
};

Record::Record(RecordOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Record::~Record() = default;

std::int64_t Record::append(NewEntry entry, Durability durability) {
    return impl_->append(std::move(entry), durability, 0);
}

Task<void> Record::stored(std::int64_t ticket) {
    return impl_->stored(ticket);
}

void Record::on_stored(std::function<void(const StoredEntry&)> listener) {
    impl_->listener = std::move(listener);
}

Task<std::int64_t> Record::prune(Pruning pruning) {
    return impl_->prune(pruning);
}

Task<void> Record::close() {
    return impl_->close();
}

} // namespace cellgate::record
