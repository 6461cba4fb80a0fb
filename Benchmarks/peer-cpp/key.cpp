// OpenSSL's one-shot functions look the algorithm up at every call, so the older ones are used.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "key.h"

#include <openssl/sha.h>

#include <cstring>

namespace {

/// The fields of a key as they are hashed. The rules bound them: 1.2 KiB at most.
class Fields {
public:
    void append(std::string_view field) {
        appendBig(uint32_t(field.size()));
        std::memcpy(bytes_ + count_, field.data(), field.size());
        count_ += field.size();
    }

    template <typename Number>
    void appendBig(Number value) {
        for (int shift = int(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
            bytes_[count_++] = uint8_t(value >> shift);
        }
    }

    size_t count() const { return count_; }
    void cut(size_t count) { count_ = count; }

    HitKey key() const {
        uint8_t digest[SHA256_DIGEST_LENGTH];
        SHA256_CTX context;
        SHA256_Init(&context);
        SHA256_Update(&context, bytes_, count_);
        SHA256_Final(digest, &context);
        HitKey key;
        std::memcpy(key.words.data(), digest, HitKey::size);
        return key;
    }

private:
    uint8_t bytes_[2048];
    size_t count_ = 0;
};

constexpr std::string_view tenant = "default";

}  // namespace

void Claim::pushKeys(std::string_view appID, bool isClassic, std::string_view delivery,
                     std::string_view broadlog, std::string_view button) {
    Fields fields;
    fields.append("push");
    fields.append(tenant);
    fields.append(isClassic ? "classic" : "standard");
    fields.append(appID);
    fields.append(delivery);
    fields.append(broadlog);
    size_t plainCount = fields.count();
    fields.append("");
    notification = fields.key();
    fact = notification;
    if (button.empty()) return;
    fields.cut(plainCount);
    fields.append(button);
    fact = fields.key();
}

void Claim::inAppKeys(const sightline::v1::TrackingEvent &event, std::string_view what) {
    Fields fields;
    fields.append("in_app");
    fields.append(tenant);
    fields.append(event.app_id());
    fields.append(event.in_app().message_id());
    fields.append(event.subject_id());
    fields.append(what);
    fields.append(event.event_id());
    if (event.event_id().empty()) {
        fields.appendBig(uint32_t(12));
        fields.appendBig(uint64_t(event.occur_time().seconds()));
        fields.appendBig(uint32_t(event.occur_time().nanos()));
    }
    fact = fields.key();
    notification = fact;
}
