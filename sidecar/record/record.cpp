#include "record/record.hpp"

#include "base/json_codec.hpp"
#include "base/log.hpp"
#include "pending_log.hpp"
#include "record_writer.hpp"

#include <utility>

namespace cellgate::record {

namespace {

constexpr std::string_view own_actor = "cellgate";
constexpr Duration batch_time = std::chrono::milliseconds(50);
constexpr std::size_t max_batch = 1000; // entries

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
    std::int64_t first = 0;         // ticket
    bool is_due = false;            // it is written without waiting for more
    bool has_gap = false;           // its first entry says what was dropped, and has no ticket
    std::int64_t unlogged = 0;      // entries that are in no file
    std::int64_t last_to_wait = -1; // ticket: up to it entries are not durable enough before the batch is written
    PendingFile log;
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
        if (batch.last_to_wait >= batch.first) { // what follows that one is in a file
            first = batch.first == end ? first : batch.first;
            end = batch.last_to_wait + 1;
        }
        error = batch.error;
    }
    bool has(std::int64_t ticket) const { return ticket >= first && ticket < end; }
};

} // namespace

struct Record::Impl {
    RecordOptions options;
    PendingLog log;
    std::function<void(const StoredEntry&)> listener;
    std::unique_ptr<RecordWriter> writer; // the job's while one runs; none after a failure
    std::shared_ptr<Batch> current;       // what the job writes
    std::shared_ptr<Batch> next;
    Refused refused;
    std::int64_t next_ticket = 0;
    std::int64_t dropped = 0;        // entries, since the last one that was stored
    std::optional<Error> last_error; // of the last batch, if that could not be written
    WallTime last_time;
    std::shared_ptr<CancelState> waiting; // for more entries of the batch
    bool running = false;
    TaskScope scope;

    explicit Impl(RecordOptions given) : options(std::move(given)), log(options.directory) {}

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
        // While the database cannot be written, files would grow without end.
        const bool logged = options.clock != nullptr && !last_error && log.append(entry);
        batch.unlogged += logged ? 0 : 1;
        batch.request.entries.push_back(std::move(entry));
        batch.request.synced = batch.request.synced || durability == Durability::synced;
        batch.request.first_kept = std::max(batch.request.first_kept, first_kept);
        if (!logged || durability == Durability::synced) {
            batch.last_to_wait = next_ticket;
        }
        if (batch.last_to_wait == next_ticket || batch.request.entries.size() >= max_batch) {
            start();
        } else if (!running && !waiting) {
            waiting = scope.spawn(start_soon());
        }
        return next_ticket++;
    }

    Task<void> start_soon() {
        try {
            co_await sleep_for(*options.clock, batch_time);
        } catch (const Cancelled&) {
            co_return; // it was started already
        }
        waiting = nullptr;
        start();
    }

    void start() {
        if (const std::shared_ptr<CancelState> sleeping = std::exchange(waiting, nullptr)) {
            sleeping->cancel();
        }
        if (next) {
            next->is_due = true;
        }
        if (!std::exchange(running, true)) {
            scope.spawn(write_batches());
        }
    }

    Task<void> write_batches() {
        while (next && next->is_due) {
            current = std::exchange(next, nullptr);
            current->log = log.take();
            std::function<void()> work = [this, batch = current] { write(*batch); };
            co_await options.run_blocking(std::move(work));
            const std::shared_ptr<Batch> batch = std::exchange(current, nullptr);
            if (batch->error) {
                refuse_all(batch);
            } else {
                report(*batch);
            }
        }
        running = false;
        if (next) {
            waiting = scope.spawn(start_soon());
        }
    }

    // In the job. A file that could not be moved into the database is left for the next writer.
    void write(Batch& batch) {
        try {
            if (!writer) {
                open();
            }
            batch.request.log = batch.log.name;
            batch.stored = writer->write(batch.request);
            if (!batch.log.name.empty()) {
                remove_pending(options.directory, batch.log.name);
            }
        } catch (const Error& error) {
            batch.error = error;
            writer.reset();
        }
        batch.log.file.reset();
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

    // With what came meanwhile: it would fail, too. What is in a file is not lost.
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
                dropped += each->unlogged;
                each->done.set();
            }
        }
        log.take();
    }

    Task<void> stored(std::int64_t ticket) {
        for (const std::shared_ptr<Batch>& batch : {current, next}) {
            if (batch && batch->has(ticket)) {
                return ticket <= batch->last_to_wait ? until_done(batch) : done();
            }
        }
        return refused.has(ticket) ? failed(*refused.error) : done();
    }

    Task<void> flushed() {
        std::shared_ptr<Batch> last = next ? next : current;
        if (next) {
            start();
        }
        if (last) {
            return until_done(std::move(last));
        }
        return last_error ? failed(*last_error) : done();
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
        if (next || dropped > 0) {
            next_batch();
        }
        start();
        co_await scope.join();
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
                WriteRequest last;
                last.synced = true;
                last.checkpoint = true;
                writer->write(last);
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

Task<void> Record::flushed() {
    return impl_->flushed();
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
