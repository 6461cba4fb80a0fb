#include "request.h"

#include <sys/random.h>

#include <cstring>
#include <ctime>

namespace {

constexpr const char *placeholder = "################";

/// The event of the other load's mix `opened`, as JSON: an opened iOS notification, two hits.
std::string opened() {
    char time[32];
    std::time_t now = std::time(nullptr);
    std::strftime(time, sizeof time, "%FT%T.123Z", std::gmtime(&now));
    return std::string("{\"eventId\":\"") + placeholder + "\",\"occurTime\":\"" + time +
        "\",\"appId\":\"com.example.shop\",\"platform\":\"PLATFORM_IOS\",\"subjectId\":\"" +
        std::string(26, '7') + "\",\"consent\":\"CONSENT_OPTED_IN\",\"traceContext\":{"
        "\"traceparent\":\"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\"},"
        "\"push\":{\"apns\":{\"aps\":{\"alert\":{\"title\":\"Back in stock\",\"body\":"
        "\"The jacket on your list is back in your\"}},\"_dId\":\"d57fd6\",\"_mId\":\"h" +
        placeholder + "\",\"_acsDeliveryTracking\":\"on\"},"
        "\"kind\":\"PUSH_INTERACTION_KIND_OPENED\",\"appState\":\"APP_STATE_BACKGROUND\"}}";
}

std::string head(const Options &options, const std::string &line) {
    return line + " HTTP/1.1\r\nHost: " + options.name + "\r\n" +
        (options.isAnew ? "Connection: close\r\n" : "");
}

std::string postEvents(const Options &options) {
    std::string body;
    for (int index = 0; index < options.batch; ++index) {
        body += opened();
        if (options.batch > 1) body += '\n';
    }
    std::string type = options.batch > 1 ? "application/x-ndjson" : "application/json";
    return head(options, "POST /v1/events") + "Content-Type: " + type +
        "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// As the SDKs send it: Android's comma is plain, iOS percent-encodes the query but not the comma.
std::string getPostback(const Options &options, bool isAndroid) {
    std::string line = std::string("GET /r/?id=h") + placeholder +
        ",d57fd6,2&mcId=" + std::string(38, '7');
    std::string agent = isAndroid
        ? "Mozilla/5.0 (Linux; U; Android 14; en-US; Pixel 8 Build/AP2A.240805.005)"
        : "Mozilla/5.0 (iPhone; CPU OS 17_5 like Mac OS X; en_US)";
    return head(options, line) + "Content-Type: application/json\r\nAccept: */*\r\n"
        "Accept-Language: en-US\r\nUser-Agent: " + agent + "\r\n\r\n";
}

}  // namespace

IDs::IDs() {
    uint32_t run = 0;
    if (getrandom(&run, 3, 0) != 3) fail(1, "no random bytes for the run's ids");
    next_ = uint64_t(run) << 40;
}

Request::Request(const Options &options, int number)
    : bytes_(options.kind == "events" ? postEvents(options) : getPostback(options, number % 2)),
      placesOfEvent_(options.kind == "events" ? 2 : 1) {
    for (size_t place = bytes_.find(placeholder); place != std::string::npos;
         place = bytes_.find(placeholder, place + 16)) {
        places_.push_back(place);
    }
}

void Request::prepare(IDs &ids) {
    static const char *digits = "0123456789abcdef";
    for (size_t index = 0; index < places_.size(); index += placesOfEvent_) {
        char text[16];
        uint64_t id = ids.next();
        for (int place = 15; place >= 0; --place, id >>= 4) text[place] = digits[id & 15];
        for (size_t same = 0; same < placesOfEvent_; ++same) {
            std::memcpy(bytes_.data() + places_[index + same], text, sizeof text);
        }
    }
}
