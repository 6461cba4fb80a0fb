#include "rules.h"

#include <algorithm>
#include <array>

namespace {

using Letters = std::array<bool, 256>;

constexpr Letters letters(std::string_view list) {
    Letters result{};
    for (char letter : list) result[uint8_t(letter)] = true;
    return result;
}

constexpr Letters safeInURL =
    letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");
constexpr Letters hexDigits = letters("0123456789abcdefABCDEF");

bool all(std::string_view text, const Letters &letters) {
    return std::all_of(text.begin(), text.end(),
                       [&letters](char letter) { return letters[uint8_t(letter)]; });
}

/// Ignores the case of A to Z alone (D46).
bool equalsIgnoringCase(std::string_view text, std::string_view lower) {
    return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? char(a + 'a' - 'A') : a) == b;
    });
}

}  // namespace

struct Judgement::Push {
    const char *path;
    const char *messageField;
    const std::string &delivery;
    const std::string &message;
    const std::string *flag;
    bool isIOS;

    template <typename Payload>
    static Push of(const char *path, const Payload &payload, bool isIOS) {
        return {path, "message_id", payload.delivery_id(), payload.message_id(),
                payload.has_acs_delivery_tracking() ? &payload.acs_delivery_tracking() : nullptr,
                isIOS};
    }
};

void Judgement::judge(const pb::TrackingEvent &event, int64_t nowSeconds) {
    checkForm(event);
    if (verdict != pb::VERDICT_UNSPECIFIED) return;
    // Consent that is not said follows the default, which is opted in (D22).
    if (event.consent() != pb::CONSENT_OPTED_IN && event.consent() != pb::CONSENT_UNSPECIFIED) {
        verdict = pb::VERDICT_SUPPRESSED_CONSENT;
        return;
    }
    switch (event.interaction_case()) {
    case pb::TrackingEvent::kPush: judgePush(event); break;
    case pb::TrackingEvent::kTrackAction: judgeAction(event); break;
    case pb::TrackingEvent::kInApp: judgeInApp(event); break;
    // Its form was refused.
    case pb::TrackingEvent::kPushSend:
    case pb::TrackingEvent::INTERACTION_NOT_SET: return;
    }
    const auto &time = event.occur_time();
    if (verdict != pb::VERDICT_ACCEPTED || (time.seconds() == 0 && time.nanos() == 0)) return;
    int64_t behind = nowSeconds - time.seconds();
    if (behind < -5 * 60 || behind > 30 * 86'400) {
        warnings |= warningBit(pb::WARNING_CLOCK_SKEW);
    }
}

void Judgement::judgePush(const pb::TrackingEvent &event) {
    const auto &interaction = event.push();
    bool isIOS = interaction.has_apns();
    Push push = isIOS ? Push::of("push.apns", interaction.apns(), true)
                      : Push::of("push.fcm.data", interaction.fcm().data(), false);
    if (!passesFlag(push) || !passesIDs(push)) return;
    bool isClassic = interaction.product() == pb::CAMPAIGN_PRODUCT_CLASSIC;
    switch (interaction.kind()) {
    case pb::PUSH_INTERACTION_KIND_RECEIVED: accept(kindBit(pb::HIT_KIND_IMPRESSION)); break;
    case pb::PUSH_INTERACTION_KIND_DISMISSED:
        if (isClassic) {
            return reject("push.kind", pb::VIOLATION_CODE_CONFLICT,
                          "DISMISSED is not counted by Campaign Classic: "
                          "send RECEIVED or OPENED");
        }
        accept(kindBit(pb::HIT_KIND_CLICK));
        claim.isDismissal = true;
        break;
    default:
        accept(isClassic ? kindBit(pb::HIT_KIND_CLICK)
                         : kindBit(pb::HIT_KIND_CLICK) | kindBit(pb::HIT_KIND_OPEN));
    }
    warn(push, isClassic);
    if (push.flag == nullptr && !isClassic) warnings |= warningBit(pb::WARNING_FLAG_ASSUMED_ON);
    if (isIOS && !interaction.apns().media_attachment_url().empty() &&
        interaction.apns().aps().mutable_content() != 1) {
        warnings |= warningBit(pb::WARNING_MEDIA_WITHOUT_MUTABLE_CONTENT);
    }
    claim.pushKeys(event.app_id(), isClassic, push.delivery, push.message,
                   interaction.action_identifier());
}

