#include "request.h"

#include <sys/random.h>

#include <ctime>

#include "options.h"
#include "wire.h"

using wire::appendBytes;
using wire::appendNumber;

namespace {

constexpr const char *placeholder = "################";

enum class Kind { opened, received, dismissed, trackAction };

std::string alertText(size_t length) {
    static const std::string text =
        "The jacket on your list is back in your size, and ships for free until Sunday at noon. "
        "Members save another ten percent with the code in the app, on this order and the next. ";
    std::string result;
    while (result.size() < length) result += text;
    return result.substr(0, length);
}

std::string apnsPush(size_t textLength, int kind) {
    std::string alert, aps, payload, push;
    appendBytes(alert, 1, "Back in stock");
    appendBytes(alert, 2, alertText(textLength));
    appendBytes(aps, 1, alert);
    appendBytes(payload, 1, aps);
    appendBytes(payload, 2, "d57fd6");
    appendBytes(payload, 3, std::string("h") + placeholder);
    appendBytes(payload, 4, "on");
    appendBytes(push, 1, payload);
    appendNumber(push, 3, kind);
    appendNumber(push, 5, 2);
    return push;
}

std::string fcmPush(size_t textLength) {
    std::string data, payload, push;
    appendBytes(data, 1, "d57fd6");
    appendBytes(data, 2, std::string("h") + placeholder);
    appendBytes(data, 3, "on");
    appendBytes(data, 4, "Back in stock");
    appendBytes(data, 5, alertText(textLength));
    appendBytes(payload, 4, data);
    appendBytes(push, 2, payload);
    appendNumber(push, 3, 1);
    appendNumber(push, 5, 2);
    return push;
}

std::string trackAction() {
    std::string action;
    appendBytes(action, 1, std::string("h") + placeholder);
    appendBytes(action, 2, "d57fd6");
    appendNumber(action, 3, 2);
    return action;
}

std::string event(Kind kind, bool isTraced, size_t textLength, size_t subjectLength) {
    std::string time, trace, event;
    appendNumber(time, 1, uint64_t(std::time(nullptr)));
    appendNumber(time, 2, 123'000'000);
    appendBytes(trace, 1, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
    appendBytes(event, 1, placeholder);
    appendBytes(event, 2, time);
    appendBytes(event, 3, "com.example.shop");
    appendNumber(event, 4, kind == Kind::received ? 1 : 2);
    // Where an action has no text of its own, the subject grows instead, up to its limit.
    if (kind == Kind::trackAction) subjectLength += textLength;
    appendBytes(event, 5, std::string(subjectLength, '7'));
    appendNumber(event, 6, 1);
    if (isTraced) appendBytes(event, 7, trace);
    switch (kind) {
    case Kind::opened: appendBytes(event, 10, apnsPush(textLength, 3)); break;
    case Kind::received: appendBytes(event, 10, fcmPush(textLength)); break;
    case Kind::dismissed: appendBytes(event, 10, apnsPush(textLength, 2)); break;
    case Kind::trackAction: appendBytes(event, 11, trackAction()); break;
    }
    return event;
}

/// An event of exactly `size` bytes, by the length of its text; where a length's own byte stands in
/// the way, by its subject's too.
std::string event(Kind kind, bool isTraced, int size) {
    for (size_t subject = 26; subject < 32; ++subject) {
        for (size_t length = 0; length < 2000; ++length) {
            std::string bytes = event(kind, isTraced, length, subject);
            if (bytes.size() == size_t(size)) return bytes;
            if (bytes.size() > size_t(size)) break;
        }
    }
    fail(64, "--event-bytes %d: give 240 to 2000", size);
}

Kind kindAt(const std::string &mix, int index) {
    if (mix != "real") return Kind::opened;
    int place = index * 7 % 20;  // Spreads the kinds over the request.
    return place < 12 ? Kind::received : place < 17 ? Kind::opened
        : place < 19 ? Kind::dismissed : Kind::trackAction;
}

/// Two hexadecimal digits of every byte.
struct HexPairs {
    uint16_t pairs[256];
    HexPairs() {
        const char *digits = "0123456789abcdef";
        for (int byte = 0; byte < 256; ++byte) {
            char pair[2] = {digits[byte >> 4], digits[byte & 15]};
            std::memcpy(&pairs[byte], pair, 2);
        }
    }
};

}  // namespace

IDs::IDs() {
    uint32_t run = 0;
    if (getrandom(&run, 3, 0) != 3) fail(1, "no random bytes for the run's ids");
    next_ = uint64_t(run) << 40;
}

Request::Request(const std::string &mix, int batch, int eventBytes, bool isCall)
    : isCall_(isCall) {
    bytes_.assign(headroom, 0);
    for (int index = 0; index < batch; ++index) {
        std::string encoded = event(kindAt(mix, index), mix != "untraced", eventBytes);
        size_t before = bytes_.size();
        appendBytes(bytes_, isCall ? 1 : 2, encoded);
        for (size_t place = bytes_.find(placeholder, before); place != std::string::npos;
             place = bytes_.find(placeholder, place + 16)) {
            places_.push_back(uint32_t(place));
        }
    }
}

void Request::prepare(uint64_t sequence, IDs &ids) {
    static const HexPairs hex;
    auto *bytes = reinterpret_cast<uint8_t *>(bytes_.data());
    for (size_t index = 0; index < places_.size(); index += 2) {
        uint64_t id = ids.next();
        uint16_t digits[8];
        for (int pair = 7; pair >= 0; --pair, id >>= 8) digits[pair] = hex.pairs[id & 0xff];
        std::memcpy(bytes + places_[index], digits, 16);
        std::memcpy(bytes + places_[index + 1], digits, 16);
    }
    std::string number;
    if (!isCall_) wire::appendNumber(number, 1, sequence);
    start_ = headroom - 5 - number.size();
    bytes[start_] = 0;
    wire::storeBig32(bytes + start_ + 1, uint32_t(size() - 5));
    std::memcpy(bytes + start_ + 5, number.data(), number.size());
}
