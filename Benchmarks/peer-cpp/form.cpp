// Form: what has to be there, and how big it may be. Finds every violation. An event's own size is
// left to the request's: after decoding it would have to be computed anew.
#include "rules.h"

namespace {

constexpr size_t maxIDBytes = 64;
constexpr size_t maxNameBytes = 256;
constexpr size_t maxMapEntries = 64;
constexpr size_t maxMapKeyBytes = 64;
constexpr size_t maxMapValueBytes = 1024;

}  // namespace

void Judgement::checkForm(const pb::TrackingEvent &event) {
    limit("event_id", event.event_id(), maxIDBytes);
    limit("app_id", event.app_id(), maxNameBytes);
    limit("subject_id", event.subject_id(), maxNameBytes);
    if (event.has_occur_time()) {
        const auto &time = event.occur_time();
        if (time.seconds() < -62'135'596'800 || time.seconds() > 253'402'300'799 ||
            time.nanos() < 0 || time.nanos() > 999'999'999) {
            reject("occur_time", pb::VIOLATION_CODE_RANGE, "outside Timestamp's range");
        }
    }
    switch (event.interaction_case()) {
    case pb::TrackingEvent::kPush: return checkPush(event);
    case pb::TrackingEvent::kTrackAction: return checkAction(event.track_action());
    case pb::TrackingEvent::kInApp: return checkInApp(event);
    case pb::TrackingEvent::kPushSend:
        reject("push_send", pb::VIOLATION_CODE_CONFLICT, "this peer judges what recipients do");
        break;
    case pb::TrackingEvent::INTERACTION_NOT_SET:
        reject("interaction", pb::VIOLATION_CODE_REQUIRED,
               "push, track_action or in_app says what happened");
    }
}

void Judgement::checkPush(const pb::TrackingEvent &event) {
    const auto &push = event.push();
    switch (push.payload_case()) {
    case pb::PushInteraction::kApns:
        limitMap("push.apns.custom_fields", push.apns().custom_fields());
        checkPlatform(event, pb::PLATFORM_ANDROID);
        break;
    case pb::PushInteraction::kFcm:
        if (push.fcm().has_data()) {
            limitMap("push.fcm.data.custom_fields", push.fcm().data().custom_fields());
        } else {
            reject("push.fcm.data", pb::VIOLATION_CODE_REQUIRED,
                   "the data message carries the ids");
        }
        checkPlatform(event, pb::PLATFORM_IOS);
        break;
    case pb::PushInteraction::kRaw:
        reject("push.raw", pb::VIOLATION_CODE_CONFLICT, "this peer reads typed payloads only");
        break;
    case pb::PushInteraction::PAYLOAD_NOT_SET:
        reject("push.payload", pb::VIOLATION_CODE_REQUIRED, "apns or fcm holds the payload");
    }
    if (push.kind() == 0) {
        reject("push.kind", pb::VIOLATION_CODE_REQUIRED, "RECEIVED, DISMISSED or OPENED");
    } else if (push.kind() < 0 || push.kind() > 3) {
        reject("push.kind", pb::VIOLATION_CODE_RANGE, "not in the enum");
    }
    limit("push.action_identifier", push.action_identifier(), maxNameBytes);
    checkProduct("push.product", push.product());
}

void Judgement::checkPlatform(const pb::TrackingEvent &event, pb::Platform other) {
    if (event.platform() != other) return;
    reject("platform", pb::VIOLATION_CODE_CONFLICT, "the payload is of the other platform");
}

void Judgement::checkAction(const pb::TrackAction &action) {
    int number = action.action();
    if (number == 0) {
        reject("track_action.action", pb::VIOLATION_CODE_REQUIRED,
               "the action says what happened");
    } else if (number < 0 || number > 7 || number == 6) {
        reject("track_action.action", pb::VIOLATION_CODE_RANGE, "not in the enum");
    }
    checkProduct("track_action.product", action.product());
}

void Judgement::checkInApp(const pb::TrackingEvent &event) {
    const auto &message = event.in_app();
    if (message.event_case() == pb::InAppInteraction::EVENT_NOT_SET) {
        reject("in_app.event", pb::VIOLATION_CODE_REQUIRED,
               "impression, click, dismissal or display_error");
    }
    if (message.message_id().empty()) {
        reject("in_app.message_id", pb::VIOLATION_CODE_REQUIRED, "the campaign's message id");
    }
    const auto &time = event.occur_time();
    if (event.event_id().empty() && time.seconds() == 0 && time.nanos() == 0) {
        reject("occur_time", pb::VIOLATION_CODE_REQUIRED,
               "in-app facts are told apart by event_id or occur_time");
    }
    limit("in_app.message_id", message.message_id(), maxNameBytes);
    limit("in_app.campaign_name", message.campaign_name(), maxNameBytes);
    limit("in_app.trigger_event", message.trigger_event(), maxNameBytes);
    limitMap("in_app.app_data", message.app_data());
}

void Judgement::checkProduct(const char *field, int product) {
    if (product >= 0 && product <= 2) return;
    reject(field, pb::VIOLATION_CODE_RANGE, "not in the enum");
}

void Judgement::limit(std::string_view field, const std::string &value, size_t limit) {
    if (value.size() <= limit) return;
    reject(field, pb::VIOLATION_CODE_TOO_LARGE, "too long: shorten it");
}

template <typename Map>
void Judgement::limitMap(const char *field, const Map &entries) {
    if (entries.size() > maxMapEntries) {
        reject(field, pb::VIOLATION_CODE_TOO_LARGE, "more than 64 entries");
    }
    for (const auto &[key, value] : entries) {
        if (key.size() > maxMapKeyBytes) {
            limit(std::string(field) + ".key", key, maxMapKeyBytes);
        }
        if (value.size() > maxMapValueBytes) {
            limit(std::string(field) + ".value", value, maxMapValueBytes);
        }
    }
}
