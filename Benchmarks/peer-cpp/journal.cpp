#include "journal.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

[[noreturn]] void fail(const char *what, const std::string &path) {
    std::fprintf(stderr, "peer-cpp: %s %s: %s\n", what, path.c_str(), std::strerror(errno));
    std::_Exit(74);
}

template <typename Number>
void append(std::string &bytes, Number number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
}

void appendRecord(
    std::string &bytes, const grpc::ByteBuffer &request, const std::vector<Hit> &hits) {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    append(bytes, uint32_t(request.Length()));
    append(bytes, uint32_t(hits.size()));
    append(bytes, int64_t(std::chrono::duration_cast<std::chrono::microseconds>(now).count()));
    for (const Hit &hit : hits) {
        append(bytes, hit.index);
        bytes.append(reinterpret_cast<const char *>(hit.key.words.data()), HitKey::size);
        append(bytes, hit.kinds);
        append(bytes, hit.warnings);
    }
    std::vector<grpc::Slice> slices;
    (void)request.Dump(&slices);  // Fails for compressed requests alone, and they were decoded.
    for (const auto &slice : slices) {
        bytes.append(reinterpret_cast<const char *>(slice.begin()), slice.size());
    }
}

}  // namespace

Journal::Journal(const std::string &path)
    : path_(path), fd_(open(path.c_str(), O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0644)) {
    if (fd_ < 0) fail("open", path);
    thread_ = std::thread([this] { run(); });
    thread_.detach();
}

void Journal::append(Settler *settler, const grpc::ByteBuffer &bytes, Admission &&admission) {
    {
        std::lock_guard lock(mutex_);
        if (!admission.hits.empty()) appendRecord(next_.bytes, bytes, admission.hits);
        next_.settled[settler].add(std::move(admission.settled));
    }
    work_.notify_one();
}

void Journal::run() {
    Group group;
    while (true) {
        {
            std::unique_lock lock(mutex_);
            work_.wait(lock, [this] { return !next_.settled.empty(); });
            std::swap(group, next_);
        }
        commit(group.bytes);
        for (auto &[settler, settled] : group.settled) settler->settle(std::move(settled));
        group.settled.clear();
        group.bytes.clear();
    }
}

void Journal::commit(const std::string &bytes) {
    if (bytes.empty()) return;
    size_t done = 0;
    while (done < bytes.size()) {
        ssize_t count = write(fd_, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail("append to", path_);
        done += size_t(count);
    }
    if (fdatasync(fd_) != 0) fail("fdatasync of", path_);
}