void Judgement::judgeAction(const pb::TrackingEvent &event) {
    const auto &action = event.track_action();
    Push push{"track_action", "broadlog_id", action.delivery_id(), action.broadlog_id(),
              action.has_acs_delivery_tracking() ? &action.acs_delivery_tracking() : nullptr,
              event.platform() == pb::PLATFORM_IOS};
    if (!passesFlag(push) || !passesIDs(push)) return;
    bool isClassic = action.product() == pb::CAMPAIGN_PRODUCT_CLASSIC;
    if (isClassic && action.action() != pb::ACTION_OPEN && action.action() != pb::ACTION_CLICK) {
        return reject("track_action.action", pb::VIOLATION_CODE_CONFLICT,
                      "the action means nothing to Campaign Classic: "
                      "send 1 (received) or 2 (click)");
    }
    switch (action.action()) {
    case pb::ACTION_OPEN:
        accept(kindBit(isClassic ? pb::HIT_KIND_IMPRESSION : pb::HIT_KIND_OPEN));
        break;
    case pb::ACTION_CLICK: accept(kindBit(pb::HIT_KIND_CLICK)); break;
    case pb::ACTION_BUTTON_1: accept(kindBit(pb::HIT_KIND_BUTTON_1)); break;
    case pb::ACTION_BUTTON_2: accept(kindBit(pb::HIT_KIND_BUTTON_2)); break;
    case pb::ACTION_CLOSE: accept(kindBit(pb::HIT_KIND_CLOSE)); break;
    default: accept(kindBit(pb::HIT_KIND_IMPRESSION));
    }
    warn(push, isClassic);
    claim.pushKeys(event.app_id(), isClassic, push.delivery, push.message, "");
}

void Judgement::judgeInApp(const pb::TrackingEvent &event) {
    const auto &message = event.in_app();
    if (message.has_data_collection_enabled() && !message.data_collection_enabled()) {
        verdict = pb::VERDICT_SUPPRESSED_CONSENT;
    } else if (message.test_message()) {
        verdict = pb::VERDICT_SUPPRESSED_TEST_MESSAGE;
    } else if (message.display_suppressed()) {
        verdict = pb::VERDICT_SUPPRESSED_DISPLAY;
    } else if (message.has_impression()) {
        accept(kindBit(pb::HIT_KIND_IN_APP_IMPRESSION));
        claim.inAppKeys(event, "impression");
    } else if (message.has_click() && !message.click().action_url().empty()) {
        accept(kindBit(pb::HIT_KIND_IN_APP_CLICK));
        claim.inAppKeys(event, "click");
    } else if (message.has_display_error()) {
        accept(kindBit(pb::HIT_KIND_IN_APP_DISPLAY_ERROR));
        claim.inAppKeys(event, "display_error");
    } else {
        accept(kindBit(pb::HIT_KIND_IN_APP_DISMISSAL));
        claim.inAppKeys(event, "dismissal");
    }
}

bool Judgement::passesFlag(const Push &push) {
    if (push.flag == nullptr) return true;
    auto says = [&push](std::string_view word) {
        return push.isIOS ? equalsIgnoringCase(*push.flag, word) : *push.flag == word;
    };
    if (says("on")) return true;
    verdict =
        says("off") ? pb::VERDICT_SUPPRESSED_FLAG_OFF : pb::VERDICT_SUPPRESSED_FLAG_UNKNOWN;
    return false;
}

bool Judgement::passesIDs(const Push &push) {
    checkID(push.path, "delivery_id", push.delivery);
    checkID(push.path, push.messageField, push.message);
    return verdict == pb::VERDICT_UNSPECIFIED;
}

void Judgement::checkID(const char *path, const char *name, const std::string &id) {
    if (!id.empty() && id.size() <= 64 && all(id, safeInURL)) return;
    std::string field = std::string(path) + "." + name;
    if (id.empty()) {
        reject(field, pb::VIOLATION_CODE_REQUIRED,
               "missing: without both ids nothing can be counted");
    } else if (id.size() > 64) {
        reject(field, pb::VIOLATION_CODE_TOO_LARGE,
               "longer than 64 bytes: send the payload's own id");
    } else {
        reject(field, pb::VIOLATION_CODE_FORMAT,
               "only A-Z a-z 0-9 . _ - may be used: send the payload's own id");
    }
}

void Judgement::warn(const Push &push, bool isClassic) {
    std::string_view message = push.message;
    if (!isClassic && !(all(push.delivery, hexDigits) && message.size() > 1 &&
                        message[0] == 'h' && all(message.substr(1), hexDigits))) {
        warnings |= warningBit(pb::WARNING_ID_NOT_HEX);
    }
    if (push.isIOS && claim.kinds == kindBit(pb::HIT_KIND_IMPRESSION)) {
        warnings |= warningBit(pb::WARNING_IMPRESSION_UNRELIABLE);
    }
}
